"""Shares: of yes among the answers, of one mean in another, and how well one from a count is known."""

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from onedial.stats.arrays import Floats, Integers
from onedial.stats.estimate import Estimate, estimate


def rates(answers: Floats) -> tuple[Floats, Integers]:
    """Compute the yes rate down each column over the answers that were read (nan where none is), and their number.

    Args:
        answers: (question, ...) 1 yes, 0 no, nan not read.

    >>> [part.tolist() for part in rates(np.array([[1.0, np.nan], [0.0, np.nan]]))]
    [[0.5, nan], [2, 0]]
    """
    n = (~np.isnan(answers)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nansum(answers, axis=0) / n), np.asarray(n)


def share_of(part: Floats, whole: Floats, weights: Floats) -> tuple[Estimate, Estimate]:
    """Divide the mean of `part` by the mean of `whole`, over the units that have both; with the mean of the whole.

    A ratio of means and not a mean of ratios: that of one unit, whose whole hardly differs from 0, may be anything.
    Where the interval of the whole holds 0 there is nothing to have a share of, and the share is nan.

    Args:
        part, whole: (unit,), nan where not known. weights: (resample, unit), how often each resample draws each unit.

    >>> drawn = np.random.default_rng(0).multinomial(4, [0.25] * 4, 99).astype(float)
    >>> share_of(np.array([1.0, 2, 3, np.nan]), np.array([2.0, 4, 6, 9]), drawn)[0].value
    0.5
    >>> share_of(np.ones(4), np.array([5.0, -5, 4, -4]), drawn)[0].value
    nan
    """
    known = np.isfinite(part) & np.isfinite(whole)
    n, n_missing = int(known.sum()), int((~known).sum())
    if not n:
        return Estimate(n_missing=n_missing), Estimate(n_missing=n_missing)

    def mean(values: Floats, weights: Floats) -> Floats:
        return np.asarray(weights @ values[known] / weights.sum(axis=1))

    drawn = weights[:, known]
    below = estimate(lambda weights: mean(whole, weights), drawn, n_missing=n_missing)
    if not below.beyond_zero:
        return Estimate(n=n, n_missing=n_missing), below
    ratio = estimate(lambda weights: mean(part, weights) / mean(whole, weights), drawn, n_missing=n_missing)
    return ratio, below


def wilson_interval(n_positive: pd.Series, n: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Compute the 95% interval of a share (Wilson, 1927, Journal of the American Statistical Association 22, 209-212).

    Args:
        n_positive, n: how many of how many, one value per share.

    Returns:
        the lower and the upper end; nan where n is 0. Sign: both between 0 and 1.

    R: `prop.test(x, n, correct = FALSE)$conf.int`.

    >>> low, high = wilson_interval(pd.Series([8.0]), pd.Series([10.0]))
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (0.49, 0.94)
    """
    low, high = proportion_confint(n_positive.to_numpy(float), n.where(n > 0).to_numpy(float), method="wilson")
    return pd.Series(low, n.index).clip(0, 1), pd.Series(high, n.index).clip(0, 1)  # rounding can lead just beyond

"""How well a share is known: one from a count, and one of two means."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.stats.arrays import Floats
from onedial.stats.level import Z_95, interval_95


@dataclass(frozen=True)
class Share:
    """One mean as a share of another, with 95% intervals.

    Attributes:
        value, low, high: nan where the interval of the whole holds 0: there is nothing to have a share of.
        whole, whole_low, whole_high: the mean below the line. n: units that had both.
    """

    value: float
    low: float
    high: float
    whole: float
    whole_low: float
    whole_high: float
    n: int


def share_of(part: Floats, whole: Floats, weights: Floats) -> Share:
    """Mean of `part` over mean of `whole`, by the units that have both.

    A ratio of means and not a mean of ratios: that of one unit, whose whole hardly differs from 0, may be anything.

    Args:
        part, whole: (unit,), nan where not known. weights: (resample, unit), how often each resample draws each unit.

    >>> drawn = np.random.default_rng(0).multinomial(4, [0.25] * 4, 99).astype(float)
    >>> share_of(np.array([1.0, 2, 3, np.nan]), np.array([2.0, 4, 6, 9]), drawn).value
    0.5
    >>> share_of(np.ones(4), np.array([5.0, -5, 4, -4]), drawn).value
    nan
    """
    known = np.isfinite(part) & np.isfinite(whole)
    nothing = float("nan")
    if not known.any():
        return Share(nothing, nothing, nothing, nothing, nothing, nothing, 0)
    drawn = weights[:, known]
    size = np.where(drawn.sum(axis=1) > 0, drawn.sum(axis=1), np.nan)
    parts, wholes = (drawn @ each[known] / size for each in (part, whole))
    mean, n = float(whole[known].mean()), int(known.sum())
    whole_low, whole_high = interval_95(wholes)
    if not (whole_low > 0 or whole_high < 0):
        return Share(nothing, nothing, nothing, mean, whole_low, whole_high, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = interval_95(parts / wholes)
    return Share(float(part[known].mean()) / mean, low, high, mean, whole_low, whole_high, n)


def wilson_interval(n_positive: pd.Series, n: pd.Series) -> tuple[pd.Series, pd.Series]:
    """95% interval of a share (Wilson, 1927, Journal of the American Statistical Association 22, 209-212).

    Formula: (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), p = n_positive / n.

    Args:
        n_positive, n: how many of how many, one value per share.

    Returns:
        the lower and the upper end; nan where n is 0. Sign: both between 0 and 1.

    R: `prop.test(x, n, correct = FALSE)$conf.int`.

    >>> low, high = wilson_interval(pd.Series([8.0]), pd.Series([10.0]))
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (0.49, 0.94)
    """
    n = n.astype(float).where(n > 0)
    p = n_positive / n
    centre, spread = p + Z_95**2 / (2 * n), Z_95 * np.sqrt(p * (1 - p) / n + Z_95**2 / (4 * n**2))
    low, high = ((centre + side * spread) / (1 + Z_95**2 / n) for side in (-1, 1))
    return low.clip(0, 1), high.clip(0, 1)  # rounding can lead just beyond

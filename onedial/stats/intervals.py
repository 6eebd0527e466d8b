"""The interval of a battery's score, from a bootstrap that has few units to draw, or units that all agree.

A percentile bootstrap errs in both cases: its intervals of few units are too narrow, and where all units agree no
resample differs from another, so that three heads in three tosses would be a coin with two heads.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student

from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95
from onedial.stats.resampling import FEWEST_TOPICS
from onedial.stats.roc import roc_area_interval
from onedial.stats.shares import wilson_interval

FEWEST_UNITS = 5
"""Units, or positive or negative ones, below which there is no interval."""


def drawn_units(topics: ArrayLike | None, n: int) -> np.ndarray:
    """Say what a bootstrap draws: whole topics where there are `FEWEST_TOPICS` or more, else single questions.

    Args:
        topics: of the questions; None where they have none. n: questions.

    Returns:
        (question,) its unit, 0 to the number of units less 1.

    >>> drawn_units(["Rome"] * 4, 4).tolist()
    [0, 1, 2, 3]
    """
    units = np.arange(n) if topics is None else np.unique(np.asarray(topics, dtype=str), return_inverse=True)[1]
    return units if units.max(initial=-1) + 1 >= FEWEST_TOPICS else np.arange(n)


def unit_weights(units: np.ndarray, n_bootstrap: int, seed: int | np.random.Generator) -> Floats:
    """Draw (resample, question) weights: how often its unit was drawn, as many units as there are.

    `resampled_weights` is for many questions: it draws in pieces, other draws of the same kind from one seed, on which
    the numbers of a verdict rest, as those of a battery do on these.

    >>> unit_weights(np.array([0, 0, 1]), 99, seed=0).sum(axis=1).max()
    np.float64(4.0)
    """
    n = int(units.max(initial=-1)) + 1
    if not n:
        return np.zeros((n_bootstrap, 0))
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=n_bootstrap)
    return drawn.astype(float)[:, units]


def resampled_interval(
    value: float, drawn: ArrayLike, n: int, lowest: float = float("nan"), highest: float = float("nan")
) -> tuple[float, float]:
    """Compute the 95% interval of a score from its bootstrap resamples.

    Formula: expanded percentiles, the quantiles Phi(-+ sqrt(n / (n - 1)) t) of the resamples, t of Student's with n - 1
    degrees of freedom (Hesterberg, 2015, The American Statistician 69, 371-386). Where no resample differs from
    another, value - u (value - lowest) and value + u (highest - value), u = z^2 / (n + z^2): Wilson's upper end for
    none of n, the share of units that may be of another kind without one of them having shown.

    Args:
        value: the score. drawn: (resample,) of the same; nan are left out. n: units that were drawn. lowest, highest:
            what the score would be if all units were of that other kind; where they are not known, such a score has no
            interval.

    Returns:
        (low, high); nan of fewer than `FEWEST_UNITS` units.

    >>> resampled_interval(1.0, [1.0] * 99, 8, -1, 1)[0] > 0 > resampled_interval(0.0, [0.0] * 99, 8, -1, 1)[0]
    True
    """
    resamples = np.asarray(drawn, dtype=float)
    known = resamples[np.isfinite(resamples)]
    if n < FEWEST_UNITS or not len(known) or not np.isfinite(value):
        return float("nan"), float("nan")
    if np.ptp(known) <= 1e-12 * max(1.0, abs(value)):
        unseen = float(wilson_interval(pd.Series([0]), pd.Series([n]))[1].iloc[0])
        return value - unseen * max(value - lowest, 0), value + unseen * max(highest - value, 0)
    tail = float(norm.cdf(np.sqrt(n / (n - 1)) * student.ppf(QUANTILES_95[0], n - 1)))
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def mean_interval(
    values: ArrayLike,
    lowest: float,
    highest: float,
    topics: ArrayLike | None = None,
    n_bootstrap: int = 1999,
    seed: int = 0,
) -> tuple[float, float]:
    """Compute the 95% interval of a mean by `resampled_interval`, of questions or whole topics (`drawn_units`).

    Args:
        values: (question,), none of them nan. lowest, highest: between which each lies. topics: of the questions.

    >>> [round(end, 2) for end in mean_interval([0.0] * 40, -1, 1)]
    [-0.09, 0.09]
    """
    given = np.asarray(values, dtype=float)
    if not len(given):
        return float("nan"), float("nan")
    units = drawn_units(topics, len(given))
    weights = unit_weights(units, n_bootstrap, seed)
    return resampled_interval(
        float(given.mean()), weights @ given / weights.sum(axis=1), int(units.max()) + 1, lowest, highest
    )


def area_interval(
    area: float, drawn: ArrayLike, n: int, n_positive: int, n_negative: int, one_level: bool
) -> tuple[float, float]:
    """Compute the 95% interval of an area under the ROC curve, or of a balanced accuracy, which is that of a yes or no.

    Formula: `resampled_interval`; where all cases of one kind have the same score no resample says how they might
    differ, nor does any where the kinds do not overlap, and the wider of it and `roc_area_interval` is taken.

    Args:
        area: the score. drawn: (resample,) of the same; nan are left out. n: units that were drawn. n_positive,
            n_negative: how many hold cases of either kind. one_level: whether all of one kind have the same score.

    Returns:
        (low, high); nan where either kind is in fewer than `FEWEST_UNITS` units.

    >>> [round(end, 2) for end in area_interval(1.0, [1.0] * 99, 10, 5, 5, one_level=False)]
    [0.64, 1.0]
    """
    if min(n_positive, n_negative) < FEWEST_UNITS:
        return float("nan"), float("nan")
    low, high = resampled_interval(area, drawn, n, 0, 1)
    if one_level or area in (0, 1):
        ends = roc_area_interval(area, n_positive, n_negative)
        return min(low, ends[0]), max(high, ends[1])
    return low, high

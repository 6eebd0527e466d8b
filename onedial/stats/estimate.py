"""A number with its interval, and the one bootstrap that gives it.

    estimate(lambda weights: weights @ x / weights.sum(axis=1), resampled_weights(len(x), 1999, seed=0))

A statistic is a function of weights, how often each unit counts: of 1 each it is the number itself, of what a resample
drew it is one of the values whose 2.5% and 97.5% quantiles are the interval.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from onedial.stats.arrays import Floats
from onedial.stats.level import Z_95, interval_95

NAN = float("nan")


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval; nan where it cannot be said.

    Attributes:
        se: standard error. n: units that it rests on. n_missing: those left out, since something of them is missing.

    >>> f"{Estimate(0.561, 0.508, 0.61):.2f}"
    '.56 (.51 to .61)'
    >>> Estimate(0.5, 0.4, 0.6).columns("share")
    {'share': 0.5, 'share_low': 0.4, 'share_high': 0.6}
    """

    value: float = NAN
    low: float = NAN
    high: float = NAN
    se: float = NAN
    n: int = 0
    n_missing: int = 0

    def __format__(self, form: str) -> str:
        """Write the number with its interval in brackets, each by `form`, without a zero before the point."""
        value, low, high = (without_zero(end, form) for end in (self.value, self.low, self.high))
        return value if self.value != self.value or self.low != self.low else f"{value} ({low} to {high})"

    def columns(self, name: str) -> dict[str, float]:
        """Name the columns that a table has of it: `name`, `name_low`, `name_high`."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    @property
    def beyond_zero(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def estimate(statistic: Callable[[Floats], Any], weights: Floats | Iterable[Floats], n_missing: int = 0) -> Estimate:
    """Estimate a statistic with a percentile bootstrap; resamples in which it cannot be computed are left out.

    Args:
        statistic: from (resample, unit), how often each unit counts, to (resample,).
        weights: (resample, unit), or pieces of it (`resampled_weights`). n_missing: units, to state.

    R: `boot::boot.ci(boot::boot(x, statistic, 1999), type = "perc")`.

    >>> from onedial.stats import resampled_weights
    >>> drawn = resampled_weights(9, 99, seed=0)
    >>> mean = estimate(lambda weights: weights @ np.arange(9.0) / weights.sum(axis=1), drawn)
    >>> mean.value, mean.low < 4 < mean.high, mean.n
    (4.0, True, 9)
    """
    pieces = [weights] if isinstance(weights, np.ndarray) else list(weights)
    n_units = pieces[0].shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(np.asarray(statistic(np.ones((1, n_units))))[0])
        drawn = np.concatenate([np.asarray(statistic(piece)) for piece in pieces])
    known = drawn[np.isfinite(drawn)]
    se = float(known.std(ddof=1)) if len(known) > 1 else NAN
    return Estimate(value, *interval_95(known), se, n_units, n_missing)


def rank_correlation(one: Floats, other: Floats, weights: Iterable[Floats] | None = None) -> Estimate:
    """Compute Spearman's correlation over the units that have both values, with its 95% interval.

    Where units are independent, the interval is Fisher's z with the variance of Bonett and Wright (2000, Psychometrika
    65, 23-28); where they are drawn in groups it is a bootstrap over these, ranked anew in each resample.

    Args:
        one, other: (unit,), nan where missing. weights: pieces (resample, unit) of such draws; None: independent units.

    Returns:
        nan where fewer than three units have both, or one of the two is constant; no interval of fewer than five
        independent units. n: units that have both.

    R: `cor(one, other, method = "spearman")`.

    >>> f"{rank_correlation(np.arange(9.0), np.arange(9.0) ** 2):.2f}"
    '1.00 (1.00 to 1.00)'
    >>> f"{rank_correlation(np.array([1.0, 2, 3, 4, 5, 6]), np.array([2.0, 1, 3, 4, 6, 5])):.2f}"
    '.89 (.07 to .99)'
    """
    known = np.isfinite(one) & np.isfinite(other)
    n, n_missing = int(known.sum()), int((~known).sum())
    if n < 3 or np.ptp(one[known]) == 0 or np.ptp(other[known]) == 0:
        return Estimate(n=n, n_missing=n_missing)
    value = float(stats.spearmanr(one[known], other[known]).statistic)
    if weights is not None:
        drawn = [_weighted_ranks(piece[:, known], one[known], other[known]) for piece in weights]
        values = np.concatenate([*drawn, np.array([])])
        return Estimate(value, *interval_95(values, fewest=2), n=n, n_missing=n_missing)
    if n < 5:
        return Estimate(value, n=n, n_missing=n_missing)
    if abs(value) >= 1:
        return Estimate(value, value, value, n=n, n_missing=n_missing)
    reach = Z_95 * np.sqrt((1 + value**2 / 2) / (n - 3))
    ends = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return Estimate(value, float(ends[0]), float(ends[1]), n=n, n_missing=n_missing)


def _weighted_ranks(weights: Floats, *columns: Floats) -> Floats:
    """Compute Spearman's correlation in each resample of three units or more in which neither column is constant."""
    weights = weights.astype(np.float64)
    ranks = []
    for column in columns:
        place = np.unique(column, return_inverse=True)[1]
        often = weights @ np.eye(place.max() + 1)[place]
        ranks.append((np.cumsum(often, axis=1) - often / 2)[:, place])
    n = weights.sum(axis=1)
    x, y = (rank - n[:, None] / 2 for rank in ranks)
    xx, yy, xy = ((weights * a * b).sum(axis=1) for a, b in ((x, x), (y, y), (x, y)))
    shown = (n > 2) & (xx > 1e-9) & (yy > 1e-9)
    return np.asarray(xy[shown] / np.sqrt(xx[shown] * yy[shown]))


def without_zero(value: float, form: str) -> str:
    """Write a number for a sentence: no zero before the point, a real minus sign, a dash for nan.

    >>> without_zero(-0.125, ".2f"), without_zero(1.5, "+.1f")
    ('−.12', '+1.5')
    """
    if value != value:
        return "–"
    return re.sub(r"^([+-]?)0(?=\.)", r"\1", format(value, form)).replace("-", "\N{MINUS SIGN}")

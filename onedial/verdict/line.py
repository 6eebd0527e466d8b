"""The line of magnitude on threshold, beside its null. It decides nothing: docs/evidence.md.

    magnitude_t = intercept + slope * threshold_t      by least squares, over targets

The magnitude is the one of best agreement on the fitting split, at an edge of the range too; the threshold is higher
where a target says yes more often. R^2 is to be read only beside its null: the panel's fitting rows permuted, so that
targets keep their yes rates, and every magnitude chosen anew.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from onedial.stats.estimate import Estimate
from onedial.stats.level import QUANTILES_95
from onedial.stats.resampling import permuted_rows
from onedial.verdict.criteria import choice

if TYPE_CHECKING:
    from onedial.verdict.case import Case

PERMUTATIONS = 99
"""For the null's median."""


@dataclass(frozen=True)
class Line:
    """Over the n targets that have a magnitude and a threshold; nan under three of them.

    Attributes:
        slope: with its 95% interval by Student's t. r2_null_median: of R^2 after permuting.
    """

    slope: Estimate = field(default_factory=Estimate)
    intercept: float = math.nan
    r2: float = math.nan
    r2_null_median: float = math.nan
    n: int = 0


def line_of(case: "Case") -> Line:
    """Fit the line of a panel's targets."""
    threshold, magnitude = case.matches[["threshold", "magnitude"]].to_numpy(float).T
    known = np.isfinite(threshold) & np.isfinite(magnitude)
    n, x, y = int(known.sum()), threshold[known], magnitude[known]
    if n < 3 or np.ptp(x) == 0:
        return Line(n=n)
    fit = stats.linregress(x, y)
    reach = float(stats.t.ppf(QUANTILES_95[1], n - 2) * fit.stderr)
    slope = Estimate(float(fit.slope), float(fit.slope) - reach, float(fit.slope) + reach, float(fit.stderr), n)
    return Line(slope, float(fit.intercept), _r2(x, y), float(np.median(_null(case, x, known))), n)


def _null(case: "Case", threshold: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Compute R^2 in every permutation."""
    answers, given = case.answers[case.fitting], case.given[case.fitting][:, known]
    rng, n = np.random.default_rng(case.seed), min(case.n_resamples, PERMUTATIONS)
    permuted = given[np.stack(list(permuted_rows(len(given), n, rng)))]
    scores = choice.agreement_by_magnitude(answers, permuted)
    chosen, _, _ = choice.middle_of_best(scores, case.magnitudes, case.allowed)
    return np.array([_r2(threshold, magnitudes) for magnitudes in case.magnitudes[chosen]])


def _r2(x: np.ndarray, y: np.ndarray) -> float:
    """Compute the share of the variance of y that a straight line on x explains; 0 where y does not vary."""
    return 0.0 if np.ptp(y) == 0 else float(np.corrcoef(x, y)[0, 1] ** 2)

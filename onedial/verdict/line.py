"""The line of place on the dial on threshold, beside its null. It decides nothing: docs/evidence.md.

A target's place is found by maximum likelihood (`placement`); the line is weighted by the errors of place and
threshold.
"""

import math
from dataclasses import dataclass

import numpy as np

from onedial.stats.resampling import permuted_rows
from onedial.verdict.case import Case
from onedial.verdict.placement import matched_magnitudes, orthogonal_line

PERMUTATIONS = 99
"""For the null's median; a probit is fitted to every target of each."""


@dataclass(frozen=True)
class Line:
    """The line over the n targets that have a threshold and a place, both with an error.

    Attributes:
        r2_null_median: of R^2 after the panel's rows are permuted.
        n_beyond: targets whose place lies beyond the magnitudes dial_low to dial_high that were asked, where it is
            extrapolated; they count in r2. r2_within: the same R^2 of the others alone.
    """

    slope: float
    intercept: float
    r2: float
    r2_null_median: float
    n: int
    n_beyond: int
    r2_within: float
    dial_low: float
    dial_high: float


def line_of(case: Case) -> Line:
    """The line of a panel's targets."""
    table = case.matches
    names = ("threshold", "magnitude_ml", "threshold_se", "magnitude_ml_se")
    threshold, place, threshold_se, place_se = (table[name].to_numpy(float) for name in names)
    slope, intercept, r2 = orthogonal_line(threshold, place, threshold_se, place_se)
    on_line = np.isfinite(threshold) & np.isfinite(place) & (place_se > 0) & (threshold_se > 0)
    low, high = float(case.magnitudes[0]), float(case.magnitudes[-1])
    within = on_line & (place >= low) & (place <= high)
    return Line(
        slope=slope,
        intercept=intercept,
        r2=r2,
        r2_null_median=_null_median(case),
        n=int(on_line.sum()),
        n_beyond=int((on_line & ~within).sum()),
        r2_within=orthogonal_line(threshold[within], place[within], threshold_se[within], place_se[within])[2],
        dial_low=low,
        dial_high=high,
    )


def _null_median(case: Case) -> float:
    table, given = case.matches, case.given[case.ordered]
    threshold, error = table["threshold"].to_numpy(float), table["threshold_se"].to_numpy(float)
    rng = np.random.default_rng(case.seed)
    null = []
    for rows in permuted_rows(len(given), min(case.n_resamples, PERMUTATIONS), rng):
        place, place_se = matched_magnitudes(case.dial.place[case.ordered], given[rows])
        null.append(orthogonal_line(threshold, place, error, place_se)[2])
    return float(np.nanmedian(null)) if np.isfinite(null).any() else math.nan

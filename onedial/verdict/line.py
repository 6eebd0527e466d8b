"""The line of magnitude on threshold, three ways, each beside its null. It decides nothing: docs/method_evidence.md.

best agreement  the magnitude that agrees best on the fitting split, over targets of status `ok`
rate            the magnitude of the same yes rate, over the same targets
likelihood      the place on the dial by maximum likelihood (`placement`), over all that have one, weighted by the
                errors of place and threshold
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from onedial.stats import permuted_rows
from onedial.verdict.criteria.criteria import AGREEMENT, RATE
from onedial.verdict.criteria.nulls import line_null, r_squared
from onedial.verdict.criteria.status import OK
from onedial.verdict.match import TargetMatches
from onedial.verdict.placement import matched_magnitudes, orthogonal_line

PERMUTATIONS = 499
"""The nulls of R^2 decide nothing: enough for their median and 95% point."""
LIKELIHOOD_PERMUTATIONS = 99
"""A probit is fitted to every target of each."""


@dataclass(frozen=True)
class Line:
    """Lines of magnitude on threshold.

    slope, intercept, r2 and the null's median and 95% point: least squares on best agreement over the n `ok` targets;
    r2_all over all n_all. r2_rate ...: on the rate-matched magnitudes of the same n. slope_ml, intercept_ml, r2_ml ...:
    by maximum likelihood with errors in both, over n_ml targets. Of these, n_ml_beyond have their place beyond the
    magnitudes dial_low to dial_high that were asked, where it is extrapolated; they count in r2_ml, and r2_ml_within is
    the same R^2 of the others alone.
    """

    slope: float
    intercept: float
    r2: float
    r2_null_median: float
    r2_null_95: float
    n: int
    r2_all: float
    n_all: int
    r2_rate: float
    r2_rate_null_median: float
    slope_ml: float
    intercept_ml: float
    r2_ml: float
    r2_ml_null_median: float
    n_ml: int
    n_ml_beyond: int
    r2_ml_within: float
    dial_low: float
    dial_high: float


def line_of(matches: TargetMatches, n_permutations: int, seed: int) -> Line:
    """Every line that the table allows."""
    table, evidence = matches.table, matches.evidence
    threshold = table["threshold"].to_numpy(float)
    placed = np.isfinite(threshold) & np.isfinite(table["magnitude"].to_numpy(float))
    ok = placed & (table["status"] == OK).to_numpy()
    slope = intercept = r2 = median = upper = r2_rate = median_rate = math.nan
    times = min(n_permutations, PERMUTATIONS)
    if ok.sum() >= 3:
        x, y = threshold[ok], table.loc[ok, "magnitude"].to_numpy(float)
        r2, r2_rate = float(r_squared(x, y)), float(r_squared(x, table.loc[ok, "magnitude_rate"].to_numpy(float)))
        if np.ptp(x) > 0:
            fit = stats.linregress(x, y)
            slope, intercept = float(fit.slope), float(fit.intercept)
        fitting = (evidence.fitting_margins, evidence.fitting_targets[:, ok], evidence.magnitudes, x)
        median, upper = _middle_and_upper(line_null(AGREEMENT, *fitting, times, seed))
        median_rate, _ = _middle_and_upper(line_null(RATE, *fitting, times, seed))
    r2_all = math.nan
    if placed.sum() >= 3:
        r2_all = float(r_squared(threshold[placed], table["magnitude"].to_numpy(float)[placed]))
    place, place_se = (table[name].to_numpy(float) for name in ("magnitude_ml", "magnitude_ml_se"))
    threshold_se = table["threshold_se"].to_numpy(float)
    slope_ml, intercept_ml, r2_ml = orthogonal_line(threshold, place, threshold_se, place_se)
    on_line = np.isfinite(threshold) & np.isfinite(place) & (place_se > 0) & (threshold_se > 0)
    asked = matches.dose_response["magnitude"]
    low, high = float(asked.min()), float(asked.max())
    within = on_line & (place >= low) & (place <= high)
    r2_within = orthogonal_line(threshold[within], place[within], threshold_se[within], place_se[within])[2]
    return Line(
        slope,
        intercept,
        r2,
        median,
        upper,
        int(ok.sum()),
        r2_all,
        int(placed.sum()),
        r2_rate,
        median_rate,
        slope_ml,
        intercept_ml,
        r2_ml,
        _likelihood_null(matches, min(n_permutations, LIKELIHOOD_PERMUTATIONS), seed),
        int(on_line.sum()),
        int((on_line & ~within).sum()),
        r2_within,
        low,
        high,
    )


def _likelihood_null(matches: TargetMatches, n_permutations: int, seed: int) -> float:
    """Median R^2 by likelihood after the panel's rows are permuted."""
    evidence, table = matches.evidence, matches.table
    threshold, error = table["threshold"].to_numpy(float), table["threshold_se"].to_numpy(float)
    rng = np.random.default_rng(seed)
    found = []
    for rows in permuted_rows(len(evidence.given), n_permutations, rng):
        place, place_se = matched_magnitudes(evidence.dial.place[evidence.ordered], evidence.given[rows])
        found.append(orthogonal_line(threshold, place, error, place_se)[2])
    return float(np.nanmedian(found)) if np.isfinite(found).any() else math.nan


def _middle_and_upper(null: np.ndarray) -> tuple[float, float]:
    if not np.isfinite(null).any():
        return math.nan, math.nan
    return float(np.nanmedian(null)), float(np.nanquantile(null, 0.95))

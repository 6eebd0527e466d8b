"""Where on the dial each target stands, and the line of place on threshold beside its null. It decides nothing:
docs/evidence.md.

A target that stands at m says yes to the questions whose answer has turned by then. With c_q the crossing of question q
(`dial.Turns.place`) and noise of its own,

    P(target t says yes to q) = Phi((m_t - c_q) / s_t)

m_t and 1 / s_t are found by maximum likelihood (a probit of the yes on the crossing); the standard error of m_t is by
the delta method from the inverse of the observed information. Where a target's answers have nothing to do with the
order (1 / s_t not above 0), no place can be told. The line is weighted by the errors of place and threshold.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

from onedial.stats.resampling import permuted_rows

if TYPE_CHECKING:
    from onedial.verdict.case import Case

PERMUTATIONS = 99
"""For the null's median; a probit is fitted to every target of each."""
_ITERATIONS = 30
_FLATTEST, _STEEPEST = 1e-3, 1e4
"""Slopes per standard deviation of the crossings outside of which an order says nothing, or everything."""


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


def line_of(case: "Case") -> Line:
    """The line of a panel's targets."""
    names = ("threshold", "magnitude_ml", "threshold_se", "magnitude_ml_se")
    points = case.matches[list(names)].to_numpy(float).T
    (threshold, place), (threshold_se, place_se) = points[:2], points[2:]
    low, high = float(case.magnitudes[0]), float(case.magnitudes[-1])
    on_line = np.isfinite(threshold) & np.isfinite(place) & (place_se > 0) & (threshold_se > 0)
    within = on_line & (place >= low) & (place <= high)
    given, rng, null = case.given[case.ordered], np.random.default_rng(case.seed), []
    for rows in permuted_rows(len(given), min(case.n_resamples, PERMUTATIONS), rng):
        drawn, drawn_se = matched_magnitudes(case.dial.place[case.ordered], given[rows])
        null.append(orthogonal_line(threshold, drawn, threshold_se, drawn_se)[2])
    slope, intercept, r2 = orthogonal_line(*points)
    return Line(
        slope=slope,
        intercept=intercept,
        r2=r2,
        r2_null_median=float(np.nanmedian(null)) if np.isfinite(null).any() else math.nan,
        n=int(on_line.sum()),
        n_beyond=int((on_line & ~within).sum()),
        r2_within=orthogonal_line(*points[:, within])[2],
        dial_low=low,
        dial_high=high,
    )


def matched_magnitudes(crossings: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """m_t and its standard error for each target, nan where it has no place.

    Args:
        crossings: question, in the unit of the magnitudes, nan where unread. given: question x target (1, 0, nan).
    """
    known = ~np.isnan(crossings)
    spread = float(crossings[known].std()) if known.any() else 0.0
    if not spread > 0:
        nothing = np.full(given.shape[1], np.nan)
        return nothing, nothing
    centre = float(crossings[known].mean())
    (a, b), information = _probit((crossings[known] - centre) / spread, given[known])
    usable = (b > _FLATTEST) & (b < _STEEPEST)
    with np.errstate(invalid="ignore", divide="ignore"):
        first, off, second = information[:, 0, 0], information[:, 0, 1], information[:, 1, 1]
        along, across = 1 / b, -a / b**2  # of a / b by a and by b
        variance = (along**2 * second - 2 * along * across * off + across**2 * first) / (first * second - off**2)
        place = np.where(usable, a / b, np.nan)
        error = np.sqrt(np.where(usable & (variance > 0), variance, np.nan))
    return centre + spread * place, spread * error


def _probit(x: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(yes) = Phi(a - b x) for every target at once, by Newton's method; a and b (2 x target), and the observed
    information (target x 2 x 2).

    The likelihood is concave; where a target's answers are all alike or parted without overlap it has no maximum, and
    b runs away.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.nansum(given, axis=0) / (~np.isnan(given)).sum(axis=0)
    constant = (rate == 0) | (rate == 1) | np.isnan(rate)
    answered = ~np.isnan(given) & ~constant  # else all would be gone on with for what runs away
    sign = np.where(answered, 2 * np.nan_to_num(given) - 1, 0.0)
    design = np.stack([np.ones_like(x), -x], axis=-1)
    begin = np.nan_to_num(special.ndtri(np.clip(rate, 0.005, 0.995)))
    parameters = np.stack([begin, np.full(given.shape[1], 0.3)], axis=-1)
    products = design[:, :, None] * design[:, None, :]
    for _ in range(_ITERATIONS):
        z = sign * (design @ parameters.T)
        mills = np.where(answered, np.exp(-(z**2) / 2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(z)), 0.0)
        information = np.tensordot(mills * (mills + z), products, axes=(0, 0))
        step = np.linalg.solve(information + 1e-9 * np.eye(2), ((sign * mills).T @ design)[..., None])[..., 0]
        size = np.abs(step).max(axis=-1, keepdims=True)
        parameters = parameters + step * np.minimum(1.0, 2.0 / np.maximum(size, 1e-12))  # a far start may overshoot
        if size.max(initial=0) < 1e-9:
            break
    return np.where(constant, np.nan, parameters.T), information


def orthogonal_line(x: np.ndarray, y: np.ndarray, x_se: np.ndarray, y_se: np.ndarray) -> tuple[float, float, float]:
    """Line y = intercept + slope x with errors in both, each point weighted by its own.

    Minimises sum (y - intercept - slope x)^2 / (y_se^2 + slope^2 x_se^2) (Deming's weights; York, 1966, Canadian
    Journal of Physics 44, 1079-1086, with uncorrelated errors).

    Returns:
        slope, intercept, and the weighted R^2: 1 - the sum above over that about the weighted mean of y; nan for fewer
        than 3 points with both errors or where x does not vary.
    """
    with np.errstate(over="ignore"):
        known = np.isfinite(x) & np.isfinite(y) & (x_se > 0) & (y_se > 0) & np.isfinite(x_se**2) & np.isfinite(y_se**2)
    x, y, x_se, y_se = x[known], y[known], x_se[known], y_se[known]
    if len(x) < 3 or np.ptp(x) == 0:
        return math.nan, math.nan, math.nan

    def about(angle: float) -> tuple[float, float, np.ndarray]:
        """Misfit, intercept and weights of the line at this angle."""
        slope = np.tan(angle)
        weights = 1 / (y_se**2 + slope**2 * x_se**2)
        intercept = float((weights * (y - slope * x)).sum() / weights.sum())
        return float((weights * (y - intercept - slope * x) ** 2).sum()), intercept, weights

    apart = x - x.mean()
    start = np.arctan((apart * y).sum() / (apart**2).sum())
    best = min(start + np.linspace(-1.2, 1.2, 25), key=lambda angle: about(angle)[0])
    ends = (best - 0.11, best + 0.11)
    angle = optimize.minimize_scalar(lambda at: about(at)[0], bounds=ends, method="bounded", options={"xatol": 1e-10}).x
    left, intercept, weights = about(angle)
    total = float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
    return float(np.tan(angle)), intercept, 1 - left / total if total > 0 else math.nan

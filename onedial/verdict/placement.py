"""Where on the dial a target stands: a magnitude with a standard error, from where its answers turn to no.

A target that stands at m says yes to the questions whose answer has turned by then. With c_q the crossing of question q
(`dial.Dial.place`) and noise of its own,

    P(target t says yes to q) = Phi((m_t - c_q) / s_t)

m_t and 1 / s_t are found by maximum likelihood (a probit of the yes on the crossing); the standard error of m_t is by
the delta method from the inverse of the observed information. Where a target's answers have nothing to do with the
order (1 / s_t not above 0), no place can be told.
"""

import numpy as np
from scipy import optimize, special, stats

_ITERATIONS = 30
_FLATTEST, _STEEPEST = 1e-3, 1e4
"""Slopes per standard deviation of the crossings outside of which an order says nothing, or everything."""


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
    a, b, information = _probit((crossings[known] - centre) / spread, given[known])
    usable = (b > _FLATTEST) & (b < _STEEPEST)
    with np.errstate(invalid="ignore", divide="ignore"):
        gradient = np.stack([1 / b, -a / b**2], axis=-1)
        determinant = information[:, 0, 0] * information[:, 1, 1] - information[:, 0, 1] ** 2
        adjoint = np.stack(
            [
                np.stack([information[:, 1, 1], -information[:, 0, 1]], axis=-1),
                np.stack([-information[:, 0, 1], information[:, 0, 0]], axis=-1),
            ],
            axis=-2,
        )
        variance = np.einsum("ti,tij,tj->t", gradient, adjoint, gradient) / determinant
        place, error = np.where(usable, a / b, np.nan), np.sqrt(np.where(usable & (variance > 0), variance, np.nan))
    return centre + spread * place, spread * error


def _probit(x: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(yes) = Phi(a - b x) for every target at once, by Newton's method; a, b and the observed information.

    The likelihood is concave; where a target's answers are all alike or parted without overlap it has no maximum, and
    b runs away.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.nansum(given, axis=0) / (~np.isnan(given)).sum(axis=0)
    constant = (rate == 0) | (rate == 1) | np.isnan(rate)
    answered = ~np.isnan(given) & ~constant  # else all would be gone on with for what runs away
    sign = np.where(answered, 2 * np.nan_to_num(given) - 1, 0.0)
    a, b = np.nan_to_num(special.ndtri(np.clip(rate, 0.005, 0.995))), np.full(given.shape[1], 0.3)
    information = np.zeros((given.shape[1], 2, 2))
    for _ in range(_ITERATIONS):
        z = sign * (a - x[:, None] * b)
        mills = np.where(answered, np.exp(-(z**2) / 2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(z)), 0.0)
        weight = mills * (mills + z)
        slope = np.stack([(sign * mills).sum(axis=0), -(sign * mills * x[:, None]).sum(axis=0)], axis=-1)
        cross = -(weight * x[:, None]).sum(axis=0)
        information = np.stack(
            [
                np.stack([weight.sum(axis=0), cross], axis=-1),
                np.stack([cross, (weight * x[:, None] ** 2).sum(axis=0)], axis=-1),
            ],
            axis=-2,
        )
        step = np.linalg.solve(information + 1e-9 * np.eye(2), slope[..., None])[..., 0]
        size = np.abs(step).max(axis=-1, keepdims=True)
        step *= np.minimum(1.0, 2.0 / np.maximum(size, 1e-12))  # a far start may overshoot
        a, b = a + step[:, 0], b + step[:, 1]
        if size.max(initial=0) < 1e-9:
            break
    return np.where(constant, np.nan, a), np.where(constant, np.nan, b), information


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
        return float("nan"), float("nan"), float("nan")

    def misfit(slope: float) -> tuple[float, float]:
        weights = 1 / (y_se**2 + slope**2 * x_se**2)
        intercept = float(np.average(y - slope * x, weights=weights))
        return float((weights * (y - intercept - slope * x) ** 2).sum()), intercept

    start = stats.linregress(x, y).slope
    angles = np.arctan(start) + np.linspace(-1.2, 1.2, 25)
    slopes = np.tan(angles)[:, None]
    weights = 1 / (y_se**2 + slopes**2 * x_se**2)
    apart = y - slopes * x
    apart -= (weights * apart).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    best = angles[np.argmin((weights * apart**2).sum(axis=1))]
    found = optimize.minimize_scalar(lambda angle: misfit(np.tan(angle))[0], bounds=(best - 0.11, best + 0.11),
                                     method="bounded", options={"xatol": 1e-10})  # fmt: skip
    slope = float(np.tan(found.x))
    left, intercept = misfit(slope)
    weights = 1 / (y_se**2 + slope**2 * x_se**2)
    total = float((weights * (y - np.average(y, weights=weights)) ** 2).sum())
    return slope, intercept, 1 - left / total if total > 0 else float("nan")

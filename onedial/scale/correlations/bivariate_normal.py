"""The bivariate normal distribution, and its inverse in the correlation, for whole arrays at once.

With Owen's T function and h <= k <= 0 (every other case is a reflection of it)

    Phi2(h, k; rho) = [Phi(h) + Phi(k)] / 2 - T(h, (k/h - rho) / sqrt(1 - rho^2)) - T(k, (h/k - rho) / sqrt(1 - rho^2))

(Owen, 1956, Annals of Mathematical Statistics 27, 1075-1090). It rises strictly with rho, so that one probability
belongs to one rho. In the angle theta = asin(rho) the slope is bounded,

    d Phi2 / d theta = exp(-(h^2 - 2 h k rho + k^2) / (2 cos^2 theta)) / (2 pi),

which is why the inverse is sought there: Newton steps, replaced by bisection whenever they leave the bracket.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, owens_t

from onedial.stats.arrays import Floats, Integers

_MAX_STEPS = 200
_TWO_PI = 2 * np.pi


def bivariate_normal_cdf(h: ArrayLike, k: ArrayLike, rho: ArrayLike) -> Floats:
    """P(X <= h, Y <= k) for standard normal X and Y with correlation rho, by Owen's T.

    Args:
        h, k: finite limits, of any shapes that broadcast. rho: strictly between -1 and 1.

    Returns:
        probabilities of the broadcast shape, absolute error below 1e-15.

    R: `mvtnorm::pmvnorm(upper = c(h, k), corr = matrix(c(1, rho, rho, 1), 2))`.
    """
    h, k, rho = np.broadcast_arrays(
        np.asarray(h, dtype=float), np.asarray(k, dtype=float), np.asarray(rho, dtype=float)
    )
    # P(X <= h, Y <= k) = Phi(h) - P(X <= h, -Y <= -k), and likewise for X.
    flip_h, flip_k = h > 0, k > 0
    low_h, low_k = -np.abs(h), -np.abs(k)
    angle = np.arcsin(np.where(flip_h ^ flip_k, -rho, rho))
    corner = _lower_corner(np.minimum(low_h, low_k).ravel(), np.maximum(low_h, low_k).ravel(), angle.ravel())
    corner = corner.reshape(h.shape)
    one_flipped = np.where(flip_h, ndtr(low_k), ndtr(low_h)) - corner
    both_flipped = 1 - ndtr(low_h) - ndtr(low_k) + corner
    return np.where(flip_h & flip_k, both_flipped, np.where(flip_h | flip_k, one_flipped, corner))


def correlation_from_corner(probability: Floats, h: Floats, k: Floats, tolerance: float = 1e-9) -> Floats:
    """The rho at which Phi2(h, k; rho) = probability, for h <= k <= 0.

    Args:
        probability: (pair,) between 0 and Phi(h); at those ends rho is exactly -1 and 1. h, k: (pair,) limits.
        tolerance: on the last step; Newton's squares its error, and one of 1e-9 leaves none that a double could hold.

    Returns:
        (pair,) correlations; with h = k = 0 the closed form sin(2 pi (probability - 1/4)).
    """
    rho = np.where(probability <= 0, -1.0, 1.0)
    inner = (probability > 0) & (probability < ndtr(h) * (1 - 1e-15))
    closed = inner & (h == 0)
    rho[closed] = np.sin(_TWO_PI * (probability[closed] - 0.25))
    inner &= h < 0
    wanted, low, high = probability[inner], h[inner], k[inner]

    def excess(angle: Floats, of: Integers) -> tuple[Floats, Floats]:
        value = _lower_corner(low[of], high[of], angle) - wanted[of]
        cosine, sine = np.cos(angle), np.sin(angle)
        exponent = (low[of] ** 2 - 2 * low[of] * high[of] * sine + high[of] ** 2) / (2 * cosine**2)
        return value, np.exp(-exponent) / _TWO_PI

    independent = wanted - ndtr(low) * ndtr(high)
    start = np.clip(independent * _TWO_PI * np.exp((low**2 + high**2) / 2), -1.4, 1.4)
    edge = np.full(wanted.shape, np.pi / 2)
    rho[inner] = np.sin(solve_increasing(excess, -edge, edge, start, tolerance))
    return rho


def solve_increasing(
    function: Callable[[Floats, Integers], tuple[Floats, Floats]],
    low: Floats,
    high: Floats,
    start: Floats,
    tolerance: float = 1e-13,
) -> Floats:
    """Roots of many increasing functions at once: Newton's method inside a bracket that only shrinks.

    Args:
        function: (x, which) -> (values, slopes) of the functions numbered `which`. low, high: (root,) brackets
            that are themselves never evaluated. start: (root,) first guesses. tolerance: on the last step.

    Returns:
        (root,) the roots.
    """
    low, high, x = low.copy(), high.copy(), start.copy()
    active = np.arange(len(x))
    for _ in range(_MAX_STEPS):
        if not len(active):
            break
        here = x[active]
        value, slope = function(here, active)
        low[active] = np.where(value < 0, here, low[active])
        high[active] = np.where(value > 0, here, high[active])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            there = here - value / slope
        inside = (there > low[active]) & (there < high[active])
        there = np.where(inside, there, (low[active] + high[active]) / 2)
        there = np.where(value == 0, here, there)
        x[active] = there
        active = active[np.abs(there - here) > tolerance]
    return x


def _lower_corner(h: Floats, k: Floats, angle: Floats) -> Floats:
    """Phi2(h, k; sin(angle)) for h <= k <= 0, all of one shape."""
    cosine, sine = np.cos(angle), np.sin(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(h == 0, 1.0, k / h)
        inverse = np.where(k == 0, np.where(h == 0, 1.0, np.inf), h / k)
    return (ndtr(h) + ndtr(k)) / 2 - owens_t(h, (ratio - sine) / cosine) - owens_t(k, (inverse - sine) / cosine)

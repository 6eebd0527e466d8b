"""Where a smooth curve, known at a few points and expensive to evaluate, crosses zero.

Between the known points stands their Floater-Hormann interpolant (rational, without poles, order 4 in the spacing). In
an interval whose ends differ in sign, the next point is the interpolant's own crossing; it has converged when that
crossing moves by less than a few tolerances from a point already evaluated, since the next move would be far smaller.
Every fourth round halves the interval instead, so that convergence does not rest on the curve being smooth. In an
interval whose ends agree, a point is spent only where the interpolant dips to the other side.
"""

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import FloaterHormannInterpolator
from scipy.optimize import brentq

from onedial.core.errors import InputError

CONVERGED_MOVE = 5.0
"""In tolerances. Over 948 crossings of measured curves the error was then 0.66 tolerances at most."""

_ORDER = 3
_BISECT_EVERY = 4
_FINEST_SEARCH = 1 / 64
_MOST_POINTS_WHILE_SEARCHING = 48
_PROBES = np.linspace(0, 1, 33)[1:-1]


class MarginCurve:
    """The margin of one question as a function of the magnitude, at the points evaluated so far.

    Args:
        low, high: the range in which crossings are wanted.
        tolerance: in magnitude.
    """

    def __init__(self, low: float, high: float, tolerance: float) -> None:
        self.low, self.high, self.tolerance = low, high, tolerance
        self._points: dict[float, float] = {}
        self._rounds = 0
        self.roots: list[float] = []

    @property
    def points(self) -> dict[float, float]:
        """Magnitude -> margin, in the order of the magnitudes."""
        return dict(sorted(self._points.items()))

    @property
    def says_yes_at_low(self) -> bool:
        """The answer at the lower end of the range."""
        return self._points[self.low] > 0

    def add(self, magnitudes: Sequence[float], margins: Sequence[float]) -> None:
        """Take note of new points.

        Raises:
            InputError: a margin is not finite.
        """
        for magnitude, margin in zip(magnitudes, margins, strict=True):
            if not np.isfinite(margin):
                raise InputError(f"the margin at magnitude {magnitude:.4g} is {margin}; choose a smaller range")
            self._points[float(magnitude)] = float(margin)

    def wanted(self) -> list[float]:
        """The magnitudes to be evaluated next; empty when every crossing that shows has converged to `roots`."""
        self._rounds += 1
        at = np.array(sorted(self._points))
        margin = np.array([self._points[magnitude] for magnitude in at])
        between = FloaterHormannInterpolator(at, margin, d=min(_ORDER, len(at) - 1))
        self.roots, new = [], []
        for left in range(len(at) - 1):
            a, b = at[left], at[left + 1]
            if (margin[left] > 0) != (margin[left + 1] > 0):
                root = _crossing(between, a, b)
                if b - a <= 2 * self.tolerance or min(root - a, b - root) <= CONVERGED_MOVE * self.tolerance:
                    self.roots.append(float(root))
                else:
                    new.append(float((a + b) / 2 if self._rounds % _BISECT_EVERY == 0 else root))
            elif b - a > (self.high - self.low) * _FINEST_SEARCH and len(at) < _MOST_POINTS_WHILE_SEARCHING:
                probes = a + (b - a) * _PROBES
                toward_zero = between(probes) * np.sign(margin[left] or -1.0)
                if toward_zero.min() < 0:
                    new.append(float(probes[toward_zero.argmin()]))
        return new


def _crossing(between: FloaterHormannInterpolator, a: float, b: float) -> float:
    def value(magnitude: float) -> float:
        return float(between(np.array([magnitude]))[0])

    ends = value(a), value(b)
    if ends[0] == 0 or ends[1] == 0 or (ends[0] > 0) == (ends[1] > 0):  # a margin of exactly 0, which says no
        return a if abs(ends[0]) < abs(ends[1]) else b
    return float(brentq(value, a, b, xtol=(b - a) * 1e-9))

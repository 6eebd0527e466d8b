"""How large an effect must be for a test to find it four times out of five."""

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL

POWER = 0.8


def least_z(n_tests: int = 1, power: float = POWER) -> float:
    """Compute how many standard errors an effect must have to be found with this power.

    Formula: Phi^-1(1 - alpha') + Phi^-1(power), alpha' = LEVEL / n_tests / 2: what a single effect
    among n tests needs after adjustment.

    >>> round(least_z(), 2)
    2.8
    """
    alpha = LEVEL / max(n_tests, 1) / 2
    return float(ndtri(power) - ndtri(alpha))


def least_on_average(least: Any, n_tests: int = 1) -> float:
    """The effect that is found with a power of 80% if it may be anywhere, where each place has a least effect of its
    own; inf where none is, nan where no place was tested.

    Formula: the root s of mean over places of Phi(z s / least - z + Phi^-1(.8)) = .8, z = least_z(n_tests).

    >>> round(least_on_average([0.2, 0.4], 10), 2)
    0.34
    """
    tested: Floats = np.asarray(least, dtype=float)
    tested = tested[~np.isnan(tested)]
    if not len(tested):
        return float("nan")
    effects = np.geomspace(tested.min(), max(tested.min(), tested[np.isfinite(tested)].max(initial=0)), 201)
    power = [power_on_average(effect, tested, n_tests) for effect in effects]
    return float(np.interp(POWER - 1e-9, power, effects, right=np.inf))


def power_on_average(effect: float, least: Any, n_tests: int = 1) -> float:
    """Compute how often this effect is found if it may be anywhere; 0 where no place was tested.

    Formula: mean over places of Phi(z effect / least - z + Phi^-1(.8)), z = least_z(n_tests).

    >>> round(power_on_average(0.2, [0.2, 0.2, np.nan]), 2)
    0.8
    """
    tested: Floats = np.asarray(least, dtype=float)
    tested = tested[~np.isnan(tested)]
    needed = least_z(n_tests)
    return float(ndtr(needed * effect / tested - needed + ndtri(POWER)).mean()) if len(tested) else 0.0

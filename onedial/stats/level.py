"""The level, the interval, the p value and the power that every judgement uses.

level      p at or below .05 counts as evidence
interval   95%: from the 2.5% to the 97.5% quantile of what was resampled, or estimate ± 1.96 standard errors
p value    (1 + k) / (B + 1), with k of B random data sets at least as extreme as the one observed
power      80%: what an effect is said to be large enough for
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

LEVEL = 0.05
"""A p value up to here speaks against chance, where a procedure has to decide."""
POWER = 0.8
"""How often an effect is found that is called large enough to be."""
QUANTILES_95 = (0.025, 0.975)
"""Ends of the 95% interval."""
Z_95 = 1.959963984540054
"""Standard errors from the estimate to either end of the 95% interval of a normal distribution."""


MOST_UNREAD = 0.5
"""Share of the answers. Where more could not be read there is no number: what is left of a respondent that answers some
things alone says little of the others."""


def interval_95(drawn: ArrayLike, fewest: int = 1) -> tuple[float, float]:
    """Find the ends of the central 95% of what was resampled; nan values are left out.

    Args:
        drawn: any shape. fewest: with fewer known values than this, both ends are nan.

    >>> interval_95(range(1001))
    (25.0, 975.0)
    """
    values = np.asarray(drawn)
    known = values[~np.isnan(values)]
    if len(known) < fewest:
        return float("nan"), float("nan")
    low, high = np.quantile(known, QUANTILES_95)
    return float(low), float(high)


def p_value(observed: float, simulated: np.ndarray[Any, Any], larger: bool = True) -> float:
    """Compute the one-sided p value of a statistic beside those of B random data sets.

    Formula: (1 + k) / (B + 1), k = simulated values at least as large as the observed one (Davison and Hinkley, 1997,
    Bootstrap Methods and their Application, section 4.2). Values that differ by rounding alone (1e-12) count as equal.

    Args:
        observed: the statistic. simulated: (replicate,) the same of the random data; nan are left out of k and B.
        larger: whether large values speak against chance; False = small ones do.

    Returns:
        between 1 / (B + 1) and 1; nan where the statistic is not finite or no simulated one is. Sign: small speaks
        against chance.

    R: `(1 + sum(simulated >= observed)) / (length(simulated) + 1)`.

    >>> p_value(2.0, np.array([0.0, 1.0, 3.0]))
    0.5
    """
    simulated = simulated[np.isfinite(simulated)]
    if not np.isfinite(observed) or not len(simulated):
        return float("nan")
    extreme = simulated >= observed - 1e-12 if larger else simulated <= observed + 1e-12
    return float((1 + extreme.sum()) / (len(simulated) + 1))


def least_z(n_tests: int = 1, power: float = POWER) -> float:
    """Compute how many standard errors an effect must have to be found with this power.

    Formula: Phi^-1(1 - alpha') + Phi^-1(power), alpha' = LEVEL / n_tests / 2: what a single effect
    among n tests needs after adjustment.

    >>> round(least_z(), 2)
    2.8
    """
    alpha = LEVEL / max(n_tests, 1) / 2
    return float(ndtri(power) - ndtri(alpha))

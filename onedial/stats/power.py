"""How large an effect must be for a test to find it four times out of five."""

import numpy as np
from scipy.special import chdtri, chndtrinc, ndtri

from onedial.stats.level import LEVEL

POWER = 0.8


def least_z(n_tests: int = 1, two_sided: bool = True, power: float = POWER) -> float:
    """How many standard errors an effect must have to be found with this power.

    Formula: Phi^-1(1 - alpha') + Phi^-1(power), alpha' = LEVEL / n_tests, halved where two-sided: what a single effect
    among n tests needs after adjustment.

    >>> round(least_z(), 2)
    2.8
    """
    alpha = LEVEL / max(n_tests, 1) / (2 if two_sided else 1)
    return float(ndtri(power) - ndtri(alpha))


def least_noncentrality(df: int, n_tests: int = 1, power: float = POWER) -> float:
    """Noncentrality at which a chi-squared test with df degrees of freedom finds something with this power.

    R: `uniroot(function(x) pchisq(qchisq(1 - .05 / n, df), df, x, lower = FALSE) - .8, c(0, 100))$root`.

    >>> round(least_noncentrality(1) ** 0.5, 2)
    2.8
    """
    critical = chdtri(df, LEVEL / max(n_tests, 1))
    return float(chndtrinc(critical, df, 1 - power)) if np.isfinite(critical) else float("nan")

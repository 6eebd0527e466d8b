"""Many p values at once, one in a sentence, and the tail of chi-squared."""

import numpy as np
from scipy.special import chdtrc

from onedial.stats.arrays import Floats


def adjusted(p: Floats) -> Floats:
    """p values adjusted for the false discovery rate; nan stays nan and does not count.

    Formula: min over j >= rank of n p_(j) / j (Benjamini and Hochberg, 1995, Journal of the Royal Statistical Society B
    57, 289-300). R: `p.adjust(p, "BH")`.

    >>> adjusted(np.array([0.01, 0.02, 0.5, np.nan])).tolist()
    [0.03, 0.03, 0.5, nan]
    """
    from scipy.stats import false_discovery_control  # scipy.stats takes a second to load

    known = np.isfinite(p)
    found = np.full(p.shape, np.nan)
    if known.any():
        found[known] = false_discovery_control(p[known])
    return found


def chi_squared_tail(value: float, df: float) -> float:
    """P(chi-squared > value); nan where the value is.

    >>> round(chi_squared_tail(3.84, 1), 3)
    0.05
    """
    return float(chdtrc(df, max(value, 0.0))) if np.isfinite(value) and df > 0 else float("nan")


def p_text(p: float) -> str:
    """A p value in a sentence.

    >>> p_text(0.0313), p_text(0.00001)
    ('p = 0.031', 'p < .0001')
    """
    return "p < .0001" if p < 1e-4 else f"p = {p:.2g}"

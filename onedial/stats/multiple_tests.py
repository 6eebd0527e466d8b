"""Many p values at once, one in a sentence, and the tail of chi-squared."""

import numpy as np
from scipy.special import chdtrc

from onedial.stats.arrays import Floats


def adjusted(p: Floats) -> Floats:
    """Adjust p values for the false discovery rate; nan stays nan and does not count.

    Formula: min over j >= rank of n p_(j) / j (Benjamini and Hochberg, 1995, Journal of the Royal Statistical Society B
    57, 289-300). R: `p.adjust(p, "BH")`.

    >>> adjusted(np.array([0.01, 0.02, 0.5, np.nan])).tolist()
    [0.03, 0.03, 0.5, nan]
    """
    from scipy.stats import false_discovery_control  # scipy.stats takes a second to load

    known = np.isfinite(p)
    p_adjusted = np.full(p.shape, np.nan)
    if known.any():
        p_adjusted[known] = false_discovery_control(p[known])
    return p_adjusted


def holm(p: Floats) -> Floats:
    """Adjust p values so that one true null among all is rejected in no more than the level; nan stays nan.

    Formula: max over j <= rank of (n + 1 - j) p_(j), at most 1 (Holm, 1979, Scandinavian Journal of Statistics 6,
    65-70). R: `p.adjust(p, "holm")`.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    p_adjusted = np.full(p.shape, np.nan)
    p_adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return p_adjusted


def chi_squared_tail(value: float, df: float) -> float:
    """Compute P(chi-squared > value); nan where the value is.

    >>> round(chi_squared_tail(3.84, 1), 3)
    0.05
    """
    return float(chdtrc(df, max(value, 0.0))) if np.isfinite(value) and df > 0 else float("nan")


def p_text(p: float) -> str:
    """Write a p value for a sentence.

    >>> p_text(0.0313), p_text(0.00001)
    ('p = 0.031', 'p < .0001')
    """
    return "p < .0001" if p < 1e-4 else f"p = {p:.2g}"

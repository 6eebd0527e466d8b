"""How well a tetrachoric correlation is known from the answers that a pair shares.

With P11 = Phi2(h, k; rho), h = Phi^-1(p1), k = Phi^-1(p2), a change of the three shares changes rho by

    d rho = (d p11 - A d p1 - B d p2) / phi2(h, k; rho),   A = Phi((k - rho h) / s),  B = Phi((h - rho k) / s),

s = sqrt(1 - rho^2) and phi2 the bivariate normal density: the influence of one question on rho, given its answers. Its
variance over the pair's table is n times the variance of rho.
"""

import numpy as np
from scipy.special import ndtr

from onedial.scale.correlations.thresholds import normal_quantile
from onedial.stats.arrays import Floats


def cell_influences(cells: Floats, rho: Floats) -> Floats:
    """(4, pair) what a question of each answer pattern (yes-yes, yes-no, no-yes, no-no) adds to rho, up to a constant.

    Args:
        cells: (4, pair) counts. rho: (pair,) correlations strictly between -1 and 1.
    """
    n11, n10, n01, n00 = cells
    h, k = normal_quantile(n11 + n10, n01 + n00), normal_quantile(n11 + n01, n10 + n00)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(1 - rho**2)
        density = np.exp(-(h**2 - 2 * rho * h * k + k**2) / (2 * root**2)) / (2 * np.pi * root)
        a, b = ndtr((k - rho * h) / root), ndtr((h - rho * k) / root)
        return np.stack([1 - a - b, -a, -b, np.zeros_like(a)]) / density

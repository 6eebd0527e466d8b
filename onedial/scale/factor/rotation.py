"""Several factors turned to where each respondent loads on few of them: oblimin with gamma = 0 (quartimin).

The sum over pairs of factors of the products of squared loadings is as small as possible (Jennrich and Sampson, 1966,
Psychometrika 31, 313-323). The pattern times the factors' correlations times its transpose is the same as the unrotated
loadings times theirs.
"""

import numpy as np
import pandas as pd
from statsmodels.multivariate.factor_rotation import rotate_factors

from onedial.stats.arrays import Floats

_STARTS = 4


def oblimin(loadings: pd.DataFrame, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pattern (respondent, factor) and correlations (factor, factor) of the rotated factors.

    Formula: above; the best of the start at the unrotated axes and four random ones, climbed to its end.

    Args:
        loadings: such as `FactorModel.loadings`; rows with nan stay nan. seed: of the random starts.

    Returns:
        factors in falling order of their sums of squared loadings. Sign: each has a positive sum.

    R: `GPArotation::oblimin(loadings)`; `psych::fa(r, k, rotate = "oblimin")`.

    >>> plain = pd.DataFrame([[0.7, 0.5], [0.7, 0.5], [0.7, -0.5], [0.7, -0.5]])
    >>> oblimin(plain)[0].abs().round(1).to_numpy().tolist()
    [[0.9, 0.0], [0.9, 0.0], [0.0, 0.9], [0.0, 0.9]]
    """
    known, k, rng = loadings.dropna(), loadings.shape[1], np.random.default_rng(seed)
    starts = [np.eye(k), *(np.linalg.qr(rng.standard_normal((k, k)))[0] for _ in range(_STARTS))]
    turned = [rotate_factors(known.to_numpy(), "quartimin", T=start, tol=1e-3) for start in starts]
    _, best = min(turned, key=lambda one: _complexity(one[0]))
    pattern, axes = rotate_factors(known.to_numpy(), "quartimin", T=best, tol=1e-7, max_tries=2000)
    order = np.argsort(-(pattern**2).sum(axis=0), kind="stable")
    sign = np.where(pattern[:, order].sum(axis=0) < 0, -1.0, 1.0)
    axes = axes[:, order] * sign
    found = pd.DataFrame(pattern[:, order] * sign, known.index, loadings.columns).reindex(loadings.index)
    return found, pd.DataFrame(axes.T @ axes, loadings.columns, loadings.columns)


def _complexity(pattern: Floats) -> float:
    squared = pattern**2
    return float((squared.sum(axis=1) ** 2 - (squared**2).sum(axis=1)).sum())

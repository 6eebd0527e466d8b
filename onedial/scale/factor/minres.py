"""Minimum residual factor extraction: loadings that leave the smallest off-diagonal residuals.

    minimise   sum over i != j of w_ij (r_ij - lambda_i . lambda_j)^2 + sum over i of (1 - |lambda_i|^2 - psi_i)^2
    over the loadings lambda_i and the uniquenesses psi_i >= .005

(Harman and Jones, 1966, Psychometrika 31, 351-368; Joreskog, 1977, on unweighted least squares). While psi_i is free
it makes the diagonal fit exactly, so that unique variance does not count as shared. A correlation that is nan has
weight 0. A respondent whose psi_i sits at .005 is a Heywood case: its communality |lambda_i|^2 is .995 or, as in
psych, more.

Several factors come in their principal position, as psych's unrotated solution: columns of Lambda orthogonal, in
falling order of their sums of squares, each with a positive sum.
"""

import numpy as np
from scipy.optimize import minimize

from onedial.stats.arrays import Floats

MAX_COMMUNALITY = 0.995
_MAX_SWEEPS = 2000
_NEWTON_STEPS = 8


def minres_one_factor(correlation: Floats, tolerance: float = 1e-9, start: Floats | None = None) -> Floats:
    """One factor, for a matrix or a stack of matrices at once, by cyclic least squares.

    Formula: lambda_i <- sum_j w_ij r_ij lambda_j / sum_j w_ij lambda_j^2, i = 1..m in turn, until nothing moves; where
    that exceeds sqrt(.995), the least squares solution with psi_i = .005.

    Args:
        correlation: (..., respondent, respondent); nan = weight 0. tolerance: on the largest change of a sweep.
        start: (..., respondent) loadings to begin with; default: from the first eigenvector.

    Returns:
        (..., respondent) loadings; nan for a respondent without any correlation. Sign: their sum is positive.

    R: `psych::fa(r, 1, fm = "minres")$loadings`.

    >>> minres_one_factor(np.full((3, 3), 0.25) + 0.75 * np.eye(3)).round(2).tolist()
    [0.5, 0.5, 0.5]
    """
    weight = _weights(correlation)
    target = np.where(weight > 0, correlation, 0.0)
    if start is None:
        values, vectors = np.linalg.eigh(target)
        start = vectors[..., -1] * np.sqrt(np.maximum(values[..., -1:], 1e-12))
    bound = np.sqrt(MAX_COMMUNALITY)
    # a loading of exactly 0 is a saddle point that no step would leave
    loading = np.where(start < 0, -1, 1) * np.clip(np.abs(np.nan_to_num(start)), 0.1, bound)
    m = loading.shape[-1]
    # matrices drop out of the sweeps as they settle; one that takes long holds up no other
    loading, shape = loading.reshape(-1, m), loading.shape
    stacked_target, stacked_weight = target.reshape(-1, m, m), weight.reshape(-1, m, m)
    moving = np.arange(len(loading))
    for _ in range(_MAX_SWEEPS):
        here = loading[moving]
        here_target, here_weight = stacked_target[moving], stacked_weight[moving]
        for i in range(m):
            explained = (here_target[:, i, :] * here).sum(-1)
            available = np.maximum((here_weight[:, i, :] * here**2).sum(-1), 1e-12)
            free = explained / available
            beyond = np.abs(free) > bound
            if beyond.any():
                free[beyond] = _pulled_towards_bound(free[beyond], available[beyond])
            here[:, i] = free
        change = np.abs(here - loading[moving]).max(axis=-1, initial=0.0)
        loading[moving] = here
        moving = moving[change >= tolerance]
        if not len(moving):
            break
    loading = loading.reshape(shape)
    total = loading.sum(-1, keepdims=True)
    loading = np.where(total < 0, -loading, loading)
    return np.where(weight.any(-1), loading, np.nan)


def minres(correlation: Floats, n_factors: int) -> Floats:
    """Several factors of one matrix.

    Args:
        correlation: (respondent, respondent); nan = weight 0. n_factors: at least 1.

    Returns:
        (respondent, factor) loadings in principal position; nan for a respondent without any correlation.

    R: `psych::fa(r, n_factors, fm = "minres", rotate = "none")$loadings`.
    """
    if n_factors == 1:
        return minres_one_factor(correlation)[:, None]
    weight = _weights(correlation)
    target = np.where(weight > 0, correlation, 0.0)
    m = len(target)

    def loss(flat: Floats) -> tuple[float, Floats]:
        loadings = flat.reshape(m, n_factors)
        residual = weight * (loadings @ loadings.T - target)
        np.fill_diagonal(residual, np.maximum((loadings**2).sum(axis=1) - MAX_COMMUNALITY, 0))
        return float((residual**2).sum() / 2), (2 * residual @ loadings).ravel()

    start = principal_axes(target + np.diag(np.abs(target).max(axis=1)), n_factors)
    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-10}
    best = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(m, n_factors)
    return np.where(np.asarray(weight.any(axis=1))[:, None], principal_position(best), np.nan)


def principal_axes(correlation: Floats, n_factors: int) -> Floats:
    """(respondent, factor) eigenvectors times the square roots of their eigenvalues, each with a positive sum."""
    values, vectors = np.linalg.eigh(correlation)
    order = np.argsort(values)[::-1][:n_factors]
    return _with_positive_sums(vectors[:, order] * np.sqrt(np.maximum(values[order], 0)))


def principal_position(loadings: Floats) -> Floats:
    """The same factor space with orthogonal columns in falling order, each with a positive sum."""
    left, size, _ = np.linalg.svd(loadings, full_matrices=False)
    return _with_positive_sums(left * size)


def fill_gaps(correlation: Floats) -> Floats:
    """Replace nan by the product of the minres one-factor loadings (0 where those are unknown); diagonal 1."""
    gaps = np.isnan(correlation)
    if not gaps.any():
        return correlation
    loading = np.nan_to_num(minres_one_factor(correlation, tolerance=1e-6))
    filled = np.where(gaps, np.clip(loading[..., :, None] * loading[..., None, :], -1, 1), correlation)
    diagonal = np.arange(correlation.shape[-1])
    filled[..., diagonal, diagonal] = 1.0
    return filled


def eigenvalues(correlation: Floats) -> Floats:
    """(..., respondent) in falling order."""
    return np.linalg.eigvalsh(correlation)[..., ::-1]


def _with_positive_sums(loadings: Floats) -> Floats:
    return loadings * np.where(loadings.sum(axis=0) < 0, -1.0, 1.0)


def _weights(correlation: Floats) -> Floats:
    weight = np.where(np.isnan(correlation), 0.0, 1.0)
    diagonal = np.arange(correlation.shape[-1])
    weight[..., diagonal, diagonal] = 0.0
    return weight


def _pulled_towards_bound(free: Floats, available: Floats) -> Floats:
    """Loadings where a free one would have a communality above the bound.

    Then the uniqueness is .005 and the diagonal residual lambda^2 - .995 counts: the root above sqrt(.995) of
    lambda^3 + (available - .995) lambda - available free = 0, by Newton's method from the free value, where the cubic
    is convex and positive.
    """
    size, root = np.abs(free), np.abs(free)
    for _ in range(_NEWTON_STEPS):
        value = root**3 + (available - MAX_COMMUNALITY) * root - available * size
        root = root - value / (3 * root**2 + available - MAX_COMMUNALITY)
    return np.sign(free) * root

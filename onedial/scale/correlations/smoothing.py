"""Repair of a correlation matrix with negative eigenvalues, as R's psych does it, and never silently.

Smoothing changes the numbers that a judgement of the smallest eigenvalue would be about (by up to 0.135 in our
simulations), so nothing in this package smooths by itself: look at the eigenvalues first, and bootstrap the smallest
(`onedial.scale.one_factor_bootstrap`).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.core import InputError, one_line
from onedial.stats import frame_of, numbers_or_nan, warn


@dataclass(frozen=True)
class SmoothedCorrelation:
    """A positive definite correlation matrix and what the repair cost.

    Attributes:
        correlation: (respondent, respondent).
        was_smoothed: False where the matrix came back as it was.
        min_eigenvalue: of the matrix before the repair.
        max_change: largest absolute change of a correlation.
    """

    correlation: pd.DataFrame
    was_smoothed: bool
    min_eigenvalue: float
    max_change: float

    __repr__ = one_line


def smooth_correlation(correlation: pd.DataFrame | ArrayLike, tolerance: float = 1e-12) -> SmoothedCorrelation:
    """Clip the eigenvalues from below and rescale to a unit diagonal.

    Formula: eigenvalues below `tolerance` become 100 x `tolerance`, all are rescaled to the sum m, and the matrix
    V L V' is divided by its diagonal (Knol and Berger, 1991, Multivariate Behavioral Research 26, 457-477).

    Args:
        correlation: (respondent, respondent), symmetric, without nan.

    Returns:
        SmoothedCorrelation; a `PsychometricsWarning` says that and by how much the matrix was changed. Sign:
        as before, but small correlations may pass 0.

    Raises:
        InputError: not square, not symmetric, or with nan.

    R: `psych::cor.smooth(r)`.

    >>> smooth_correlation(np.array([[1, 0.9, 0.1], [0.9, 1, 0.9], [0.1, 0.9, 1]])).was_smoothed
    True
    """
    frame = correlation if isinstance(correlation, pd.DataFrame) else frame_of(correlation)
    matrix = numbers_or_nan(frame).astype(float)
    frame = pd.DataFrame(matrix, frame.index, frame.columns)
    if matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"a correlation matrix is square, and this one is {matrix.shape[0]} x {matrix.shape[1]}")
    if np.isnan(matrix).any():
        raise InputError(
            f"{int(np.isnan(matrix).any(axis=1).sum())} rows of the correlation matrix hold nan, and eigenvalues need "
            "every entry; leave these respondents out first"
        )
    if not np.allclose(matrix, matrix.T, atol=1e-10):
        raise InputError("the correlation matrix is not symmetric; give the whole matrix, not one triangle")
    values, vectors = np.linalg.eigh(matrix)
    smallest = float(values.min())
    if smallest >= np.finfo(float).eps:
        return SmoothedCorrelation(frame.copy(), False, smallest, 0.0)
    clipped = np.where(values < tolerance, 100 * tolerance, values)
    repaired = (vectors * (clipped * len(values) / clipped.sum())) @ vectors.T
    scale = np.sqrt(np.diag(repaired))
    repaired = repaired / np.outer(scale, scale)
    np.fill_diagonal(repaired, 1.0)
    change = float(np.abs(repaired - matrix).max())
    warn(
        f"the correlation matrix is not positive definite (smallest eigenvalue {smallest:.3g}); smoothing changed its "
        f"correlations by up to {change:.3f}"
    )
    return SmoothedCorrelation(pd.DataFrame(repaired, frame.index, frame.columns), True, smallest, change)

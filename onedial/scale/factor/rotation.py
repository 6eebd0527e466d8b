"""Rotations of several factors to where each respondent loads on few of them.

    varimax   orthogonal; the variance of squared loadings within each factor as large as possible (Kaiser, 1958,
              Psychometrika 23, 187-200), rows first scaled to length 1
    oblimin   oblique; sum over pairs of factors of the products of squared loadings as small as possible (direct
              quartimin, the oblimin with gamma = 0; Jennrich and Sampson, 1966, Psychometrika 31, 313-323)

Both by projected gradient steps (Jennrich, 2002, Psychometrika 67, 7-19; Bernaards and Jennrich, 2005, Educational and
Psychological Measurement 65, 676-696). The pattern of an oblique rotation times the factors' correlations times its
transpose is the same as the unrotated loadings times theirs.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats

Rotation = Literal["varimax", "oblimin"]
_MAX_STEPS = 20_000
_TOLERANCE = 1e-9
_STARTS = 10


@dataclass(frozen=True)
class RotatedLoadings:
    """Rotated loadings.

    Attributes:
        loadings: (respondent, factor); of `oblimin` the pattern. Factors in falling order of their sums of squared
            loadings, each with a positive sum.
        correlation: (factor, factor) of the factors; the identity for `varimax`.
        rotation: which.
    """

    loadings: pd.DataFrame
    correlation: pd.DataFrame
    rotation: Rotation

    __repr__ = one_line


def rotate(loadings: pd.DataFrame | Floats, rotation: Rotation = "oblimin", seed: int = 0) -> RotatedLoadings:
    """Rotate unrotated loadings.

    Formula: above; the best of the start at the unrotated axes and ten random ones.

    Args:
        loadings: (respondent, factor), such as `FactorModel.loadings`; rows with nan stay nan. rotation: `varimax` or
            `oblimin`. seed: of the random starts.

    Returns:
        RotatedLoadings. Sign: the loadings of each factor have a positive sum.

    Raises:
        InputError: the rotation does not exist, or fewer respondents than factors have loadings.

    R: `varimax(loadings, eps = 1e-12)`, `GPArotation::oblimin(loadings)`; `psych::fa(r, k, rotate = "oblimin")`.

    >>> loadings = np.array([[0.7, 0.5], [0.7, 0.5], [0.7, -0.5], [0.7, -0.5]])
    >>> rotate(loadings, "varimax").loadings.abs().round(1).to_numpy().tolist()
    [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]
    """
    if rotation not in get_args(Rotation):
        raise InputError(f"rotation={rotation!r}; choose varimax or oblimin")
    frame = loadings if isinstance(loadings, pd.DataFrame) else pd.DataFrame(np.asarray(loadings, dtype=float))
    values = frame.to_numpy(dtype=float)
    known = np.isfinite(values).all(axis=1)
    m, k = known.sum(), values.shape[1]
    if m < k:
        raise InputError(f"{m} respondents with loadings on {k} factors; rotation needs at least as many respondents")
    rng = np.random.default_rng(seed)
    starts = [np.eye(k)] + [np.linalg.qr(rng.standard_normal((k, k)))[0] for _ in range(_STARTS if k > 1 else 0)]
    attempts = [(_varimax if rotation == "varimax" else _oblimin)(values[known], start) for start in starts]
    _, rotated, correlation = min(attempts, key=lambda attempt: attempt[0])
    order = np.argsort(-(rotated**2).sum(axis=0), kind="stable")
    sign = np.where(rotated[:, order].sum(axis=0) < 0, -1.0, 1.0)
    whole = np.full(values.shape, np.nan)
    whole[known] = rotated[:, order] * sign
    between = correlation[np.ix_(order, order)] * np.outer(sign, sign)
    return RotatedLoadings(
        pd.DataFrame(whole, frame.index, frame.columns), pd.DataFrame(between, frame.columns, frame.columns), rotation
    )


def _varimax(loadings: Floats, start: Floats) -> tuple[float, Floats, Floats]:
    """(criterion, rotated, factor correlations), rows scaled to length 1 for the criterion."""
    length = np.maximum(np.sqrt((loadings**2).sum(axis=1, keepdims=True)), 1e-12)
    scaled, turn, last = loadings / length, start, -np.inf
    for _ in range(_MAX_STEPS):
        rotated = scaled @ turn
        gradient = scaled.T @ (rotated**3 - rotated * (rotated**2).mean(axis=0))
        left, size, right = np.linalg.svd(gradient)
        turn = left @ right
        if size.sum() - last < 1e-14 * max(size.sum(), 1.0):
            break
        last = size.sum()
    squared = (scaled @ turn) ** 2
    return -float(squared.var(axis=0).sum()), loadings @ turn, np.eye(turn.shape[0])


def _oblimin(loadings: Floats, start: Floats) -> tuple[float, Floats, Floats]:
    """(criterion, pattern, factor correlations)."""
    others = 1 - np.eye(loadings.shape[1])

    def criterion(axes: Floats) -> tuple[float, Floats, Floats]:
        pattern = loadings @ np.linalg.inv(axes).T
        pull = pattern**2 @ others
        return float((pattern**2 * pull).sum() / 4), pattern, pattern * pull

    axes, size = start, 1.0
    value, pattern, slope = criterion(axes)
    for _ in range(_MAX_STEPS):
        gradient = -(pattern.T @ slope @ np.linalg.inv(axes)).T
        projected = gradient - axes * (axes * gradient).sum(axis=0)
        steepness = float(np.linalg.norm(projected))
        if steepness < _TOLERANCE:
            break
        size *= 2
        for _ in range(30):
            moved = axes - size * projected
            moved = moved / np.sqrt((moved**2).sum(axis=0))
            new_value, new_pattern, new_slope = criterion(moved)
            if new_value < value - size * steepness**2 / 2:
                break
            size /= 2
        else:
            break
        axes, value, pattern, slope = moved, new_value, new_pattern, new_slope
    return value, pattern, axes.T @ axes

"""Which respondent is best at saying yes only where it is right, depending on what an error costs.

    F_beta = (1 + beta^2) P R / (beta^2 P + R)

with precision P = of the questions it said yes to, how many it got right, and recall R = of the questions it got
right, how many it had said yes to. Low beta punishes overconfidence, high beta underconfidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.confidence.calibration import aligned_correctness
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.answers import as_answers, names, warn
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.level import QUANTILES_95


@dataclass(frozen=True)
class FBetaCurve:
    """F-beta of every respondent over a grid of beta.

    Attributes:
        curve: index beta, columns respondent.
        best: (beta,) the respondent with the highest value at each beta; the first where several tie.
        precision, recall: (respondent,). n: (respondent,) questions with both an answer and a known correctness.
        low, high: index beta, columns respondent: 95% percentile intervals over resampled questions; None without.
    """

    curve: pd.DataFrame
    best: pd.Series
    precision: pd.Series
    recall: pd.Series
    n: pd.Series
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None

    __repr__ = one_line


def f_beta_curve(
    confidence: Any, correctness: Any, betas: ArrayLike | None = None, n_bootstrap: int = 200, seed: int = 0
) -> FBetaCurve:
    """F-beta per respondent and the best respondent per beta.

    Formula: (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP) (van Rijsbergen, 1979, Information Retrieval,
    chapter 7), where TP = said yes and was right, FP = said yes and was wrong, FN = said no and was right.

    Args:
        confidence: question x respondent, 1 = said yes, 0 = said no, nan = no answer.
        correctness: the same shape and labels, 1 = right, 0 = wrong, nan = unknown. Cells that are missing in either
            are left out.
        betas: grid; default 65 values evenly spaced in log2 from 1/16 to 16. n_bootstrap: resamples of the questions,
            0 = no intervals. seed: of the resampling.

    Returns:
        FBetaCurve. Sign: higher is better, 1 = yes exactly where right. A respondent that was never right and never
        said yes has F-beta nan, and a warning names it.

    Raises:
        InputError: the two matrices do not belong together, or a beta is not positive.

    R: `MLmetrics::FBeta_Score(y_true, y_pred, positive = 1, beta)`.

    >>> said = pd.DataFrame({"bold": [1, 1, 1, 1], "careful": [1, 0, 0, 0]})
    >>> right = pd.DataFrame({"bold": [1, 1, 0, 0], "careful": [1, 1, 0, 0]})
    >>> f_beta_curve(said, right, betas=[0.25, 4]).best.tolist()
    ['careful', 'bold']
    """
    said, right, both = aligned_correctness(as_answers(confidence), as_answers(correctness))
    grid = np.logspace(-4, 4, 65, base=2) if betas is None else np.asarray(betas, dtype=float).reshape(-1)
    if not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise InputError("every beta must be a positive number; give a grid such as [0.5, 1, 2]")
    cells = [both & said.yes & right.yes, both & said.yes & ~right.yes, both & ~said.yes & right.yes]
    square = grid[:, None] ** 2
    hits, false_alarms, misses = (cell.sum(axis=0).astype(float) for cell in cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _f_beta(hits, false_alarms, misses, square)
        precision, recall = hits / (hits + false_alarms), hits / (hits + misses)
    undefined = np.asarray(np.isnan(values).any(axis=0))
    if undefined.any():
        warn(f"{names(said.respondents[undefined])} never said yes and was never right: F-beta is nan")
    curve = pd.DataFrame(values, pd.Index(grid, name="beta"), said.respondents)
    return FBetaCurve(
        curve=curve,
        best=curve.dropna(axis=1, how="all").idxmax(axis=1) if not undefined.all() else pd.Series(None, curve.index),
        precision=pd.Series(precision, said.respondents),
        recall=pd.Series(recall, said.respondents),
        n=pd.Series(both.sum(axis=0), said.respondents),
        **_intervals(cells, square, curve, n_bootstrap, seed),
    )


def _f_beta(hits: Floats, false_alarms: Floats, misses: Floats, square: Floats) -> Floats:
    return (1 + square) * hits / ((1 + square) * hits + square * misses + false_alarms)


def _intervals(
    cells: list[Booleans], square: Floats, curve: pd.DataFrame, n_bootstrap: int, seed: int
) -> dict[str, pd.DataFrame]:
    if n_bootstrap < 1:
        return {}
    n = len(cells[0])
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=n_bootstrap).astype(np.float32)
    counts = [(weights @ cell.astype(np.float32)).astype(float) for cell in cells]
    bounds = np.full((2, *curve.shape), np.nan)
    for i in range(curve.shape[1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = _f_beta(counts[0][:, i], counts[1][:, i], counts[2][:, i], square)
        if np.isfinite(drawn).any():
            bounds[:, :, i] = np.nanquantile(drawn, QUANTILES_95, axis=1)
    low, high = (pd.DataFrame(bound, curve.index, curve.columns) for bound in bounds)
    return {"low": low, "high": high}

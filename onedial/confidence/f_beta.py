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

from onedial.confidence.calibration import aligned
from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.answers import names, warn


@dataclass(frozen=True)
class FBetaCurve:
    """F-beta of every respondent over a grid of beta.

    Attributes:
        curve: index beta, columns respondent.
        best: (beta,) the respondent with the highest value at each beta; the first where several tie.
        precision, recall: (respondent,). n: (respondent,) questions with both an answer and a known correctness.
    """

    curve: pd.DataFrame
    best: "pd.Series[Any]"
    precision: "pd.Series[float]"
    recall: "pd.Series[float]"
    n: "pd.Series[int]"

    __repr__ = one_line


@says_how
def f_beta_curve(confidence: Any, correctness: Any, betas: ArrayLike | None = None) -> FBetaCurve:
    """F-beta per respondent and the best respondent per beta.

    Formula: (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP) (van Rijsbergen, 1979, Information Retrieval,
    chapter 7), where TP = said yes and was right, FP = said yes and was wrong, FN = said no and was right.

    Args:
        confidence: question x respondent, 1 = said yes, 0 = said no, nan = no answer.
        correctness: the same shape and labels, 1 = right, 0 = wrong, nan = unknown. Cells known in both count.
        betas: grid; default 65 values evenly spaced in log2 from 1/16 to 16.

    Returns:
        FBetaCurve. Sign: higher is better, 1 = yes exactly where right. A respondent that was never right and never
        said yes has F-beta nan, and a warning names it.

    Raises:
        InputError: the two matrices do not belong together, or a beta is not positive.

    R: `MLmetrics::FBeta_Score(y_true, y_pred, positive = 1, beta)`.

    >>> yes = pd.DataFrame({"bold": [1, 1, 1, 1], "careful": [1, 0, 0, 0]})
    >>> right = pd.DataFrame({"bold": [1, 1, 0, 0], "careful": [1, 1, 0, 0]})
    >>> f_beta_curve(yes, right, betas=[0.25, 4]).best.tolist()
    ['careful', 'bold']
    """
    yes, right = aligned(confidence, correctness)
    grid = np.logspace(-4, 4, 65, base=2) if betas is None else np.asarray(betas, dtype=float).reshape(-1)
    if not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise InputError("every beta must be a positive number; give a grid such as [0.5, 1, 2]")
    hits, false_alarms = (yes * right).sum(), (yes * (1 - right)).sum()
    misses = ((1 - yes) * right).sum()
    curve = pd.DataFrame(
        {beta: (1 + beta**2) * hits / ((1 + beta**2) * hits + beta**2 * misses + false_alarms) for beta in grid}
    ).T.rename_axis("beta")
    undefined = curve.isna().any()
    if undefined.any():
        warn(f"{names(curve.columns[undefined])} never said yes and was never right: F-beta is nan")
    best = pd.Series(None, curve.index) if undefined.all() else curve.dropna(axis=1, how="all").idxmax(axis=1)
    return FBetaCurve(curve, best, hits / (hits + false_alarms), hits / (hits + misses), yes.notna().sum())

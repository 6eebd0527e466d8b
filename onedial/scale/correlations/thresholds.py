"""How readily a respondent says yes, on the scale of the shared normal variable.

    threshold = Phi^-1(yes rate),      SE(threshold) = sqrt(p (1 - p) / n) / phi(threshold)

(the delta method). A higher threshold means more often yes. R's psych prints tau, the same number with the
opposite sign: the cut on easiness above which the answer is yes.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Floats


def threshold_table(matrix: Any) -> pd.DataFrame:
    """Thresholds with their standard errors and the counts behind them.

    Formula: Phi^-1(p) and sqrt(p (1 - p) / n) / phi(Phi^-1(p)), p = yes / answered
    (Lord and Novick, 1968, Statistical Theories of Mental Test Scores, chapter 16).

    Args:
        matrix: question x respondent, 1 / 0 / nan.

    Returns:
        index respondent; columns `threshold`, `se`, `yes_rate`, `n` (questions answered). Sign: higher = more often
        yes. A respondent that always says yes has threshold inf, one that never does -inf, one without answers nan;
        their se is nan.

    Raises:
        InputError: the matrix cannot be read (see `onedial.stats.answers.as_answers`).

    R: `-psych::tetrachoric(x)$tau`.

    >>> threshold_table([[1, 0], [1, 0], [0, 1], [1, 0]]).iloc[:, 0].round(2).tolist()
    [0.67, -0.67]
    """
    answers = as_answers(matrix)
    n = answers.n_answered
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = answers.n_yes / n
        threshold = thresholds_of(answers)
        density = np.exp(-(threshold**2) / 2) / np.sqrt(2 * np.pi)
        error = np.where(answers.varies, np.sqrt(rate * (1 - rate) / n) / density, np.nan)
    return pd.DataFrame({"threshold": threshold, "se": error, "yes_rate": rate, "n": n}, index=answers.respondents)


def thresholds_of(answers: Answers) -> Floats:
    """(respondent,) Phi^-1 of the yes rate."""
    return normal_quantile(answers.n_yes, answers.n_answered - answers.n_yes)


def normal_quantile(yes: NDArray[Any], no: NDArray[Any]) -> Floats:
    """Phi^-1(yes / (yes + no)), from the rarer answer, so that exchanging yes and no flips exactly the sign."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = ndtri(np.minimum(yes, no) / (yes + no))
    return np.where(yes > no, -quantile, quantile)

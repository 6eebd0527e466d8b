"""Between respondents: do those that say yes more often also get more right?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.calibration import aligned_correctness
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.answers import as_answers, names, warn
from onedial.stats.arrays import Floats, unmasked

_MIN_POINTS = 3


@dataclass(frozen=True)
class RegressionLine:
    """A least squares line: slope and intercept with standard errors, 95% interval of the slope, its p, R^2 and n."""

    slope: float
    slope_se: float
    slope_low: float
    slope_high: float
    p: float
    intercept: float
    intercept_se: float
    r2: float
    n: int


@dataclass(frozen=True)
class ConfidenceAccuracy:
    """Mean confidence against mean accuracy over respondents.

    Attributes:
        means: index respondent; `confidence, accuracy` (and `n`, answers with known correctness, where known).
        line: confidence = intercept + slope x accuracy. logit_line: the same with both on the logit scale, respondents
            at exactly 0 or 1 left out with a warning.
    """

    means: pd.DataFrame
    line: RegressionLine
    logit_line: RegressionLine

    __repr__ = one_line


def confidence_accuracy_regression(confidence: Any, correctness: Any) -> ConfidenceAccuracy:
    """Regress each respondent's mean confidence on its mean accuracy.

    Formula: ordinary least squares over respondents, t interval with n - 2 degrees of freedom; slope 1 and intercept 0
    is calibration between respondents, slope 0 means that confidence tells nothing about who is better. Accuracy is
    itself measured with error, which pulls the slope towards 0 by about the reliability of the means.

    Args:
        confidence: question x respondent, 1 = said yes / 0 / nan; or (respondent,) means between 0 and 1.
        correctness: the same form, 1 = right. Of matrices, only cells known in both count.

    Returns:
        ConfidenceAccuracy. Sign: slope > 0 when those that say yes more often are right more often; lines of nan with
        fewer than three respondents or no spread of accuracy.

    Raises:
        InputError: the two do not belong together, or a mean is outside [0, 1].

    R: `summary(lm(confidence ~ accuracy))` and `lm(qlogis(confidence) ~ qlogis(accuracy))`.

    >>> said, right = pd.Series([0.6, 0.7, 0.8, 0.9], list("abcd")), pd.Series([0.5, 0.6, 0.8, 0.9], list("abcd"))
    >>> round(confidence_accuracy_regression(said, right).line.slope, 2)
    0.7
    """
    means = _means(confidence, correctness)
    x, y = means["accuracy"].to_numpy(), means["confidence"].to_numpy()
    extreme = (np.minimum(x, y) <= 0) | (np.maximum(x, y) >= 1)
    if extreme.any():
        warn(f"{names(means.index[extreme])} has a mean of exactly 0 or 1 and is left out on the logit scale")
    inner = ~extreme & np.isfinite(x) & np.isfinite(y)
    logits = [np.log(values[inner] / (1 - values[inner])) for values in (x, y)]
    return ConfidenceAccuracy(means, _line(x, y), _line(*logits))


def _means(confidence: Any, correctness: Any) -> pd.DataFrame:
    if np.ndim(confidence) == 1 and np.ndim(correctness) == 1:
        index = confidence.index if isinstance(confidence, pd.Series) else pd.RangeIndex(len(confidence))
        if isinstance(confidence, pd.Series) and isinstance(correctness, pd.Series):
            if set(confidence.index) != set(correctness.index):
                raise InputError("the means of confidence and accuracy name different respondents; give the same ones")
            correctness = correctness.reindex(index)
        if len(confidence) != len(correctness):
            raise InputError(f"{len(confidence)} means of confidence and {len(correctness)} of accuracy; give pairs")
        means = pd.DataFrame(
            {"confidence": unmasked(confidence).astype(float), "accuracy": unmasked(correctness).astype(float)}, index
        )
        if ((means < 0) | (means > 1)).any(axis=None):
            raise InputError("a mean lies outside [0, 1]; give shares of questions")
        return means
    said, right, both = aligned_correctness(as_answers(confidence), as_answers(correctness))
    n = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "confidence": (said.yes & both).sum(axis=0) / n,
            "accuracy": (right.yes & both).sum(axis=0) / n,
            "n": n,
        }
    return pd.DataFrame(columns, index=said.respondents)


def _line(x: Floats, y: Floats) -> RegressionLine:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    nan = float("nan")
    if len(x) < _MIN_POINTS or np.ptp(x) == 0:
        return RegressionLine(nan, nan, nan, nan, nan, nan, nan, nan, len(x))
    from statsmodels.regression.linear_model import OLS  # takes a second to load, and only this line needs it

    fit = OLS(y, np.column_stack([np.ones_like(x), x])).fit()
    low, high = fit.conf_int()[1]
    return RegressionLine(
        slope=float(fit.params[1]),
        slope_se=float(fit.bse[1]),
        slope_low=float(low),
        slope_high=float(high),
        p=float(fit.pvalues[1]),
        intercept=float(fit.params[0]),
        intercept_se=float(fit.bse[0]),
        r2=float(fit.rsquared),
        n=len(x),
    )

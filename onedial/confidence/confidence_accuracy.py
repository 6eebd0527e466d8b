"""Between respondents: do those that say yes more often also get more right?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from onedial.core.cards import one_line
from onedial.stats.answers import names, warn
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95

FEWEST_POINTS = 3
NAN = float("nan")


@dataclass(frozen=True)
class RegressionLine:
    """A least squares line: slope and intercept with standard errors, 95% interval of the slope, its p, R^2 and n."""

    slope: float = NAN
    slope_se: float = NAN
    slope_low: float = NAN
    slope_high: float = NAN
    p: float = NAN
    intercept: float = NAN
    intercept_se: float = NAN
    r2: float = NAN
    n: int = 0


@dataclass(frozen=True)
class ConfidenceAccuracy:
    """Mean confidence against mean accuracy over respondents.

    Attributes:
        line: confidence = intercept + slope x accuracy. logit_line: the same with both on the logit scale, respondents
            at exactly 0 or 1 left out with a warning.
    """

    line: RegressionLine
    logit_line: RegressionLine

    __repr__ = one_line


def confidence_accuracy_regression(confidence: "pd.Series[Any]", accuracy: "pd.Series[Any]") -> ConfidenceAccuracy:
    """Regress each respondent's mean confidence on its mean accuracy.

    Formula: ordinary least squares over respondents, t interval with n - 2 degrees of freedom; slope 1 and intercept 0
    is calibration between respondents, slope 0 means that confidence tells nothing about who is better. Accuracy is
    itself measured with error, which pulls the slope towards 0 by about the reliability of the means.

    Args:
        confidence, accuracy: (respondent,) means between 0 and 1, of the same respondents.

    Returns:
        ConfidenceAccuracy. Sign: slope > 0 when those that say yes more often are right more often; lines of nan with
        fewer than three respondents or no spread of accuracy.

    R: `summary(lm(confidence ~ accuracy))` and `lm(qlogis(confidence) ~ qlogis(accuracy))`.

    >>> sure, right = pd.Series([0.6, 0.7, 0.8, 0.9], list("abcd")), pd.Series([0.5, 0.6, 0.8, 0.9], list("abcd"))
    >>> round(confidence_accuracy_regression(sure, right).line.slope, 2)
    0.7
    """
    x, y = (part.reindex(confidence.index).to_numpy(float) for part in (accuracy, confidence))
    extreme = (np.minimum(x, y) <= 0) | (np.maximum(x, y) >= 1)
    if extreme.any():
        warn(f"{names(confidence.index[extreme])} has a mean of exactly 0 or 1 and is left out on the logit scale")
    return ConfidenceAccuracy(_line(x, y), _line(*(np.log(v / (1 - v)) for v in (x[~extreme], y[~extreme]))))


def _line(x: Floats, y: Floats) -> RegressionLine:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < FEWEST_POINTS or np.ptp(x) == 0:
        return RegressionLine(n=len(x))
    fit = stats.linregress(x, y)
    reach = stats.t.ppf(QUANTILES_95[1], len(x) - 2) * fit.stderr
    slope, se = float(fit.slope), float(fit.stderr)
    ends = (float(slope - reach), float(slope + reach))
    line = (float(fit.intercept), float(fit.intercept_stderr), float(fit.rvalue**2))
    return RegressionLine(slope, se, *ends, float(fit.pvalue), *line, n=len(x))

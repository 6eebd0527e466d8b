"""How much of the variance one scale explains: the mean squared loading, with an interval that knows its errors.

The square of an estimate is too large by its variance. The interval therefore lies about the mean square less the mean
squared error of the loadings, and is made on its logit: there the spread of the questions that were drawn is a shift,
the same wherever the share is, while an interval of the share itself is too short where the share comes out large.

Where errors add more than a fifth to what is left, so few answers do not tell how loadings differ, and their errors are
unknown too. One slope for all, with the signs of those that surely answer the other way round, is still known: its
squared loading is at most the mean square, (mean l)^2 <= mean(l^2), and the mean squared estimate is more.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from onedial.scale.likelihood import MarginalFit, fit_marginal
from onedial.scale.standard_errors import loading_covariance, loading_errors
from onedial.stats.estimate import NAN, Estimate
from onedial.stats.level import Z_95

WORTH_A_NAME = 0.05
"""Of the variance: below, two shares are one."""
_MUCH = 0.2  # that errors add, as a part of what is left
_SURELY = 3.0  # errors below 0: among many respondents with few answers some lie 2 below it by chance


@dataclass(frozen=True)
class Share(Estimate):
    """The first factor's share of the variance: R's number or, where errors add `WORTH_A_NAME` to it, what is left.

    Attributes:
        squares: mean squared loading, as R gives it. without_errors: what is left without the errors of the loadings.
        one_slope: whether so few answers tell no more than what one slope for all explains.
    """

    squares: float = NAN
    without_errors: float = NAN
    one_slope: bool = False


def share_of(fit: MarginalFit) -> Share:
    """The share with its interval, which reaches to the number where it lies beside it."""
    loading, covariance = fit.curves.loading, loading_covariance(fit)
    known, m = np.diag(covariance) < 1, len(loading)  # a variance of 1 is more than a loading can have: not known
    squares, step = float((loading**2).mean()), (2 * loading / m)[known]
    error = math.sqrt(max(float(step @ covariance[np.ix_(known, known)] @ step), 0.0))
    left = squares - float(np.diag(covariance)[known].sum() / m)
    low, high = 0.0, min(1.0, squares + Z_95 * error)
    if 0 < left < 1:
        low, high = expit(logit(left) + np.array([-1, 1]) * Z_95 * error / (left * (1 - left)))
    one_slope = fit.model.signs is None and squares - left > _MUCH * left
    if one_slope:
        signs = np.where(loading + _SURELY * loading_errors(fit) < 0, -1.0, 1.0)
        equal = share_of(fit_marginal(fit.codes, replace(fit.model, signs=signs)))
        left, low, high = equal.squares, equal.low, max(squares, equal.high)
    left = max(left, 0.0)
    value = squares if squares - left < WORTH_A_NAME else left
    return Share(value, min(float(low), value), max(float(high), value), error, m, 0, squares, left, one_slope)

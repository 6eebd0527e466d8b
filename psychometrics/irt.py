"""The one-factor model once more, by marginal maximum likelihood: a cross-check that uses no pairwise correlations.

Normal-ogive two-parameter model: respondent i says yes to a question of easiness z ~ N(0, 1) with probability
Phi(a_i z + d_i). It is the one-factor model in other words:

    loading = a / sqrt(1 + a^2),   a = loading / sqrt(1 - loading^2),   threshold = d / sqrt(1 + a^2).

No scaling constant is needed; a logistic slope is 1.702 times the normal-ogive one, approximately.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_ndtr

from psychometrics.answers import Answers, as_answers, warn
from psychometrics.arrays import Floats
from psychometrics.minres import MAX_COMMUNALITY
from psychometrics.scores import quadrature
from psychometrics.thresholds import thresholds_of
from psychometrics.usable import usable_answers

_STEEPEST = float(np.sqrt(MAX_COMMUNALITY / (1 - MAX_COMMUNALITY)))
_BLOCK = 8192


@dataclass(frozen=True)
class IrtModel:
    """A fitted two-parameter model.

    Attributes:
        respondents: index respondent; `slope, intercept, loading, threshold` and their standard errors `*_se` (from the
            cross-products of the questions' scores; the delta method for loading and threshold).
        difficulty: (question,) -EAP, nan for a question without answers.
        log_likelihood: at the maximum.
        converged: whether the optimiser says so.
    """

    respondents: pd.DataFrame
    difficulty: pd.Series
    log_likelihood: float
    converged: bool


def two_parameter_irt(matrix: Any, n_nodes: int = 61) -> IrtModel:
    """Fit slopes and intercepts by marginal maximum likelihood over the nodes that `factor_scores` uses.

    Formula: maximise the sum over questions of log sum_q w_q prod_i Phi(s (a_i z_q + d_i)), s = 1 for yes and -1 for
    no, over the answered cells (Bock and Lieberman, 1970, Psychometrika 35, 179-197; Bock and Aitkin, 1981,
    Psychometrika 46, 443-459). Gaps need no pairs: they are ignorable if what is missing depends only on the answers
    that were given.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. n_nodes: of the quadrature.

    Returns:
        IrtModel. Sign: the slopes' sum is positive; threshold higher = more often yes; difficulty higher = harder.

    Raises:
        InputError: fewer than three respondents vary.

    R: `mirt::mirt(x, 1, itemtype = "2PL", quadpts = 61)` with a1 / 1.702; `psych::irt.fa` for the same conversion.
    """
    answers = usable_answers(as_answers(matrix))
    m = answers.n_respondents
    nodes, log_weight = quadrature(n_nodes)
    scale = answers.n_questions

    def loss(flat: Floats) -> tuple[float, Floats]:
        likelihood, gradient, _, _ = _marginal(answers, flat[:m], flat[m:], nodes, log_weight)
        return -likelihood / scale, -gradient / scale

    start = np.concatenate([np.ones(m), thresholds_of(answers) * np.sqrt(2)])
    bounds = [(-_STEEPEST, _STEEPEST)] * m + [(None, None)] * m
    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-8}
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    if not best.success:
        warn(f"the two-parameter model did not converge: {best.message}")
    slope, intercept = best.x[:m], best.x[m:]
    sign = -1.0 if slope.sum() < 0 else 1.0
    likelihood, _, information, mean = _marginal(answers, slope, intercept, nodes, log_weight, with_scores=True)
    covariance = np.linalg.pinv(information)
    table = _table(sign * slope, intercept, covariance, sign)
    difficulty = np.where(answers.answered.any(axis=1), -sign * mean, np.nan)
    return IrtModel(
        respondents=pd.DataFrame(table, index=answers.respondents),
        difficulty=pd.Series(difficulty, answers.questions, name="difficulty"),
        log_likelihood=likelihood,
        converged=bool(best.success),
    )


def _marginal(
    answers: Answers,
    slope: Floats,
    intercept: Floats,
    nodes: Floats,
    log_weight: Floats,
    with_scores: bool = False,
) -> tuple[float, Floats, Floats, Floats]:
    """Log likelihood, gradient (2 x respondent,), cross-products of scores (with_scores) and EAP (question,)."""
    argument = slope[:, None] * nodes + intercept[:, None]
    log_yes, log_no = log_ndtr(argument), log_ndtr(-argument)
    log_density = -(argument**2) / 2 - 0.5 * np.log(2 * np.pi)
    yes_slope, no_slope = np.exp(log_density - log_yes), -np.exp(log_density - log_no)
    likelihood, gradient = 0.0, np.zeros(2 * len(slope))
    information = np.zeros((2 * len(slope), 2 * len(slope)))
    mean = np.empty(answers.n_questions)
    for first in range(0, answers.n_questions, _BLOCK):
        block = slice(first, first + _BLOCK)
        yes = answers.yes[block].astype(float)
        no = (answers.answered[block] & ~answers.yes[block]).astype(float)
        log_joint = yes @ log_yes + no @ log_no + log_weight
        top = log_joint.max(axis=1, keepdims=True)
        posterior = np.exp(log_joint - top)
        total = posterior.sum(axis=1, keepdims=True)
        likelihood += float((np.log(total) + top).sum())
        posterior /= total
        mean[block] = posterior @ nodes
        if with_scores:
            scores = [
                yes * (posterior @ (yes_slope * part).T) + no * (posterior @ (no_slope * part).T)
                for part in (nodes, np.ones_like(nodes))
            ]
            stacked = np.concatenate(scores, axis=1)
            information += stacked.T @ stacked
        expected_yes, expected_no = yes.T @ posterior, no.T @ posterior
        pull = expected_yes * yes_slope + expected_no * no_slope
        gradient += np.concatenate([pull @ nodes, pull.sum(axis=1)])
    return likelihood, gradient, information, mean


def _table(slope: Floats, intercept: Floats, covariance: Floats, sign: float) -> dict[str, Floats]:
    m = len(slope)
    root = np.sqrt(1 + slope**2)
    variance_slope, variance_intercept = np.diag(covariance)[:m], np.diag(covariance)[m:]
    joint = sign * np.diag(covariance[:m, m:])
    by_slope = -intercept * slope / root**3
    variance_threshold = by_slope**2 * variance_slope + variance_intercept / root**2 + 2 * by_slope * joint / root
    return {
        "slope": slope,
        "intercept": intercept,
        "loading": slope / root,
        "threshold": intercept / root,
        "slope_se": np.sqrt(variance_slope),
        "intercept_se": np.sqrt(variance_intercept),
        "loading_se": np.sqrt(variance_slope) / root**3,
        "threshold_se": np.sqrt(np.maximum(variance_threshold, 0)),
    }

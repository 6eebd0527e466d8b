"""Where each question lies on the shared scale, given what was answered.

The one-factor model: a question of easiness z ~ N(0, 1) gets a yes from respondent i with probability

    P_i(z) = Phi((t_i + lambda_i z) / sqrt(1 - lambda_i^2)),    t_i = threshold, lambda_i = loading.

The score is the mean of z given the answers (expected a posteriori, EAP), its standard error the standard deviation.
Exported is difficulty = -EAP: harder questions have higher numbers, R's scores run the other way.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from common import InputError
from psychometrics.answers import Answers, as_answers
from psychometrics.arrays import Floats
from psychometrics.minres import MAX_COMMUNALITY

_BLOCK = 8192
_WIDEST_NODE = 6.0


def factor_scores(matrix: Any, loadings: ArrayLike, thresholds: ArrayLike, n_nodes: int = 61) -> pd.DataFrame:
    """EAP difficulty of every question under the one-factor model.

    Formula: sum_q z_q w_q L(z_q) / sum_q w_q L(z_q) over equally spaced nodes z_q from -6 to 6 with weights from the
    standard normal density, L = product over the answered respondents of P_i^x (1 - P_i)^(1-x) (Bock and Mislevy,
    1982, Applied Psychological Measurement 6, 431-444). Loadings are clipped to +-sqrt(.995), so that no answer is
    impossible.

    Args:
        matrix: question x respondent, 1 / 0 / nan.
        loadings: (respondent,) or (respondent, 1) on the shared factor. thresholds: (respondent,).
            Respondents whose loading or threshold is not finite tell nothing and are passed over.
        n_nodes: points of the quadrature.

    Returns:
        index question; columns `difficulty` (= -EAP), `se` (posterior standard deviation), `n` (informative answers).
        A question without one has difficulty nan. Sign: higher = harder = fewer respondents say yes.

    Raises:
        InputError: loadings or thresholds do not fit the number of respondents.

    R: `-mirt::fscores(fit, method = "EAP", quadpts = 61)` at the same parameters.
    """
    answers = as_answers(matrix)
    slope = np.asarray(loadings, dtype=float).reshape(-1)
    limit = np.asarray(thresholds, dtype=float).reshape(-1)
    if len(slope) != answers.n_respondents or len(limit) != answers.n_respondents:
        raise InputError(
            f"{len(slope)} loadings and {len(limit)} thresholds for {answers.n_respondents} respondents; "
            "give one of each per respondent, on one factor"
        )
    if n_nodes < 3:
        raise InputError(f"n_nodes={n_nodes}; the quadrature needs at least 3 nodes")
    known = np.isfinite(slope) & np.isfinite(limit)
    bound = np.sqrt(MAX_COMMUNALITY)
    nodes, log_weight = quadrature(n_nodes)
    log_yes, log_no = log_probabilities(np.clip(slope[known], -bound, bound), limit[known], nodes)
    mean, spread = _posterior(answers.select(known), nodes, log_weight, log_yes, log_no)
    n = answers.answered[:, known].sum(axis=1)
    seen = n > 0
    return pd.DataFrame(
        {"difficulty": np.where(seen, -mean, np.nan), "se": np.where(seen, spread, np.nan), "n": n},
        index=answers.questions,
    )


def quadrature(n_nodes: int) -> tuple[Floats, Floats]:
    """Equally spaced nodes (node,) and the logarithms of their normalised standard normal weights (node,)."""
    nodes = np.linspace(-_WIDEST_NODE, _WIDEST_NODE, n_nodes)
    weight = np.exp(-(nodes**2) / 2)
    return nodes, np.log(weight / weight.sum())


def log_probabilities(loadings: Floats, thresholds: Floats, nodes: Floats) -> tuple[Floats, Floats]:
    """log P(yes) and log P(no), each (respondent, node)."""
    unique = np.sqrt(1 - loadings**2)[:, None]
    argument = (thresholds[:, None] + loadings[:, None] * nodes) / unique
    return log_ndtr(argument), log_ndtr(-argument)


def _posterior(
    answers: Answers, nodes: Floats, log_weight: Floats, log_yes: Floats, log_no: Floats
) -> tuple[Floats, Floats]:
    mean, spread = np.empty(answers.n_questions), np.empty(answers.n_questions)
    for start in range(0, answers.n_questions, _BLOCK):
        block = slice(start, start + _BLOCK)
        yes = answers.yes[block].astype(float)
        no = (answers.answered[block] & ~answers.yes[block]).astype(float)
        log_posterior = yes @ log_yes + no @ log_no + log_weight
        posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        mean[block] = posterior @ nodes
        spread[block] = np.sqrt(np.maximum(posterior @ nodes**2 - mean[block] ** 2, 0))
    return mean, spread

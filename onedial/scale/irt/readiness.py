"""How ready each respondent is to say yes to a question by all that it shares with others, when that is several scales.

The factors of a question are estimated from all answers to it, the respondent's own among them, and each respondent's
answers are regressed on them:

    logit P(yes_qi) = b_0i + b_i . f_q

Given this readiness, what is left in a respondent's answer says nothing about the factors any more: if it did, it would
have changed the estimate.
"""

import numpy as np

from onedial.scale.checks.draws import factor_posterior, slopes_and_cuts
from onedial.scale.factor.minres import minres
from onedial.scale.factor.usable import observed_correlation
from onedial.stats import Answers, Booleans, Floats

_STEPS = 15
_RIDGE = 1e-3


def factor_readiness(answers: Answers, n_factors: int) -> Floats:
    """How ready each respondent is to say yes to each question, given the question's factors.

    Formula: logit P(yes_qi) = b_0i + b_i . f_q, fitted respondent by respondent; f_q is estimated from all answers.

    Args:
        answers: of respondents that vary.
        n_factors: of the model, with minres loadings.

    Returns:
        (question, respondent) logits.

    Sign: higher = readier to say yes.
    """
    correlation = observed_correlation(answers, "pairwise", "half")
    slopes, cuts = slopes_and_cuts(answers, np.nan_to_num(minres(correlation, n_factors)))
    factors, _ = factor_posterior(answers, slopes, cuts)
    design = np.column_stack([np.ones(len(factors)), factors])
    columns = [logits(design, answers.yes[:, i], answers.answered[:, i]) for i in range(answers.n_respondents)]
    return np.column_stack(columns)


def logits(design: Floats, yes: Booleans, answered: Booleans) -> Floats:
    """(question,) fitted logits of a logistic regression over the answered questions, by reweighted least squares.

    R: `predict(glm(yes ~ design, binomial, subset = answered), design)`.
    """
    x, y = design[answered], yes[answered].astype(float)
    coefficients = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-x @ coefficients))
        information = (x * (p * (1 - p))[:, None]).T @ x + _RIDGE * np.eye(len(coefficients))
        coefficients = coefficients + np.linalg.solve(information, x.T @ (y - p) - _RIDGE * coefficients)
    return design @ coefficients

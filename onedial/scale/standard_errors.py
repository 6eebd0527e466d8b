"""How well the parameters of a fitted response model are known.

From the cross-products of the questions' scores, all parameters at once: curves, answers at random, and the scale in
directions that keep its mean and variance (with the prior of a histogram),

    covariance = (S'S + prior)^-1,      S = (question, parameter) derivatives of each question's log likelihood

(Berndt, Hall, Hall and Hausman, 1974, Annals of Economic and Social Measurement 3, 653-665). Where there are fewer than
three questions for a parameter, observed products are too few, and S'S is that of answers drawn from the model.
Parameters that are one move together. What sits at its bound, or of what no answer tells, has no standard error and
takes nothing from others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from onedial.scale.drawn_answers import drawn_answers
from onedial.scale.likelihood import PRIOR_QUESTIONS, MarginalFit
from onedial.scale.response_curves import UNUSED, Chances
from onedial.stats.arrays import Booleans, Floats

_LEAST_WEIGHT = 1e-3  # of a histogram's node
_LEAST_FLOOR = 1e-4  # below which an asymptote is at its bound
_FEWEST_PER_PARAMETER, _DRAWN_PER_PARAMETER = 3, 40
_LEAST_INFORMATION = 1e-6  # a standard error of 1000: a pseudo-inverse would call what nobody knows exact


@dataclass(frozen=True)
class Covariance:
    """Covariance of the estimated curves.

    Attributes:
        matrix: (kind x respondent, the same) in the order of `kinds`; nan for what is not known, 0 for what is none.
        kinds: `slope`, `cut_1`, .., `floor_0`, .., where the model has them.
        n_respondents: m.
    """

    matrix: Floats
    kinds: list[str]
    n_respondents: int

    def between(self, first: str, second: str) -> Floats:
        """(respondent, respondent)."""
        m = self.n_respondents
        rows, columns = (
            slice(m * self.kinds.index(kind), m * (self.kinds.index(kind) + 1)) for kind in (first, second)
        )
        return self.matrix[rows, columns]

    def errors(self, kind: str) -> Floats:
        """(respondent,) standard errors."""
        return np.sqrt(np.maximum(np.diag(self.between(kind, kind)), 0))


@lru_cache(maxsize=16)
def covariance_of(fit: MarginalFit) -> Covariance:
    """Of the curves of a fit; the scale and all answers at random are estimated beside them."""
    m, kinds, n = len(fit.curves.slope), _kinds(fit), len(fit.codes)
    free = _free(fit, (question_scores(fit) ** 2).sum(axis=0))
    ties = _ties(fit, free)
    every, k = nuisance_scores(fit, ties), ties.shape[1]
    information = every.T @ every
    if n < _FEWEST_PER_PARAMETER * every.shape[1]:
        n_draws = -(-_DRAWN_PER_PARAMETER * every.shape[1] // n)
        draws = drawn_answers(fit, n_draws, np.random.default_rng(0))
        scores = (nuisance_scores(replace(fit, codes=codes, known_posterior=None), ties) for codes in draws)
        information = sum((one.T @ one for one in scores), np.zeros_like(information)) / n_draws
    information[k:, k:] += _scale_scores(fit)[1]
    covariance = ties @ np.linalg.pinv(information)[:k, :k] @ ties.T
    unknown = ~free.ravel()
    covariance[unknown] = covariance[:, unknown] = np.nan
    return Covariance(covariance, kinds, m)


def loading_covariance(fit: MarginalFit) -> Floats:
    """(respondent, respondent) covariance of the loadings; nan at the bound, and where no answer tells."""
    by = 1 / fit.curves.size**3
    return covariance_of(fit).between("slope", "slope") * np.outer(by, by)


def loading_errors(fit: MarginalFit) -> Floats:
    """(respondent,) standard errors of the loadings; nan at the bound, and where no answer tells."""
    return np.sqrt(np.diag(loading_covariance(fit)))


def free_parameters(fit: MarginalFit) -> Floats:
    """(kind x respondent, parameter) how much each moves with each parameter that is estimated, away from its bound."""
    return _ties(fit, _free(fit, (question_scores(fit) ** 2).sum(axis=0)))


def scale_parameters(fit: MarginalFit) -> float:
    """How many parameters a histogram has in effect, beside its mean and variance.

    Formula: trace J (J + P)^-1 (Hastie and Tibshirani, 1990, Generalized Additive Models), J the cross-products of the
    questions' derivatives by the weights, P the prior's precision; at least the two of the smooth scale beneath it,
    which have no prior.
    """
    weight, z = fit.weights, fit.nodes
    root = np.sqrt(weight)[:, None]
    fixed = np.linalg.qr(root * np.column_stack([np.ones_like(z), z, z**2]))[0]
    scores = fit.posterior / root.T
    scores -= (scores @ fixed) @ fixed.T
    information = np.linalg.eigvalsh(scores.T @ scores)  # of steps of which the prior's precision is one for all
    return max(2.0, float((information / (information + PRIOR_QUESTIONS)).sum()))


def nuisance_scores(fit: MarginalFit, free: Floats) -> Floats:
    """(question, parameter) derivatives of each question's log likelihood by the free parameters, and the scale's."""
    scores = question_scores(fit)
    return np.column_stack([scores.reshape(len(scores), -1) @ free, _scale_scores(fit)[0]])


def question_scores(fit: MarginalFit) -> Floats:
    """(question, kind, respondent) derivatives of each question's log likelihood, kinds as in `Covariance`."""
    kinds, posterior = _kinds(fit), fit.posterior
    scores = np.zeros((len(fit.codes), len(kinds), len(fit.curves.slope)))
    chances = Chances.of(fit.curves, fit.nodes)
    for category in range(len(fit.log_p)):
        shown = (fit.codes == category).astype(float)
        for kind, values in _slopes(chances, category, kinds):
            scores[:, kind] += shown * (posterior @ values.T)
    return scores


def _kinds(fit: MarginalFit) -> list[str]:
    floors = [] if fit.curves.floors is None else [f"floor_{k}" for k in range(len(fit.curves.floors))]
    return ["slope", *(f"cut_{k}" for k in range(1, len(fit.curves.cuts) + 1)), *floors]


def _slopes(chances: Chances, category: int, kinds: list[str]) -> Iterator[tuple[int, Floats]]:
    """Which kind of parameter moves log P of a category, and how much (respondent, place)."""
    log_p = np.maximum(chances.log_p[category], np.log(1e-300))
    for cut, sign in ((category - 1, 1.0), (category, -1.0)):  # P_k rises with its own cut, falls with the next
        if not 0 <= cut < len(chances.log_rise):
            continue
        pull = sign * np.exp(np.minimum(chances.log_rise[cut] - log_p, 600.0))
        yield 0, pull * chances.places
        yield kinds.index(f"cut_{cut + 1}"), pull
    if "floor_0" in kinds:
        log_p = np.maximum(log_p, np.log(_LEAST_FLOOR))  # P is never below an asymptote that is away from 0
        rather = np.exp(chances.log_follows[category] - log_p)
        for k in range(len(chances.log_p)):
            yield kinds.index(f"floor_{k}"), (k == category) * np.exp(-log_p) - rather


def _free(fit: MarginalFit, information: Floats) -> Booleans:
    """(kind, respondent) parameters that are estimated, away from their bounds, and of which answers tell."""
    parts = [~fit.curves.at_bound[None]]
    parts.append(fit.curves.cuts != UNUSED)
    if fit.curves.floors is not None:
        parts.append(fit.curves.floors > _LEAST_FLOOR)
    return np.concatenate(parts) & (information > _LEAST_INFORMATION)


def _ties(fit: MarginalFit, free: Booleans) -> Floats:
    """(kind x respondent, parameter) how much each moves with each parameter of the model."""
    kinds, (n_kinds, m) = _kinds(fit), free.shape
    label, sign = np.arange(n_kinds * m).reshape(n_kinds, m), np.ones((n_kinds, m))
    if fit.model.signs is not None:
        label[0], sign[0] = 0, np.sign(fit.curves.slope)
    if fit.model.asymptotes == "common":
        first = kinds.index("floor_0")
        label[first:] = label[first:, :1]
    ties = np.zeros((n_kinds * m, n_kinds * m))
    ties[np.arange(n_kinds * m), label.ravel()] = (sign * free).ravel()
    return ties[:, np.abs(ties).sum(axis=0) > 0]


def _scale_scores(fit: MarginalFit) -> tuple[Floats, Floats]:
    """(question, direction) derivatives by the scale's parameters, in directions that keep mean 0 and variance 1, and
    (direction, direction) precision that is there besides: a node's weight cannot move by more than itself.

    Empty for a normal scale, which has nothing to estimate.
    """
    weight, z = fit.weights, fit.nodes
    if fit.model.scale == "histogram":
        present = np.flatnonzero(weight > _LEAST_WEIGHT)
        kept = np.stack([np.ones(len(present)), z[present], z[present] ** 2])
        directions = np.linalg.svd(kept)[2][min(3, len(present)) :]
        scores = (fit.posterior[:, present] / weight[present]) @ directions.T
        return scores, (directions / weight[present] ** 2) @ directions.T
    slopes = fit.bends - (fit.bends @ weight)[:, None]
    shift, stretch = -np.gradient(fit.log_weight, z), -1 - z * np.gradient(fit.log_weight, z)
    mean, variance = slopes @ (weight * z), slopes @ (weight * z**2)
    slopes = slopes - np.outer(mean, shift) - np.outer(variance / 2, stretch)  # beside moving and stretching
    return fit.posterior @ slopes.T, np.zeros((len(slopes), len(slopes)))

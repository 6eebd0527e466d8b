"""Random answers from a fitted model, with the gaps of the observed ones, fast enough for a thousand matrices.

One factor: the place of every question is drawn from its posterior, and each answer from its respondent's curve there,

    z_q ~ p(z | answers to q),    x_qi = 1 with probability Phi(a_i z_q + d_i),    where i answered q.

Drawing places from the posterior, not afresh, keeps the gaps where they are on the scale: if answers are missing on
hard questions, they are missing on hard questions in the random matrices too. The curves are those of the whole scale
(`onedial.scale.likelihood`), so that a respondent with gaps on hard questions is not taken for an eager one.

Several factors: the same with z_q from the normal approximation of its posterior at its mode, and cuts that keep
every respondent's yes rate over the questions that it answered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from onedial.scale.checks.replicates import Batch, Counted, Replicates, batch_sizes, correlate
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.evidence import MISSING, Codes
from onedial.scale.factor.minres import MAX_COMMUNALITY
from onedial.scale.likelihood import MarginalFit
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats, Integers
from onedial.stats.remembered import remembered

Probabilities = NDArray[np.uint16]  # in units of 2^-16, the last but one standing for 1
_MOST_PLACES, _LEAST_PLACES = 1024, 64  # drawn places are one of so many equally likely ones of the posterior
_PLACES_IN_ALL = 40_000_000
_ROUNDS = 4
_NEWTON_STEPS, _SETTLED = 12, 1e-4


@dataclass(frozen=True)
class Drawn:
    """Random panels, as far as correlations need them."""

    batches: list[Counted]


def one_factor_answers(fit: MarginalFit, n_replicates: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches of random answers of the fitted model, with the gaps of the answers that it was fitted to.

    Yields:
        yes (replicate, question, respondent) and answered (question, respondent), 0/1.
    """
    return answers_from_tables(fit, [as_probabilities(np.exp(fit.log_p[1]).T)] * n_replicates, rng)


def one_factor_categories(fit: MarginalFit, n_replicates: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Random answers of the fitted model in its categories, (question, respondent), gaps kept."""
    places, upto = _equally_likely_places(fit.posterior), np.exp(fit.log_p).cumsum(axis=0)[:-1]
    questions, missing = np.arange(len(places)), fit.codes == MISSING
    for _ in range(n_replicates):
        node = places[questions, rng.integers(0, places.shape[1], len(places), dtype=np.uint16)]
        chance = rng.random(fit.codes.shape)
        above = sum((chance >= cut.T[node]).astype(np.int8) for cut in upto)
        yield np.where(missing, MISSING, above).astype(np.int8)


def answers_from_tables(fit: MarginalFit, tables: Sequence[Probabilities], rng: np.random.Generator) -> Iterator[Batch]:
    """The same, with (node, respondent) probabilities of its own for each replicate."""
    places = _equally_likely_places(fit.posterior)
    questions = np.arange(len(places))
    answered = fit.codes != MISSING
    start = 0
    for size in batch_sizes(len(tables), answered.size):
        yes = np.empty((size, *answered.shape), dtype=np.float32)
        for replicate in range(size):
            node = places[questions, rng.integers(0, places.shape[1], len(places), dtype=np.uint16)]
            chance = rng.integers(0, 2**16, answered.shape, dtype=np.uint16)
            np.logical_and(chance < tables[start + replicate][node], answered, out=yes[replicate], casting="unsafe")
        yield yes, answered.astype(np.float32)
        start += size


@remembered
def one_factor_panels(fit: MarginalFit, n_replicates: int, seed: int) -> Drawn:
    """Random panels of the fitted model, drawn once for all that is asked of them."""
    draws = one_factor_answers(fit, n_replicates, np.random.default_rng([seed, 1]))
    return Drawn([Counted.of(batch) for batch in draws])


@remembered
def one_factor_replicates(
    fit: MarginalFit, n_replicates: int, seed: int, thresholds: ThresholdMode, zero_cells: ZeroCellRule
) -> Replicates:
    """Their correlations."""
    return correlate(one_factor_panels(fit, n_replicates, seed).batches, thresholds, zero_cells)


def as_probabilities(values: Floats) -> Probabilities:
    """Probabilities rounded to 2^-16."""
    return np.minimum(np.rint(values * 2**16), 2**16 - 1).astype(np.uint16)


def several_factor_answers(
    answers: Answers, loadings: Floats, n_replicates: int, rng: np.random.Generator
) -> Iterator[Batch]:
    """Batches of random answers of a model with several normal factors.

    Args:
        answers: observed, whose gaps and yes rates are kept. loadings: (respondent, factor); communalities beyond .995
            are drawn back to it.
    """
    slopes, cuts = slopes_and_cuts(answers, loadings)
    mode: Floats = np.zeros((answers.n_questions, slopes.shape[1]))
    for _ in range(_ROUNDS):
        mode, root = factor_posterior(answers, slopes, cuts, mode)
        trial = _drawn(mode, root, rng)
        cuts = _cuts_for_rates(trial @ slopes.T, answers, cuts)
    answered = answers.answered.astype(np.float32)
    steep, cut = slopes.T.astype(np.float32), cuts.astype(np.float32)
    for batch in batch_sizes(n_replicates, answered.size):
        yes = np.empty((batch, *answered.shape), dtype=np.float32)
        for replicate in range(batch):
            readiness = _drawn(mode, root, rng).astype(np.float32) @ steep + cut
            np.greater(readiness, rng.standard_normal(readiness.shape, dtype=np.float32), out=yes[replicate])
        yes *= answered
        yield yes, answered


def slopes_and_cuts(answers: Answers, loadings: Floats) -> tuple[Floats, Floats]:
    """(respondent, factor) slopes and (respondent,) cuts of a model with these loadings and the observed yes rates."""
    size = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    loadings = loadings * np.minimum(1, np.sqrt(MAX_COMMUNALITY) / np.maximum(size, 1e-12))
    unique = np.sqrt(1 - (loadings**2).sum(axis=1))
    return loadings / unique[:, None], thresholds_of(answers) / unique


def factor_posterior(
    answers: Answers, slopes: Floats, cuts: Floats, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """Mode (question, factor) and a root of the covariance (question, factor, factor) of each question's factors.

    `start` (question, factor) is where the search begins; default: 0.

    Formula: scoring steps on log N(z; 0, I) + sum over answered of log Phi(s (a_i . z + d_i)), s = +-1 for yes, no;
    covariance = (I + sum of w_i a_i a_i')^-1 at the mode, w = phi^2 / (Phi (1 - Phi)).
    """
    n, k = answers.n_questions, slopes.shape[1]
    outer = np.einsum("mk,ml->mkl", slopes, slopes).reshape(len(slopes), k * k)
    mode, largest = np.zeros((n, k)) if start is None else start, np.inf
    for step in range(_NEWTON_STEPS):
        at = mode @ slopes.T + cuts
        log_density = -(at**2) / 2 - 0.5 * np.log(2 * np.pi)
        up, down = np.exp(log_density - log_ndtr(at)), np.exp(log_density - log_ndtr(-at))
        pull = np.where(answers.answered, np.where(answers.yes, up, -down), 0.0)
        precision = ((up * down * answers.answered) @ outer).reshape(n, k, k) + np.eye(k)
        if step == _NEWTON_STEPS - 1 or largest < _SETTLED:
            break
        change = np.linalg.solve(precision, (pull @ slopes - mode)[..., None])[..., 0]
        mode = mode + change / np.maximum(1, np.abs(change).max(axis=1, keepdims=True))
        largest = float(np.abs(change).max())
    return mode, np.linalg.cholesky(np.linalg.inv(precision))


def _drawn(mode: Floats, root: Floats, rng: np.random.Generator) -> Floats:
    return mode + np.einsum("qkl,ql->qk", root, rng.standard_normal(mode.shape))


def _cuts_for_rates(readiness: Floats, answers: Answers, cuts: Floats) -> Floats:
    """(respondent,) cuts at which the expected yes rate over the answered questions is the observed one."""
    n = answers.n_answered
    wanted = answers.n_yes / n
    for _ in range(_NEWTON_STEPS):
        at = readiness + cuts
        rate = (ndtr(at) * answers.answered).sum(axis=0) / n
        slope = (np.exp(-(at**2) / 2) * answers.answered).sum(axis=0) / n / np.sqrt(2 * np.pi)
        change = np.clip((wanted - rate) / np.maximum(slope, 1e-9), -0.5, 0.5)
        cuts = cuts + change
        if np.abs(change).max() < _SETTLED:
            break
    return cuts


def _equally_likely_places(posterior: Floats) -> Integers:
    """(question, place) nodes, each as many times as its posterior probability says."""
    n_places = int(np.clip(_PLACES_IN_ALL // len(posterior), _LEAST_PLACES, _MOST_PLACES))
    upto = np.rint(np.cumsum(posterior, axis=1) * n_places).astype(np.int64)
    upto[:, -1] = n_places
    times = np.diff(upto, axis=1, prepend=0)
    nodes = np.tile(np.arange(posterior.shape[1], dtype=np.uint16), len(posterior))
    return np.repeat(nodes, times.ravel()).reshape(len(posterior), n_places)

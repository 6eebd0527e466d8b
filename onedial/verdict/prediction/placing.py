"""Place targets on an order of the questions from their fitting answers, and predict the others as probabilities.

    P(target t says yes to q) = expit(a_t + b_t z_q)

z_q is the normal score of the question's rank in the order, a_t the target's threshold on it, b_t how closely it
follows it. Few answers cannot tell the two, so both have a normal prior, learnt from targets of other base models:

    likelihood  each other target's, by its mode under N(0, 2.5^2) and the curvature there, that prior divided out again
                (2.5: Gelman et al., 2008, Annals of Applied Statistics 2, 1360-1383)
    prior       means and variances of a and b by EM for normal data with known errors (Dempster, Laird and Rubin, 1977,
                Journal of the Royal Statistical Society B 39, 1-38); each base model weighs one
    posterior   normal about the mode (Laplace)
    prediction  expit(m / sqrt(1 + pi v / 8)), m and v the posterior mean and variance of a + b z (MacKay, 1992, Neural
                Computation 4, 720-736)

An order may not be reversed for a target: where b's mode is below 0, the target is predicted without it.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

WEAK = 2.5
"""Standard deviation of the prior under which each target's likelihood is looked at."""
_SMALLEST_VARIANCE = 0.05
_NEWTON, _EM = 50, 100


@dataclass(frozen=True)
class Prior:
    """Normal priors of threshold and slope, one pair for each target: mean and variance, target x 2."""

    mean: np.ndarray
    variance: np.ndarray


def normal_scores(scores: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks down each column, Phi^-1((rank - 1/2) / n), ties averaged; a missing score lies in the
    middle, at 0.

    Scores within 1e-12 of the largest are ties: those of two questions with the same answers may differ in the last
    bit, by the order in which a processor adds up, and would else be parted by a rank.

    Args:
        scores: question x target, nan where missing.

    >>> normal_scores(np.array([[1.0], [5.0], [9.0], [np.nan]])).round(2).ravel().tolist()
    [-0.97, 0.0, 0.97, 0.0]
    >>> normal_scores(np.array([[0.3], [0.1 + 0.2], [9.0]])).round(2).ravel().tolist()
    [-0.43, -0.43, 0.97]
    """
    normal = np.zeros(scores.shape)
    for column, values in enumerate(scores.T):
        known = ~np.isnan(values)
        if known.any():
            unit = np.abs(values[known]).max() or 1.0
            ranks = stats.rankdata(np.round(values[known] / unit, 12))
            normal[known, column] = special.ndtri((ranks - 0.5) / known.sum())
    return normal


def place(z: np.ndarray, given: np.ndarray, prior: Prior) -> tuple[np.ndarray, np.ndarray]:
    """Find the posterior mode of (a, b) and its covariance for each target, by Newton's method.

    Args:
        z, given: question x target; given is 1, 0, a share of yes, or nan where no answer is to be used.

    Returns:
        target x 2, target x 2 x 2.
    """
    used = ~np.isnan(given)
    yes = np.nan_to_num(given)
    mode = prior.mean.astype(float).copy()
    precision = 1 / prior.variance
    for _ in range(_NEWTON):
        p = special.expit(mode[:, 0] + z * mode[:, 1])
        covariance = _inverse(*_curvature(z, np.where(used, p * (1 - p), 0.0), precision))
        missed = np.where(used, yes - p, 0.0)
        slope = np.stack([missed.sum(axis=0), (missed * z).sum(axis=0)], axis=-1) - precision * (mode - prior.mean)
        step = np.einsum("tij,tj->ti", covariance, slope)
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-12))
        mode = mode + step
        if np.abs(step).max(initial=0) < 1e-8:
            break
    p = special.expit(mode[:, 0] + z * mode[:, 1])
    return mode, _inverse(*_curvature(z, np.where(used, p * (1 - p), 0.0), precision))


def learn_priors(z: np.ndarray, given: np.ndarray, models: np.ndarray) -> Prior:
    """Each target's prior, learnt from all answers of the targets of other base models; the weak prior where there are
    none.

    Args:
        z, given: question x target. models: base model of each target.
    """
    weak = Prior(np.zeros((given.shape[1], 2)), np.full((given.shape[1], 2), WEAK**2))
    mode, covariance = place(z, given, weak)
    total = _inverse(covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1])
    names, model = np.unique(models.astype(str), return_inverse=True)
    weights = np.where(np.arange(len(names))[:, None] == model, 0.0, 1 / np.bincount(model)[model])
    mean, variance = _by_em(total - np.eye(2) / WEAK**2, np.einsum("tij,tj->ti", total, mode), weights)
    if len(names) < 2:
        return weak
    return Prior(np.stack([mean[model, 0], np.maximum(mean[model, 1], 0.0)], axis=-1), variance[model])


def predicted(z: np.ndarray, given: np.ndarray, prior: Prior, asked: np.ndarray) -> np.ndarray:
    """Predict P(yes) of the questions in `asked`, question x target, for targets placed by the answers in `given`.

    Args:
        z, given: question x target; given is nan where an answer is not to be used. asked: mask (question).
    """
    mode, covariance = place(z, given, prior)
    turned = mode[:, 1] < 0
    if turned.any():
        flat = np.where(turned, 0.0, z)
        mode, covariance = place(flat, given, prior)
        z = flat
    z = z[asked]
    middle = mode[:, 0] + z * mode[:, 1]
    spread = covariance[:, 0, 0] + 2 * z * covariance[:, 0, 1] + z**2 * covariance[:, 1, 1]
    return special.expit(middle / np.sqrt(1 + np.pi * spread / 8))


def bits(p: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Log loss of each answer in bits, -log2 of the probability that was given to it; nan where there is no answer.

    Of a share of yes among several samples it is their mean loss.

    >>> bits(np.array([0.5, 0.75]), np.array([1.0, 0.0])).tolist()
    [1.0, 2.0]
    """
    loss = np.where(np.isnan(given), np.nan, -np.log2(np.where(given == 1, p, 1 - p)))
    between = (given > 0) & (given < 1)
    share, q = given[between], p[between]
    loss[between] = -(share * np.log2(q) + (1 - share) * np.log2(1 - q))
    return loss


def _by_em(information: np.ndarray, weighted: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate mean and variances of parameters that are each known by a normal likelihood, for each weighting.

    Args:
        information: target x 2 x 2, of the likelihood. weighted: target x 2, the information times its maximum.
        weights: weighting x target.

    Returns:
        weighting x 2, weighting x 2.
    """
    weights = (weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12))[..., None]
    mean, variance = np.zeros((len(weights), 2)), np.ones((len(weights), 2))
    for _ in range(_EM):
        precision = 1 / variance[:, None]
        first, second = (information[:, number, number] + precision[..., number] for number in (0, 1))
        off = np.broadcast_to(information[:, 0, 1], first.shape)
        covariance = _inverse(first, off, second)
        centre = np.einsum("mtij,mtj->mti", covariance, weighted + mean[:, None] * precision)
        mean = (weights * centre).sum(axis=1)
        spread = (centre - mean[:, None]) ** 2 + np.diagonal(covariance, axis1=2, axis2=3)
        variance = np.maximum((weights * spread).sum(axis=1), _SMALLEST_VARIANCE)
    return mean, variance


def _curvature(z: np.ndarray, weight: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the three entries of minus the second derivative, each (target)."""
    return (
        weight.sum(axis=0) + precision[:, 0],
        (weight * z).sum(axis=0),
        (weight * z**2).sum(axis=0) + precision[:, 1],
    )


def _inverse(first: np.ndarray, off: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Invert symmetric 2 x 2 matrices, ... x 2 x 2."""
    inverse = np.empty((*first.shape, 2, 2))
    inverse[..., 0, 0], inverse[..., 1, 1] = second, first
    inverse[..., 0, 1] = inverse[..., 1, 0] = -off
    return inverse / (first * second - off**2)[..., None, None]

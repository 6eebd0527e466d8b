"""Where on a scale a respondent may stand, and how likely each place is before it has said anything.

A place is a threshold t and a loading l; at it the answer to a question of easiness z is yes with probability

    lapse / 2 + (1 - lapse) Phi((t + l z) / sqrt(1 - l^2))

The prior over places is learnt from the panel's own respondents (empirical Bayes): a normal distribution of t and
atanh l and, for whoever is not like them, a share that is flat over all places. Means, covariance and share maximise
the marginal likelihood of the respondents' answers (EM), each read against questions that were placed without it and
its kin.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats

THRESHOLDS = np.arange(-3.6, 3.6001, 0.075)
STEEPNESSES = np.arange(-0.6, 2.6001, 0.2)
"""atanh of the loading: from -.54 to .99."""
LAPSES = (0.0, 0.01, 0.02, 0.04, 0.08)
LEAST = 1e-9
"""No answer is less likely than this."""
_NARROWEST = 0.01  # least variance of thresholds and steepnesses: a panel of few respondents knows it no better
_ODD, _OUT_OF = 1.0, 10.0  # before the panel is looked at, one in ten respondents may stand anywhere
_STEPS = 200


@dataclass(frozen=True)
class Prior:
    """How likely each place is before the first answer.

    Attributes:
        weight: (place,) sums to 1.
        threshold, threshold_sd, loading: mean and spread of the thresholds, and the loading of the mean steepness, of
            respondents like the panel's.
        odd: share of respondents that may stand anywhere.
    """

    weight: Floats
    threshold: float
    threshold_sd: float
    loading: float
    odd: float

    __repr__ = one_line


def grid() -> tuple[Floats, Floats]:
    """(place,) thresholds and (place,) steepnesses of all places."""
    t, steepness = np.meshgrid(THRESHOLDS, STEEPNESSES, indexing="ij")
    return t.ravel(), steepness.ravel()


def chances(posterior: Floats, nodes: Floats) -> Floats:
    """(question, place) probability of a yes without lapses, over what is known of each question's easiness.

    Args:
        posterior: (question, node) where each question lies. nodes: (node,) easiness.
    """
    t, steepness = grid()
    loading = np.tanh(steepness)
    return np.asarray(posterior @ ndtr((t + loading * nodes[:, None]) / np.sqrt(1 - loading**2)))


def with_lapse(chance: Floats, lapse: float) -> Floats:
    """The same probabilities where a share of the answers is a toss of a coin; none is quite 0 or 1."""
    return np.clip(lapse / 2 + (1 - lapse) * chance, LEAST, 1 - LEAST)


def log_likelihoods(chance: Floats, yes: Floats, no: Floats) -> Floats:
    """(respondent, place) log likelihood of answers.

    Args:
        chance: (question, place). yes, no: (question, respondent) 1 where it said so.
    """
    return np.asarray(yes.T @ np.log(chance) + no.T @ np.log1p(-chance))


def prior_of(likelihood: Floats) -> Prior:
    """The prior that makes the panel's answers most likely.

    Args:
        likelihood: (respondent, place) log likelihoods.
    """
    x = np.stack(grid())
    relative = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    mean, covariance, odd = np.array([0.0, 1.0]), np.diag([1.0, 0.5]), _ODD / _OUT_OF
    n = len(likelihood)
    for _ in range(_STEPS):
        before = mean
        away = x - mean[:, None]
        bell = np.exp(-(away * np.linalg.solve(covariance, away)).sum(axis=0) / 2)
        like, anywhere = (1 - odd) * bell / bell.sum(), odd / x.shape[1]
        joint = relative * (like + anywhere)
        typical = joint / joint.sum(axis=1, keepdims=True) * (like / (like + anywhere))
        mass = typical.sum()
        mean = x @ typical.sum(axis=0) / mass
        away = x - mean[:, None]
        covariance = (away * typical.sum(axis=0)) @ away.T / mass + _NARROWEST * np.eye(2)
        odd = (_ODD + n - mass) / (_OUT_OF + n)
        if np.abs(mean - before).max() < 1e-6:
            break
    return Prior(
        weight=like + anywhere,
        threshold=float(mean[0]),
        threshold_sd=float(np.sqrt(covariance[0, 0])),
        loading=float(np.tanh(mean[1])),
        odd=float(odd),
    )

"""Random answers of a fitted model to new questions, and the places of those at hand."""

from collections.abc import Iterator

import numpy as np

from onedial.scale.expectation import MISSING, Codes
from onedial.scale.likelihood import MarginalFit
from onedial.stats.arrays import Floats, Integers

_MOST_PLACES, _LEAST_PLACES = 1024, 64  # drawn places are one of so many equally likely ones of the posterior
_PLACES_IN_ALL = 40_000_000


def drawn_answers(fit: MarginalFit, n_draws: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Codes (question, respondent) of answers to questions of the scale, gaps as in the answers at hand."""
    upto, missing = np.exp(fit.log_p).cumsum(axis=0)[:-1], fit.codes == MISSING
    for _ in range(n_draws):
        node = rng.choice(len(fit.nodes), len(fit.codes), p=fit.weights / fit.weights.sum())
        chance = rng.random(fit.codes.shape)
        above = sum((chance >= cut.T[node]).astype(np.int8) for cut in upto)
        yield np.where(missing, MISSING, above).astype(np.int8)


def equally_likely_places(posterior: Floats) -> Integers:
    """(question, place) nodes, each as many times as its posterior probability says."""
    n_places = int(np.clip(_PLACES_IN_ALL // len(posterior), _LEAST_PLACES, _MOST_PLACES))
    upto = np.rint(np.cumsum(posterior, axis=1) * n_places).astype(np.int64)
    upto[:, -1] = n_places
    times = np.diff(upto, axis=1, prepend=0)
    nodes = np.tile(np.arange(posterior.shape[1], dtype=np.uint16), len(posterior))
    return np.repeat(nodes, times.ravel()).reshape(len(posterior), n_places)

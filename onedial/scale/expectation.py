"""Take the E step: where each question probably lies, and what the curves would then be seen to do.

    log L_q(z) = sum over the answered cells of log P_i(x_qi | z),     posterior_q(z) ~ w(z) L_q(z)

Missing cells add nothing. Questions with the same answers are counted, not repeated. They go through in blocks, so that
memory stays small.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onedial.scale.response_curves import Chances, Curves
from onedial.stats.answers import Answers
from onedial.stats.arrays import Booleans, Floats

Codes = NDArray[np.int8]
MISSING = -1
_ROWS_AT_ONCE = 1000  # what has to be fetched from afar takes half as long again
_CELLS_KEPT = 20_000_000


def codes_of(answers: Answers) -> Codes:
    """(question, respondent) 1 = yes, 0 = no, -1 = missing."""
    return np.where(answers.answered, answers.yes, MISSING).astype(np.int8)


@dataclass(frozen=True)
class Shown:
    """Which categories some questions show.

    Attributes:
        used: (category, respondent) which occur. cells: (row, used) 0/1. times: (row,) how often each row occurs.
    """

    used: Booleans
    cells: Floats
    times: Floats

    @classmethod
    def of(cls, codes: Codes, times: Floats, n_categories: int) -> "Shown":
        """In (row, respondent) categories."""
        every = codes == np.arange(n_categories)[:, None, None]
        used = every.any(axis=1)
        return cls(used, every.transpose(1, 0, 2)[:, used].astype(float), times)

    def log_likelihood(self, log_p: Floats) -> Floats:
        """(row, node), from (category, respondent, node)."""
        return self.cells @ log_p[self.used]

    def counted(self, weight: Floats) -> Floats:
        """(category, respondent, node) how often each is shown, from (row, node) weights."""
        counts = self.cells.T @ weight
        if self.used.all():
            return counts.reshape(*self.used.shape, weight.shape[1])
        every = np.zeros((*self.used.shape, weight.shape[1]))
        every[self.used] = counts
        return every


@dataclass(frozen=True)
class Expected:
    """What an E step finds: the log likelihood, and how it rises with each parameter.

    Attributes:
        log_likelihood: summed over the questions. mass: (node,) expected number of questions at each node.
        by_slope: (respondent,). by_cut: (cut, respondent). by_floor: (category, respondent).
    """

    log_likelihood: float
    mass: Floats
    by_slope: Floats
    by_cut: Floats
    by_floor: Floats


class Data:
    """Answers, ready for many E steps.

    Attributes:
        codes: (question, respondent) 0 .. K - 1, MISSING. rows: the different ones among them. times: (row,) how often
            each occurs. of: (question,) its row.
    """

    def __init__(self, codes: Codes) -> None:
        self.codes, self.n_categories = codes, int(codes.max()) + 1
        self.rows, of, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        self.of = of.ravel()
        self.times = times.astype(float)
        self._kept: list[Shown] = []

    def expect(self, curves: Curves, nodes: Floats, log_weight: Floats) -> Expected:
        """One E step of log weights (node,)."""
        chances = Chances.of(curves, nodes)
        likelihood, mass = 0.0, np.zeros(len(nodes))
        counts = np.zeros((self.n_categories, len(curves.slope), len(nodes)))
        for shown in self._blocks():
            log_evidence, posterior = _posterior(shown, chances.log_p, log_weight)
            likelihood += float(shown.times @ log_evidence)
            posterior *= shown.times[:, None]
            mass += posterior.sum(axis=0)
            counts += shown.counted(posterior)
        return Expected(likelihood, mass, *chances.slopes_by(counts))

    def posterior(self, curves: Curves, nodes: Floats, log_weight: Floats) -> Floats:
        """(question, node) where each question probably lies."""
        log_p = Chances.of(curves, nodes).log_p
        return np.concatenate([_posterior(shown, log_p, log_weight)[1] for shown in self._blocks()])[self.of]

    def _blocks(self) -> Iterator[Shown]:
        """Rows that go through at once."""
        if self.rows.size * self.n_categories > _CELLS_KEPT:
            return self._cut()
        if not self._kept:
            self._kept.extend(self._cut())
        return iter(self._kept)

    def _cut(self) -> Iterator[Shown]:
        for start in range(0, len(self.rows), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield Shown.of(self.rows[rows], self.times[rows], self.n_categories)


def _posterior(shown: Shown, log_p: Floats, log_weight: Floats) -> tuple[Floats, Floats]:
    """(row,) log likelihoods and (row, node) posterior probabilities."""
    joint = shown.log_likelihood(log_p) + log_weight
    top = joint.max(axis=1, keepdims=True)
    np.exp(np.subtract(joint, top, out=joint), out=joint)
    total = joint.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], np.divide(joint, total, out=joint)

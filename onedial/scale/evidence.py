"""The E step: where each question probably lies, and what the curves would then be seen to do.

    log L_q(z) = sum over the answered cells of log P_i(x_qi | z),     posterior_q(z) ~ w(z) L_q(z)

Missing cells add nothing. A family answers in few different ways, and the sum over its own factor is done once for each
of them. Questions with the same answers are counted, not repeated. They go through in blocks, so that memory stays
small.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from onedial.scale.response_curves import Chances, Curves
from onedial.stats.answers import Answers
from onedial.stats.arrays import Booleans, Floats, Integers

Codes = NDArray[np.int8]
MISSING = -1
_ROWS_AT_ONCE = 1000  # what has to be fetched from afar takes half as long again
_CELLS_KEPT = 20_000_000
_WIDEST, _FAMILY_NODES = 4.2, 15  # of a family's factor: .6 apart, as wide as its posterior is, or less


def codes_of(answers: Answers) -> Codes:
    """(question, respondent) 1 = yes, 0 = no, -1 = missing."""
    return np.where(answers.answered, answers.yes, MISSING).astype(np.int8)


@dataclass(frozen=True)
class Shown:
    """Which categories some respondents show.

    Attributes:
        members: positions of the respondents. used: (category, member) which occur. cells: (pattern, used) 0/1.
    """

    members: Integers
    used: Booleans
    cells: Floats

    @classmethod
    def of(cls, codes: Codes, members: Integers, n_categories: int) -> "Shown":
        """In (pattern, member) categories."""
        every = codes == np.arange(n_categories)[:, None, None]
        used = every.any(axis=1)
        return cls(members, used, every.transpose(1, 0, 2)[:, used].astype(float))

    def log_likelihood(self, log_p: Floats) -> Floats:
        """(pattern, place), from (category, member, place)."""
        return self.cells @ log_p[self.used]

    def counted(self, weight: Floats) -> Floats:
        """(category, member, place) how often each is shown, from (pattern, place) weights."""
        counts = self.cells.T @ weight
        if self.used.all():
            return counts.reshape(*self.used.shape, weight.shape[1])
        found = np.zeros((*self.used.shape, weight.shape[1]))
        found[self.used] = counts
        return found


@dataclass(frozen=True)
class Expected:
    """What an E step finds: the log likelihood, and how it rises with each parameter.

    Attributes:
        log_likelihood: summed over the questions. mass: (node,) expected number of questions at each node.
        by_slope, by_family_slope: (respondent,). by_cut: (cut, respondent). by_floor: (category, respondent).
    """

    log_likelihood: float
    mass: Floats
    by_slope: Floats
    by_family_slope: Floats
    by_cut: Floats
    by_floor: Floats


@dataclass(frozen=True)
class Evidence:
    """Where questions probably lie.

    Attributes:
        log_likelihood: (question,). posterior: (question, node) of the scale.
        within: for each family (pattern, its node, node), where its factor lies given the pattern and z.
    """

    log_likelihood: Floats
    posterior: Floats
    within: list[Floats]


class Data:
    """Answers, ready for many E steps.

    Attributes:
        codes: (question, respondent) 0 .. K - 1, MISSING. rows: the different ones among them. times: (row,) how often
            each occurs. families: of those that have a factor of their own.
        pattern: for each family (question,) its pattern.
    """

    def __init__(self, codes: Codes, families: Integers | None = None) -> None:
        """`families` (respondent,) numbers them; -1, or a number of one respondent alone, has no factor of its own."""
        self.codes, self.n_categories = codes, int(codes.max()) + 1
        rows, of, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        self.of = of.ravel()
        self.times = times.astype(float)
        labels = np.full(codes.shape[1], -1) if families is None else families
        groups = [np.flatnonzero(labels == one) for one in np.unique(labels[labels >= 0])]
        groups = [members for members in groups if len(members) > 1]
        alone = np.ones(codes.shape[1], dtype=bool)
        self.families, self.pattern, lookups = [], [], []
        for members in groups:
            alone[members] = False
            patterns, own = np.unique(rows[:, members], axis=0, return_inverse=True)
            self.families.append(Shown.of(patterns, members, self.n_categories))
            self.pattern.append(own.ravel()[self.of])
            lookups.append(_lookup(own.ravel(), len(patterns)))
        self.alone = np.flatnonzero(alone)
        self.rows, self._lookup = rows, hstack(lookups).tocsr() if lookups else None
        self._kept: list[tuple[Shown, csr_matrix | None, Floats]] = []

    @cached_property
    def family_weight(self) -> tuple[Floats, Floats]:
        """Nodes of a family's factor and their log weights."""
        nodes = np.linspace(-_WIDEST, _WIDEST, _FAMILY_NODES)
        log_weight = -(nodes**2) / 2
        return nodes, log_weight - np.log(np.exp(log_weight).sum())

    def expect(self, curves: Curves, nodes: Floats, log_weight: Floats) -> Expected:
        """One E step of log weights (node,)."""
        chances, alone, families, within, patterns = self._prepared(curves, nodes)
        likelihood, mass = 0.0, np.zeros(len(nodes))
        of_patterns = np.zeros_like(patterns)
        m, n_cuts = len(curves.slope), len(curves.cuts)
        by_slope, by_family, by_cut, by_floor = (np.zeros(shape) for shape in (m, m, (n_cuts, m), (n_cuts + 1, m)))

        def add(one: Chances, members: Integers, counts: Floats) -> None:
            found = one.slopes_by(counts)
            for total, part in zip((by_slope, by_family, by_cut, by_floor), found, strict=True):
                total[..., members] += part

        counts = np.zeros((self.n_categories, len(self.alone), len(nodes)))
        for shown, lookup, times in self._blocks():
            log_evidence, posterior = _posterior(shown, lookup, alone, patterns, log_weight)
            likelihood += float(times @ log_evidence)
            posterior *= times[:, None]
            mass += posterior.sum(axis=0)
            counts += shown.counted(posterior)
            if lookup is not None:
                of_patterns += lookup.T @ posterior
        add(chances, self.alone, counts)
        start = 0
        for family, one, where in zip(self.families, families, within, strict=True):
            own = of_patterns[start : start + len(where)]
            start += len(where)
            add(one, family.members, family.counted((own[:, None] * where).reshape(len(where), -1)))
        return Expected(likelihood, mass, by_slope, by_family, by_cut, by_floor)

    def evidence(self, curves: Curves, nodes: Floats, log_weight: Floats) -> Evidence:
        """Of every question."""
        _, alone, _, within, patterns = self._prepared(curves, nodes)
        parts = [_posterior(shown, lookup, alone, patterns, log_weight) for shown, lookup, _ in self._blocks()]
        log_likelihood, posterior = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Evidence(log_likelihood[self.of], posterior[self.of], within)

    def family_chances(self, curves: Curves, nodes: Floats) -> list[Chances]:
        """Of every family, at all places of its own factor and the scale: (its node x node,)."""
        own, _ = self.family_weight
        z, s = np.tile(nodes, len(own)), np.repeat(own, len(nodes))
        return [Chances.of(curves.take(family.members), z, s) for family in self.families]

    def _prepared(self, curves: Curves, nodes: Floats) -> tuple[Chances, Floats, list[Chances], list[Floats], Floats]:
        """Chances of those without a family and their log P, chances of the families, where their factors lie, and (all
        patterns, node) log likelihoods."""
        chances = Chances.of(curves.take(self.alone), nodes)
        families = self.family_chances(curves, nodes)
        within, patterns = [], []
        for family, one in zip(self.families, families, strict=True):
            inner = family.log_likelihood(one.log_p).reshape(len(family.cells), -1, len(nodes))
            inner += self.family_weight[1][:, None]
            top = inner.max(axis=1, keepdims=True)
            np.exp(np.subtract(inner, top, out=inner), out=inner)
            total = inner.sum(axis=1, keepdims=True)
            patterns.append((np.log(total) + top)[:, 0])
            within.append(np.divide(inner, total, out=inner))
        of_all = np.concatenate(patterns) if patterns else np.zeros((0, len(nodes)))
        return chances, chances.log_p, families, within, of_all

    def _blocks(self) -> Iterator[tuple[Shown, csr_matrix | None, Floats]]:
        """Rows that go through at once: which categories they show, which patterns they are, how often they occur."""
        if self.rows.size * self.n_categories > _CELLS_KEPT:
            return self._cut()
        if not self._kept:
            self._kept.extend(self._cut())
        return iter(self._kept)

    def _cut(self) -> Iterator[tuple[Shown, csr_matrix | None, Floats]]:
        for start in range(0, len(self.rows), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            shown = Shown.of(self.rows[rows][:, self.alone], self.alone, self.n_categories)
            yield shown, None if self._lookup is None else self._lookup[rows], self.times[rows]


def _posterior(
    shown: Shown, lookup: csr_matrix | None, log_p: Floats, patterns: Floats, log_weight: Floats
) -> tuple[Floats, Floats]:
    """(row,) log likelihoods and (row, node) posterior probabilities."""
    joint = shown.log_likelihood(log_p) + log_weight
    if lookup is not None:
        joint += lookup @ patterns
    top = joint.max(axis=1, keepdims=True)
    np.exp(np.subtract(joint, top, out=joint), out=joint)
    total = joint.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], np.divide(joint, total, out=joint)


def _lookup(of: Integers, n_patterns: int) -> csr_matrix:
    """(row, pattern) 1 where the row has that pattern."""
    n = len(of)
    return csr_matrix((np.ones(n), of, np.arange(n + 1)), shape=(n, n_patterns))

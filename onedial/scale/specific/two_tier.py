"""Marginal likelihood with a general factor and one specific factor for each group of respondents.

    P(x_qi >= k) = Phi(a_i z_q + b_i s_qg + d_ik),    z_q ~ the scale,    s_qg ~ N(0, 1),    g = the group of i

All factors of a question are independent. Given z the groups are, so that the integral over all factors is one over z
of a product of integrals over one s each (Gibbons and Hedeker, 1992, Psychometrika 57, 423-436; two tiers: Cai, 2010,
Psychometrika 75, 581-612):

    L_q = sum_z w(z) prod_g sum_s w(s) prod_(i in g) P_i(x_qi | z, s)

A group of few respondents answers in few different patterns, and the inner sums are done once for each of them. A
respondent that is alone in its group has no specific factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix

from onedial.scale.irt.asymptotes import Asymptotes
from onedial.scale.irt.category_curves import STEEPEST, UNUSED, Curves, at_cuts, ogive
from onedial.scale.irt.expectation import Codes
from onedial.stats import Booleans, Floats, Integers

Specific = Literal["free", "equal"]
_WIDEST, _NODES = 4.2, 21  # of a specific factor
_LARGEST_STEP, _LONGEST_JUMP = 1.0, 64.0
_DAMPING, _MAX_CYCLES = 1e-3, 150
_ROOT_CELLS = 8_000_000
_FEWER = 0.25  # patterns of a bundle, as a share of the questions


@dataclass(frozen=True)
class Patterns:
    """The different ways in which a group answers.

    Attributes:
        members: positions of the group's respondents. codes: (pattern, member). of: (question,) pattern.
        nodes, log_weight: (specific node,) one node at 0 for a group without a specific factor.
    """

    members: Integers
    codes: Codes
    of: Integers
    nodes: Floats
    log_weight: Floats

    @classmethod
    def found(cls, codes: Codes, members: Integers, is_specific: bool) -> "Patterns":
        """In (question, respondent) categories."""
        rows, of = np.unique(codes[:, members], axis=0, return_inverse=True)
        nodes = np.linspace(-_WIDEST, _WIDEST, _NODES) if is_specific else np.zeros(1)
        log_weight = -(nodes**2) / 2
        return cls(members, rows, of.ravel(), nodes, log_weight - np.log(np.exp(log_weight).sum()))


@dataclass(frozen=True)
class Bundle:
    """Groups that together answer in few patterns, so that questions are looked up in them once, not once a group.

    Attributes:
        groups: positions of the groups. each: for each group (pattern of all,) its own pattern. of: (question,) pattern
            of all.
    """

    groups: list[int]
    each: list[Integers]
    of: Integers

    @cached_property
    def questions(self) -> csr_matrix:
        """(pattern of all, question) 1 where the question has that pattern."""
        return _members(self.of, len(self.each[0]))

    @cached_property
    def patterns(self) -> list[csr_matrix]:
        """For each group (its pattern, pattern of all) the same."""
        return [_members(own, int(own.max()) + 1) for own in self.each]

    def with_other(self, other: "Bundle") -> "Bundle":
        """Both in one."""
        pairs, of = np.unique(np.column_stack([self.of, other.of]), axis=0, return_inverse=True)
        each = [*(own[pairs[:, 0]] for own in self.each), *(own[pairs[:, 1]] for own in other.each)]
        return Bundle(self.groups + other.groups, each, of.ravel())


def _members(of: Integers, n_patterns: int) -> csr_matrix:
    n = len(of)
    return csr_matrix((np.ones(n), (of, np.arange(n))), shape=(n_patterns, n))


class Grouped(tuple[Patterns, ...]):
    """The patterns of all groups of a panel."""

    @cached_property
    def bundles(self) -> list[Bundle]:
        """The groups, the smallest together as long as that saves work."""
        found = [Bundle([number], [np.arange(len(group.codes))], group.of) for number, group in enumerate(self)]
        while len(found) > 1:
            found.sort(key=lambda bundle: len(bundle.each[0]))
            both = found[0].with_other(found[1])
            if len(both.each[0]) > _FEWER * len(both.of):
                break
            found = [both, *found[2:]]
        return found


@dataclass(frozen=True)
class TwoTier:
    """Parameters.

    Attributes:
        general, specific: (respondent,) slopes a and b. cuts: (cut, respondent) d. floors: (category, respondent) how
            likely each category is whatever the question, or None. log_weight: (node,) the scale.
    """

    general: Floats
    specific: Floats
    cuts: Floats
    floors: Floats | None
    log_weight: Floats

    @property
    def size(self) -> Floats:
        """(respondent,) square root of the variance 1 + a^2 + b^2 of the hidden answer."""
        return np.sqrt(1 + self.general**2 + self.specific**2)


@dataclass(frozen=True)
class Evidence:
    """What an E step finds.

    Attributes:
        log_likelihood: (question,). posterior: (question, node) of the scale.
        within: for each group (pattern, specific node, node), where s probably lies given the pattern and z.
        told: for each group what `log_answers` says.
    """

    log_likelihood: Floats
    posterior: Floats
    within: list[Floats]
    told: list[tuple[Floats, Floats, Floats, Floats]]


def evidence_of(groups: Grouped, state: TwoTier, nodes: Floats) -> Evidence:
    """The E step."""
    joint = np.tile(state.log_weight, (len(groups[0].of), 1))
    within, each, told = [], [], [log_answers(group, state, nodes) for group in groups]
    for group, (log_p, *_) in zip(groups, told, strict=True):
        shape = (len(group.codes), len(group.nodes), len(nodes))
        log_pattern = np.zeros((shape[0], shape[1] * shape[2]))
        for category, one in enumerate(log_p):
            log_pattern += (group.codes == category).astype(float) @ one
        inner = log_pattern.reshape(shape)
        inner += group.log_weight[:, None]
        top = inner.max(axis=1, keepdims=True)
        np.exp(np.subtract(inner, top, out=inner), out=inner)
        total = inner.sum(axis=1, keepdims=True)
        each.append((np.log(total) + top)[:, 0])
        within.append(np.divide(inner, total, out=inner))
    for bundle in groups.bundles:
        parts = [each[number][own] for number, own in zip(bundle.groups, bundle.each, strict=True)]
        joint += np.sum(parts, axis=0)[bundle.of]
    top = joint.max(axis=1, keepdims=True)
    np.exp(np.subtract(joint, top, out=joint), out=joint)
    total = (joint @ np.ones(len(nodes)))[:, None]
    return Evidence((np.log(total) + top)[:, 0], np.divide(joint, total, out=joint), within, told)


def log_answers(group: Patterns, state: TwoTier, nodes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """log P_k (category, member, specific node x node), the same of answers that follow the curves, the logs of the
    densities at the cuts, and (2, specific node x node) where the nodes are."""
    places = np.stack([np.tile(nodes, len(group.nodes)), np.repeat(group.nodes, len(nodes))])
    i = group.members
    lines = np.outer(state.general[i], places[0]) + np.outer(state.specific[i], places[1])
    log_curve, log_density = ogive(lines + state.cuts[:, i, None])
    if state.floors is None:
        return log_curve, log_curve, log_density, places
    floors = state.floors[:, i, None]
    with np.errstate(divide="ignore"):
        log_p = np.logaddexp(np.log(floors), log_curve + np.log(1 - floors.sum(axis=0)))
    return log_p, log_curve, log_density, places


@dataclass(frozen=True)
class Rules:
    """How the parameters are estimated.

    Attributes:
        specific: each respondent's own b, or one for all of a group. is_normal: the scale; else any distribution.
        asymptotes: which to estimate, or None.
    """

    specific: Specific
    is_normal: bool
    asymptotes: Asymptotes | None


def climbed(
    groups: Grouped, state: TwoTier, nodes: Floats, rules: Rules, tolerance: float
) -> tuple[TwoTier, Evidence, bool]:
    """The EM algorithm to the greatest likelihood, accelerated as in `onedial.scale.irt.em`; whether it was reached."""

    def objective(at: TwoTier, found: Evidence) -> float:
        prior = 0.0 if rules.asymptotes is None or at.floors is None else rules.asymptotes.log_prior(at.floors)
        return float(found.log_likelihood.sum()) + prior

    found = evidence_of(groups, state, nodes)
    for _ in range(_MAX_CYCLES):
        begun = objective(state, found)
        one = _maximised(groups, state, found, rules)
        after_one = evidence_of(groups, one, nodes)
        two = _maximised(groups, one, after_one, rules)
        state_far = _extrapolated(state, one, two, rules)
        found_far = evidence_of(groups, state_far, nodes)
        if objective(state_far, found_far) > objective(one, after_one):
            state, found = state_far, found_far
        else:
            state, found = two, evidence_of(groups, two, nodes)
        if objective(state, found) - begun < tolerance:
            return state, found, True
    return state, found, False


def _maximised(groups: Grouped, state: TwoTier, found: Evidence, rules: Rules) -> TwoTier:
    general, specific, cuts = state.general.copy(), state.specific.copy(), state.cuts.copy()
    floors = None if state.floors is None else state.floors.copy()
    random, n_answers = np.zeros((len(cuts) + 1, len(general))), np.zeros(len(general))
    masses = _masses(groups, found.posterior)
    for number, (group, within, told) in enumerate(zip(groups, found.within, found.told, strict=True)):
        mass = masses[number]
        expected = (mass[:, None] * within).reshape(len(group.codes), -1)
        counts = np.stack([(group.codes == k).T.astype(float) @ expected for k in range(len(cuts) + 1)])
        log_p, log_curve, log_density, places = told
        i = group.members
        n_answers[i] = counts.sum(axis=(0, 2))
        if state.floors is not None:
            with np.errstate(divide="ignore"):
                by_rote = counts * np.exp(np.minimum(np.log(state.floors[:, i, None]) - log_p, 0))
            random[:, i], counts = by_rote.sum(axis=2), counts - by_rote
        has_specific = len(group.nodes) > 1
        general[i], specific[i], cuts[:, i] = _step(
            (state.general[i], state.specific[i], state.cuts[:, i]), log_curve, log_density, counts, places,
            rules.specific if has_specific and len(i) > 2 else "equal" if has_specific else None,
        )  # fmt: skip
    if rules.asymptotes is not None:
        floors = rules.asymptotes.update(random, n_answers)
    log_weight = state.log_weight
    if not rules.is_normal:
        mass = found.posterior.sum(axis=0)
        log_weight = np.maximum(np.log(np.maximum(mass / mass.sum(), 1e-300)), -60.0)
    return TwoTier(general, specific, cuts, floors, log_weight)


def _masses(groups: Grouped, posterior: Floats) -> dict[int, Floats]:
    """For each group (pattern, node), how many questions of that pattern are expected there."""
    found: dict[int, Floats] = {}
    for bundle in groups.bundles:
        of_all = bundle.questions @ posterior
        found |= {number: own @ of_all for number, own in zip(bundle.groups, bundle.patterns, strict=True)}
    return found


def _step(
    curves: tuple[Floats, Floats, Floats],
    log_p: Floats,
    log_density: Floats,
    counts: Floats,
    places: Floats,
    specific: Specific | None,
) -> tuple[Floats, Floats, Floats]:
    """One step of Fisher scoring of a group's slopes and cuts; the specific slopes first, the rest given their step."""
    a, b, cuts = curves
    used = cuts != UNUSED
    pull, weight, joint, rows = at_cuts(log_p, log_density, counts, used)
    n_cuts, m = cuts.shape
    total = rows.sum(axis=0)  # (member, node)
    size = 1 + n_cuts
    rest = np.zeros((m, size, size))  # general slope, then the cuts
    rest[:, 0, 0] = total @ places[0] ** 2
    rest[:, 0, 1:] = rest[:, 1:, 0] = (rows @ places[0]).T
    own, upper = np.arange(1, size), np.arange(1, n_cuts)
    rest[:, own, own] = np.where(used, weight.sum(axis=-1), 1.0).T
    rest[:, upper, upper + 1] = rest[:, upper + 1, upper] = joint.sum(axis=-1).T
    rest += 1e-9 * rest[:, own, own].max(axis=1)[:, None, None] * np.eye(size)
    score = np.concatenate([(pull @ places[0]).sum(axis=0)[None], pull.sum(axis=-1)]).T
    inverse = np.linalg.inv(rest)
    turn, cross = np.zeros(m), np.zeros((m, size))
    if specific is not None:
        cross = np.column_stack([total @ (places[0] * places[1]), (rows @ places[1]).T])
        towards = np.einsum("mj,mjk->mk", cross, inverse)
        information = total @ places[1] ** 2
        left = information - (towards * cross).sum(axis=1) + _DAMPING * information + 1e-12
        right = (pull @ places[1]).sum(axis=0) - (towards * score).sum(axis=1)
        turn = np.full(m, right.sum() / left.sum()) if specific == "equal" else right / left
        turn = np.clip(turn, -_LARGEST_STEP, _LARGEST_STEP)
    change = np.einsum("mjk,mk->mj", inverse, score - cross * turn[:, None])
    change *= np.minimum(1, _LARGEST_STEP / np.maximum(np.abs(change).max(axis=1), 1e-12))[:, None]
    shift = change[:, 1:].T
    if n_cuts > 1:  # neighbouring cuts keep a tenth of their distance, so that they stay in order
        distance, closing = -np.diff(cuts, axis=0), np.maximum(np.diff(shift, axis=0), 1e-12)
        shift = shift * np.minimum(1, np.where(used[1:], 0.9 * distance / closing, 1.0).min(axis=0))
    a, b = _bounded(a + change[:, 0], b + turn)
    return a, b, np.where(used, cuts + shift, UNUSED)


def _bounded(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Slopes with a communality of at most .995."""
    shrink = np.minimum(1, STEEPEST / np.maximum(np.sqrt(a**2 + b**2), 1e-12))
    return a * shrink, b * shrink


def _extrapolated(zero: TwoTier, one: TwoTier, two: TwoTier, rules: Rules) -> TwoTier:
    def flat(state: TwoTier) -> Floats:
        floors = np.empty(0) if state.floors is None else state.floors.ravel()
        return np.concatenate([state.general, state.specific, state.cuts.ravel(), floors])

    x0, x1, x2 = flat(zero), flat(one), flat(two)
    r, v = x1 - x0, x2 - 2 * x1 + x0
    length = float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), 1e-300)
    alpha = -min(max(length, 1.0), _LONGEST_JUMP)
    x = x0 - 2 * alpha * r + alpha**2 * v
    m = len(zero.general)
    general, specific = _bounded(x[:m], x[m : 2 * m])
    cuts = x[2 * m : 2 * m + zero.cuts.size].reshape(zero.cuts.shape)
    in_order = (np.diff(cuts, axis=0) < -1e-6).all(axis=0)
    cuts = np.where(one.cuts == UNUSED, UNUSED, np.where(in_order, cuts, two.cuts))
    floors = two.floors
    if rules.asymptotes is not None and floors is not None:
        floors = rules.asymptotes.inside(x[2 * m + zero.cuts.size :].reshape(floors.shape))
    return TwoTier(general, specific, cuts, floors, two.log_weight)


def scores_of(groups: Grouped, state: TwoTier, found: Evidence, nodes: Floats) -> Floats:
    """(question, general slopes, specific slopes, then each cut) derivatives of each question's log likelihood."""
    n_cuts, m = state.cuts.shape
    scores = np.zeros((len(found.posterior), 2 + n_cuts, m))
    for group, within in zip(groups, found.within, strict=True):
        log_p, _, log_density, places = log_answers(group, state, nodes)
        shape = (len(group.members), len(group.nodes), len(nodes))
        attentive = 1.0 if state.floors is None else 1 - state.floors[:, group.members].sum(axis=0)[:, None]
        used = (state.cuts[:, group.members] != UNUSED)[..., None]
        density = np.exp(log_density) * used * attentive
        told = np.zeros((len(group.codes), 2 + n_cuts, shape[0], shape[2]))  # (pattern, parameter, member, node)
        for category, one in enumerate(log_p):
            shown = (group.codes == category)[:, :, None]
            for cut, sign in ((category - 1, 1.0), (category, -1.0)):
                if not 0 <= cut < n_cuts:
                    continue
                slope = sign * density[cut] / np.maximum(np.exp(one), 1e-300)
                parts = [(0, slope * places[0]), (2 + cut, slope)]
                if len(group.nodes) > 1:
                    parts.append((1, slope * places[1]))
                for parameter, values in parts:
                    told[:, parameter] += shown * np.einsum(
                        "psz,isz->piz", within, values.reshape(shape), optimize=True
                    )
        size = max(1, _ROOT_CELLS // told[0].size)
        for start in range(0, len(scores), size):
            rows = slice(start, start + size)
            scores[rows, :, group.members] = np.einsum(
                "qkiz,qz->qki", told[group.of[rows]], found.posterior[rows], optimize=True
            )
    return scores


def drawn_answers(groups: Grouped, found: Evidence, n_draws: int, rng: np.random.Generator) -> Iterator[Booleans]:
    """(question, respondent) random yes/no answers of the model, every question where it probably lies."""
    upto = np.cumsum(found.posterior, axis=1)
    each = [
        (group, np.cumsum(within, axis=1), np.exp(told[0][1]).reshape(len(group.members), len(group.nodes), -1))
        for group, within, told in zip(groups, found.within, found.told, strict=True)
    ]
    n = len(upto)
    last = upto.shape[1] - 1
    for _ in range(n_draws):
        yes = np.empty((n, sum(len(group.members) for group in groups)), dtype=bool)
        node = np.minimum((upto < rng.random((n, 1))).sum(axis=1), last)
        for group, within, chance in each:
            own = (within[group.of, :, node] < rng.random((n, 1))).sum(axis=1)
            here = chance[:, np.minimum(own, len(group.nodes) - 1), node].T
            yes[:, group.members] = rng.random(here.shape) < here
        yield yes


def standardised(state: TwoTier, nodes: Floats) -> tuple[TwoTier, Floats]:
    """The same model on a scale of mean 0 and variance 1, and its nodes."""
    weight = np.exp(state.log_weight)
    mean = float(weight @ nodes)
    spread = float(np.sqrt(weight @ (nodes - mean) ** 2))
    curves = Curves(state.general, state.cuts).moved(mean, spread)
    return replace(state, general=curves.slope, cuts=curves.cuts), (nodes - mean) / spread


def grouped_codes(codes: Codes, labels: Integers, specific: Booleans) -> Grouped:
    """Patterns of every group; `specific` (group,) says which have a factor of their own."""
    return Grouped(
        Patterns.found(codes, np.flatnonzero(labels == number), bool(specific[number]))
        for number in range(len(specific))
    )

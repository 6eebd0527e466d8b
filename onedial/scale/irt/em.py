"""Marginal maximum likelihood by the EM algorithm, accelerated.

An EM step expects how often each category would be seen at each node (`onedial.scale.irt.expectation`), and moves the
curves and the distribution of the scale to where that is most likely. Two steps give a direction, and the SQUAREM
rule a length:

    r = x1 - x0,  v = (x2 - x1) - r,  alpha = -max(1, |r| / |v|),  x = x0 - 2 alpha r + alpha^2 v

(Varadhan and Roland, 2008, Scandinavian Journal of Statistics 35, 335-353). A jump that lowers the likelihood is not
made. Several groups of questions may share the curves, each with a distribution of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onedial.scale.irt.asymptotes import Asymptotes
from onedial.scale.irt.category_curves import STEEPEST, UNUSED, Curves, log_categories, random_answers, scoring_step
from onedial.scale.irt.expectation import Codes, Expected, expect
from onedial.scale.irt.scales import ScaleFamily
from onedial.stats import Floats

_LONGEST_JUMP = 64.0
_MAX_CYCLES = 200


@dataclass(frozen=True)
class Group:
    """Questions that share a distribution.

    Attributes:
        codes: (question, respondent) categories. family: of the distribution. start: its parameters to begin with.
    """

    codes: Codes
    family: ScaleFamily
    start: Floats


@dataclass(frozen=True)
class EmFit:
    """Where the likelihood is greatest.

    Attributes:
        curves: of the respondents. parameters: of each group's distribution. log_likelihood: of all groups.
        converged: False where the steps ran out. n_steps: E steps.
    """

    curves: Curves
    parameters: list[Floats]
    log_likelihood: float
    converged: bool
    n_steps: int


def fit_by_em(
    groups: Sequence[Group],
    curves: Curves,
    nodes: Floats,
    equal_slopes: bool = False,
    tolerance: float = 1e-6,
    asymptotes: Asymptotes | None = None,
) -> EmFit:
    """Curves and distributions of greatest marginal likelihood, times the prior of the asymptotes where there are any.

    Args:
        groups: at least one. curves: to begin with. nodes: (node,). equal_slopes: one slope for all respondents.
        tolerance: the fit ends when a cycle gains less log likelihood than this. asymptotes: which to estimate; None
            leaves the curves' as they are.
    """

    def objective(state: _State, found: list[Expected]) -> float:
        prior = 0.0 if asymptotes is None else asymptotes.log_prior(_floors(state.curves))
        return _likelihood(found) + prior

    state = _State(curves, [group.start for group in groups])
    scale = _scale_of(state, groups, nodes)
    found, n_steps = _expectations(groups, state, nodes), 1
    for _ in range(_MAX_CYCLES):
        begun = objective(state, found)
        one = _maximised(groups, state, found, nodes, equal_slopes, asymptotes)
        after_one = _expectations(groups, one, nodes)
        two = _maximised(groups, one, after_one, nodes, equal_slopes, asymptotes)
        state = _extrapolated(state, one, two, scale, asymptotes)
        found = _expectations(groups, state, nodes)
        n_steps += 2
        if not objective(state, found) > objective(one, after_one):
            state, found, n_steps = two, _expectations(groups, two, nodes), n_steps + 1
        if objective(state, found) - begun < tolerance:
            return EmFit(state.curves, state.parameters, _likelihood(found), True, n_steps)
    return EmFit(state.curves, state.parameters, _likelihood(found), False, n_steps)


@dataclass(frozen=True)
class _State:
    curves: Curves
    parameters: list[Floats]

    def flat(self) -> Floats:
        return np.concatenate(
            [self.curves.slope, self.curves.cuts.ravel(), _floors(self.curves).ravel(), *self.parameters]
        )


def _floors(curves: Curves) -> Floats:
    """(category, respondent), without rows where nobody answers at random."""
    return np.empty((0, curves.slope.size)) if curves.floors is None else curves.floors


def _likelihood(found: list[Expected]) -> float:
    return sum(part.log_likelihood for part in found)


def _expectations(groups: Sequence[Group], state: _State, nodes: Floats) -> list[Expected]:
    log_p, _ = log_categories(state.curves, nodes)
    return [
        expect(group.codes, log_p, group.family.log_weight(parameters, nodes))
        for group, parameters in zip(groups, state.parameters, strict=True)
    ]


def _maximised(
    groups: Sequence[Group],
    state: _State,
    found: list[Expected],
    nodes: Floats,
    equal_slopes: bool,
    asymptotes: Asymptotes | None,
) -> _State:
    counts = np.sum([part.counts for part in found], axis=0)
    following, random = random_answers(state.curves, nodes, counts)
    curves = scoring_step(state.curves, nodes, following, equal_slopes)
    if asymptotes is not None:
        curves = replace(curves, floors=asymptotes.update(random, counts.sum(axis=(0, 2))))
    parameters = [
        group.family.update(part.mass, own, nodes)
        for group, part, own in zip(groups, found, state.parameters, strict=True)
    ]
    return _State(curves, parameters)


def _scale_of(state: _State, groups: Sequence[Group], nodes: Floats) -> Floats:
    """What a parameter's change counts in the length of a jump: log weights of nodes by the root of their weight."""
    parts = [np.ones(state.curves.slope.size + state.curves.cuts.size + _floors(state.curves).size)]
    for group, own in zip(groups, state.parameters, strict=True):
        is_weight = len(own) == len(nodes)
        parts.append(np.exp(group.family.log_weight(own, nodes) / 2) if is_weight else np.ones(len(own)))
    return np.concatenate(parts)


def _extrapolated(zero: _State, one: _State, two: _State, scale: Floats, asymptotes: Asymptotes | None) -> _State:
    x0, x1, x2 = zero.flat(), one.flat(), two.flat()
    r, v = x1 - x0, x2 - 2 * x1 + x0
    length = float(np.linalg.norm(r * scale)) / max(float(np.linalg.norm(v * scale)), 1e-300)
    alpha = -min(max(length, 1.0), _LONGEST_JUMP)
    x = x0 - 2 * alpha * r + alpha**2 * v
    m, n_cuts = one.curves.slope.size, one.curves.cuts.size
    cuts = x[m : m + n_cuts].reshape(one.curves.cuts.shape)
    in_order = (np.diff(cuts, axis=0) < -1e-6).all(axis=0)
    cuts = np.where(one.curves.cuts == UNUSED, UNUSED, np.where(in_order, cuts, two.curves.cuts))
    at = m + n_cuts
    floors = two.curves.floors
    if asymptotes is not None and floors is not None:
        floors = asymptotes.inside(x[at : at + floors.size].reshape(floors.shape))
    at += _floors(two.curves).size
    parameters: list[Floats] = []
    for old in one.parameters:
        parameters.append(x[at : at + len(old)])
        at += len(old)
    return _State(Curves(np.clip(x[:m], -STEEPEST, STEEPEST), cuts, floors), parameters)

"""The response model in several groups of questions at once, and how to climb to its greatest likelihood.

    P(yes_qi) = lower_i + (upper_i - lower_i) Phi(a_ig z_q + d_ig),    z_q ~ the distribution of group g

A respondent's curve is the same in every group (`EQUAL`), has the same slope (`SHIFTED`) or nothing in common (`FREE`).
Where at least some are equal, the groups share a scale, and each has its own place, spread and shape on it. Answers at
random are as frequent in one group as in another: else a hard group would show where somebody guesses.

Steps are those of Berndt, Hall, Hall and Hausman (1974, Annals of Economic and Social Measurement 3, 653-665),
theta + (S'S)^-1 S'1 with S the questions' scores, damped as by Levenberg and Marquardt until the likelihood rises.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onedial.scale.evidence import Codes, Data
from onedial.scale.likelihood import MarginalFit, smooth_basis
from onedial.scale.nodes import nodes_for, quadrature
from onedial.scale.response_curves import STEEPEST, Chances, Curves
from onedial.stats import Floats, Integers

EQUAL, SHIFTED, FREE = 0, 1, 2
_TILT_PRECISION = np.array([0.1, 1.0, 0.25, 0.25, 0.25, 0.25])
"""Of the normal prior around 0 of a group's tilt, so that no group ends as a few points."""
_COARSER = 1.4  # nodes this much wider apart than the narrowest posterior: relative error 1e-4, the same in all models
_LEAST_NODES = 61
_TRIALS = 6
_FURTHEST = 4.0  # threshold: where nobody but at random says otherwise, a cut would run away, and not come back
_LEAST_DAMPING = 1e-6


@dataclass(frozen=True)
class MultigroupModel:
    """Parameters of all groups.

    Attributes:
        codes: of each group, (question, respondent). nodes: (node,).
        slope, cut: (group, respondent). floors: (category, respondent) of answers at random, held fixed.
        tilt: (group, 6) parameters of the groups' distributions; their prior also settles place and unit of the scale.
        freedom: (respondent,) EQUAL, SHIFTED or FREE.
    """

    codes: Sequence[Codes]
    nodes: Floats
    slope: Floats
    cut: Floats
    floors: Floats | None
    tilt: Floats
    freedom: Integers

    def curves(self, group: int) -> Curves:
        """The group's."""
        return Curves(self.slope[group], self.cut[group][None], self.floors)

    def log_weight(self, group: int) -> Floats:
        """(node,) the group's distribution."""
        tilted = -(self.nodes**2) / 2 + self.tilt[group] @ _statistics(self.nodes)
        return tilted - tilted.max() - np.log(np.exp(tilted - tilted.max()).sum())

    def evidence(self) -> tuple[float, list[Floats], list[Chances]]:
        """Log likelihood less what the prior of the tilts takes, and for each group (question, node) posterior and what
        the curves say."""
        posteriors, curves, total = [], [], 0.0
        for group, codes in enumerate(self.codes):
            found = Data(codes).evidence(self.curves(group), self.nodes, self.log_weight(group))
            total += float(found.log_likelihood.sum())
            posteriors.append(found.posterior)
            curves.append(Chances.of(self.curves(group), self.nodes))
        return total - float((self.tilt**2 @ _TILT_PRECISION).sum()) / 2, posteriors, curves

    def with_freedom(self, respondent: int, freedom: int) -> "MultigroupModel":
        """The same parameters, that respondent bound differently; bound to one curve, it takes the mean one."""
        changed = self.freedom.copy()
        changed[respondent] = freedom
        slope, cut = self.slope.copy(), self.cut.copy()
        sizes = np.array([len(codes) for codes in self.codes], dtype=float)
        if freedom != FREE:
            slope[:, respondent] = np.average(slope[:, respondent], weights=sizes)
        if freedom == EQUAL:
            cut[:, respondent] = np.average(cut[:, respondent], weights=sizes)
        return replace(self, freedom=changed, slope=slope, cut=cut)


def fit_equal(codes: Sequence[Codes], together: MarginalFit) -> MultigroupModel:
    """The model in which every respondent has one curve in all groups, beginning with `together`, one for all."""
    nodes, _ = quadrature(nodes_for(together.curves.loading, _LEAST_NODES, _COARSER))
    curves = together.curves
    model = MultigroupModel(
        codes,
        nodes,
        np.repeat(curves.slope[None], len(codes), axis=0),
        np.repeat(curves.cuts, len(codes), axis=0),
        curves.floors,
        np.zeros((len(codes), len(_TILT_PRECISION))),
        np.full(len(curves.slope), EQUAL),
    )
    return climb(model, max_steps=80, tolerance=1e-3)[0]


def climb(model: MultigroupModel, max_steps: int, tolerance: float = 0.01) -> tuple[MultigroupModel, float]:
    """The model of greatest likelihood with the same freedoms, and its log likelihood.

    Args:
        max_steps: of scoring. tolerance: the climb ends when a step is expected to gain, or gains, less.
    """
    value, posteriors, curves = model.evidence()
    damping = _LEAST_DAMPING
    for _ in range(max_steps):
        scores = _scores(model, posteriors, curves)
        pull, information = scores.sum(axis=0), scores.T @ scores
        of_tilt = slice(-model.tilt.size, None)
        pull[of_tilt] -= (model.tilt * _TILT_PRECISION).ravel()
        information[np.diag_indices_from(information)] += 1e-9
        information[of_tilt, of_tilt] += np.diag(np.tile(_TILT_PRECISION, len(model.codes)))
        for _ in range(_TRIALS):
            damped = information + damping * np.diag(np.diag(information))
            step = np.linalg.solve(damped, pull)
            moved = _moved(model, step)
            after, new_posteriors, new_curves = moved.evidence()
            if after > value:
                break
            damping = max(10 * damping, 1e-3)
        else:
            break
        expected, gain, value = pull @ step / 2, after - value, after
        model, posteriors, curves = moved, new_posteriors, new_curves
        damping = damping / 10 if damping > _LEAST_DAMPING else _LEAST_DAMPING
        if max(gain, expected) < tolerance:
            break
    return model, value


def shift_information(model: MultigroupModel) -> Floats:
    """(group, respondent) information on a respondent's cut in that group, if all other curves are equal and estimated.

    Formula: s'(I - S (S'S)^-1 S') s n / (n - p), s the questions' scores of that cut, S those of all p parameters of
    equal curves and groups' distributions, n questions.
    """
    _, posteriors, curves = model.evidence()
    equal, shifted = (replace(model, freedom=np.full_like(model.freedom, kind)) for kind in (EQUAL, SHIFTED))
    scores, own = _scores(equal, posteriors, curves), _scores(shifted, posteriors, curves)
    own = own[:, _columns(shifted)[1].ravel()]
    n, p = scores.shape
    information, cross = scores.T @ scores + 1e-9 * np.eye(p), scores.T @ own
    left = (own**2).sum(axis=0) - (cross * np.linalg.solve(information, cross)).sum(axis=0)
    return np.maximum(left, 0).reshape(model.cut.shape) * n / max(n - p, 1)


def _statistics(nodes: Floats) -> Floats:
    """(6, node) what a tilt weighs: a group's distribution is N(0, 1) times exp(c . T), normalised, with
    T = (z, z^2, L3, L4, L5, L6), so that place, spread and shape of each group are its own."""
    return np.concatenate([[nodes, nodes**2], smooth_basis(nodes, 6)])


def _columns(model: MultigroupModel) -> tuple[Integers, Integers, int]:
    """(group, respondent) which parameter a slope and a cut is, and how many parameters there are before the tilts."""
    n_groups, m = model.slope.shape
    slope, cut, at = np.empty((n_groups, m), dtype=int), np.empty((n_groups, m), dtype=int), 0
    for place, loosest in ((slope, FREE), (cut, SHIFTED)):
        for i in range(m):
            own = model.freedom[i] >= loosest
            place[:, i] = at + np.arange(n_groups) if own else at
            at += n_groups if own else 1
    return slope, cut, at


def _scores(model: MultigroupModel, posteriors: list[Floats], curves: list[Chances]) -> Floats:
    """(question, parameter) derivatives of each question's log likelihood."""
    slope, cut, n_curves = _columns(model)
    statistics = _statistics(model.nodes)
    n_questions = sum(len(codes) for codes in model.codes)
    scores = np.zeros((n_questions, n_curves + model.tilt.size))
    start, at = 0, n_curves
    for group, codes in enumerate(model.codes):
        rows = slice(start, start + len(codes))
        start += len(codes)
        posterior, here = posteriors[group], curves[group]
        with_yes, with_no = (
            sign * np.exp(here.log_rise[0] - log_p) for sign, log_p in ((1, here.log_p[1]), (-1, here.log_p[0]))
        )
        yes, no = (codes == 1).astype(float), (codes == 0).astype(float)
        for columns, part in ((slope[group], model.nodes), (cut[group], np.ones_like(model.nodes))):
            scores[rows, columns] = yes * (posterior @ (with_yes * part).T) + no * (posterior @ (with_no * part).T)
        expected = statistics @ np.exp(model.log_weight(group))
        scores[rows, at : at + len(expected)] = posterior @ statistics.T - expected
        at += len(expected)
    return scores


def _moved(model: MultigroupModel, step: Floats) -> MultigroupModel:
    slope, cut, n_curves = _columns(model)
    slopes = np.clip(model.slope + step[slope], -STEEPEST, STEEPEST)
    furthest = _FURTHEST * np.sqrt(1 + slopes**2)
    return replace(
        model,
        slope=slopes,
        cut=np.clip(model.cut + step[cut], -furthest, furthest),
        tilt=model.tilt + np.clip(step[n_curves:].reshape(model.tilt.shape), -1, 1),
    )

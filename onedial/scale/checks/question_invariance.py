"""Does a question's place on the scale depend on who is asked: which family, what size, under which framing?

A scale is shared by groups of respondents when each question lies at one place for all of them. For a group g let a
question lie at z + delta for its members and at z for everybody else. Over the questions,

    delta ~ N(0, tau_g^2),      agreement_g = 1 / sqrt(1 + tau_g^2),

where agreement is the correlation of the group's own order of the questions with that of the others. For a single
question, the number of yes in the group is compared with its exact distribution, given where the answers of all others
say that the question lies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from onedial.core import InputError, one_line
from onedial.scale.evidence import MISSING, Codes, codes_of
from onedial.scale.factor.usable import linked_answers
from onedial.scale.likelihood import MarginalFit, Model, ScaleKind, fit_marginal
from onedial.scale.nodes import quadrature
from onedial.scale.response_curves import Chances, log_categories
from onedial.stats import LEVEL, POWER, Answers, Floats, adjusted, labels_of, least_z

SHIFT_OF_INTEREST = 1.0  # spreads of the scale, of a single question
HIGH_AGREEMENT = 0.9  # above which an order of one's own is hardly another order
_NODES = 121  # .1 apart
_FURTHEST = 40  # steps of .1 that a question's place may differ by
_TAUS = np.concatenate([[0.0], np.geomspace(0.05, 3, 42)])
_BLOCK = 128
_SHIFTS = np.linspace(-4, 4, 41)


@dataclass(frozen=True)
class QuestionInvariance:
    """Places of the questions for groups of respondents.

    Attributes:
        groups: index group; `n_respondents, tau` (standard deviation of the questions' shifts for this group, in units
            of the scale's spread), `agreement`, `ratio` (likelihood ratio against tau = 0), `p` and `q` (adjusted);
            `least_agreement`, the highest agreement that would be found with a power of 80%, approximately, and
            `least_shift`, the shift of a single question, whichever and to whichever side, that is found so often; inf
            where the group has too few members for any.
        questions: index (question, group); `n` answers of the group, `yes` among them, `expected` given all others,
            `shift` (posterior mean of delta, > 0 = easier for this group), `p`, `q` (adjusted over all rows).
    """

    groups: pd.DataFrame
    questions: pd.DataFrame

    __repr__ = one_line

    def violations(self, alpha: float = LEVEL) -> pd.DataFrame:
        """Questions that lie elsewhere for some group, those with the largest shift first."""
        found = self.questions[self.questions["q"] <= alpha]
        return found.reindex(found["shift"].abs().sort_values(ascending=False).index)

    def sentence(self, what: str = "groups of respondents") -> str:
        """What the tests say."""
        tested = self.groups[self.groups["p"].notna()]
        if not len(tested):
            return f"Whether {what} order the questions alike could not be tested."
        odd = tested[tested["q"] <= LEVEL].sort_values("agreement")
        n = int(self.questions["q"].le(LEVEL).groupby(level="question").any().sum())
        least = tested["least_shift"].median()
        single = f"{n} questions lie elsewhere for some of them (a shift of {least:.1f} spreads is found in 80%)"
        if not np.isfinite(least):
            single = (
                f"{n} single questions are found elsewhere, though"
                if n
                else "no single question is found elsewhere, but"
            )
            single += " no shift of one would be found in 80%"
        elif not n and not least <= SHIFT_OF_INTEREST:
            single = (
                f"single questions are found with a power of 80% only where they are {least:.1f} spreads off or more"
            )
        if not len(odd):
            low, blunt = tested["agreement"].min(), tested.index[tested["least_agreement"] < HIGH_AGREEMENT]
            if len(blunt):
                return (
                    f"No order of its own was found in {len(tested)} {what} (agreement at least {low:.2f}), but in "
                    f"{len(blunt)} of them an agreement of {HIGH_AGREEMENT:g} would be missed more often than in 20% "
                    f"(found in 80%: {tested['least_agreement'].min():.2f}); {single}."
                )
            return f"All {len(tested)} {what} order the questions alike (agreement at least {low:.2f}); {single}."
        each = ", ".join(f"{name} {agreement:.2f}" for name, agreement in odd["agreement"].iloc[:4].items())
        if odd["agreement"].min() >= HIGH_AGREEMENT:
            return f"{len(tested)} {what} order the questions nearly alike (lowest agreement: {each}); {single}."
        return f"{len(odd)} of {len(tested)} {what} have an order of their own (agreement: {each}); {single}."


def question_invariance(matrix: Any, groups: Any, scale: ScaleKind = "histogram") -> QuestionInvariance:
    """Test every group of respondents, and every question in it, for places that differ from those for the others.

    Formula: with one set of curves fitted to all, p_q(z) = the posterior given all answers but the group's, L_q the
    likelihood of the group's: M_q(delta) = sum over z of p_q(z) L_q(z + delta). tau maximises the sum of the logs of
    the means of M_q over N(0, tau^2); ratio = 2 (l(tau) - l(0)), p half that of chi-squared(1), since tau cannot be
    negative (Self and Liang, 1987, Journal of the American Statistical Association 82, 605-610). For a question: mid-p
    of the number of yes in the group, at each place a sum of unequal coins (two-sided; Benjamini and Hochberg over
    questions and groups). Few members cannot give a small p: six that all say yes where three are expected have 1 / 64.

    Args:
        matrix: question x respondent, 1 / 0 / nan. groups: label of each respondent (a Series by name, or in the order
            of the columns); each group is compared with all others together. scale: distribution of the questions.

    Returns:
        QuestionInvariance. Sign: shift > 0 = easier (more yes) for the group than its place for the others says.

    Raises:
        InputError: the labels do not fit, or there are fewer than two groups or three respondents.

    R: none; `mirt::bfactor(x, group)` estimates the same variance as a group factor.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> question_invariance(answers, list("aaabbb")).groups.shape[0]
    2
    """
    answers = linked_answers(matrix)
    code, labels = pd.factorize(labels_of(groups, matrix, answers.respondents, "groups"), sort=True)
    if len(labels) < 2:
        raise InputError(f"{len(labels)} group of respondents; comparing groups needs at least two")
    codes = codes_of(answers)
    fit = fit_marginal(codes, Model(scale))
    rows, tables, known, shifted = {}, {}, {}, {}
    for number, label in enumerate(labels):
        rows[label], tables[label], known[label], shifted[label] = _one_group(codes, fit, code == number, answers)
    of_groups = pd.DataFrame.from_dict(rows, orient="index").rename_axis("group")
    of_groups["q"] = adjusted(of_groups["p"].to_numpy())
    of_groups["least_agreement"] = _least_agreement(known)
    level = LEVEL / max(1, sum(len(v) for v in known.values()))
    of_groups["least_shift"] = pd.Series({label: _least_shift(counts, level) for label, counts in shifted.items()})
    questions = pd.concat(tables, names=["group"]).swaplevel().sort_index(level=0, sort_remaining=False)
    questions["q"] = adjusted(questions["p"].to_numpy())
    return QuestionInvariance(of_groups.astype({"n_respondents": int}), questions)


def _one_group(
    codes: Codes, fit: MarginalFit, members: np.ndarray, answers: Answers
) -> tuple[dict[str, float], pd.DataFrame, Floats, Floats]:
    """The group's row, its questions, (question,) variances of a shift, of those that it answered, and `_shifted`."""
    nodes, _ = quadrature(_NODES)
    curves = Chances.of(fit.curves, nodes)
    log_p, log_density = curves.log_p, curves.log_rise
    log_weight = _on_nodes(fit, nodes)
    others = _log_likelihood(np.where(members, MISSING, codes), log_p) + log_weight
    prior = np.exp(others - others.max(axis=1, keepdims=True))
    prior /= prior.sum(axis=1, keepdims=True)
    own_codes, own_p = codes[:, members], np.exp(log_p[1][members])
    n, yes = (own_codes != MISSING).sum(axis=1), (own_codes == 1).sum(axis=1)
    above, at, expected = _sums(own_codes, own_p, prior, yes)
    p = np.where(n > 0, np.minimum(1.0, 2 * np.minimum(above + at / 2, 1 - above - at / 2)), np.nan)
    moved = _moved_evidence(prior, _log_likelihood(own_codes, log_p[:, members]))
    tau, ratio, shift = _spread_of_shifts(moved[n > 0], nodes[1] - nodes[0])
    shifts = np.full(len(codes), np.nan)
    shifts[n > 0] = shift
    table = pd.DataFrame(
        {"n": n, "yes": yes, "expected": expected, "shift": shifts, "p": p}, index=answers.questions.to_flat_index()
    ).rename_axis("question")
    row = {
        "n_respondents": int(members.sum()),
        "tau": tau,
        "agreement": 1 / np.sqrt(1 + tau**2),
        "ratio": ratio,
        "p": _half_chi_squared_tail(ratio),
    }
    rise = np.exp(2 * (log_density[0] + np.log(np.abs(fit.curves.slope))[:, None]) - log_p.sum(axis=0))[members]
    told = (((own_codes != MISSING) @ rise) * prior).sum(axis=1)[n > 0]
    place = prior[n > 0] @ nodes**2 - (prior[n > 0] @ nodes) ** 2
    return row, table, place + 1 / told, _shifted(fit, members, own_codes != MISSING, prior, nodes)


def _least_agreement(variances: dict[Any, Floats]) -> pd.Series:
    """What would be found in 80%, by group, given (question,) variances of a shift with the scale's curves known.

    Formula: a spread of shifts is judged by squares of shifts, whose standard error at tau = 0 is
    sqrt(2 / sum of 1 / v^2).
    """
    spread = least_z(len(variances), two_sided=False)
    return pd.Series({each: 1 / np.sqrt(1 + spread * np.sqrt(2 / (1 / v**2).sum())) for each, v in variances.items()})


def _shifted(fit: MarginalFit, members: np.ndarray, answered: np.ndarray, prior: Floats, nodes: Floats) -> Floats:
    """(shift, number of yes, question) chances of the group's counts on some questions, shifted by _SHIFTS."""
    asked = np.flatnonzero(answered.any(axis=1))
    n = min(len(asked), 60, max(8, 1600 // answered.shape[1]))
    some = asked[np.linspace(0, len(asked) - 1, n).astype(int)]
    curves = [np.exp(log_categories(fit.curves, nodes + shift)[1][members]) for shift in _SHIFTS]
    return np.stack([_counts(answered[some], p, prior[some]) for p in curves])


def _least_shift(chances: Floats, level: float) -> float:
    """The shift that the exact test finds in 80% of questions and sides, given `_shifted`; inf where it finds none."""
    middle = len(_SHIFTS) // 2
    still = chances[middle]
    above = still[::-1].cumsum(axis=0)[::-1] - still / 2
    found = 2 * np.minimum(above, 1 - above) <= level
    power = (chances * found).sum(axis=1).mean(axis=1)
    both = np.maximum.accumulate((power[middle:] + power[middle::-1]) / 2)
    return float(np.interp(POWER, both, _SHIFTS[middle:], right=np.inf)) if both[-1] >= POWER else float("inf")


def _on_nodes(fit: MarginalFit, nodes: Floats) -> Floats:
    """(node,) log weights of the fitted distribution, gathered on evenly spaced nodes and smeared to their distance."""
    step = nodes[1] - nodes[0]
    kernel = np.exp(-(((nodes[:, None] - fit.nodes) / step) ** 2) / 2)
    weight = kernel @ np.exp(fit.log_weight)
    return np.log(np.maximum(weight / weight.sum(), 1e-300))


def _log_likelihood(codes: Codes, log_p: Floats) -> Floats:
    """(question, node)."""
    return sum((codes == category).astype(float) @ one for category, one in enumerate(log_p))


def _sums(codes: Codes, p: Floats, prior: Floats, yes: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """(question,) P(more yes than observed), P(as many), and the expected number, among those that answered."""
    above, at, expected = (np.empty(len(codes)) for _ in range(3))
    for first in range(0, len(codes), _BLOCK):
        block = slice(first, first + _BLOCK)
        mixed = _counts(codes[block] != MISSING, p, prior[block])
        counts = np.arange(len(mixed))[:, None]
        above[block] = np.where(counts > yes[block], mixed, 0).sum(axis=0)
        at[block] = np.where(counts == yes[block], mixed, 0).sum(axis=0)
        expected[block] = (counts * mixed).sum(axis=0)
    return above, at, expected


def _counts(answered: np.ndarray, p: Floats, prior: Floats) -> Floats:
    """(number of yes, question) chances of the sums of unequal coins, over the places where a question may lie."""
    chances = np.zeros((answered.shape[1] + 1, *prior.shape))  # (number of yes, question, node)
    chances[0] = 1.0
    for i in range(answered.shape[1]):
        coin = answered[:, i, None] * p[i]  # so far there are i yes at most
        chances[1 : i + 2] = chances[1 : i + 2] * (1 - coin) + chances[: i + 1] * coin
        chances[0] *= 1 - coin
    return np.einsum("sqn,qn->sq", chances, prior)


def _moved_evidence(prior: Floats, own: Floats) -> Floats:
    """(question, shift) M_q(delta) over M_q(0), delta from -4 to 4."""
    own = np.exp(own - own.max(axis=1, keepdims=True))
    padded = np.pad(own, ((0, 0), (_FURTHEST, _FURTHEST)), mode="edge")
    n_nodes = prior.shape[1]
    starts = range(2 * _FURTHEST + 1)
    found = [np.einsum("qz,qz->q", prior, padded[:, start : start + n_nodes]) for start in starts]
    moved = np.stack(found, axis=1)
    return moved / np.maximum(moved[:, [_FURTHEST]], 1e-300)


def _spread_of_shifts(moved: Floats, step: float) -> tuple[float, float, Floats]:
    """tau of greatest likelihood, its likelihood ratio, and (question,) posterior means of the shifts."""
    delta = step * np.arange(-_FURTHEST, _FURTHEST + 1)
    with np.errstate(divide="ignore", over="ignore"):
        log_prior = -((delta / np.maximum(_TAUS[:, None], 1e-9)) ** 2) / 2
    prior = np.exp(log_prior - log_prior.max(axis=1, keepdims=True))
    prior /= prior.sum(axis=1, keepdims=True)
    likelihood = np.log(np.maximum(moved @ prior.T, 1e-300)).sum(axis=0)
    best = int(np.argmax(likelihood))
    tau = float(_TAUS[best])
    if 0 < best < len(_TAUS) - 1:  # the top of a parabola through the three best
        x, y = _TAUS[best - 1 : best + 2], likelihood[best - 1 : best + 2]
        tau = float(np.clip(-np.polyder(np.poly1d(np.polyfit(x, y, 2)))[0] / (2 * np.polyfit(x, y, 2)[0]), x[0], x[2]))
    weight = moved * prior[best]
    shift = weight @ delta / np.maximum(weight.sum(axis=1), 1e-300)
    return tau, float(max(0.0, 2 * (likelihood[best] - likelihood[0]))), shift


def _half_chi_squared_tail(ratio: float) -> float:
    return float(chdtrc(1, ratio) / 2) if ratio > 0 else 1.0

"""Does a respondent mean the same by yes in every corner of the question set?

A scale is shared by groups of questions (topics, levels, short and long ones) when each respondent's curve is the same
in all of them: a question of a given place then gets a yes from it equally often, whatever group it is from. Groups may
differ in how hard their questions are; that is no violation.

    uniform       the curve is shifted in some group: the respondent says yes more often there than its answers
                  elsewhere, and everybody else's answers there, lead one to expect
    non-uniform   its loading differs: there it follows the shared scale more, or less, closely
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtri, chndtr, ndtr

from onedial.core import InputError, one_line
from onedial.scale.evidence import MISSING, Codes, codes_of
from onedial.scale.factor.usable import linked_answers
from onedial.scale.likelihood import Model, fit_marginal
from onedial.scale.multigroup import EQUAL, FREE, SHIFTED, MultigroupModel, climb, fit_equal, shift_information
from onedial.scale.response_curves import Chances, log_categories
from onedial.stats import (
    LEVEL,
    POWER,
    Answers,
    Booleans,
    Floats,
    Integers,
    adjusted,
    chi_squared_tail,
    labels_of,
    names,
    p_text,
)

_LEAST_EXPECTED = 8  # answers of either kind in a group by the curve for all, for one of its own
_LEAST_KINDS = 3  # the same, given: a shift may leave few
_STEPS = 4
_STEPS_OF_BASE = 50
_SUSPECT = 0.2  # p below which a respondent is tested again when another has been set free
SHIFT_OF_INTEREST = 0.3  # of a threshold: about ten percentage points of the yes rate
_SHIFTS = np.linspace(0, 3, 61)
_MANY = 0.25  # of the respondents, against whom the others are no majority to be sure of
NO_ANSWERS = "too few yes or no in some group"
TESTED = "tested"


@dataclass(frozen=True)
class RespondentInvariance:
    """Curves of the respondents over groups of questions.

    Attributes:
        tests: index respondent; `uniform, uniform_df, uniform_p, uniform_q` (likelihood ratio, degrees of freedom, p,
            and p adjusted for the number of tests), the same for `nonuniform`, `shift` (largest difference of a
            threshold between two groups), `loading_difference` (the same of loadings), `yes_rate_difference` (largest
            difference of the yes rate between two groups for the same questions), `status`, and `least_shift`, the
            shift of a threshold, in whichever group and to whichever side, that would be found with a power of 80%,
            approximately; inf where none is.
        curves: index (respondent, group); `threshold, loading, yes_rate` with a curve of its own in every group,
            `yes_rate` over the questions of all groups.
        groups: index group; `n_questions, mean, spread` of its questions on the shared scale, mean of all 0, spread 1.
        anchors: respondents whose curves are held equal and so make the scale one.
        p_all: that every respondent is invariant, by Bonferroni over the respondents' tests.
        least_shift: found in 80%, whichever of the respondents has it; nan where none could be tested.
    """

    tests: pd.DataFrame
    curves: pd.DataFrame
    groups: pd.DataFrame
    anchors: list[Any]
    p_all: float
    least_shift: float

    __repr__ = one_line

    def violations(self, alpha: float = LEVEL) -> pd.DataFrame:
        """The respondents that break invariance after adjustment, those with the largest effect first."""
        found = self.tests[(self.tests["uniform_q"] <= alpha) | (self.tests["nonuniform_q"] <= alpha)]
        return found.sort_values("yes_rate_difference", ascending=False)

    def sentence(self, what: str = "groups of questions") -> str:
        """What the tests say."""
        broken = self.violations()
        tested = int((self.tests["status"] == TESTED).sum())
        if not tested:
            return f"Whether curves are the same over {what} could not be tested: {NO_ANSWERS}."
        if not len(broken):
            least = self.least_shift
            if not least <= SHIFT_OF_INTEREST:
                found = f"found in 80%: {least:.2f}" if np.isfinite(least) else "no shift is found in 80%"
                return (
                    f"No respondent was found to use the scale differently over {what}, but a threshold shifted by "
                    f"{SHIFT_OF_INTEREST:g} would be missed more often than in 20% ({found})."
                )
            return (
                f"All {tested} respondents tested use the scale alike over {what} (all together {p_text(self.p_all)}; "
                f"a threshold shifted by {least:.2f} in one of them would be found in 80%)."
            )
        worst = broken.index[0]
        many = ""
        if len(broken) >= _MANY * tested:
            many = " Where so many differ, answers cannot tell whether it is they or the others that leave the scale."
        return (
            f"{len(broken)} of {tested} respondents use the scale differently over {what} ({names(broken.index, 4)}): "
            f"for the same questions the yes rate of {worst} differs by {broken['yes_rate_difference'].iloc[0]:.0%} "
            f"between groups.{many}"
        )


def respondent_invariance(matrix: Any, groups: Any, alpha: float = LEVEL) -> RespondentInvariance:
    """Test every respondent for other thresholds or loadings in some group of questions.

    Formula: multi-group two-parameter model, each group with its own place, spread and shape on the scale; likelihood
    ratios 2 (l1 - l0) of curves that may be shifted in every group against equal ones (uniform, G - 1 degrees of
    freedom) and of free ones against shifted ones (non-uniform, G - 1); the other respondents hold the scale together.
    Those found to differ are set free, the worst before the others and at most half of all, and everyone is tested
    again (Thissen, Steinberg and Wainer, 1993, in Differential Item Functioning, 67-113; on freeing step by step,
    Candell and Drasgow, 1988, Applied Psychological Measurement 12, 253-260). Adjustment: Benjamini and Hochberg over
    respondents and both tests.

    Args:
        matrix: question x respondent, 1 / 0 / nan. groups: label of each question (a Series by question, or in the
            order of the rows); at least two groups. alpha: of the adjusted tests that say who holds the scale together.

    Returns:
        RespondentInvariance. Sign: threshold higher = more often yes; differences are sizes, without sign. Thresholds
        and loadings are of the answers that look at the question (`onedial.scale.likelihood`). nan, with a status,
        for a respondent of whom fewer than eight yes or eight no are expected in some group, or fewer than three given.

    Raises:
        InputError: the labels do not fit, or there are fewer than two groups or three respondents.

    R: `mirt::DIF(mirt::multipleGroup(x, 1, group, invariance = c("slopes", "intercepts", "free_means", "free_var")),
    "d", scheme = "drop")`, `c("a1", "d")` for both.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> respondent_invariance(answers, ["x", "y"] * 200).violations().shape[0]
    0
    """
    answers, parts, labels = _in_groups(matrix, groups)
    equal = fit_equal(parts, fit_marginal(codes_of(answers), Model(asymptotes="own")))
    testable = _enough(equal)
    base, tests = _tested(equal, np.flatnonzero(testable), alpha)
    table = _test_table(tests, answers, testable)
    curves, places = _curves(base, tests, answers, labels)
    table[["shift", "loading_difference", "yes_rate_difference"]] = _effects(curves, answers)
    power = _power(base, 2 * max(1, int(testable.sum())))
    table["least_shift"] = np.where(testable, [_least(own) for own in power.T], np.nan)
    p = table[["uniform_p", "nonuniform_p"]].to_numpy()
    return RespondentInvariance(
        tests=table,
        curves=curves,
        groups=places,
        anchors=[name for name, bound in zip(answers.respondents, base.freedom == EQUAL, strict=True) if bound],
        p_all=float(min(1.0, np.nanmin(p) * np.isfinite(p).sum())) if np.isfinite(p).any() else float("nan"),
        least_shift=_least(power[:, testable].mean(axis=1)) if testable.any() else float("nan"),
    )


@dataclass(frozen=True)
class _Test:
    uniform: float
    nonuniform: float
    model: MultigroupModel


def _test(base: MultigroupModel, likelihood: float, i: int) -> _Test:
    """Likelihood ratios of respondent i, the others as they are in `base`."""
    if base.freedom[i] == EQUAL:
        equal, at_equal = base, likelihood
    else:
        equal, at_equal = climb(base.with_freedom(i, EQUAL), _STEPS + 2)
    shifted, at_shifted = climb(equal.with_freedom(i, SHIFTED), _STEPS)
    free, at_free = climb(shifted.with_freedom(i, FREE), _STEPS)
    return _Test(max(0.0, 2 * (at_shifted - at_equal)), max(0.0, 2 * (at_free - at_shifted)), free)


def _tested(base: MultigroupModel, testable: Integers, alpha: float) -> tuple[MultigroupModel, dict[int, _Test]]:
    """Everyone's tests, once those who differ are set free, the worst first; at most half of all."""
    base, likelihood = climb(base, _STEPS_OF_BASE)
    tests = {int(i): _test(base, likelihood, int(i)) for i in testable}
    while True:
        p = _p_values(tests)
        low = adjusted(p.ravel()).reshape(p.shape).min(axis=1) <= alpha if len(p) else np.zeros(0, dtype=bool)
        bound = np.array([base.freedom[i] == EQUAL for i in tests], dtype=bool)
        size = np.array([max(test.uniform, test.nonuniform) for test in tests.values()])
        worst = low & bound & (size >= size[low & bound].max() / 2) if (low & bound).any() else low & bound
        if not worst.any() or (base.freedom == EQUAL).sum() - worst.sum() < max(2, len(base.freedom) / 2):
            break
        for place in np.flatnonzero(worst):
            base = base.with_freedom(list(tests)[place], FREE)
        base, likelihood = climb(base, _STEPS_OF_BASE)
        suspect = [i for place, i in enumerate(tests) if p[place].min() < _SUSPECT and base.freedom[i] == EQUAL]
        tests |= {i: _test(base, likelihood, i) for i in suspect}
    if (base.freedom != EQUAL).any():
        tests = {int(i): _test(base, likelihood, int(i)) for i in testable}
    return base, tests


def _p_values(tests: dict[int, _Test]) -> Floats:
    """(tested respondent, uniform and non-uniform)."""
    if not tests:
        return np.empty((0, 2))
    df = len(next(iter(tests.values())).model.codes) - 1
    return np.array([[chi_squared_tail(t.uniform, df), chi_squared_tail(t.nonuniform, df)] for t in tests.values()])


def _in_groups(matrix: Any, groups: Any) -> tuple[Answers, list[Codes], pd.Index]:
    answers = linked_answers(matrix)
    code, labels = pd.factorize(labels_of(groups, matrix, answers.questions, "groups", "questions"), sort=True)
    seen = answers.answered.any(axis=1)
    used = [number for number in range(len(labels)) if (seen & (code == number)).any()]
    if len(used) < 2:
        raise InputError(f"{len(used)} group(s) of questions with answers; invariance over groups needs at least two")
    codes = codes_of(answers)
    return answers, [codes[seen & (code == number)] for number in used], pd.Index(labels[used], name="group")


def _enough(equal: MultigroupModel) -> Booleans:
    """(respondent,) True with enough yes and enough no in every group for a curve, expected and given."""
    _, posteriors, curves = equal.evidence()
    enough = np.ones(len(equal.freedom), dtype=bool)
    for codes, posterior, here in zip(equal.codes, posteriors, curves, strict=True):
        mass = (codes != MISSING).T.astype(float) @ posterior
        enough &= (mass * np.exp(here.log_p)).sum(axis=2).min(axis=0) >= _LEAST_EXPECTED
        enough &= np.minimum((codes == 1).sum(axis=0), (codes == 0).sum(axis=0)) >= _LEAST_KINDS
    return enough


def _test_table(tests: dict[int, _Test], answers: Answers, testable: Booleans) -> pd.DataFrame:
    df = (len(next(iter(tests.values())).model.codes) - 1) if tests else 0
    rows = []
    for i in range(answers.n_respondents):
        row: dict[str, Any] = {}
        for kind in ("uniform", "nonuniform"):
            value = getattr(tests[i], kind) if i in tests else float("nan")
            row |= {kind: value, f"{kind}_df": df, f"{kind}_p": chi_squared_tail(value, df), f"{kind}_q": float("nan")}
        rows.append(row | {"status": TESTED if testable[i] else NO_ANSWERS})
    table = pd.DataFrame(rows, index=answers.respondents)
    columns = ["uniform_p", "nonuniform_p"]
    q = adjusted(table[columns].to_numpy().ravel()).reshape(-1, 2)
    table["uniform_q"], table["nonuniform_q"] = q.T
    return table


def _curves(
    base: MultigroupModel, tests: dict[int, _Test], answers: Answers, labels: pd.Index
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves of each respondent when it is free in every group, and the places of the groups."""
    sizes = np.array([len(codes) for codes in base.codes], dtype=float)
    weights = np.stack([np.exp(base.log_weight(g)) for g in range(len(sizes))])
    everywhere = sizes @ weights / sizes.sum()
    mean = everywhere @ base.nodes
    spread = np.sqrt(everywhere @ (base.nodes - mean) ** 2)
    means = weights @ base.nodes
    spreads = np.sqrt((weights * (base.nodes - means[:, None]) ** 2).sum(axis=1))
    places = pd.DataFrame(
        {"n_questions": sizes.astype(int), "mean": (means - mean) / spread, "spread": spreads / spread}, index=labels
    )
    rows = []
    for i, name in enumerate(answers.respondents):
        model = tests[i].model if i in tests else base
        slope, cut = model.slope[:, i] * spread, model.cut[:, i] + model.slope[:, i] * mean
        root = np.sqrt(1 + slope**2)
        rate = _yes_rates(model, i, everywhere)
        for group, label in enumerate(labels):
            row = {
                "threshold": cut[group] / root[group],
                "loading": slope[group] / root[group],
                "yes_rate": rate[group],
            }
            rows.append({"respondent": name, "group": label, **row})
    return pd.DataFrame(rows).set_index(["respondent", "group"]), places


def _power(base: MultigroupModel, n_tests: int) -> Floats:
    """(shift, respondent) how often a threshold shifted by _SHIFTS is found, over the groups and both sides.

    Formula: P(enough of either kind) P(chi-squared with G - 1 degrees of freedom > its 1 - .05 / n_tests point |
    noncentrality I_g x^2), x = sum of (P(d + shift) - P(d)) w / sum of P'(d) w, w = P' / (P (1 - P)), sums over where
    the group's questions lie (near its asymptotes a curve moves few answers); I_g of `shift_information`.
    """
    _, posteriors, curves = base.evidence()
    df = len(base.codes) - 1
    critical, information = chdtri(df, LEVEL / n_tests), shift_information(base)
    root = np.sqrt(1 + base.slope.mean(axis=0) ** 2)
    found = []
    for group, (codes, posterior, here) in enumerate(zip(base.codes, posteriors, curves, strict=True)):
        own, p = base.curves(group), np.exp(here.log_p[1])
        density = np.exp(Chances.of(own, base.nodes).log_rise[0])
        mass = (codes != MISSING).T.astype(float) @ posterior
        weight = mass * density * np.exp(-here.log_p.sum(axis=0))
        for side in (-1, 1):
            moves = [replace(own, cuts=own.cuts + side * shift * root) for shift in _SHIFTS]
            moved = np.exp([log_categories(move, base.nodes)[1] for move in moves])
            told = ((moved - p) * weight).sum(axis=2) / (density * weight).sum(axis=1)
            yes, spread = (moved * mass).sum(axis=2), np.sqrt((moved * (1 - moved) * mass).sum(axis=2))
            of_both = ndtr((np.minimum(yes, mass.sum(axis=1) - yes) - _LEAST_KINDS + 0.5) / spread)
            found.append(of_both * (1 - chndtr(critical, df, information[group] * told**2)))
    return np.mean(found, axis=0)


def _least(power: Floats) -> float:
    """The shift that is found in 80%; inf where none is."""
    return float(np.interp(POWER, np.maximum.accumulate(power), _SHIFTS, right=np.inf))


def _yes_rates(model: MultigroupModel, i: int, everywhere: Floats) -> Floats:
    """(group,) over the questions of all groups, answers at random included."""
    curves = [np.exp(log_categories(model.curves(group), model.nodes)[1, i]) for group in range(len(model.codes))]
    return np.stack(curves) @ everywhere


def _effects(curves: pd.DataFrame, answers: Answers) -> Floats:
    """(respondent, 3) ranges over the groups of threshold, loading and yes rate."""
    by = curves.groupby(level="respondent", sort=False)[["threshold", "loading", "yes_rate"]]
    return (by.max() - by.min()).reindex(answers.respondents).to_numpy()

"""Which share of the answers is everybody's, which a group's, and which a respondent's own.

    P(x_qi >= k) = Phi(a_i z_q + b_i s_qg + d_ik)
    general_i = a_i / c_i,    specific_i = b_i / c_i,    c_i^2 = 1 + a_i^2 + b_i^2

Squared, these loadings are shares of the variance of what stands behind an answer; the rest is the respondent's own,
chance included. With b = 0 it is the model of `two_parameter_irt` and `graded_response_model`.
"""

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd
from scipy.special import comb

from onedial.core import InputError, one_line
from onedial.scale.factor.usable import linked_respondents, require_usable
from onedial.scale.irt.asymptotes import AsymptoteKind, Asymptotes, check_asymptotes
from onedial.scale.irt.category_curves import STEEPEST
from onedial.scale.irt.expectation import Codes
from onedial.scale.irt.graded_answers import GradedAnswers, as_graded, used_only
from onedial.scale.irt.irt import AT_BOUND, ESTIMATED
from onedial.scale.irt.marginal_fit import MarginalFit, fit_marginal
from onedial.scale.irt.nodes import quadrature
from onedial.scale.irt.scales import ScaleKind
from onedial.scale.specific.two_tier import (
    Evidence,
    Grouped,
    Rules,
    Specific,
    TwoTier,
    climbed,
    grouped_codes,
    scores_of,
    standardised,
)
from onedial.stats import (
    LEVEL,
    Z_95,
    Answers,
    Booleans,
    Floats,
    adjusted,
    chi_squared_tail,
    labels_of,
    names,
    number,
    p_text,
    warn,
)

PARTS = ("general", "specific", "own")
_START = 0.4  # of specific slopes
_NODES = 121
_COARSE = 0.1
_TOLERANCES = {"normal": 1e-4, "histogram": 1e-2}
_SCALES: tuple[ScaleKind, ...] = ("normal", "histogram")


@dataclass(frozen=True)
class BifactorModel:
    """A general factor and one specific factor for each group of respondents.

    Attributes:
        respondents: index respondent; `group, general, specific` (loadings) with `*_se`, `own` = share of the variance
            that neither explains, `random_answers` (share of answers whatever the question), `status`.
        thresholds: (respondent, category above the lowest) d / c.
        shares: index part (`general`, `specific`, `own`); `share`, mean over the respondents of the squared loadings,
            `se, low, high`, 95% interval by the delta method.
        groups: index group; `n_respondents, specific` (mean share of the variance), `se, low, high`, nan where one
            respondent is alone.
        covariance: (respondent, respondent) of the general loadings; nan where they are at their bound.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation of the general factor.
        log_likelihood: at the maximum. converged: whether it was reached. loadings: `free` or `equal`.
    """

    respondents: pd.DataFrame
    thresholds: pd.DataFrame
    shares: pd.DataFrame
    groups: pd.DataFrame
    covariance: pd.DataFrame
    difficulty: pd.Series
    difficulty_se: pd.Series
    log_likelihood: float
    converged: bool
    loadings: Specific

    __repr__ = one_line


@dataclass(frozen=True)
class SpecificFactors:
    """Whether groups of respondents share something beside the scale, and how much.

    Attributes:
        model: with one slope for all of a group, so that its specific factor is what all of them share.
        tests: index group, those of at least two respondents; `ratio` (likelihood ratio against no factor of this
            group, all others as they are), `p`, `q` (adjusted), `share` with `low, high`, as in `model.groups`.
        ratio, p: of all groups together against one factor.
        drawn_from: groups and evidence of the model, to simulate from.
    """

    model: BifactorModel
    tests: pd.DataFrame
    ratio: float
    p: float
    drawn_from: tuple[Grouped, Evidence]

    __repr__ = one_line

    def sentence(self, what: str = "group") -> str:
        """Which share is everybody's, which a group's, and whether the latter is beyond chance."""
        each = [_percent(self.model.shares, part) for part in PARTS]
        parts = f"{each[0]} of the variance is general, {each[1]} shared within a {what} only, {each[2]} own"
        found = self.tests[self.tests["q"] <= LEVEL].sort_values("share", ascending=False)
        if self.p > LEVEL:
            return f"{parts}: what is shared within a {what} is no more than chance gives ({p_text(self.p)})."
        if not len(found):
            return f"{parts}: something is shared within a {what} ({p_text(self.p)}), but not one can be named."
        most = ", ".join(f"{name} {row['share']:.0%}" for name, row in found.iloc[:4].iterrows())
        return f"{parts}: beyond chance in {len(found)} of {len(self.tests)} ({p_text(self.p)}; most: {most})."


def bifactor_model(
    matrix: Any,
    groups: Any,
    loadings: Specific = "free",
    scale: ScaleKind = "normal",
    asymptotes: AsymptoteKind = "none",
) -> BifactorModel:
    """Fit a general factor and a specific one for each group of respondents, by marginal maximum likelihood.

    Formula: `onedial.scale.specific.two_tier`; standard errors from the cross-products of the questions' scores, the
    scale's shape and the answers at random taken as known.

    Args:
        matrix: question x respondent, yes/no or ordered categories, nan = missing. groups: label of each respondent (a
            Series by name, or in the order of the columns). loadings: `free`, or `equal` slopes b within a group (as in
            a testlet; always so where a group has two, of whose slopes only the product is known). scale: `normal`, or
            `histogram` (any). asymptotes: answers at random, as in `two_parameter_irt`.

    Returns:
        BifactorModel. Sign: general loadings have a positive sum, and so have the specific ones of each group.

    Raises:
        InputError: no group has two respondents, fewer than three vary, or an option does not exist.

    R: `mirt::bfactor(x, group)` with a / 1.702.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> everybody, own = rng.standard_normal((1500, 1)), rng.standard_normal((1500, 9))
    >>> family = np.repeat(rng.standard_normal((1500, 3)), 3, axis=1)
    >>> answers = 0.7 * everybody + 0.5 * family + np.sqrt(0.26) * own > 0
    >>> model = bifactor_model(answers, list("aaabbbccc"))
    >>> model.shares["share"].round(1).to_dict()
    {'general': 0.5, 'specific': 0.3, 'own': 0.3}
    """
    panel = _Panel.of(matrix, groups, loadings, scale, asymptotes)
    return panel.described(panel.fitted(panel.shared, loadings), loadings)


def specific_factors(
    matrix: Any, groups: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none"
) -> SpecificFactors:
    """Test every group of respondents for a factor of its own beside the general one, and say how much it explains.

    Formula: likelihood ratios with one slope b for all of a group. It cannot be negative, so that p is half that of
    chi-squared(1) for one group, and for all G together that of the mixture sum_k C(G, k) 2^-G chi-squared(k) (Self and
    Liang, 1987, Journal of the American Statistical Association 82, 605-610). Adjustment: Benjamini and Hochberg.

    Args:
        matrix, groups, scale, asymptotes: as in `bifactor_model`.

    Returns:
        SpecificFactors. Sign: larger ratio = the group shares more.

    Raises:
        InputError: as `bifactor_model`.

    R: `mirt::anova(mirt::mirt(x, 1), mirt::bfactor(x, group))` for the idea.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> specific_factors(answers, list("aaabbb")).p > 0.05
    True
    """
    panel = _Panel.of(matrix, groups, "equal", scale, asymptotes)
    full = panel.fitted(panel.shared, "equal")

    def below(kept: Booleans) -> float:
        """2 (l1 - l0) of the model without the specific factors that are not kept."""
        start = replace(full.state, specific=np.where(kept[panel.labels], full.state.specific, 0.0))
        return 2 * (full.objective - panel.refitted(kept, full, start).objective)

    every = np.arange(len(panel.shared))
    ratios = {name: below(panel.shared & (every != k)) for k, name in enumerate(panel.group_names) if panel.shared[k]}
    ratio = max(0.0, below(np.zeros_like(panel.shared)))
    model = panel.described(full, "equal")
    tests = pd.DataFrame({"ratio": pd.Series(ratios).clip(lower=0)}).rename_axis("group")
    tests["p"] = [_tail(value, 1) for value in tests["ratio"]]
    tests["q"] = adjusted(tests["p"].to_numpy())
    tests = tests.join(model.groups.rename(columns={"specific": "share"}))
    return SpecificFactors(model, tests, ratio, _tail(ratio, len(tests)), (full.groups, full.evidence))


def _tail(ratio: float, n_groups: int) -> float:
    """P(ratio or more) where none of so many variances, none below 0, is above it."""
    if ratio <= 0:
        return 1.0
    weights = [float(comb(n_groups, k)) / 2**n_groups for k in range(1, n_groups + 1)]
    return float(sum(weight * chi_squared_tail(ratio, k) for k, weight in enumerate(weights, 1)))


@dataclass(frozen=True)
class _Fitted:
    groups: Grouped
    state: TwoTier
    evidence: Evidence
    converged: bool
    rules: Rules

    @property
    def objective(self) -> float:
        """The log likelihood, and the log prior of the answers at random."""
        estimated, floors = self.rules.asymptotes, self.state.floors
        return self.log_likelihood + (0.0 if estimated is None or floors is None else estimated.log_prior(floors))

    @property
    def log_likelihood(self) -> float:
        return float(self.evidence.log_likelihood.sum())


@dataclass(frozen=True)
class _Panel:
    """The respondents that can be used, in groups, and the one-factor model to begin with."""

    graded: GradedAnswers
    codes: Codes
    categories: list[list[int]]
    labels: Any
    group_names: pd.Index
    one: MarginalFit
    scale: ScaleKind
    asymptotes: AsymptoteKind

    @classmethod
    def of(cls, matrix: Any, groups: Any, loadings: str, scale: ScaleKind, asymptotes: AsymptoteKind) -> "_Panel":
        if loadings not in get_args(Specific):
            raise InputError(f"loadings={loadings!r}; choose one of {', '.join(get_args(Specific))}")
        if scale not in _SCALES:
            raise InputError(f"scale={scale!r}; with specific factors choose one of {', '.join(_SCALES)}")
        check_asymptotes(asymptotes)
        graded = as_graded(matrix)
        named = Answers(graded.codes > 0, graded.answered, graded.questions, graded.respondents)
        labels = labels_of(groups, named, graded.respondents, "groups")
        usable = _usable(graded)
        kept = graded.respondents.isin(usable.respondents)
        code, found = pd.factorize(labels[kept], sort=True)
        if np.bincount(code).max() < 2:
            raise InputError(
                f"each of the {len(found)} groups has one respondent that can be used; what a group shares needs two "
                "in at least one of them"
            )
        codes, categories = used_only(usable)
        one = fit_marginal(codes, scale)
        return cls(usable, codes, categories, code, pd.Index(found, name="group"), one, scale, asymptotes)

    @property
    def shared(self) -> Booleans:
        """(group,) True for those of at least two respondents."""
        return np.bincount(self.labels) > 1

    def fitted(self, specific: Booleans, loadings: Specific) -> _Fitted:
        """The model with a specific factor for the groups in `specific`.

        Answers at random are let in when the factors are there: before, they would stand in for them.
        """
        curves = self.one.curves
        begin = np.where(specific[self.labels], _START, 0.0)
        start = TwoTier(curves.slope, begin, curves.cuts, None, self._log_weight())
        rules = Rules(loadings, self.scale == "normal", None)
        if self.asymptotes == "none":
            return self._climbed(specific, start, rules)
        state = self._climbed(specific, start, rules, _COARSE).state
        common = Asymptotes.of(self.codes)
        found = self._climbed(specific, replace(state, floors=common.start()), replace(rules, asymptotes=common))
        if self.asymptotes == "common":
            return found
        own = replace(common, centre=np.asarray(found.state.floors).max(axis=1))
        return self._climbed(specific, found.state, replace(rules, asymptotes=own))

    def refitted(self, specific: Booleans, full: _Fitted, start: TwoTier) -> _Fitted:
        """The same for fewer groups, by the rules of a fitted model."""
        return self._climbed(specific, start, full.rules)

    def _climbed(self, specific: Booleans, start: TwoTier, rules: Rules, tolerance: float | None = None) -> _Fitted:
        groups = grouped_codes(self.codes, self.labels, specific)
        tolerance = _TOLERANCES[self.scale] if tolerance is None else tolerance
        state, evidence, converged = climbed(groups, _in_bounds(start), self.nodes, rules, tolerance)
        return _Fitted(groups, state, evidence, converged, rules)

    @property
    def nodes(self) -> Floats:
        return self.one.nodes if self.scale == "histogram" else quadrature(_NODES)[0]

    def _log_weight(self) -> Floats:
        return self.one.log_weight if self.scale == "histogram" else quadrature(_NODES)[1]

    def described(self, fit: _Fitted, loadings: Specific) -> BifactorModel:
        """The fitted model in words of respondents, groups and questions."""
        if not fit.converged:
            warn("the bifactor model did not converge; its numbers are those of the last step")
        state, nodes = standardised(fit.state, self.nodes)
        sign = np.where(np.bincount(self.labels, state.specific)[self.labels] < 0, -1.0, 1.0)
        state = replace(state, specific=state.specific * sign)
        if state.general.sum() < 0:
            state, nodes = replace(state, general=-state.general), -nodes
        covariance = _covariance(fit, state, nodes, self.shared[self.labels], loadings)
        a, b, c = state.general, state.specific, state.size
        m = len(a)
        # d (a / c, b / c) by (a, b)
        by = np.zeros((2 * m, 2 * m))
        everyone = np.arange(m)
        by[everyone, everyone], by[everyone, m + everyone] = (1 + b**2) / c**3, -a * b / c**3
        by[m + everyone, everyone], by[m + everyone, m + everyone] = -a * b / c**3, (1 + a**2) / c**3
        of_loadings = by @ covariance @ by.T
        loading = np.concatenate([a / c, b / c])
        error = np.sqrt(np.maximum(np.diag(of_loadings), 0))
        bound = a**2 + b**2 >= STEEPEST**2 * (1 - 1e-6)
        respondents = pd.DataFrame(
            {
                "group": self.group_names[self.labels],
                "general": a / c,
                "general_se": error[:m],
                "specific": np.where(self.shared[self.labels], b / c, np.nan),
                "specific_se": np.where(self.shared[self.labels], error[m:], np.nan),
                "own": 1 / c**2,
                "random_answers": 0.0 if state.floors is None else state.floors.sum(axis=0),
                "status": np.where(bound, AT_BOUND, ESTIMATED),
            },
            index=self.graded.respondents,
        )
        gradient = 2 * loading / m
        rows = {}
        for part, which in (("general", slice(0, m)), ("specific", slice(m, None)), ("own", slice(None))):
            step = np.zeros(2 * m)
            step[which] = gradient[which] if part != "own" else -gradient
            value = float((loading[which] ** 2).sum() / m)
            rows[part] = _with_interval(1 - value if part == "own" else value, step, of_loadings)
        by_group = {}
        for place, name in enumerate(self.group_names):
            own = np.flatnonzero(self.labels == place)
            step = np.zeros(2 * m)
            step[m + own] = 2 * loading[m + own] / len(own)
            row = _with_interval(float((loading[m + own] ** 2).mean()), step, of_loadings)
            by_group[name] = {"n_respondents": len(own)} | (
                {"specific" if k == "share" else k: v for k, v in row.items()} if len(own) > 1 else {}
            )
        mean = fit.evidence.posterior @ nodes
        error_of_places = np.sqrt(np.maximum(fit.evidence.posterior @ nodes**2 - mean**2, 0))
        seen = self.graded.answered.any(axis=1)
        questions = self.graded.questions
        table = np.full((m, self.graded.n_categories - 1), np.nan)
        for i, own_categories in enumerate(self.categories):
            for place, category in enumerate(own_categories[1:]):
                table[i, category - 1] = state.cuts[place, i] / c[i]
        return BifactorModel(
            respondents=respondents,
            thresholds=pd.DataFrame(table, self.graded.respondents, self.graded.values[1:]),
            shares=pd.DataFrame.from_dict(rows, orient="index").rename_axis("part"),
            groups=pd.DataFrame.from_dict(by_group, orient="index").rename_axis("group"),
            covariance=pd.DataFrame(
                np.where(bound | bound[:, None], np.nan, of_loadings[:m, :m]), respondents.index, respondents.index
            ),
            difficulty=pd.Series(np.where(seen, -mean, np.nan), questions, name="difficulty"),
            difficulty_se=pd.Series(np.where(seen, error_of_places, np.nan), questions, name="difficulty_se"),
            log_likelihood=fit.log_likelihood,
            converged=fit.converged,
            loadings=loadings,
        )


def _usable(graded: GradedAnswers) -> GradedAnswers:
    """The respondents that used at least two categories and hang together; a warning names the others."""
    spread = np.where(graded.varies, graded.codes == graded.codes.max(axis=0), False)
    require_usable(Answers(spread, graded.answered, graded.questions, graded.respondents))
    usable = graded.select(graded.varies)
    linked = linked_respondents(Answers(usable.codes > 0, usable.answered, usable.questions, usable.respondents))
    kept = usable.select(linked)
    left_out = graded.respondents[~graded.respondents.isin(kept.respondents)]
    if len(left_out):
        warn(
            f"{names(left_out)} gave one kind of answer only, or share too few questions with others, and are left out"
        )
    return kept


def _in_bounds(state: TwoTier) -> TwoTier:
    size = np.sqrt(state.general**2 + state.specific**2)
    shrink = np.minimum(1, STEEPEST / np.maximum(size, 1e-12))
    return replace(state, general=state.general * shrink, specific=state.specific * shrink)


def _covariance(fit: _Fitted, state: TwoTier, nodes: Floats, has: Booleans, loadings: Specific) -> Floats:
    """(general and specific slopes, the same) covariance; 0 for specific slopes that are none."""
    scores = scores_of(fit.groups, state, fit.evidence, nodes)
    n, k, m = scores.shape
    bound = state.general**2 + state.specific**2 >= STEEPEST**2 * (1 - 1e-6)
    used = np.concatenate([~bound, has & ~bound, (state.cuts > -39).ravel()])
    flat = scores.reshape(n, k * m)
    # slopes that are one parameter move together
    tie = np.eye(k * m)[:, used]
    columns = list(np.flatnonzero(used))
    for group in fit.groups:
        tied = [columns.index(m + i) for i in group.members if used[m + i]]
        if len(tied) > 1 and (loadings == "equal" or len(group.members) == 2):
            tie[:, tied[0]] = tie[:, tied].sum(axis=1)
            tie[:, tied[1:]] = 0
    tie = tie[:, np.abs(tie).sum(axis=0) > 0]
    told = flat @ tie
    inverse = tie @ np.linalg.pinv(told.T @ told) @ tie.T
    return inverse[: 2 * m, : 2 * m]


def _with_interval(value: float, gradient: Floats, covariance: Floats) -> dict[str, float]:
    error = float(np.sqrt(np.maximum(gradient @ covariance @ gradient, 0)))
    return {"share": value, "se": error, "low": max(0.0, value - Z_95 * error), "high": min(1.0, value + Z_95 * error)}


def _percent(shares: pd.DataFrame, part: str) -> str:
    share, low, high = (number(shares, part, column) for column in ("share", "low", "high"))
    return f"{share:.0%} ({low:.0%} to {high:.0%})"

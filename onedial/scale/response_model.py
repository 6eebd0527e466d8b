"""The response model: what everybody shares, by marginal maximum likelihood, without pairwise correlations.

Respondent i answers at or above category k of a question of easiness z with probability Phi(a_i z + d_ik), or, where
some answers have nothing to do with the question, as `onedial.scale.response_curves` says. Families may share a factor
of their own beside the scale. With z ~ N(0, 1) it is the one-factor (or bifactor) model in other words:

    loading = a / c,   family loading = b / c,   threshold = d / c,   c^2 = 1 + a^2 + b^2

No scaling constant is needed; a logistic slope is 1.702 times the normal-ogive one, approximately. The distribution of
z need not be normal (`scale`); its mean is 0 and its variance 1 in any case, so that loadings compare.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.categories import GradedAnswers, as_graded, used_only
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.usable import linked_respondents, require_usable
from onedial.scale.gap_model import null_fit
from onedial.scale.likelihood import (
    PRIOR_ANSWERS,
    PRIOR_QUESTIONS,
    AsymptoteKind,
    FamilySlopes,
    MarginalFit,
    Model,
    ScaleKind,
    fit_marginal,
)
from onedial.scale.standard_errors import covariance_of, loading_covariance
from onedial.stats.answers import Answers, names, one_kind_of_answer, warn
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.groups import labels_of
from onedial.stats.level import Z_95

Gaps = Literal["ignorable", "informative"]

ESTIMATED = "estimated"
AT_BOUND = "at the bound of the loading (Heywood case)"
BEYOND = "beyond the scale: its answers tell nothing of its loading"
UNLINKED = "no two others share its questions"
ONE_CATEGORY = "used one category only, or none"
PARTS = ("general", "specific", "own")
SALIENT = 0.3
"""A loading below which a variable is usually said not to belong to a factor."""


@dataclass(frozen=True)
class ResponseModel:
    """A fitted response model.

    Attributes:
        respondents: index respondent; `slope, intercept, loading, threshold` (of the lowest cut) and their standard
            errors `*_se` (`onedial.scale.standard_errors`; the delta method for loading and threshold); `lower, upper`
            asymptotes, 0 and 1 where none are estimated, with `*_se` for each respondent's own; `random_answers`, share
            of answers whatever the question; `yes_rate`, what the model expects above the lowest category over all
            questions, those in the respondent's gaps included; `n_categories` used; `reversed`, as in
            `answers_other_way`; `status`, why a number is nan. With
            families: `family, family_loading, family_loading_se`, and `own`, the share of the variance that neither
            explains. Loadings and thresholds are of the answers that look at the question.
        thresholds: (respondent, category above the lowest); nan for categories that the respondent never used.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation; nan where nobody answered.
        log_likelihood, log_prior: where their sum is greatest; the prior's is 0 where there is none, or where the model
            is the one nested in it. converged: whether the maximum was reached.
        prior: what is known before answers are seen, in words; empty where nothing is.
        scale: kind of the distribution of the questions' easiness. nodes, weights: (node,) that distribution, of mean 0
            and variance 1. asymptotes: which were estimated.
        shares: index part (`general`, `specific`, `own`); `share`, mean over the respondents of the squared loadings,
            with `se, low, high`, 95% interval by the delta method.
        families: index family; `n_respondents, share` (mean share of the variance that its factor explains), `se, low,
            high`, nan where one respondent is alone; empty without families.
        fit: the engine's, of the respondents that are estimated.
    """

    respondents: pd.DataFrame
    thresholds: pd.DataFrame
    difficulty: pd.Series
    difficulty_se: pd.Series
    log_likelihood: float
    log_prior: float
    converged: bool
    prior: str
    scale: ScaleKind
    nodes: Floats
    weights: Floats
    asymptotes: AsymptoteKind
    shares: pd.DataFrame
    families: pd.DataFrame
    fit: MarginalFit = field(repr=False)

    __repr__ = one_line

    @property
    def covariance(self) -> Floats:
        """(respondent, respondent) of the loadings of those that are estimated; nan at their bound."""
        m = len(self.fit.curves.slope)
        return loading_covariance(self.fit)[:m, :m]

    @property
    def reliability(self) -> "Reliability":
        """Of the difficulty scores."""
        known = self.difficulty.notna()
        score, error = self.difficulty[known].to_numpy(), self.difficulty_se[known].to_numpy()
        if len(score) < 2:
            return Reliability(float("nan"), float("nan"))
        variance, noise = score.var(ddof=1), float((error**2).mean())
        return Reliability(float(variance / (variance + noise)), float(np.sqrt(noise)))


@dataclass(frozen=True)
class Reliability:
    """How much of the difference between difficulty scores is difference between questions.

    Attributes:
        empirical: s^2 / (s^2 + mean(se^2)), s^2 the variance of the EAP scores (Bock and Mislevy, 1982, Applied
            Psychological Measurement 6, 431-444): their squared correlation with the true places. R:
            `mirt::empirical_rxx`.
        mean_se: root of the mean squared standard error, in units of the scale's spread.
    """

    empirical: float
    mean_se: float

    def sentence(self) -> str:
        """How well the scores are known."""
        error = f"error {self.mean_se:.2f} of the scale's spread"
        return f"Difficulty scores have a reliability of {self.empirical:.2f} ({error})."


def response_model(
    matrix: Any,
    scale: ScaleKind = "normal",
    asymptotes: AsymptoteKind = "none",
    gaps: Gaps = "ignorable",
    families: Any = None,
    family_slopes: FamilySlopes = "free",
) -> ResponseModel:
    """Fit the curves of all respondents, and the distribution of the questions, to all answers at once.

    Formula: `onedial.scale.likelihood` (Bock and Aitkin, 1981, Psychometrika 46, 443-459; with families Gibbons and
    Hedeker, 1992, Psychometrika 57, 423-436). Gaps need no pairs: they are ignorable if what is missing depends only on
    the answers that were given. If it depends on the questions themselves (hard ones are left out more often), the
    number of gaps of a question tells where it lies, and `gaps="informative"` lets it (`onedial.scale.gap_model`).

    Args:
        matrix: question x respondent, 1 / 0 / nan, or ordered numbers (at most twenty different ones); at least three
            respondents that vary.
        scale: distribution of the questions: `normal`, `smooth` (normal, bent by two parameters), `histogram` (any).
        asymptotes: answers whatever the question: `none`, `common` (equally often by all) or `own` (each respondent's,
            drawn towards the common ones as 20 answers of known origin would draw them).
        gaps: `ignorable`, or `informative`: the log likelihood then includes the gaps' own; not with families.
        families: label of each respondent (a Series by name, or in the order of the columns), None = no family factors.
        family_slopes: `free`, or `equal` within a family (as in a testlet; always so in a family of two).

    Returns:
        ResponseModel. Sign: the slopes' sum is positive, and that of each family's; threshold higher = more often yes;
        difficulty higher = harder. Loadings are nan, with a status and a warning, for a respondent that cannot be
        compared; their standard errors are nan where the loading sits at its bound sqrt(.995).

    Raises:
        InputError: fewer than three respondents vary or share questions, no family has two respondents, or an option
            does not exist.

    R: `mirt::mirt(x, 1, itemtype = "graded")` with a1 / 1.702, `"4PL"` for asymptotes, `dentype = "EHW"` for the
    histogram, `mirt::bfactor(x, families)`.

    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((2000, 1)) + 0.6 * rng.standard_normal((2000, 8))
    >>> answers = np.where(rng.random(hidden.shape) < 0.1, 1, hidden > 0)  # a tenth always yes
    >>> response_model(answers, asymptotes="common").respondents["lower"].round(1).unique()
    array([0.1])
    """
    model = Model(scale, asymptotes, family_slopes=family_slopes)
    if gaps not in get_args(Gaps):
        raise InputError(f"gaps={gaps!r}; choose ignorable or informative")
    if gaps == "informative" and families is not None:
        raise InputError("gaps='informative' goes with one factor; leave out the families")
    graded = as_graded(matrix)
    kept = comparable(graded)
    used = graded.select(kept)
    codes, categories = used_only(used)
    labels = None
    if families is not None:
        labels = family_labels(families, graded, kept)
        model = replace(model, families=pd.factorize(labels, sort=True)[0])
    fit = null_fit(codes, scale, asymptotes) if gaps == "informative" else fit_marginal(codes, model)
    return described(fit, graded, kept, categories, labels)


def comparable(graded: GradedAnswers) -> Booleans:
    """(respondent,) True for those that used two categories and hang together; a warning names the others.

    Raises:
        InputError: fewer than three are left.
    """
    varies = graded.varies
    # whether respondents vary and hang together does not depend on what the categories are
    spread = np.where(varies, graded.codes == graded.codes.max(axis=0), False)
    require_usable(Answers(spread, graded.answered, graded.questions, graded.respondents))
    if not varies.all():
        warn(one_kind_of_answer(names(graded.respondents[~varies])))
    used = graded.select(varies)
    linked = linked_respondents(Answers(used.codes > 0, used.answered, used.questions, used.respondents))
    if not linked.all():
        warn(
            f"no two others share enough questions with {names(used.respondents[~linked])}; there is no loading to "
            "estimate, and it is nan"
        )
    kept = varies.copy()
    kept[varies] = linked
    return kept


def family_labels(families: Any, graded: GradedAnswers, kept: Booleans) -> pd.Series:
    """Family of each respondent that is kept.

    Raises:
        InputError: a respondent has no label, or no family has two.
    """
    named = Answers(graded.codes > 0, graded.answered, graded.questions, graded.respondents)
    labels = pd.Series(labels_of(families, named, graded.respondents, "families")[kept], graded.respondents[kept])
    if labels.value_counts().max() < 2:
        raise InputError(
            f"each of the {labels.nunique()} families has one respondent that can be used; what a family shares needs "
            "two in at least one of them"
        )
    return labels.rename("family")


def described(
    fit: MarginalFit, graded: GradedAnswers, kept: Booleans, categories: list[list[int]], labels: pd.Series | None
) -> ResponseModel:
    """The fit in words of respondents, families and questions."""
    if not fit.converged:
        warn("the response model did not converge; its numbers are those of the last step")
    own = graded.respondents[kept]
    table = pd.DataFrame(_columns(fit), own)
    if labels is not None:
        table.insert(0, "family", labels)
    covariance = loading_covariance(fit)
    shares, by_family = _shares(fit, covariance, labels)
    everyone = table.reindex(graded.respondents)
    everyone["n_categories"] = graded.n_used
    everyone["reversed"] = answers_other_way(everyone["loading"].to_numpy(), everyone["loading_se"].to_numpy())
    everyone.loc[graded.respondents[~kept], "status"] = np.where(graded.varies, UNLINKED, ONE_CATEGORY)[~kept]
    if graded.n_categories == 2:
        answers = Answers(graded.codes > 0, graded.answered, graded.questions, graded.respondents)
        everyone["threshold"] = np.where(kept, everyone["threshold"], thresholds_of(answers))
    mean, spread = fit.scores()
    seen = graded.answered[:, kept].any(axis=1)
    return ResponseModel(
        respondents=everyone,
        thresholds=_thresholds(fit, graded, own, categories).reindex(graded.respondents),
        difficulty=pd.Series(np.where(seen, -mean, np.nan), graded.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, spread, np.nan), graded.questions, name="difficulty_se"),
        log_likelihood=fit.log_likelihood,
        log_prior=fit.log_prior,
        converged=fit.converged,
        prior=_prior(fit, graded),
        scale=fit.model.scale,
        nodes=fit.nodes,
        weights=fit.weights,
        asymptotes=fit.model.asymptotes,
        shares=shares,
        families=by_family,
        fit=fit,
    )


def answers_other_way(loading: Floats, error: Floats) -> Booleans:
    """Who answers the other way round: a loading of -`SALIENT` or less, whose 95% interval lies below 0.

    At its bound a loading has no error, and is judged by its size.

    >>> answers_other_way(np.array([-0.5, -0.5, -0.1, -0.99, 0.9]), np.array([0.1, 0.3, 0.01, np.nan, 0.1])).tolist()
    [True, False, False, True, False]
    """
    return (loading <= -SALIENT) & ~(loading + Z_95 * error >= 0)


def _columns(fit: MarginalFit) -> dict[str, Any]:
    curves, covariance = fit.curves, covariance_of(fit)
    m, k = len(curves.slope), len(fit.log_p)
    has_floors = curves.floors is not None
    floors = np.zeros((k, m)) if curves.floors is None else curves.floors
    floor_se = [covariance.errors(f"floor_{j}") if has_floors else np.full(m, np.nan) for j in range(k)]
    errors = np.sqrt(np.diag(loading_covariance(fit)))
    columns = {
        "slope": curves.slope,
        "intercept": curves.cuts[0],
        "loading": curves.loading,
        "threshold": curves.thresholds[0],
        "slope_se": covariance.errors("slope"),
        "intercept_se": covariance.errors("cut_1"),
        "loading_se": errors[:m],
        "threshold_se": _threshold_errors(fit),
        "lower": floors[1:].sum(axis=0),
        "upper": 1 - floors[0],
        "lower_se": np.where(floors[1] > 0, floor_se[1], np.nan) if k == 2 else np.full(m, np.nan),
        "upper_se": np.where(floors[0] > 0, floor_se[0], np.nan),
        "random_answers": floors.sum(axis=0),
        "yes_rate": fit.yes_rates()[0],
    }
    if curves.family_slope is not None:
        shared = np.ones(m, dtype=bool)
        shared[fit.data.alone] = False
        columns["family_loading"] = np.where(shared, curves.family_slope / curves.size, np.nan)
        columns["family_loading_se"] = np.where(shared, errors[m:], np.nan)
        columns["own"] = 1 / curves.size**2
    status = np.select([curves.at_bound, np.isnan(columns["slope_se"])], [AT_BOUND, BEYOND], ESTIMATED)
    return columns | {"status": status.astype(object)}


def _threshold_errors(fit: MarginalFit) -> Floats:
    """(respondent,) of the lowest cut's threshold d / c, by the delta method."""
    a, d, size, covariance = fit.curves.slope, fit.curves.cuts[0], fit.curves.size, covariance_of(fit)
    by = {"slope": -d * a / size**3, "cut_1": 1 / size}
    if fit.curves.family_slope is not None:
        by["family_slope"] = -d * fit.curves.family_slope / size**3
    variance = sum(x * y * np.diag(covariance.between(one, two)) for one, x in by.items() for two, y in by.items())
    return np.sqrt(np.maximum(variance, 0))


def _shares(fit: MarginalFit, covariance: Floats, labels: pd.Series | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean shares of the variance, of all respondents and of each family, with intervals by the delta method."""
    curves, m = fit.curves, len(fit.curves.slope)
    family = np.zeros(m) if curves.family_slope is None else curves.family_slope / curves.size
    loadings = np.concatenate([curves.loading, family])[: len(covariance)]
    known = ~np.isnan(np.diag(covariance))

    def share(which: Booleans, of: int, is_rest: bool = False) -> dict[str, float]:
        value = float((loadings[which] ** 2).sum() / of)
        step = (2 * loadings * which / of)[known]
        error = float(np.sqrt(max(step @ covariance[np.ix_(known, known)] @ step, 0)))
        value = 1 - value if is_rest else value
        return {
            "share": value,
            "se": error,
            "low": max(0.0, value - Z_95 * error),
            "high": min(1.0, value + Z_95 * error),
        }

    place = np.arange(len(loadings))
    rows = {"general": share(place < m, m), "specific": share(place >= m, m), "own": share(place >= 0, m, True)}
    by_family = {}
    for name in [] if labels is None else sorted(labels.unique()):
        members = np.flatnonzero(labels == name)
        which = np.isin(place, m + members)
        by_family[name] = {"n_respondents": len(members)} | (share(which, len(members)) if len(members) > 1 else {})
    return (
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("part"),
        pd.DataFrame.from_dict(by_family, orient="index").rename_axis("family"),
    )


def _prior(fit: MarginalFit, graded: GradedAnswers) -> str:
    known, centre = [], fit.point.centre
    if fit.model.scale == "histogram":
        known.append(f"the scale, as if {PRIOR_QUESTIONS:.0f} questions of known place had been smoothly spread")
    if centre is not None:
        each = ", ".join(f"{share:.1%} {value:g}" for value, share in zip(graded.values, centre, strict=False))
        known.append(f"answers at random of each, as if {PRIOR_ANSWERS:.0f} of known origin had shown {each}")
    return "; ".join(known)


def _thresholds(fit: MarginalFit, graded: GradedAnswers, own: pd.Index, categories: list[list[int]]) -> pd.DataFrame:
    """(respondent, category above the lowest) with each threshold under the category that it opens."""
    table = np.full((len(own), graded.n_categories - 1), np.nan)
    for i, used in enumerate(categories):
        for place, category in enumerate(used[1:]):
            table[i, category - 1] = fit.curves.thresholds[place, i]
    return pd.DataFrame(table, own, graded.values[1:])

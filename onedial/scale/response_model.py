"""The response model: what everybody shares, by marginal maximum likelihood, without pairwise correlations.

Respondent i answers at or above category k of a question of easiness z with probability Phi(a_i z + d_ik), or, where
some answers have nothing to do with the question, as `onedial.scale.response_curves` says. Families may share a factor
of their own beside the scale. With z ~ N(0, 1) it is the one-factor (or bifactor) model in other words:

    loading = a / c,   family loading = b / c,   threshold = d / c,   c^2 = 1 + a^2 + b^2

No scaling constant is needed; a logistic slope is 1.702 times the normal-ogive one, approximately. The distribution of
z need not be normal (`scale`); its mean is 0 and its variance 1 in any case, so that loadings compare.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.fits import Fits
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
from onedial.stats.answers import warn
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.groups import labels_of
from onedial.stats.level import Z_95
from onedial.stats.multiple_tests import chi_squared_tail, p_text

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
        respondents: index respondent; `slope, intercept, loading, threshold` (of the lowest cut), `loading_se,
            threshold_se` (`onedial.scale.standard_errors`, the delta method); `lower, upper` asymptotes, 0 and 1 where
            none are estimated; `random_answers`, share of answers whatever the question; `yes_rate`, what the model
            expects above the lowest category over all questions, those in the respondent's gaps included;
            `n_categories` used; `reversed`, as in `answers_other_way`; `status`, why a number is nan. With families:
            `family, family_loading, family_loading_se`, and `own`, the share of the variance that neither explains.
            Loadings and thresholds are of the answers that look at the question.
        thresholds: (respondent, category above the lowest); nan for categories that the respondent never used.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation; nan where nobody answered.
        log_likelihood, log_prior: where their sum is greatest; the prior's is 0 where there is none, or where the model
            is the one nested in it. converged: whether the maximum was reached.
        prior: what is known before answers are seen, in words; empty where nothing is.
        nodes, weights: (node,) distribution of the questions' easiness, of mean 0 and variance 1.
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
    nodes: Floats
    weights: Floats
    shares: pd.DataFrame
    families: pd.DataFrame
    fit: MarginalFit = field(repr=False)

    __repr__ = one_line

    @property
    def reliability(self) -> tuple[float, float]:
        """Of the difficulty scores: their squared correlation with the true places, and the root of the mean squared
        standard error, in units of the scale's spread.

        Formula: s^2 / (s^2 + mean(se^2)), s^2 the variance of the EAP scores (Bock and Mislevy, 1982, Applied
        Psychological Measurement 6, 431-444). R: `mirt::empirical_rxx`.
        """
        known = self.difficulty.notna()
        noise, variance = float((self.difficulty_se[known] ** 2).mean()), float(self.difficulty[known].var())
        return variance / (variance + noise), float(np.sqrt(noise))


def response_model(
    matrix: Any,
    scale: ScaleKind = "normal",
    asymptotes: AsymptoteKind = "none",
    families: Any = None,
    family_slopes: FamilySlopes = "free",
) -> ResponseModel:
    """Fit the curves of all respondents, and the distribution of the questions, to all answers at once.

    Formula: `onedial.scale.likelihood` (Bock and Aitkin, 1981, Psychometrika 46, 443-459; with families Gibbons and
    Hedeker, 1992, Psychometrika 57, 423-436). Gaps need no pairs: they are ignorable if what is missing depends only on
    the answers that were given.

    Args:
        matrix: question x respondent, 1 / 0 / nan, or ordered numbers (at most twenty different ones); at least three
            respondents that vary; or `Fits` of one.
        scale: distribution of the questions: `normal`, `smooth` (normal, bent by two parameters), `histogram` (any).
        asymptotes: answers whatever the question: `none`, `common` (equally often by all) or `own` (each respondent's,
            drawn towards the common ones as 20 answers of known origin would draw them).
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
    model, fits = Model(scale, asymptotes, family_slopes=family_slopes), Fits.of(matrix)
    labels = None if families is None else family_labels(families, fits)
    if labels is not None:
        model = replace(model, families=pd.factorize(labels, sort=True)[0])
    return described(fits.fit(model), fits, labels)


@dataclass(frozen=True)
class RaschTest:
    """Do all respondents follow the scale equally closely? The Rasch model beside the one with a slope for each.

    Attributes:
        loading: common to all respondents, but for its sign. loadings: (respondent,) where each has its own.
        ratio, df, p: likelihood ratio of free against equal slopes.
    """

    loading: float
    loadings: Floats
    ratio: float
    df: int
    p: float

    __repr__ = one_line

    def sentence(self) -> str:
        """What the test says."""
        if self.p > 0.05:
            return f"Respondents may follow the scale equally closely (loading {self.loading:.2f}, {p_text(self.p)})."
        return (
            "Respondents do not follow the scale equally closely: by marginal likelihood loadings run from "
            f"{self.loadings.min():.2f} to {self.loadings.max():.2f} (against one of {self.loading:.2f}: "
            f"{p_text(self.p)}), so a Rasch model does not hold."
        )


def rasch_test(matrix: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none") -> RaschTest:
    """Do all respondents follow the scale equally closely?

    Formula: marginal maximum likelihood with one slope for all and with a slope for each; 2 (l1 - l0) ~ chi-squared
    with m - 1 degrees of freedom. By marginal likelihood the Rasch model is the two-parameter one with equal slopes, in
    its normal-ogive form (a logistic slope of 1.702 is 1 here, approximately). Respondents that answer the other way
    round have a negative slope: the signs are those of the free fit.

    Args:
        matrix, scale, asymptotes: as in `response_model`; with `histogram` the law above holds approximately. A skewed
            scale, or guesses, make equal slopes look unequal where they are left out.

    Returns:
        RaschTest. Sign: small p speaks against equal slopes.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `anova(ltm::rasch(x), ltm::ltm(x ~ z1))`, logistic.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> rasch_test(answers).p > 0.05
    True
    """
    fits = Fits.of(matrix)
    free = fits.fit(Model(scale, asymptotes))
    held = fits.equal_slopes(free)
    enough = 1e-4 if scale == "histogram" else None  # of a ratio of likelihoods
    equal = fit_marginal(fits.codes, Model(scale, asymptotes, signs=held.model.signs), start=held, enough=enough)
    if free.log_posterior < equal.log_posterior:  # a histogram's climb ends a little before its top
        free = fit_marginal(fits.codes, Model(scale, asymptotes), start=equal)
    ratio, df = max(0.0, 2 * (free.log_posterior - equal.log_posterior)), len(fits.codes.T) - 1
    loading = float(np.abs(equal.curves.loading).mean())
    return RaschTest(loading, free.curves.loading, ratio, df, chi_squared_tail(ratio, df))


def family_labels(families: Any, fits: Fits) -> pd.Series:
    """Family of each respondent that can be compared.

    Raises:
        InputError: a respondent has no label, or no family has two.
    """
    everyone = fits.graded.respondents
    labels = pd.Series(labels_of(families, everyone, everyone, "families")[fits.kept], fits.used.respondents)
    if labels.value_counts().max() < 2:
        raise InputError(
            f"each of the {labels.nunique()} families has one respondent that can be used; what a family shares needs "
            "two in at least one of them"
        )
    return labels.rename("family")


def described(fit: MarginalFit, fits: Fits, labels: pd.Series | None = None) -> ResponseModel:
    """The fit in words of respondents, families and questions."""
    if not fit.converged:
        warn("the response model did not converge; its numbers are those of the last step")
    graded, kept, own = fits.graded, fits.kept, fits.used.respondents
    table = pd.DataFrame(_columns(fit), own)
    if labels is not None:
        table.insert(0, "family", labels)
    shares, by_family = _shares(fit, loading_covariance(fit), labels)
    everyone = table.reindex(graded.respondents)
    everyone["n_categories"] = graded.n_used
    everyone["reversed"] = answers_other_way(everyone["loading"].to_numpy(), everyone["loading_se"].to_numpy())
    everyone.loc[~kept, "status"] = np.where(graded.varies, UNLINKED, ONE_CATEGORY)[~kept]
    if graded.n_categories == 2:
        everyone["threshold"] = np.where(kept, everyone["threshold"], thresholds_of(graded.as_yes_no()))
    limits = pd.DataFrame(np.nan, own, graded.values[1:])
    for i, used in enumerate(fits.categories):
        limits.iloc[i, np.array(used[1:]) - 1] = fit.curves.thresholds[: len(used) - 1, i]
    mean, spread = fit.scores()
    seen = fits.used.answered.any(axis=1)
    return ResponseModel(
        respondents=everyone,
        thresholds=limits.reindex(graded.respondents),
        difficulty=pd.Series(np.where(seen, -mean, np.nan), graded.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, spread, np.nan), graded.questions, name="difficulty_se"),
        log_likelihood=fit.log_likelihood,
        log_prior=fit.log_prior,
        converged=fit.converged,
        prior=_prior(fit, graded.values),
        nodes=fit.nodes,
        weights=fit.weights,
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
    curves, size = fit.curves, fit.curves.size
    m, k, covariance = len(size), len(fit.log_p), covariance_of(fit)
    floors = np.zeros((k, m)) if curves.floors is None else curves.floors
    errors = np.sqrt(np.diag(loading_covariance(fit)))
    slopes = {"slope": curves.slope}
    if curves.family_slope is not None:
        slopes["family_slope"] = curves.family_slope
    by = {kind: -curves.cuts[0] * slope / size**3 for kind, slope in slopes.items()} | {"cut_1": 1 / size}
    variance = sum(x * y * np.diag(covariance.between(one, two)) for one, x in by.items() for two, y in by.items())
    columns = {
        "slope": curves.slope,
        "intercept": curves.cuts[0],
        "loading": curves.loading,
        "threshold": curves.thresholds[0],
        "loading_se": errors[:m],
        "threshold_se": np.sqrt(np.maximum(variance, 0)),
        "lower": floors[1:].sum(axis=0),
        "upper": 1 - floors[0],
        "random_answers": floors.sum(axis=0),
        "yes_rate": fit.yes_rates()[0],
    }
    if curves.family_slope is not None:
        shared = ~np.isin(np.arange(m), fit.data.alone)
        columns["family_loading"] = np.where(shared, curves.family_slope / size, np.nan)
        columns["family_loading_se"] = np.where(shared, errors[m:], np.nan)
        columns["own"] = 1 / size**2
    status = np.select([curves.at_bound, np.isnan(covariance.errors("slope"))], [AT_BOUND, BEYOND], ESTIMATED)
    return columns | {"status": status.astype(object)}


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
        ends = {"low": max(0.0, value - Z_95 * error), "high": min(1.0, value + Z_95 * error)}
        return {"share": value, "se": error} | ends

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


def _prior(fit: MarginalFit, values: pd.Index) -> str:
    known, centre = [], fit.point.centre
    if fit.model.scale == "histogram":
        known.append(f"the scale, as if {PRIOR_QUESTIONS:.0f} questions of known place had been smoothly spread")
    if centre is not None:
        each = ", ".join(f"{share:.1%} {value:g}" for value, share in zip(values, centre, strict=False))
        known.append(f"answers at random of each, as if {PRIOR_ANSWERS:.0f} of known origin had shown {each}")
    return "; ".join(known)

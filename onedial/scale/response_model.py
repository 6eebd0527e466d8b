"""The response model: what everybody shares, by marginal maximum likelihood, without pairwise correlations.

Respondent i says yes to a question of easiness z with probability Phi(a_i z + d_i), or, where some answers have nothing
to do with the question, as `onedial.scale.response_curves` says. With z ~ N(0, 1) it is the one-factor model in other
words:

    loading = a / c,   threshold = d / c,   c^2 = 1 + a^2

No scaling constant is needed; a logistic slope is 1.702 times the normal-ogive one, approximately. The distribution of
z need not be normal (`scale`); its mean is 0 and its variance 1 in any case, so that loadings compare.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.fits import Fits
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, Model, ScaleKind, fit_marginal
from onedial.scale.response_curves import answers_other_way
from onedial.scale.share import Share, share_of
from onedial.scale.standard_errors import covariance_of, loading_errors
from onedial.stats.answers import warn
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import chi_squared_tail, p_text

ESTIMATED = "estimated"
AT_BOUND = "at the bound of the loading (Heywood case)"
BEYOND = "beyond the scale: its answers tell nothing of its loading"
UNLINKED = "no two others share its questions"
ONE_CATEGORY = "used one category only, or none"


@dataclass(frozen=True)
class ResponseModel:
    """A fitted response model.

    Attributes:
        respondents: index respondent; `slope, intercept, loading, threshold`, `loading_se, threshold_se`
            (`onedial.scale.standard_errors`, the delta method); `lower, upper` asymptotes, 0 and 1 where none are
            estimated; `random_answers`, share of answers whatever the question; `yes_rate`, what the model expects over
            all questions, those in the respondent's gaps included; `reversed`, as in `answers_other_way`; `status`, why
            a number is nan. Loadings and thresholds are of the answers that look at the question.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation; nan where nobody answered.
        log_likelihood, log_prior: where their sum is greatest; the prior's, of a histogram, is 0 where there is none.
            converged: whether the maximum was reached.
        nodes, weights: (node,) distribution of the questions' easiness, of mean 0 and variance 1.
        share: of the variance, and what errors of the loadings add to it.
        fit: the engine's, of the respondents that are estimated.
    """

    respondents: pd.DataFrame
    difficulty: pd.Series
    difficulty_se: pd.Series
    log_likelihood: float
    log_prior: float
    converged: bool
    nodes: Floats
    weights: Floats
    share: Share
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


def response_model(matrix: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none") -> ResponseModel:
    """Fit the curves of all respondents, and the distribution of the questions, to all answers at once.

    Formula: `onedial.scale.likelihood` (Bock and Aitkin, 1981, Psychometrika 46, 443-459). Gaps need no pairs: they are
    ignorable if what is missing depends only on the answers that were given.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary; or `Fits` of one.
        scale: distribution of the questions: `normal`, `smooth` (normal, bent by two parameters), `histogram` (any).
        asymptotes: answers whatever the question: `none`, or `common` (equally often by all).

    Returns:
        ResponseModel. Sign: the slopes' sum is positive; threshold higher = more often yes; difficulty higher = harder.
        Loadings are nan, with a status and a warning, for a respondent that cannot be compared; their standard errors
        are nan where the loading sits at its bound sqrt(.995).

    Raises:
        InputError: fewer than three respondents vary or share questions, or an option does not exist.

    R: `mirt::mirt(x, 1, itemtype = "2PL")` with a1 / 1.702, `"4PL"` for asymptotes, `dentype = "EHW"` for the
    histogram.

    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((2000, 1)) + 0.6 * rng.standard_normal((2000, 8))
    >>> answers = np.where(rng.random(hidden.shape) < 0.1, 1, hidden > 0)  # a tenth always yes
    >>> response_model(answers, asymptotes="common").respondents["lower"].round(1).unique()
    array([0.1])
    """
    fits = Fits.of(matrix)
    return described(fits.fit(Model(scale, asymptotes)), fits)


@dataclass(frozen=True)
class RaschTest:
    """Do all respondents follow the scale equally closely? The Rasch model beside the one with a slope for each.

    Attributes:
        loading: common to all respondents, but for its sign.
        ratio, df, p: likelihood ratio of free against equal slopes.
    """

    loading: float
    ratio: float
    df: int
    p: float

    __repr__ = one_line

    def sentence(self) -> str:
        """What the test says."""
        beside = "with a scale of any shape and answers at random in both models"
        if self.p > LEVEL:
            return f"Respondents may follow the scale equally closely ({p_text(self.p)}, {beside})."
        return (
            f"Respondents do not follow the scale equally closely ({p_text(self.p)}, {beside}): a Rasch model does not "
            "hold."
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
    return RaschTest(loading, ratio, df, chi_squared_tail(ratio, df))


def described(fit: MarginalFit, fits: Fits) -> ResponseModel:
    """The fit in words of respondents and questions."""
    if not fit.converged:
        warn("the response model did not converge; its numbers are those of the last step")
    panel, kept = fits.panel, fits.kept
    everyone = pd.DataFrame(_columns(fit), fits.answers.respondents).reindex(panel.respondents)
    everyone["reversed"] = answers_other_way(everyone["loading"].to_numpy(), everyone["loading_se"].to_numpy())
    everyone.loc[~kept, "status"] = np.where(panel.varies, UNLINKED, ONE_CATEGORY)[~kept]
    everyone["threshold"] = np.where(kept, everyone["threshold"], thresholds_of(panel))
    mean, spread = fit.scores()
    seen = fits.answers.answered.any(axis=1)
    return ResponseModel(
        respondents=everyone,
        difficulty=pd.Series(np.where(seen, -mean, np.nan), panel.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, spread, np.nan), panel.questions, name="difficulty_se"),
        log_likelihood=fit.log_likelihood,
        log_prior=fit.log_prior,
        converged=fit.converged,
        nodes=fit.nodes,
        weights=fit.weights,
        share=share_of(fit),
        fit=fit,
    )


def _columns(fit: MarginalFit) -> dict[str, Any]:
    curves, size, covariance = fit.curves, fit.curves.size, covariance_of(fit)
    floors = np.zeros((2, len(size))) if curves.floors is None else curves.floors
    by = {"slope": -curves.cuts[0] * curves.slope / size**3, "cut_1": 1 / size}
    variance = sum(x * y * np.diag(covariance.between(one, two)) for one, x in by.items() for two, y in by.items())
    status = np.select([curves.at_bound, np.isnan(covariance.errors("slope"))], [AT_BOUND, BEYOND], ESTIMATED)
    return {
        "slope": curves.slope,
        "intercept": curves.cuts[0],
        "loading": curves.loading,
        "threshold": curves.thresholds[0],
        "loading_se": loading_errors(fit),
        "threshold_se": np.sqrt(np.maximum(variance, 0)),
        "lower": floors[1],
        "upper": 1 - floors[0],
        "random_answers": floors.sum(axis=0),
        "yes_rate": fit.yes_rates()[0],
        "status": status.astype(object),
    }

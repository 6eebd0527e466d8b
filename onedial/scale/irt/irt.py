"""The one-factor model once more, by marginal maximum likelihood: a cross-check that uses no pairwise correlations.

Normal-ogive two-parameter model: respondent i says yes to a question of easiness z with probability Phi(a_i z + d_i),
or, where some answers have nothing to do with the question, lower_i + (upper_i - lower_i) Phi(a_i z + d_i).
With z ~ N(0, 1) it is the one-factor model in other words:

    loading = a / sqrt(1 + a^2),   a = loading / sqrt(1 - loading^2),   threshold = d / sqrt(1 + a^2).

No scaling constant is needed; a logistic slope is 1.702 times the normal-ogive one, approximately. The distribution of
z need not be normal (`scale`); its mean is 0 and its variance 1 in any case, so that loadings compare.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from onedial.core import InputError, one_line
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.usable import linked_respondents, usable_answers
from onedial.scale.irt.asymptotes import AsymptoteKind, check_asymptotes
from onedial.scale.irt.category_curves import STEEPEST, UNUSED, log_categories
from onedial.scale.irt.expectation import blocks, codes_of
from onedial.scale.irt.marginal_fit import MarginalFit, fit_marginal
from onedial.scale.irt.nodes import quadrature
from onedial.scale.irt.null_model import null_model
from onedial.scale.irt.scales import ScaleKind, family_of
from onedial.stats import Answers, Booleans, Floats, as_answers, names, warn

Gaps = Literal["ignorable", "informative"]

ESTIMATED = "estimated"
AT_BOUND = "at the bound of the loading (Heywood case)"
BEYOND = "beyond the scale: its answers tell nothing of its loading"
UNLINKED = "no two others share its questions"
_LEAST_WEIGHT = 1e-3
_LEAST_FLOOR = 1e-4  # below which an asymptote is at its bound, and takes no information from the others
_LEAST_INFORMATION = 1e-6  # a standard error of 1000: a pseudo-inverse would call what nobody knows exact


@dataclass(frozen=True)
class IrtModel:
    """A fitted two-parameter model.

    Attributes:
        respondents: index respondent; `slope, intercept, loading, threshold` and their standard errors `*_se` (from the
            cross-products of the questions' scores, those by the scale's parameters included; the delta method for
            loading and threshold), `lower, upper` asymptotes (0 and 1 where none are estimated), `yes_rate`, what the
            model expects over all questions, those in the respondent's gaps included, and `status`, why a number is
            nan. Loading and threshold are of the answers that look at the question.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation; nan where nobody answered.
        log_likelihood: at the maximum. asymptotes: which were estimated.
        converged: whether the maximum was reached.
        scale: kind of the distribution of the questions' easiness. nodes, weights: (node,) that distribution, of mean 0
            and variance 1.
    """

    respondents: pd.DataFrame
    difficulty: pd.Series
    difficulty_se: pd.Series
    log_likelihood: float
    converged: bool
    scale: ScaleKind
    nodes: Floats
    weights: Floats
    asymptotes: AsymptoteKind = "none"

    __repr__ = one_line


def two_parameter_irt(
    matrix: Any,
    n_nodes: int | None = None,
    scale: ScaleKind = "normal",
    gaps: Gaps = "ignorable",
    asymptotes: AsymptoteKind = "none",
) -> IrtModel:
    """Fit slopes and intercepts by marginal maximum likelihood, and how often answers are given at random.

    Formula: maximise the sum over questions of log sum_q w_q prod_i Phi(s (a_i z_q + d_i)), s = 1 for yes and -1 for
    no, over the answered cells (Bock and Lieberman, 1970, Psychometrika 35, 179-197; Bock and Aitkin, 1981,
    Psychometrika 46, 443-459). Gaps need no pairs: they are ignorable if what is missing depends only on the answers
    that were given. If it depends on the questions themselves (hard ones are left out more often), the number of gaps
    of a question tells where it lies, and `gaps="informative"` lets it (`onedial.scale.irt.null_model`).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_nodes: of the quadrature from -6 to 6; default: at least 241, and as many as the sharpest posterior needs (81
            for a histogram). scale: distribution of the questions: `normal`, `histogram` (any), `two_component` (two
            normal ones), `smooth` (normal, bent by two parameters). gaps: `ignorable` or `informative`; the log
            likelihood of the latter includes the gaps' own, and n_nodes has no part. asymptotes: `none`, `common` (one
            lower and one upper asymptote for all) or `own` (each respondent's, drawn towards the common ones as 20
            answers of known origin would draw them; `onedial.scale.irt.asymptotes`).

    Returns:
        IrtModel. Sign: the slopes' sum is positive; threshold higher = more often yes; difficulty higher = harder.
        Loading and slope are nan, with a status and a warning, for a respondent that no two others can be compared
        with; their standard errors are nan where the loading sits at its bound sqrt(.995).

    Raises:
        InputError: fewer than three respondents vary or share questions, or the kind of scale or gaps does not exist.

    R: `mirt::mirt(x, 1, itemtype = "2PL", quadpts = 241)` with a1 / 1.702, `dentype = "EHW"` for the histogram,
    `itemtype = "4PL"` for asymptotes; `psych::irt.fa` for the same conversion.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((2000, 1)) + 0.6 * rng.standard_normal((2000, 8))
    >>> answers = np.where(rng.random(hidden.shape) < 0.1, 1, hidden > 0)  # a tenth always yes
    >>> model = two_parameter_irt(answers, asymptotes="common")
    >>> model.respondents["lower"].round(1).unique()
    array([0.1])
    """
    family_of(scale)
    check_asymptotes(asymptotes)
    if gaps not in get_args(Gaps):
        raise InputError(f"gaps={gaps!r}; choose ignorable or informative")
    answers = usable_answers(as_answers(matrix))
    fit, linked = marginal_model(answers, scale, n_nodes, gaps, asymptotes)
    if not fit.converged:
        warn("the two-parameter model did not converge; its numbers are those of the last step")
    table = _table(fit, linked, answers)
    mean, spread = fit.scores()
    seen = answers.answered[:, linked].any(axis=1)
    return IrtModel(
        respondents=pd.DataFrame(table, index=answers.respondents),
        difficulty=pd.Series(np.where(seen, -mean, np.nan), answers.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, spread, np.nan), answers.questions, name="difficulty_se"),
        log_likelihood=fit.log_likelihood,
        converged=fit.converged,
        scale=scale,
        nodes=fit.nodes,
        weights=np.exp(fit.log_weight),
        asymptotes=asymptotes,
    )


def marginal_model(
    answers: Answers,
    scale: ScaleKind = "normal",
    n_nodes: int | None = None,
    gaps: Gaps = "ignorable",
    asymptotes: AsymptoteKind = "none",
) -> tuple[MarginalFit, Booleans]:
    """The fitted model of the respondents that hang together, and (respondent,) which those are; the rest is named."""
    linked = linked_respondents(answers)
    if not linked.all():
        warn(
            f"no two others share enough questions with {names(answers.respondents[~linked])}; there is no loading to "
            "estimate, and it is nan"
        )
        answers = answers.select(linked)
    if gaps == "informative":
        return null_model(answers, scale, asymptotes=asymptotes), linked
    return fit_marginal(codes_of(answers), scale, n_nodes, asymptotes=asymptotes), linked


def loading_errors(fit: MarginalFit) -> Floats:
    """(respondent,) standard errors of the loadings; nan at the bound, and where no answer tells."""
    return np.sqrt(np.diag(loading_covariance(fit)))


def loading_covariance(fit: MarginalFit) -> Floats:
    """(respondent, respondent) covariance of the estimated loadings; nan at the bound, and where no answer tells."""
    m = len(fit.curves.slope)
    by_slope = 1 / np.sqrt(1 + fit.curves.slope**2) ** 3
    return curve_covariance(fit)[:m, :m] * np.outer(by_slope, by_slope)


def asymptote_errors(fit: MarginalFit) -> Floats:
    """(category, respondent) standard errors of each respondent's own asymptotes; nan at 0, and where all share one."""
    return np.sqrt(_covariance(fit)[1])


def curve_covariance(fit: MarginalFit) -> Floats:
    """(slopes and then cuts, the same) covariance of the estimated curves; nan as in `loading_covariance`."""
    return _covariance(fit)[0]


def _covariance(fit: MarginalFit) -> tuple[Floats, Floats]:
    """(slopes and cuts, slopes and cuts), nan for slopes at their bound and for those of which no answer tells, as of a
    respondent beyond the scale whose every yes is one of its random answers; and (category, respondent) variances of
    own asymptotes, nan for those at 0."""
    of_curves, (of_scale, bound), (of_floors, prior) = question_scores(fit), _scale_scores(fit), _floor_scores(fit)
    n_curves, n_scale = of_curves.shape[1], of_scale.shape[1]
    scores = np.column_stack([of_curves, of_scale, of_floors])
    information = scores.T @ scores
    information[n_curves : n_curves + n_scale, n_curves : n_curves + n_scale] += bound
    information[n_curves + n_scale :, n_curves + n_scale :] += prior
    free = np.concatenate([~at_bound(fit), (fit.curves.cuts != UNUSED).ravel()])
    free &= np.diag(information)[:n_curves] > _LEAST_INFORMATION
    known = np.concatenate([free, np.ones(scores.shape[1] - n_curves, dtype=bool)])
    inverse = np.linalg.pinv(information[np.ix_(known, known)])
    covariance = np.full((n_curves, n_curves), np.nan)
    n_free = free.sum()
    covariance[np.ix_(free, free)] = inverse[:n_free, :n_free]
    variances = np.full((len(fit.log_p), len(fit.curves.slope)), np.nan)
    if fit.asymptotes is not None and fit.asymptotes.centre is not None:
        variances[_free_floors(fit)] = np.diag(inverse)[n_free + n_scale :]
    return covariance, variances


def _free_floors(fit: MarginalFit) -> Booleans:
    """(category, respondent) asymptotes away from 0."""
    if fit.curves.floors is None or fit.asymptotes is None:
        return np.zeros((len(fit.log_p), len(fit.curves.slope)), dtype=bool)
    return fit.asymptotes.possible & (fit.curves.floors > _LEAST_FLOOR)


def _scale_scores(fit: MarginalFit) -> tuple[Floats, Floats]:
    """(question, direction) derivatives by the scale's parameters, in directions that keep mean 0 and variance 1, and
    (direction, direction) precision that is there besides: a node's weight cannot move by more than itself.

    Empty for a normal scale, which has nothing to estimate.
    """
    if fit.kind == "normal":
        return np.empty((len(fit.codes), 0)), np.empty((0, 0))
    weight, z = np.exp(fit.log_weight), fit.nodes
    if fit.kind == "histogram":
        present = np.flatnonzero(weight > _LEAST_WEIGHT)
        kept = np.stack([np.ones(len(present)), z[present], z[present] ** 2])
        directions = np.linalg.svd(kept)[2][min(3, len(present)) :]
        scores = (fit.posterior[:, present] / weight[present]) @ directions.T
        return scores, (directions / weight[present] ** 2) @ directions.T
    family, nodes, step = family_of(fit.kind), quadrature(len(weight))[0], 1e-5
    slopes = np.empty((len(weight), len(fit.parameters)))
    shift, stretch = -np.gradient(fit.log_weight, z), -1 - z * np.gradient(fit.log_weight, z)
    for place, one in enumerate(step * np.eye(len(fit.parameters))):
        up, down = (family.log_weight(fit.parameters + sign * one, nodes) for sign in (1, -1))
        slope = (up - down) / (2 * step)
        mean, variance = weight * slope @ z, weight * slope @ z**2
        slopes[:, place] = slope - mean * shift - variance / 2 * stretch  # what it does beside moving and stretching
    return fit.posterior @ slopes, np.zeros((slopes.shape[1], slopes.shape[1]))


def _floor_scores(fit: MarginalFit) -> tuple[Floats, Floats]:
    """(question, asymptote) derivatives by the asymptotes that are not at 0, and what their prior knows of them."""
    floors, estimated = fit.curves.floors, fit.asymptotes
    if floors is None or estimated is None:
        return np.empty((len(fit.codes), 0)), np.empty((0, 0))
    ogive = log_categories(replace(fit.curves, floors=None), fit.nodes)[0]
    scores = np.zeros((len(fit.codes), *floors.shape))
    for category, log_p in enumerate(fit.log_p):
        shown = (fit.codes == category).astype(float)
        scores -= (shown * (fit.posterior @ np.exp(ogive[category] - log_p).T))[:, None, :]
        rarest = np.log(_LEAST_FLOOR)  # P is never below an asymptote that is away from 0
        scores[:, category] += shown * (fit.posterior @ np.exp(-np.maximum(log_p, rarest)).T)
    free = _free_floors(fit)
    if estimated.centre is None:  # one parameter for all
        kept = free.any(axis=1)
        return (scores * free).sum(axis=2)[:, kept], np.zeros((int(kept.sum()),) * 2)
    scores = scores.reshape(len(scores), -1)[:, free.ravel()]
    return scores, estimated.prior_precision(floors)[np.ix_(free.ravel(), free.ravel())]


def at_bound(fit: MarginalFit) -> Booleans:
    """(respondent,) True where the loading sits at its bound."""
    return np.abs(fit.curves.slope) >= STEEPEST * (1 - 1e-9)


def _table(fit: MarginalFit, linked: Booleans, answers: Answers) -> dict[str, Any]:
    slope, intercept = fit.curves.slope, fit.curves.cuts[0]
    m = len(slope)
    covariance, variance_floors = _covariance(fit)
    variance_slope, variance_intercept = np.diag(covariance)[:m], np.diag(covariance)[m:]
    joint = np.diag(covariance[:m, m:])
    root = np.sqrt(1 + slope**2)
    by_slope = -intercept * slope / root**3
    variance_threshold = by_slope**2 * variance_slope + variance_intercept / root**2 + 2 * by_slope * joint / root
    columns = {
        "slope": slope,
        "intercept": intercept,
        "loading": fit.curves.loading,
        "threshold": fit.curves.thresholds[0],
        "slope_se": np.sqrt(variance_slope),
        "intercept_se": np.sqrt(variance_intercept),
        "loading_se": np.sqrt(variance_slope) / root**3,
        "threshold_se": np.sqrt(np.maximum(variance_threshold, 0)),
        "lower": np.zeros(m) if fit.curves.floors is None else fit.curves.floors[1],
        "upper": np.ones(m) if fit.curves.floors is None else 1 - fit.curves.floors[0],
        "lower_se": np.sqrt(variance_floors[1]),
        "upper_se": np.sqrt(variance_floors[0]),
        "yes_rate": fit.yes_rates()[0],
    }
    table: dict[str, Any] = {}
    for name, values in columns.items():
        table[name] = np.full(len(linked), np.nan)
        table[name][linked] = values
    table["threshold"] = np.where(linked, table["threshold"], thresholds_of(answers))
    status = np.full(len(linked), UNLINKED, dtype=object)
    status[linked] = np.select([at_bound(fit), np.isnan(variance_slope)], [AT_BOUND, BEYOND], ESTIMATED)
    return table | {"status": status}


def question_scores(fit: MarginalFit) -> Floats:
    """(question, slopes and then each cut) derivatives of each question's log likelihood."""
    log_p, log_density = log_categories(fit.curves, fit.nodes)
    m, n_cuts = len(fit.curves.slope), len(log_density)
    scores = np.zeros((len(fit.codes), (1 + n_cuts) * m))
    posterior = fit.posterior
    for block in blocks(fit.codes, len(fit.nodes)):
        for category in range(n_cuts + 1):
            shown = (fit.codes[block] == category).astype(float)
            for cut, sign in ((category - 1, 1.0), (category, -1.0)):  # P_k rises with its own cut, falls with the next
                if not 0 <= cut < n_cuts:
                    continue
                pull = sign * np.exp(log_density[cut] - log_p[category]) * (fit.curves.cuts[cut] != UNUSED)[:, None]
                scores[block, :m] += shown * (posterior[block] @ (pull * fit.nodes).T)
                place = slice((1 + cut) * m, (2 + cut) * m)
                scores[block, place] += shown * (posterior[block] @ pull.T)
    return scores

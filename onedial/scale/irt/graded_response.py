"""The graded response model: the one-factor model for answers in ordered categories.

    P(x_qi >= k) = Phi(a_i z_q + d_ik),    loading = a / sqrt(1 + a^2),    threshold_k = d_k / sqrt(1 + a^2)

(Samejima, 1969, Psychometric Monograph 17). With two categories it is the two-parameter model, computed by the same
operations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core import one_line
from onedial.scale.factor.usable import linked_respondents, require_usable
from onedial.scale.irt.asymptotes import AsymptoteKind, check_asymptotes
from onedial.scale.irt.graded_answers import GradedAnswers, as_graded, used_only
from onedial.scale.irt.irt import AT_BOUND, ESTIMATED, UNLINKED, at_bound, loading_errors
from onedial.scale.irt.marginal_fit import fit_marginal
from onedial.scale.irt.scales import ScaleKind, family_of
from onedial.stats import Answers, Floats, names, warn

ONE_CATEGORY = "used one category only, or none"


@dataclass(frozen=True)
class GradedModel:
    """A fitted graded response model.

    Attributes:
        respondents: index respondent; `slope, loading, loading_se, random_answers` (share of answers whatever the
            question), `n_categories, status` (why a number is nan).
        thresholds: (respondent, category above the lowest); nan for categories that the respondent never used.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation; nan where nobody answered.
        log_likelihood: at the maximum. converged: whether it was reached.
        scale: kind of the distribution of the questions. nodes, weights: (node,) that distribution.
    """

    respondents: pd.DataFrame
    thresholds: pd.DataFrame
    difficulty: pd.Series
    difficulty_se: pd.Series
    log_likelihood: float
    converged: bool
    scale: ScaleKind
    nodes: Floats
    weights: Floats

    __repr__ = one_line


def graded_response_model(
    matrix: Any, n_nodes: int | None = None, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none"
) -> GradedModel:
    """Fit slopes and cuts by marginal maximum likelihood.

    Formula: as `two_parameter_irt`, with P_k = P(x >= k) - P(x >= k + 1) for category k.

    Args:
        matrix: question x respondent, ordered numbers (at most twenty different ones), nan = missing.
        n_nodes, scale, asymptotes: as in `two_parameter_irt`.

    Returns:
        GradedModel. Sign: the slopes' sum is positive; threshold higher = more often at or above that category;
        difficulty higher = lower answers.

    Raises:
        InputError: fewer than three respondents vary or hang together, or an option does not exist.

    R: `mirt::mirt(x, 1, itemtype = "graded")` with a1 / 1.702.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> graded_response_model(answers + (rng.random((400, 6)) < 0.5)).respondents["loading"].shape
    (6,)
    """
    family_of(scale)
    check_asymptotes(asymptotes)
    graded = as_graded(matrix)
    varies = graded.varies
    # whether respondents vary and hang together does not depend on what the categories are
    spread = np.where(varies, graded.codes == graded.codes.max(axis=0), False)
    require_usable(Answers(spread, graded.answered, graded.questions, graded.respondents))
    if not varies.all():
        warn(f"{names(graded.respondents[~varies])} used one category only (or none) and cannot be placed on a factor")
    usable = graded.select(varies)
    linked = linked_respondents(Answers(usable.codes > 0, usable.answered, usable.questions, usable.respondents))
    if not linked.all():
        warn(
            f"no two others share enough questions with {names(usable.respondents[~linked])}; there is no loading to "
            "estimate, and it is nan"
        )
    used = usable.select(linked)
    codes, categories = used_only(used)
    fit = fit_marginal(codes, scale, n_nodes, asymptotes=asymptotes)
    if not fit.converged:
        warn("the graded response model did not converge; its numbers are those of the last step")
    mean, error = fit.scores()
    seen = used.answered.any(axis=1)
    table = pd.DataFrame(
        {
            "slope": fit.curves.slope,
            "loading": fit.curves.loading,
            "loading_se": loading_errors(fit),
            "random_answers": 1 - fit.curves.attentive,
            "n_categories": used.n_used,
            "status": np.where(at_bound(fit), AT_BOUND, ESTIMATED),
        },
        index=used.respondents,
    ).reindex(graded.respondents)
    table["n_categories"] = graded.n_used
    table.loc[usable.respondents[~linked], "status"] = UNLINKED
    table.loc[graded.respondents[~varies], "status"] = ONE_CATEGORY
    return GradedModel(
        respondents=table,
        thresholds=_thresholds(used, fit.curves.thresholds, categories).reindex(graded.respondents),
        difficulty=pd.Series(np.where(seen, -mean, np.nan), graded.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, error, np.nan), graded.questions, name="difficulty_se"),
        log_likelihood=fit.log_likelihood,
        converged=fit.converged,
        scale=scale,
        nodes=fit.nodes,
        weights=np.exp(fit.log_weight),
    )


def _thresholds(used: GradedAnswers, cuts: Floats, categories: list[list[int]]) -> pd.DataFrame:
    """(respondent, category above the lowest) with each cut under the category that it opens."""
    table = np.full((len(used.respondents), used.n_categories - 1), np.nan)
    for i, own in enumerate(categories):
        for place, category in enumerate(own[1:]):
            table[i, category - 1] = cuts[place, i]
    return pd.DataFrame(table, used.respondents, used.values[1:])

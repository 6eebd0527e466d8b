"""How much loadings, thresholds, variance shares and the parabola would differ with other questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.correlations.two_by_two import ZeroCellRule
from onedial.scale.factor.nulls import Counted, Nulls, Replicates, batch_sizes
from onedial.stats.arrays import Floats
from onedial.stats.groups import labels_of
from onedial.stats.level import QUANTILES_95
from onedial.stats.resampling import resampled_weights


@dataclass(frozen=True)
class QuestionBootstrap:
    """Nonparametric bootstrap over questions, or over groups of questions.

    Attributes:
        respondents: index respondent; `loading, loading_se, loading_low, loading_high, threshold, threshold_se,
            threshold_low, threshold_high`.
        shares: index `squared_loadings` (over m), `quadratic_r2`; columns `estimate, se, low, high`.
        loadings: (replicate, respondent), signs aligned with the estimate. thresholds: (replicate, respondent).
    """

    respondents: pd.DataFrame
    shares: pd.DataFrame
    loadings: Floats
    thresholds: Floats

    __repr__ = one_line


def bootstrap_questions(
    matrix: Any, groups: Any = None, n_replicates: int = 199, seed: int = 0, zero_cells: ZeroCellRule = "half"
) -> QuestionBootstrap:
    """Resample questions, or whole groups of them, with replacement and fit the one-factor model again.

    Formula: percentile intervals (2.5%, 97.5%) and standard deviations over B resamples of the rows (Efron and
    Tibshirani, 1993, An Introduction to the Bootstrap, chapter 13). R^2 of a parabola is biased upwards in resamples;
    read its interval as spread, not as a test. Each resample's loadings are multiplied by the sign of their product
    with the estimate. Questions of one topic may be alike; resampling topics (`groups`) tells how much the numbers
    would differ with other topics. With fewer than about ten groups the intervals are too short.

    Args:
        matrix, n_replicates, seed, zero_cells: as in `permutation_null`. groups: label of each question (a Series by
            question, or in the order of the rows), whose groups are drawn whole.

    Returns:
        QuestionBootstrap. Sign: loadings have a positive sum, a threshold is higher for more yes.

    Raises:
        InputError: fewer than three respondents vary, B < 1, or the labels do not fit.

    R: `psych::fa(r, n.iter = 1000)` bootstraps in this way for Pearson correlations; `boot::boot(x, f, 1000)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> bootstrap_questions(answers, n_replicates=50).loadings.shape
    (50, 6)
    """
    nulls = Nulls.of(matrix, n_replicates, seed, zero_cells)
    answers, observed, code = nulls.answers, nulls.observed, None
    if groups is not None:
        code = pd.factorize(labels_of(groups, answers.questions, answers.questions, "groups"))[0]
    batch = (answers.yes.astype(np.float32), answers.answered.astype(np.float32))
    pieces = (
        weights[place : place + size]
        for weights in resampled_weights(answers.n_questions, nulls.n_replicates, nulls.seed, code)
        for size in [next(batch_sizes(len(weights), answers.yes.size))]
        for place in range(0, len(weights), size)
    )
    replicates = Replicates.of((Counted.of(batch, piece) for piece in pieces), nulls.zero_cells)
    limits = np.where(np.isfinite(replicates.thresholds), replicates.thresholds, np.nan)
    agreement = np.nansum(replicates.loadings * observed.loadings, axis=1, keepdims=True)
    loadings, r2 = np.where(agreement < 0, -replicates.loadings, replicates.loadings), replicates.r2
    m = answers.n_respondents
    every = {
        "loading": (observed.loadings[0], loadings),
        "threshold": (observed.thresholds[0], limits),
        "squared_loadings": (np.nansum(observed.loadings**2) / m, np.nansum(loadings**2, axis=1) / m),
        "quadratic_r2": (observed.r2[0], np.where(np.isfinite(limits).all(axis=1), r2, np.nan)),
    }
    summaries = {name: _summary(*values) for name, values in every.items()}
    columns = {
        name if part == "estimate" else f"{name}_{part}": values
        for name in ("loading", "threshold")
        for part, values in summaries[name].items()
    }
    shares = {name: summaries[name] for name in ("squared_loadings", "quadratic_r2")}
    return QuestionBootstrap(
        pd.DataFrame(columns, answers.respondents), pd.DataFrame.from_dict(shares, orient="index"), loadings, limits
    )


def _summary(estimate: Any, values: Floats) -> dict[str, Any]:
    """The estimate, with standard deviation and interval over replicates, the first axis; nan where under two of them
    say anything."""
    few = (~np.isnan(values)).sum(axis=0) < 2
    known = np.where(few, 0.0, values)
    summaries = (np.nanstd(known, axis=0, ddof=1), *np.nanquantile(known, QUANTILES_95, axis=0))
    se, low, high = (np.where(few, np.nan, each) for each in summaries)
    return {"estimate": estimate, "se": se, "low": low, "high": high}

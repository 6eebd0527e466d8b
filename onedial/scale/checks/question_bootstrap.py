"""How much loadings, thresholds, variance shares and the parabola would differ with other questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.checks.quadratic import parabola_r2
from onedial.scale.checks.replicates import Replicates
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule, check_modes, correlations
from onedial.scale.correlations.pair_counts import count_pairs_of_resamples
from onedial.scale.correlations.thresholds import normal_quantile, thresholds_of
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.factor.usable import observed_correlation, usable_answers
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Floats, Integers
from onedial.stats.groups import labels_of
from onedial.stats.level import QUANTILES_95


@dataclass(frozen=True)
class QuestionBootstrap:
    """Nonparametric bootstrap over questions, or over groups of questions.

    Attributes:
        respondents: index respondent; `loading, loading_se, loading_low, loading_high, threshold, threshold_se,
            threshold_low, threshold_high, n_replicates` (replicates in which the respondent varied).
        shares: index `squared_loadings` (over m), `quadratic_r2`; columns `estimate, se, low, high`.
        loadings: (replicate, respondent), signs aligned with the estimate. thresholds: (replicate, respondent).
        n_units: how many questions, or groups of them, were drawn from.
    """

    respondents: pd.DataFrame
    shares: pd.DataFrame
    loadings: Floats
    thresholds: Floats
    n_units: int

    __repr__ = one_line


def bootstrap_questions(
    matrix: Any,
    n_replicates: int = 1000,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
    groups: Any = None,
) -> QuestionBootstrap:
    """Resample questions, or whole groups of them, with replacement and fit the one-factor model again.

    Formula: percentile intervals (2.5%, 97.5%) and standard deviations over B resamples of the rows (Efron and
    Tibshirani, 1993, An Introduction to the Bootstrap, chapter 13). R^2 of a parabola is biased upwards in resamples;
    read its interval as spread, not as a test. Each resample's loadings are multiplied by the sign of their product
    with the estimate. Questions of one topic may be alike; resampling topics (`groups`) tells how much the numbers
    would differ with other topics. With fewer than about ten groups the intervals are too short.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the resampling. groups: label of each
            question (a Series by question, or in the order of the rows), whose groups are drawn whole.

    Returns:
        QuestionBootstrap. Sign: loadings have a positive sum, a threshold is higher for more yes.

    Raises:
        InputError: fewer than three respondents vary, B < 2, or the labels do not fit.

    R: `psych::fa(r, n.iter = 1000)` bootstraps in this way for Pearson correlations; `boot::boot(x, f, 1000)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> bootstrap_questions(answers, 50).n_units
    400
    """
    check_modes(thresholds, zero_cells)
    if n_replicates < 2:
        raise InputError(f"n_replicates={n_replicates}; ask for at least 2")
    answers = usable_answers(as_answers(matrix))
    loading = minres_one_factor(observed_correlation(answers, thresholds, zero_cells))
    limit, code, m = thresholds_of(answers), np.arange(answers.n_questions), len(loading)
    if groups is not None:
        code = pd.factorize(labels_of(groups, matrix, answers.questions, "groups", "questions"))[0]
    found = resampled(answers, code, n_replicates, thresholds, zero_cells, np.random.default_rng(seed))
    limits = np.where(np.isfinite(found.thresholds), found.thresholds, np.nan)
    loadings = found.loadings()
    agreement = np.nansum(loadings * loading, axis=1, keepdims=True)
    loadings = np.where(agreement < 0, -loadings, loadings)
    both = np.isfinite(loadings) & np.isfinite(limits)
    complete, r2 = both.all(axis=1), np.full(n_replicates, np.nan)
    r2[complete] = parabola_r2(loadings[complete], limits[complete])
    shares = {
        "squared_loadings": _summary(np.nansum(loading**2) / m, np.nansum(loadings**2, axis=1) / m),
        "quadratic_r2": _summary(float(parabola_r2(loading[None], limit[None])[0]), r2),
    }
    columns = {"loading": _summary(loading, loadings), "threshold": _summary(limit, limits)}
    named = {
        name if part == "estimate" else f"{name}_{part}": values
        for name, parts in columns.items()
        for part, values in parts.items()
    }
    return QuestionBootstrap(
        respondents=pd.DataFrame({**named, "n_replicates": both.sum(axis=0)}, index=answers.respondents),
        shares=pd.DataFrame.from_dict(shares, orient="index"),
        loadings=loadings,
        thresholds=limits,
        n_units=int(code.max()) + 1,
    )


def resampled(
    answers: Answers,
    code: Integers,
    n_replicates: int,
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
    rng: np.random.Generator,
) -> Replicates:
    """Correlations and thresholds of B resamples of the groups of questions numbered by `code`."""
    n_units = int(code.max()) + 1
    drawn = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_replicates)[:, code]
    weights = drawn.astype(np.float32)
    n_yes, n = weights @ answers.yes.astype(np.float32), weights @ answers.answered.astype(np.float32)
    overall = normal_quantile(n_yes.astype(float), (n - n_yes).astype(float))
    tables = count_pairs_of_resamples(answers, weights)
    return Replicates(correlations(tables, overall, thresholds, zero_cells, repeats=True), overall)


def _summary(estimate: Any, values: Floats) -> dict[str, Any]:
    """The estimate, with standard deviation and interval over replicates, the first axis; nan where under two of them
    say anything."""
    few = (~np.isnan(values)).sum(axis=0) < 2
    known = np.where(few, 0.0, values)
    found = (np.nanstd(known, axis=0, ddof=1), *np.nanquantile(known, QUANTILES_95, axis=0))
    se, low, high = (np.where(few, np.nan, each) for each in found)
    return {"estimate": estimate, "se": se, "low": low, "high": high}

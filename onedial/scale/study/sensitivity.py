"""Which findings survive another empty-cell rule, threshold mode, distribution of the scale, set of respondents?

Each row of the table repeats the whole analysis with one choice changed. A finding that holds in every row is about the
respondents; one that comes and goes with the rule for empty cells belongs to the correction.
"""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from onedial.scale.checks.draws import one_factor_replicates
from onedial.scale.checks.permutation import shuffled
from onedial.scale.checks.quadratic import parabola_r2
from onedial.scale.checks.quadratic_null import unrelated_replicates
from onedial.scale.checks.replicates import Counted, Replicates, correlate, eigenvalues, fill_gaps
from onedial.scale.checks.simulation import checked_for_simulation
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule, has_empty_cell
from onedial.scale.correlations.pair_counts import count_pairs
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.factor.usable import MIN_RESPONDENTS, observed_correlation
from onedial.scale.gap_model import null_model
from onedial.scale.likelihood import ScaleKind
from onedial.scale.response_curves import Curves
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.level import p_value

SCALES: tuple[ScaleKind, ...] = ("histogram", "normal")
COLUMNS = [
    "zero_cells", "thresholds", "scale", "left_out", "n_respondents", "n_zero_cell_pairs", "max_delta_rho",
    "first_share", "first_null_share", "first_p", "second_share", "second_permutation_share",
    "second_one_factor_share", "second_p", "loadings_share", "marginal_loadings_share",
    "smallest_eigenvalue", "smallest_null", "smallest_p", "quadratic_r2", "quadratic_null_r2", "quadratic_p",
    "marginal_quadratic_r2",
]  # fmt: skip


def sensitivity_table(
    matrix: Any,
    n_replicates: int = 199,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    leave_one_out: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """The analysis under every empty-cell rule, threshold mode and kind of scale, and with each respondent left out.

    Formula: `permutation_null` (first eigenvalue), `one_factor_bootstrap` (second and smallest eigenvalue) and
    `quadratic_fit_test` (R^2), each with B replicates. Rows with the same kind of scale use the same simulated answers
    under their own choices; a respondent that is left out is left out of the simulated matrices too.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B of each null of each row; p cannot be smaller than 1 / (B + 1).
        thresholds, zero_cells: of the reference row, and of the rows with a respondent left out. Those rows let the
            scale have any distribution (`histogram`); others hold it to be normal.
        leave_one_out: whether those rows are wanted. seed: of the simulated answers.

    Returns:
        one row per analysis, the reference first. Sign: small p speaks for the finding, in the lower tail for the
        smallest eigenvalue and in the upper for the others. `zero_cells`, `thresholds`, `scale`, `left_out`,
        `n_respondents`, `n_zero_cell_pairs`; `max_delta_rho`, largest change of a correlation against the reference;
        `first_share`, `second_share`, eigenvalues over m; `first_null_share`, `second_permutation_share`, means of the
        permutation null; `second_one_factor_share`, mean when one factor is all there is; `loadings_share`, sum of
        squared minres loadings over m, and `marginal_loadings_share`, the same from `response_model`, which needs no
        rule for empty cells; `smallest_eigenvalue` with mean and lower-tail p under one factor; `quadratic_r2` with
        mean and p when loadings have nothing to do with thresholds; `marginal_quadratic_r2`, the parabola of the
        marginal loadings on the marginal thresholds. Under `exclude`, eigenvalues are those of the
        matrix whose gaps are filled by its one-factor loadings.

    Raises:
        InputError: fewer than three respondents vary, or an option does not exist.

    R: none; each row's first numbers are `eigen(psych::tetrachoric(x, correct, smooth = FALSE, global)$rho)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> sensitivity_table(answers, 3, leave_one_out=False).shape[0]
    12
    """
    answers = checked_for_simulation(as_answers(matrix), n_replicates, thresholds, zero_cells)
    settings = _settings(thresholds, zero_cells)
    matrices = [observed_correlation(answers, mode, rule) for mode, rule in settings]
    limits = thresholds_of(answers)
    empty = _symmetric_empty_cells(answers)
    draws = shuffled(answers, n_replicates, np.random.default_rng([seed, 0]))
    shuffles = [Counted.of(batch) for batch in draws]
    rows: dict[str, dict[str, Any]] = {}
    leave_out = range(answers.n_respondents if leave_one_out and answers.n_respondents > MIN_RESPONDENTS else 0)
    for scale in SCALES:
        fit = null_model(answers, scale)
        nulls = [
            _Nulls(
                correlate(shuffles, *setting),
                one_factor_replicates(fit, n_replicates, seed, *setting),
                unrelated_replicates(fit, n_replicates, seed, *setting),
            )
            for setting in settings
        ]
        for (mode, rule), correlation, null in zip(settings, matrices, nulls, strict=True):
            row: dict[str, Any] = {"zero_cells": rule, "thresholds": mode, "scale": scale, "left_out": ""}
            row |= _analysis(correlation, limits, fit.curves, empty, null)
            name = f"{rule}, {mode}" + ("" if scale == SCALES[0] else f", {scale.replace('_', '-')} scale")
            rows[name] = row | {"max_delta_rho": _largest_difference(correlation, matrices[0])}
        for i in leave_out if scale == SCALES[0] else ():
            others = np.arange(answers.n_respondents) != i
            kept = np.ix_(others, others)
            name = str(answers.respondents[i])
            row = {"zero_cells": zero_cells, "thresholds": thresholds, "scale": scale, "left_out": name}
            null = _Nulls(*(part.without(i) for part in (nulls[0].shuffled, nulls[0].one_factor, nulls[0].unrelated)))
            row |= _analysis(matrices[0][kept], limits[others], fit.curves.take(others), empty[kept], null)
            rows[f"without {name}"] = row
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=COLUMNS).rename_axis("analysis")


@dataclass(frozen=True)
class _Nulls:
    """Replicates in which answers are shuffled, one factor is all there is, loadings are assigned at random."""

    shuffled: Replicates
    one_factor: Replicates
    unrelated: Replicates


def _settings(thresholds: ThresholdMode, zero_cells: ZeroCellRule) -> list[tuple[ThresholdMode, ZeroCellRule]]:
    """The reference first, then every other combination."""
    every = [(mode, rule) for rule in get_args(ZeroCellRule) for mode in get_args(ThresholdMode)]
    return sorted(every, key=lambda setting: setting != (thresholds, zero_cells))


def _analysis(correlation: Floats, limits: Floats, curves: Curves, empty: Booleans, null: _Nulls) -> dict[str, Any]:
    m = len(correlation)
    marginal = curves.loading
    spectrum = eigenvalues(fill_gaps(correlation))
    loading = minres_one_factor(correlation)
    known = np.isfinite(loading)
    r2 = float(parabola_r2(loading[known][None], limits[known][None])[0]) if known.sum() > 3 else float("nan")
    permuted, one_factor = null.shuffled.eigenvalues(), null.one_factor.eigenvalues()
    null_r2 = parabola_r2(null.unrelated.loadings(), null.unrelated.thresholds)
    return {
        "n_respondents": m,
        "n_zero_cell_pairs": int(empty.sum() / 2),
        "first_share": spectrum[0] / m,
        "first_null_share": permuted[:, 0].mean() / m,
        "first_p": p_value(spectrum[0], permuted[:, 0]),
        "second_share": spectrum[1] / m,
        "second_permutation_share": permuted[:, 1].mean() / m,
        "second_one_factor_share": one_factor[:, 1].mean() / m,
        "second_p": p_value(spectrum[1], one_factor[:, 1]),
        "loadings_share": float(np.nansum(loading**2) / m),
        "marginal_loadings_share": float((marginal**2).sum() / m),
        "smallest_eigenvalue": spectrum[-1],
        "smallest_null": one_factor[:, -1].mean(),
        "smallest_p": p_value(spectrum[-1], one_factor[:, -1], larger=False),
        "quadratic_r2": r2,
        "quadratic_null_r2": float(np.nanmean(null_r2)) if np.isfinite(null_r2).any() else float("nan"),
        "quadratic_p": p_value(r2, null_r2),
        "marginal_quadratic_r2": float(parabola_r2(marginal[None], curves.thresholds)[0]) if m > 3 else float("nan"),
    }


def _symmetric_empty_cells(answers: Answers) -> Booleans:
    """(respondent, respondent) True where a pair lacks one of the four answer patterns."""
    tables = count_pairs(answers)
    first, second = tables.pairs
    empty = np.zeros((answers.n_respondents, answers.n_respondents), dtype=bool)
    empty[first, second] = empty[second, first] = has_empty_cell(tables.tables)
    return empty


def _largest_difference(correlation: Floats, reference: Floats) -> float:
    difference = np.abs(correlation - reference)
    return float(np.nanmax(difference)) if np.isfinite(difference).any() else float("nan")

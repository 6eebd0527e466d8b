"""Which findings survive another empty-cell rule, threshold mode, kind of scale, set of respondents?

Each row of the table repeats the whole analysis with one choice changed. A finding that holds in every row is about the
respondents; one that comes and goes with the rule for empty cells belongs to the correction.
"""

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
from onedial.scale.response_curves import Curves
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, p_value

_FINDINGS = {
    "first_p": ("A first shared factor", "first_share", "first_null_share"),
    "second_p": ("A second factor", "second_share", "second_one_factor_share"),
    "smallest_p": ("A smallest eigenvalue too small for one factor", "smallest_eigenvalue", "smallest_null"),
    "quadratic_p": ("A parabola of loading on threshold", "quadratic_r2", "quadratic_null_r2"),
}
"""p -> what it speaks for, its number, and the null's."""


def sensitivity(fit: PanelFit) -> Finding:
    """What hangs on choices."""
    if not fit.n_readings:
        return Finding()
    table = sensitivity_table(fit.answers, fit.n_readings, seed=fit.seed, **fit.rules)
    everyone = table[table["left_out"] == ""]
    sentences = [_survives(table, p, *words) for p, words in _FINDINGS.items() if table[words[1]].notna().any()]
    sentences.append(
        f"Rules alone move correlations by up to {everyone['max_delta_rho'].max():.2f} and the first share by "
        f"{100 * np.ptp(everyone['first_share']):.1f} percentage points."
    )
    return Finding(sentences, {"sensitivity": table}, {"max_delta_rho": float(everyone["max_delta_rho"].max())})


def _survives(table: pd.DataFrame, p: str, finding: str, value: str, null: str) -> str:
    """In how many readings a finding stands, and in which it does not."""
    tested = table[table[p].notna()]
    found, n = tested[p] <= LEVEL, len(tested)
    ends = [f"{table[column].min():.2f} to {table[column].max():.2f}" for column in (value, null)]
    others = tested.index[~found] if found.mean() >= 0.5 else tested.index[found]
    which = "; ".join(map(str, others[:4])) + f" and {len(others) - 4} more" * (len(others) > 4)
    where = f"; {'not' if found.mean() >= 0.5 else 'only'} under: {which}" if len(others) else ""
    return f"{finding}: in {found.sum()} of {n} readings ({ends[0]}; by chance {ends[1]}{where})."


def sensitivity_table(
    matrix: Any,
    n_replicates: int = 199,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    leave_one_out: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """The analysis under every empty-cell rule and threshold mode, on a normal scale, and without each respondent.

    Formula: `permutation_null` (first eigenvalue), `one_factor_bootstrap` (second and smallest eigenvalue) and
    `quadratic_fit_test` (R^2), each with B replicates, the same simulated answers for all rows with one kind of scale;
    a respondent that is left out is left out of the simulated matrices too.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B of each null of each row; p cannot be smaller than 1 / (B + 1).
        thresholds, zero_cells: of the reference row, the normal scale, and the rows with a respondent left out. All
            others let the scale have any distribution. leave_one_out: whether those rows are wanted. seed: of the
            simulated answers.

    Returns:
        one row per analysis, the reference first. Sign: small p speaks for the finding, in the lower tail for the
        smallest eigenvalue and in the upper for the others. `zero_cells`, `thresholds`, `scale`, `left_out`,
        `n_zero_cell_pairs`; `max_delta_rho`, largest change of a correlation against the reference; `first_share`,
        `second_share`, eigenvalues over m; `first_null_share`, mean of the permutation null;
        `second_one_factor_share`, mean when one factor is all there is; `loadings_share`, mean squared minres loading;
        `smallest_eigenvalue` with mean and lower-tail p under one factor; `quadratic_r2` with mean and p when loadings
        have nothing to do with thresholds; `marginal_quadratic_r2`, the parabola of the loadings by marginal
        likelihood on its thresholds. Under `exclude`, eigenvalues are those of the matrix whose gaps are filled by its
        one-factor loadings.

    Raises:
        InputError: fewer than three respondents vary, or an option does not exist.

    R: none; each row's first numbers are `eigen(psych::tetrachoric(x, correct, smooth = FALSE, global)$rho)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> sensitivity_table(answers, 3, leave_one_out=False).shape[0]
    7
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    reference = (thresholds, zero_cells)
    every = [(mode, rule) for rule in get_args(ZeroCellRule) for mode in get_args(ThresholdMode)]
    settings = sorted(every, key=lambda setting: setting != reference)
    matrices = [observed_correlation(answers, *setting) for setting in settings]
    limits, m = thresholds_of(answers), answers.n_respondents
    shuffles = [Counted.of(batch) for batch in shuffled(answers, n_replicates, np.random.default_rng([seed, 0]))]
    free, normal = (null_model(answers, scale) for scale in ("histogram", "normal"))

    def nulls(fit: Any, setting: Any) -> tuple[Replicates, Replicates, Replicates]:
        draws = one_factor_replicates, unrelated_replicates
        one, unrelated = (draw(fit, n_replicates, seed, *setting) for draw in draws)
        return correlate(shuffles, *setting), one, unrelated

    of_reference = nulls(free, reference)
    tables = count_pairs(answers)
    empty, ends = has_empty_cell(tables.tables), np.stack(tables.pairs)
    rows: dict[str, dict[str, Any]] = {}
    for (mode, rule), correlation in zip(settings, matrices, strict=True):
        drawn = of_reference if (mode, rule) == reference else nulls(free, (mode, rule))
        choice = {"zero_cells": rule, "thresholds": mode, "scale": "histogram", "left_out": ""}
        moved = np.abs(correlation - matrices[0])
        choice["max_delta_rho"] = float(np.nanmax(moved)) if np.isfinite(moved).any() else float("nan")
        rows[f"{rule}, {mode}"] = choice | _reading(correlation, limits, free.curves, int(empty.sum()), drawn)
    own = {"zero_cells": zero_cells, "thresholds": thresholds}
    rows["normal scale"] = {**own, "scale": "normal", "left_out": "", "max_delta_rho": 0.0} | _reading(
        matrices[0], limits, normal.curves, int(empty.sum()), nulls(normal, reference)
    )
    for i in range(m if leave_one_out and m > MIN_RESPONDENTS else 0):
        others = np.arange(m) != i
        left = tuple(part.without(i) for part in of_reference)
        n_empty = int(empty[(ends != i).all(axis=0)].sum())
        name, whole = str(answers.respondents[i]), matrices[0][np.ix_(others, others)]
        rows[f"without {name}"] = {**own, "scale": "histogram", "left_out": name} | _reading(
            whole, limits[others], free.curves.take(others), n_empty, left
        )
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("analysis")


def _reading(
    correlation: Floats, limits: Floats, curves: Curves, n_empty: int, nulls: tuple[Replicates, ...]
) -> dict[str, Any]:
    """One row; nulls: answers shuffled, one factor, loadings assigned at random."""
    m, spectrum, loading = len(correlation), eigenvalues(fill_gaps(correlation)), minres_one_factor(correlation)
    shuffles, one, unrelated = nulls
    permuted, one_factor = shuffles.eigenvalues(), one.eigenvalues()
    known = np.isfinite(loading)
    r2 = float(parabola_r2(loading[known][None], limits[known][None])[0]) if known.sum() > 3 else float("nan")
    null_r2 = parabola_r2(unrelated.loadings(), unrelated.thresholds)
    own_r2 = float(parabola_r2(curves.loading[None], curves.thresholds)[0]) if m > 3 else float("nan")
    return {
        "n_zero_cell_pairs": n_empty,
        "first_share": spectrum[0] / m,
        "first_null_share": permuted[:, 0].mean() / m,
        "first_p": p_value(spectrum[0], permuted[:, 0]),
        "second_share": spectrum[1] / m,
        "second_one_factor_share": one_factor[:, 1].mean() / m,
        "second_p": p_value(spectrum[1], one_factor[:, 1]),
        "loadings_share": float(np.nansum(loading**2) / m),
        "smallest_eigenvalue": spectrum[-1],
        "smallest_null": one_factor[:, -1].mean(),
        "smallest_p": p_value(spectrum[-1], one_factor[:, -1], larger=False),
        "quadratic_r2": r2,
        "quadratic_null_r2": float(np.nanmean(null_r2)) if np.isfinite(null_r2).any() else float("nan"),
        "quadratic_p": p_value(r2, null_r2),
        "marginal_quadratic_r2": own_r2,
    }

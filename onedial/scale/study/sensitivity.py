"""Which findings survive another empty-cell rule, threshold mode, kind of scale, set of respondents?

Each row of the table repeats the whole analysis with one choice changed. A finding that holds in every row is about the
respondents; one that comes and goes with the rule for empty cells belongs to the correction.
"""

from typing import Any, get_args

import numpy as np
import pandas as pd

from onedial.scale.correlations.two_by_two import ThresholdMode, ZeroCellRule, count_pairs, has_empty_cell
from onedial.scale.factor.nulls import Nulls
from onedial.scale.factor.quadratic import parabola_r2
from onedial.scale.factor.usable import MIN_RESPONDENTS
from onedial.scale.study.panel_fit import Finding, PanelFit
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
    table = sensitivity_table(fit.nulls)
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


def sensitivity_table(matrix: Any, **choices: Any) -> pd.DataFrame:
    """The analysis under every empty-cell rule and threshold mode, on a normal scale, and without each respondent.

    Formula: `permutation_null` (first eigenvalue), `one_factor_bootstrap` (second and smallest eigenvalue) and
    `quadratic_fit_test` (R^2), each with B replicates, the same simulated answers for all rows with one kind of scale;
    a respondent that is left out is left out of the simulated matrices too.

    Args:
        matrix, choices: as in `permutation_null`; rules of the reference row, the normal scale, and the rows with a
            respondent left out; no p is below 1 / (B + 1).

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
    >>> sensitivity_table(answers, n_replicates=3).shape[0]
    13
    """
    nulls = Nulls.of(matrix, **choices)
    m, own = nulls.answers.n_respondents, (nulls.thresholds, nulls.zero_cells)
    every = [(mode, rule) for rule in get_args(ZeroCellRule) for mode in get_args(ThresholdMode)]
    rows: dict[str, tuple[Any, ...]] = {
        f"{rule}, {mode}": (mode, rule, "histogram", None) for mode, rule in sorted(every, key=lambda one: one != own)
    }
    rows["normal scale"] = (*own, "normal", None)
    for i in range(m if m > MIN_RESPONDENTS else 0):
        rows[f"without {nulls.answers.respondents[i]}"] = (*own, "histogram", i)
    found = {name: _reading(nulls, *choices) for name, choices in rows.items()}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("analysis")


def _reading(nulls: Nulls, mode: ThresholdMode, rule: ZeroCellRule, scale: Any, left_out: int | None) -> dict[str, Any]:
    """One row."""
    curves, tables = nulls.fits.null(scale).curves, count_pairs(nulls.answers)
    empty, kept, name = has_empty_cell(tables.tables), np.arange(len(curves.slope)), ""
    parts = [nulls.observed(mode, rule)]
    parts += [nulls.drawn(kind, scale, "none", mode, rule) for kind in ("shuffled", "one factor", "unrelated")]
    moved = np.abs(parts[0].correlation - nulls.observed().correlation)
    if left_out is not None:
        parts, kept = [part.without(left_out) for part in parts], kept[kept != left_out]
        name, empty = str(nulls.answers.respondents[left_out]), empty[(np.stack(tables.pairs) != left_out).all(axis=0)]
    m, (own, shuffled, one, unrelated) = len(kept), parts
    spectrum, one_factor, curves = own.eigenvalues[0], one.eigenvalues, curves.take(kept)
    return {
        "zero_cells": rule,
        "thresholds": mode,
        "scale": scale,
        "left_out": name,
        "max_delta_rho": float(np.nanmax(moved)) if left_out is None and np.isfinite(moved).any() else np.nan,
        "n_zero_cell_pairs": int(empty.sum()),
        "first_share": spectrum[0] / m,
        "first_null_share": shuffled.eigenvalues[:, 0].mean() / m,
        "first_p": p_value(spectrum[0], shuffled.eigenvalues[:, 0]),
        "second_share": spectrum[1] / m,
        "second_one_factor_share": one_factor[:, 1].mean() / m,
        "second_p": p_value(spectrum[1], one_factor[:, 1]),
        "loadings_share": float(np.nansum(own.loadings**2) / m),
        "smallest_eigenvalue": spectrum[-1],
        "smallest_null": one_factor[:, -1].mean(),
        "smallest_p": p_value(spectrum[-1], one_factor[:, -1], larger=False),
        "quadratic_r2": own.r2[0] if m > MIN_RESPONDENTS else np.nan,
        "quadratic_null_r2": np.nanmean(unrelated.r2) if np.isfinite(unrelated.r2).any() else np.nan,
        "quadratic_p": p_value(own.r2[0], unrelated.r2),
        "marginal_quadratic_r2": parabola_r2(curves.loading[None], curves.thresholds)[0] if m > 3 else np.nan,
    }

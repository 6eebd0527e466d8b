"""Does the shared scale hang on where numbers are cut into yes and no? The factor of every reading of one panel."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.panels.panel_scores import stated_confidence
from onedial.panels.panels import ResponseMatrix
from onedial.scale.categories import cut_confidence
from onedial.scale.checks.one_factor import revised_parallel_analysis
from onedial.scale.checks.permutation import permutation_null
from onedial.scale.checks.quadratic import quadratic_fit
from onedial.scale.checks.quadratic_null import quadratic_fit_test
from onedial.scale.factor.factor_fit import FEWEST_FITTED, MOST_FITTED, factor_fit
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.factor.polychoric_factor import polychoric_factor

CUTS = (80.0, 90.0, 95.0, 100.0)
"""In hundredths of the panel's top."""
GRADED_AT = (70.0, 80.0, 90.0, 95.0, 99.0)
AS_ANSWERED = "as answered"
MOST_REPLICATES = 99
"""Of the nulls of every other reading."""


def readings_table(panel: ResponseMatrix, model: FactorModel, n_replicates: int, seed: int) -> pd.DataFrame:
    """One row for each way to read the panel: as answered, and where numbers were stated at every cut and graded.

    Args:
        model: of the panel as answered. n_replicates: of the nulls, at most 99 but as answered; 0 = none.

    Returns:
        Index reading; n_models (that vary), first, second (shares of the variance: eigenvalue over their number),
        first_shuffled, n_factors (parallel analysis), rmsea, cfi, parabola_r2, parabola_p. Loadings of the graded
        reading come from polychoric correlations, its thresholds from the panel as answered; what has no null there
        is nan, and so is all of a reading in which fewer than `FEWEST_FITTED` vary.
    """
    rows = {AS_ANSWERED: _reading(panel.answers, n_replicates, seed)}
    numbers, fewer = stated_confidence(panel), min(n_replicates, MOST_REPLICATES)
    if numbers is None or numbers.source != "stated":
        return _table(rows)
    cuts = {f"at least {cut:g}": numbers.values >= cut / 100 - 1e-9 for cut in CUTS}
    cuts["at least its median"] = numbers.values >= numbers.values.median()
    for name, at_least in cuts.items():
        yes = at_least.astype(float).where(numbers.values.notna())
        rows[name] = rows[AS_ANSWERED] if yes.equals(panel.answers) else _reading(yes, fewer, seed)
    rows["graded"] = _graded(numbers.values, model)
    return _table(rows)


def _table(rows: dict[str, dict[str, float]]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("reading")


def _reading(answers: pd.DataFrame, n_replicates: int, seed: int) -> dict[str, float]:
    varied = answers.loc[:, answers.nunique() > 1]
    if varied.shape[1] < FEWEST_FITTED:  # cut there, nearly everybody says one thing
        return {"n_models": varied.shape[1]}
    model = fit_factor_model(varied)
    values = model.eigenvalues.to_numpy()
    row: dict[str, Any] = {"n_models": len(values), "first": values[0] / len(values), "second": values[1] / len(values)}
    if n_replicates:
        shuffled = permutation_null(varied, n_replicates, seed=seed)
        row["first_shuffled"] = float(np.nanmean(shuffled.simulated[:, 0])) / len(values)
        row["n_factors"] = revised_parallel_analysis(
            varied, n_replicates=n_replicates, seed=seed, shuffles=shuffled
        ).n_above()
    fit = factor_fit(varied) if varied.shape[1] <= MOST_FITTED else None
    row |= {"rmsea": np.nan, "cfi": np.nan} if fit is None else {"rmsea": fit.rmsea, "cfi": fit.cfi}
    row["parabola_r2"] = model.quadratic_fit.r2
    if n_replicates:
        row["parabola_p"] = quadratic_fit_test(varied, n_replicates, seed=seed).p
    return row


def _graded(numbers: pd.DataFrame, model: FactorModel) -> dict[str, float]:
    graded = cut_confidence(100 * numbers + 1e-9, GRADED_AT)
    graded = graded.loc[:, graded.nunique() > 1]
    if graded.shape[1] < FEWEST_FITTED:
        return {"n_models": graded.shape[1]}
    found = polychoric_factor(graded)
    values, loadings = found.eigenvalues, found.loadings
    parabola = quadratic_fit(loadings, model.thresholds.reindex(loadings.index))
    n = len(values)
    return {"n_models": n, "first": values[0] / n, "second": values[1] / n, "parabola_r2": parabola.r2}

"""The analysis of a panel as tables, one per file, and as a summary of plain numbers."""

from typing import Any

import pandas as pd

from onedial.scale.study.one_page import one_page, page_sections, verdict
from onedial.scale.study.panel_analysis import PanelAnalysis
from onedial.scale.study.sensitivity_summary import summarise_sensitivity


def analysis_tables(analysis: PanelAnalysis) -> dict[str, pd.DataFrame]:
    """Every table, by the name of its file.

    Formula: none.

    Args:
        analysis: of `analyse_panel`.

    Returns:
        name to table; tables that were not made are left out. Sign: as in the analysis.

    >>> import numpy as np
    >>> from onedial.scale import analyse_panel
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.standard_normal((40, 1))
    >>> panel = pd.DataFrame((ease + rng.standard_normal((40, 4)) > 0) * 1.0, columns=list("abcd"))
    >>> analysis_tables(analyse_panel(panel, n_replicates=0, n_sensitivity=0))["respondents"].index.tolist()
    ['a', 'b', 'c', 'd']
    """
    tables: dict[str, pd.DataFrame] = {
        "respondents": respondents_table(analysis),
        "questions": questions_table(analysis),
        "eigenvalues": scree_table(analysis),
        "correlations": analysis.model.tetrachoric.correlation,
        "missingness": analysis.missing,
        "respondents_fit": analysis.answer_fit.respondents,
        "questions_fit": analysis.answer_fit.questions,
        "information": analysis.answer_fit.information,
        "scale": analysis.scale.comparison,
        "scale_weights": analysis.scale.weights,
        "scale_respondents": analysis.scale.loadings.add_prefix("loading_").join(
            analysis.scale.thresholds.add_prefix("threshold_")
        ),
    }
    if analysis.bootstrap is not None:
        tables["correlations_low"] = analysis.bootstrap.correlation_low
        tables["correlations_high"] = analysis.bootstrap.correlation_high
    if analysis.accounts is not None:
        tables["accounts"] = analysis.accounts.table
    if analysis.sensitivity is not None:
        tables["sensitivity"] = analysis.sensitivity
    if analysis.residuals is not None:
        tables["residuals"] = analysis.residuals.pairs
    if analysis.specific is not None:
        tables |= {
            "specific_factors": analysis.specific.model.respondents,
            "specific_shares": analysis.specific.model.shares,
            "specific_tests": analysis.specific.tests,
        }
    if analysis.strongest is not None:
        tables["residuals_strongest"] = analysis.strongest.strongest
    if analysis.clusters is not None:
        tables |= {
            "clusters": analysis.clusters.table,
            "clusters_correlations": analysis.clusters.matrix,
            "clusters_agreement": analysis.clusters.agreement,
        }
    for (what, who), found in analysis.invariance.items():
        tables[f"{file_name(what)}_by_{file_name(who)}"] = found.table
    if analysis.several is not None and analysis.rotated is not None:
        tables["factors"] = analysis.several.loadings.join(analysis.rotated.loadings.add_prefix("oblimin_"))
        tables["factor_correlations"] = analysis.rotated.correlation
    if analysis.factor_names is not None:
        tables["factor_names"] = analysis.factor_names
    return tables


def analysis_summary(analysis: PanelAnalysis) -> dict[str, Any]:
    """Plain numbers and sentences, for JSON.

    Formula: none.

    Args:
        analysis: of `analyse_panel`.

    Returns:
        dictionary. Sign: as in the analysis.

    >>> import numpy as np
    >>> from onedial.scale import analyse_panel
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.standard_normal((40, 1))
    >>> panel = pd.DataFrame((ease + rng.standard_normal((40, 4)) > 0) * 1.0, columns=list("abcd"))
    >>> analysis_summary(analyse_panel(panel, n_replicates=0, n_sensitivity=0))["n_zero_cell_pairs"]
    0
    """
    model = analysis.model
    summary: dict[str, Any] = {
        "page": one_page(analysis).split("\n"),
        "verdict": verdict(analysis),
        "sections": page_sections(analysis),
        "explained": {str(name): share.to_dict() for name, share in model.explained.items()},
        "quadratic_fit": model.quadratic_fit.to_dict(),
        "n_zero_cell_pairs": model.tetrachoric.n_zero_cell_pairs,
        "max_delta_rho_of_threshold_modes": analysis.threshold_shift,
        "min_eigenvalue": model.tetrachoric.min_eigenvalue,
        "heywood": model.heywood,
        "marginal_loadings_of_total_variance": float((analysis.marginal.respondents["loading"] ** 2).mean()),
        "reliability": vars(analysis.reliability),
        "rasch": {name: getattr(analysis.rasch, name) for name in ("loading", "ratio", "df", "p")},
    }
    for name, fit in (("fit", analysis.fit), ("fit_global_thresholds", analysis.fit_global)):
        if fit is not None:
            summary[name] = fit.to_dict()
    if analysis.parallel is not None:
        summary["n_factors_by_revised_parallel_analysis"] = analysis.parallel.n_above()
    if analysis.one_factor is not None:
        summary["second_eigenvalue"] = analysis.one_factor.second.to_dict()
        summary["smallest_eigenvalue"] = analysis.one_factor.smallest.to_dict()
    if analysis.accounts is not None:
        summary["accounts"] = analysis.accounts.table.to_dict(orient="index")
    if analysis.parabola is not None:
        summary["quadratic_r2"] = analysis.parabola.to_dict()
    if analysis.bootstrap is not None:
        summary["intervals"] = analysis.bootstrap.shares.to_dict(orient="index")
    if analysis.residuals is not None:
        summary["residuals"] = {
            "largest": analysis.residuals.largest.to_dict(),
            "spread": analysis.residuals.spread.to_dict(),
        }
    if analysis.specific is not None:
        shares = analysis.specific.model.shares
        summary["specific"] = {"by": analysis.kin, "p": analysis.specific.p, "shares": shares.to_dict(orient="index")}
    if analysis.by_kin is not None:
        summary["eigenvalues_by_kin"] = analysis.by_kin.to_dict()
    if analysis.kin_bend is not None:
        summary["quadratic_p_by_kin"] = analysis.kin_bend
    if analysis.strongest is not None:
        summary["strongest_pairs_within"] = analysis.strongest.within.to_dict()
    if (clusters := analysis.clusters) is not None:
        summary["clusters"] = {
            **clusters.shares,
            "between_null": clusters.between.to_dict(),
            "first_eigenvalue": clusters.first.to_dict(),
            "second_eigenvalue": clusters.second.to_dict() if clusters.second is not None else None,
            "difference": clusters.difference.to_dict(),
        }
    if analysis.sensitivity is not None:
        summary["sensitivity"] = summarise_sensitivity(analysis.sensitivity)
    return summary


def respondents_table(analysis: PanelAnalysis) -> pd.DataFrame:
    """Loadings, thresholds and intervals, and the same by marginal likelihood on a normal scale and on any."""
    model = analysis.model
    rates = {
        "threshold": model.thresholds,
        "threshold_formula_se": model.threshold_se,
        "n_answers": model.tetrachoric.n_answers,
        "n_zero_cell_pairs": model.tetrachoric.zero_cells.sum(axis=1),
    }
    table = model.loadings.rename(columns={"factor_1": "loading"}).join(pd.DataFrame(rates))
    columns = ["loading", "loading_se", "threshold", "threshold_se", "yes_rate", "status"]
    table = table.join(analysis.marginal.respondents[columns].add_prefix("marginal_"))
    table = table.join(analysis.free.respondents[columns[:-1]].add_prefix("any_scale_"))
    if analysis.bootstrap is not None:
        bars = [column for column in analysis.bootstrap.respondents if column not in table]
        table = table.join(analysis.bootstrap.respondents[bars])
    return table


def questions_table(analysis: PanelAnalysis) -> pd.DataFrame:
    """Difficulties by the factor model, and by marginal likelihood on a scale of any distribution."""
    columns = {
        "difficulty": analysis.model.difficulty,
        "difficulty_se": analysis.model.difficulty_se,
        "any_scale_difficulty": analysis.free.difficulty,
        "any_scale_difficulty_se": analysis.free.difficulty_se,
    }
    return pd.DataFrame(columns)


def scree_table(analysis: PanelAnalysis) -> pd.DataFrame:
    """Observed eigenvalues beside both nulls."""
    if analysis.parallel is None or analysis.shuffled is None:
        return analysis.model.eigenvalues.to_frame("observed")
    conditional = analysis.parallel.to_frame().drop(columns="observed").add_prefix("one_factor_fewer_")
    shuffled = analysis.shuffled.to_frame()
    return shuffled.rename(columns=lambda name: name.replace("null", "shuffled")).join(conditional)


def file_name(what: str) -> str:
    """A column's name as part of a file's."""
    return "".join(letter if letter.isalnum() else "_" for letter in what.lower())

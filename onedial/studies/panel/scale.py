"""Is it one shared scale? Everything that can be asked of a panel's scale: tables, figures, a page."""

from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import stated_confidence
from onedial.panels.panels import ResponseMatrix
from onedial.panels.questions.question_files import load_questions
from onedial.scale.misfit import fit_figures
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.analysis_tables import analysis_summary, analysis_tables
from onedial.scale.study.factor_report import write_factor_report
from onedial.scale.study.graded_panel import analyse_graded_panel, graded_tables
from onedial.scale.study.panel_analysis import PanelAnalysis, analyse_panel
from onedial.show.figure_style import Drawing
from onedial.show.results import save_results
from onedial.stats.remembered import fits_remembered
from onedial.studies.options.panel import StudyOptions
from onedial.studies.start import Start

PROGRAM = "fit_factor"


def study_scale(options: StudyOptions, notes: Notes) -> None:
    """Ask everything of a panel's scale, and write its page."""

    panel = keyed(load_panel(options.panel, options.respondents, numbers=bool(options.categories)))
    tables_of = graded_results if options.categories else factor_tables
    with Start(PROGRAM, options, f"factor-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused(), run.stage("fit"), fits_remembered():
            tables, figures = tables_of(panel, options, run)
        save_results(run, tables, figures)
        report = write_factor_report(run)
    print(f"report: {report}; what confidence is worth: python experiments/study_panel.py {options.panel} --confidence")


def graded_results(panel: ResponseMatrix, options: StudyOptions, run: Run) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """What can be asked of a panel in ordered categories; print the page, return tables and figures."""
    numbers, known = stated_confidence(panel), panel.respondents
    if numbers is None:
        raise InputError(f"{options.panel} holds no number; give a panel of numbers, or leave --categories out")
    rules: dict[str, Any] = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    found = analyse_graded_panel(
        numbers.values, list(options.categories), known, n_replicates=options.n_replicates, seed=options.seed, **rules
    )
    tables = graded_tables(found)
    tables["summary"]["rules"] = {**rules, "categories": list(options.categories), "seed": options.seed}
    print("\n".join(tables["summary"]["page"]))
    families = known["family"] if (known["family"] != "").any() else None
    difficulty = found.model.difficulty
    figures = {
        "scree": draw.scree(found.eigenvalues, *(found.nulls or ())),
        "wright_map": fit_figures.wright_map(difficulty, found.information, found.places, families),
    }
    return tables, figures


def factor_tables(panel: ResponseMatrix, options: StudyOptions, run: Run) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """Ask everything of the panel; print the page, save factor.json, return the other tables and the figures."""
    rules: dict[str, Any] = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    analysis = analyse_panel(
        panel,
        panel.respondents,
        known_questions(panel, options),
        options.n_factors,
        options.extraction,
        n_replicates=options.n_replicates,
        n_sensitivity=options.sensitivity_replicates,
        seed=options.seed,
        **rules,
    )
    analysis.model.save(run.file("factor.json"))
    summary = {"rules": {**rules, "extraction": options.extraction, "seed": options.seed}, **analysis_summary(analysis)}
    print("\n".join(summary["page"]))
    known = panel.respondents
    families = known["family"] if "family" in known and (known["family"] != "").any() else None
    return {**analysis_tables(analysis), "summary": summary}, factor_figures(analysis, families)


def known_questions(panel: ResponseMatrix, options: StudyOptions) -> pd.DataFrame | None:
    """What is known of the questions: topic, level, whether they can be known at all, and the length of their text."""

    source = options.questions or ("embedded" if options.panel == "embedded" else None)
    if source is None and panel.about_questions is not None and "topic" in panel.about_questions:
        return panel.about_questions[["topic"]]
    if source is None:
        texts = panel.question_texts
        return None if texts is None or texts.isna().any() else pd.DataFrame({"length": texts.str.len()})
    table = questions_frame(load_questions(source)).set_index("id")
    known = table[["topic", "level", "unknowable"]].assign(length=table["question"].str.len())
    if not panel.answers.index.isin(known.index).all():
        missing = panel.answers.index[~panel.answers.index.isin(known.index)]
        raise InputError(
            f"{source} says nothing of {len(missing)} of the panel's questions, such as {missing[0]}; give questions "
            "with the panel's ids"
        )
    return known.dropna(axis=1, how="all")


def factor_figures(analysis: PanelAnalysis, families: "pd.Series | None" = None) -> dict[str, Drawing]:
    """Every figure of the panel."""
    fitted = analysis.answer_fit
    figures = {
        "loadings": draw.loadings_against_threshold(
            analysis.model, analysis.bootstrap, analysis.parabola, analysis.free, analysis.missing
        ),
        "scree": draw.scree(analysis.model.eigenvalues, analysis.shuffled, analysis.parallel),
        "correlations": draw.correlation_map(analysis.model),
        "scale": draw.scale_shapes(analysis.scale),
        "wright_map": fit_figures.wright_map(
            fitted.questions["difficulty"], fitted.information, fitted.respondents[["place"]], families
        ),
        "curves": fit_figures.characteristic_curves(fitted),
    }
    if analysis.clusters is not None:
        figures["clusters"] = draw.within_and_between(analysis.clusters)
    return figures

"""The study's questions to a panel, on one page in a minute: is it one scale, and does anybody know itself?"""

from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import correctness_of, rates_of_respondents
from onedial.panels.panels import ResponseMatrix
from onedial.scale.checks.one_factor import revised_parallel_analysis
from onedial.scale.checks.permutation import permutation_null
from onedial.scale.checks.quadratic_null import quadratic_fit_test
from onedial.scale.factor.factor_fit import FEWEST_FITTED
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.study import factor_figures as draw
from onedial.show.figure_style import Drawing
from onedial.show.results import save_results
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.readings import readings_table
from onedial.studies.panel.study_page import sentences_of, write_study_report
from onedial.studies.panel.worth import (
    attitude_tables,
    knowledge_tables,
    line_between_models,
    screening_tables,
    topic_table,
)
from onedial.studies.start import Start

PROGRAM = "study_panel"


def study_overview(options: StudyOptions, notes: Notes) -> None:
    """Ask the study's questions of a panel, and write them on one page."""

    panel = keyed(load_panel(options.panel, options.respondents))
    require_enough(panel)
    correctness = correctness_of(panel)
    with Start(PROGRAM, options, f"study-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused():
            tables, figures = scale_results(panel, options, run)
            facts: dict[str, Any] = {"readings": tables["readings"]}
            if correctness is not None:
                graded_tables, graded_figures, more = graded_results(panel, correctness, options, run)
                tables, figures, facts = tables | graded_tables, figures | graded_figures, facts | more
        summary = sentences_of(facts, in_words(panel, correctness))
        save_results(run, {**tables, "summary": summary}, figures)
        report = write_study_report(run)
    print(f"\n{summary['sentence'][0].upper()}{summary['sentence'][1:]}.\nreport: {report}")


def require_enough(panel: ResponseMatrix) -> None:
    """Refuse a panel of which nothing can be asked, before anything is fitted.

    Raises:
        InputError: fewer respondents say both yes and no than could speak against one factor.
    """
    says_both = panel.answers.nunique() > 1
    if (n := int(says_both.sum())) < FEWEST_FITTED:
        raise InputError(
            f"{n} of {len(says_both)} respondents of {len(panel.answers)} questions say both yes and no, and a study "
            f"takes {FEWEST_FITTED}; give a panel of more, or see what --confidence says of these"
        )


def scale_results(panel: ResponseMatrix, options: StudyOptions, run: Run) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """One scale? The factor as answered and in every other reading, with its nulls."""
    n, seed = options.n_replicates, options.seed
    with run.stage("scale"):
        model = fit_factor_model(panel.answers)
        shuffled = permutation_null(panel.answers, n, seed=seed) if n else None
        parallel = revised_parallel_analysis(panel.answers, n_replicates=n, seed=seed) if n else None
        parabola = quadratic_fit_test(panel.answers, n, seed=seed) if n else None
    with run.stage("readings"):
        readings = readings_table(panel, model, n, seed)
    print(readings.round(3).to_string())
    families = panel.respondents["family"]
    figures = {
        "scree": draw.scree(model.eigenvalues, shuffled, parallel),
        "loadings": draw.loadings_against_threshold(model, null=parabola, families=families),
    }
    return {"readings": readings, "questions": model.difficulty.to_frame("difficulty"), **of_models(model)}, figures


def of_models(model: FactorModel) -> dict[str, pd.DataFrame]:
    """Loading and threshold of every respondent."""
    table = model.loadings.rename(columns={"factor_1": "loading"}).assign(
        threshold=model.thresholds, threshold_se=model.threshold_se
    )
    return {"respondents": table.rename_axis("respondent")}


def graded_results(
    panel: ResponseMatrix, correctness: pd.DataFrame, options: StudyOptions, run: Run
) -> tuple[dict[str, Any], dict[str, Drawing], dict[str, Any]]:
    """What confidence is worth where the panel says what was answered correctly."""
    with run.stage("worth"):
        rates = rates_of_respondents(panel, correctness)
        line_tables, line_figures, line = line_between_models(panel, correctness, rates)
        attitudes, f_beta, _ = attitude_tables(panel, correctness)
        screened, _, screening = screening_tables(panel, correctness)
    with run.stage("knowledge"):
        own_tables, own_figures, own = knowledge_tables(panel, correctness, options.n_replicates, options.seed)
    tables = line_tables | attitudes | screened | own_tables
    topics = topic_table(panel, correctness)
    if topics is not None:
        tables["topics"] = topics
    numbers = line_tables["confidence_accuracy"].loc["as is"] if "confidence_accuracy" in line_tables else None
    facts = {
        "line": line["line_between_models"],
        "line_numbers": numbers,
        "attitudes": attitudes["attitudes"],
        "own": own["shared_or_own"],
        **screening,
        **predictors_of(own_tables, screened["screening"]["tells"].groupby(panel.respondents["model"]).any()),
    }
    return tables, line_figures | f_beta | own_figures, facts


def predictors_of(tables: dict[str, Any], tells: "pd.Series[bool]") -> dict[str, Any]:
    """What the page says of them, where they could be compared; and their means over the models whose confidence tells
    right from wrong answers at all.
    """
    if "predictors" not in tables:
        return {}
    by_model = tables["predictors_by_model"]
    one, telling = by_model["one model of another family"].mean(), by_model[tells[by_model.index]].mean()
    return {"predictors": tables["predictors"], "one_other": one, "of_those_that_tell": telling}


def in_words(panel: ResponseMatrix, correctness: pd.DataFrame | None) -> str:
    """What the panel is."""
    answers, n_models = panel.answers, panel.respondents["model"].nunique()
    blank = int(answers.isna().to_numpy().sum())
    asked = f", {panel.elicitation.in_words()}" if panel.elicitation is not None else ""
    graded = "nobody knows which are right" if correctness is None else "answers are graded"
    size = f"{n_models} models on {len(answers)} questions"
    alone = (panel.respondents["family"] == "").all()
    unknown = "; no families are known, so relatives count as other families" if alone else ""
    return f"{size}{asked}; {blank} of {answers.size} answers are blank; {graded}{unknown}."

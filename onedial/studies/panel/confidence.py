"""What is a panel's confidence worth? Everything that can be asked of it: tables, figures, a page."""

from pathlib import Path
from typing import Any

import pandas as pd

from onedial.confidence.confidence_report import write_confidence_report
from onedial.core.run.notes import Notes
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import correctness_of
from onedial.panels.panels import ResponseMatrix
from onedial.show.figure_style import Drawing
from onedial.show.results import save_results
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.worth import (
    attitude_tables,
    calibration_tables,
    knowledge_tables,
    line_between_models,
    rate_tables,
    screening_tables,
)
from onedial.studies.start import Start

PROGRAM = "score_confidence"


def study_confidence(options: StudyOptions, notes: Notes) -> None:
    """Ask everything of a panel's confidence, and write its page."""

    panel = load_panel(options.panel, options.respondents)
    with Start(PROGRAM, options, f"confidence-{Path(options.panel).stem}").begin(notes) as run:
        correctness = correctness_of(panel)
        tables, figures = rate_tables(panel, correctness)
        if correctness is None:
            print("\nthe panel does not say which answers were correct: no F-beta, no line, no calibration")
        else:
            with run.withdrawn_if_refused():
                more_tables, more_figures = worth_tables(panel, correctness, options, tables["respondents"])
            tables |= more_tables
            figures |= more_figures
        save_results(run, tables, figures)
        report = write_confidence_report(run)
    print(f"\nreport: {report}")


def worth_tables(
    panel: ResponseMatrix, correctness: pd.DataFrame, options: StudyOptions, rates: pd.DataFrame
) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """F-beta, the line between base models, calibration, and whose knowledge it is."""
    tables: dict[str, Any] = {}
    figures: dict[str, Drawing] = {}
    summary: dict[str, Any] = {"replicates": options.n_replicates, "seed": options.seed}
    for more_tables, more_figures, facts in (
        attitude_tables(panel, correctness),
        line_between_models(panel, correctness, rates),
        screening_tables(panel, correctness),
        calibration_tables(panel, correctness, options.n_replicates, options.seed),
        knowledge_tables(panel, correctness, options.n_replicates, options.seed),
    ):
        tables |= more_tables
        figures |= more_figures
        summary |= facts
    return tables | {"summary": summary}, figures

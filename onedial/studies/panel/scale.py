"""Is it one shared scale? Everything that can be asked of a panel's scale: tables, figures, a page."""

from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import stated_confidence
from onedial.panels.panels import ResponseMatrix
from onedial.panels.questions.question_files import load_questions
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.show.results import save_results
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.scale_page import write_scale_page
from onedial.studies.start import Start

PROGRAM = "fit_factor"


def study_scale(options: StudyOptions, notes: Notes) -> None:
    """Ask everything of a panel's scale, and write its page."""
    panel = keyed(load_panel(options.panel, options.respondents, numbers=bool(options.categories)))
    with Start(PROGRAM, options, f"factor-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused(), run.stage("fit"):
            analysis = analysis_of(panel, options)
        if not options.categories:
            analysis.fit.factor.save(run.file("factor.json"))
        print(analysis.page)
        summary = {"rules": rules_of(options), **analysis.summary}
        figures = {name: draw() for name, draw in analysis.figures.items()}
        save_results(run, {**analysis.tables, "summary": summary}, figures)
        report = write_scale_page(run)
    print(f"report: {report}; what confidence is worth: python experiments/study_panel.py {options.panel} --confidence")


def analysis_of(panel: ResponseMatrix, options: StudyOptions) -> PanelAnalysis:
    """Of yes and no, or of the numbers in categories.

    Raises:
        InputError: the panel holds no numbers, or cannot be analysed.
    """
    choices: dict[str, Any] = {
        "n_replicates": options.n_replicates,
        "thresholds": options.thresholds,
        "zero_cells": options.zero_cells,
        "seed": options.seed,
    }
    if not options.categories:
        choices |= {"n_factors": options.n_factors, "extraction": options.extraction}
        choices["n_sensitivity"] = options.sensitivity_replicates
        return analyse_panel(panel, panel.respondents, known_questions(panel, options), **choices)
    numbers = stated_confidence(panel)
    if numbers is None:
        raise InputError(f"{options.panel} holds no number; give a panel of numbers, or leave --categories out")
    return analyse_panel(numbers.values, panel.respondents, at=options.categories, **choices)


def rules_of(options: StudyOptions) -> dict[str, Any]:
    """The choices that the page names."""
    kind = {"categories": list(options.categories)} if options.categories else {"extraction": options.extraction}
    return {"thresholds": options.thresholds, "zero_cells": options.zero_cells, "seed": options.seed, **kind}


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

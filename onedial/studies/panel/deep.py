"""Everything that can be asked of a panel's scale, as results of the study's page: `study_panel.py --deep`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.errors import InputError
from onedial.panels.panel_scores import stated_confidence
from onedial.panels.panels import ResponseMatrix
from onedial.panels.questions.question_files import load_questions
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.scale.study.checks import CHECKS
from onedial.scale.study.closeness import THRESHOLD_AT
from onedial.show.columns import Column, count, digits
from onedial.show.results import SURROUNDINGS, WARNINGS, Make, Result
from onedial.studies.options.panel import StudyOptions

_SURPRISES = (
    *(Column("infit", form=digits(2)), Column("outfit", form=digits(2)), Column("l_z", form=digits(1, signed=True))),
    *(Column("loading", form=digits(2)), Column("follows", "follows the scale")),
)
_SIGNED = digits(2, signed=True)


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
        return analyse_panel(panel, panel.respondents, known_questions(panel, options), **choices)
    numbers = stated_confidence(panel)
    if numbers is None:
        raise InputError(f"{options.panel} holds no number; give a panel of numbers, or leave --categories out")
    return analyse_panel(numbers.values, panel.respondents, at=options.categories, **choices)


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


def deep_results(analysis: PanelAnalysis) -> dict[str, Result]:
    """A section for each question that the checks answer, with their figures; the tables of respondents."""
    sections = {}
    for title, sentences in analysis.sections.items():
        names = [name for name in analysis.findings if CHECKS[name].title == title]
        figures: dict[str, Make] = {
            figure: _given(draw) for name in names for figure, draw in analysis.findings[name].figures.items()
        }
        sections[names[0]] = Result(title, items=_given(partial(list, sentences)), figures=figures, folded=False)
    return {
        "summary": Result(compute=lambda found: {"sentence": found.verdict, **found.summary}),
        **WARNINGS,
        **sections,
        "respondents_fit": Result(
            "Fit",
            written=True,
            index="respondent",
            columns=_SURPRISES,
            lines=lambda table, _: table.sort_values("l_z"),
            when=lambda _, stored: "respondents_fit" in stored,
        ),
        "respondents": Result(
            "Respondents", written=True, index="respondent", columns=_columns(analysis), lines=_with_blanks
        ),
        **SURROUNDINGS,
    }


def _columns(analysis: PanelAnalysis) -> list[Column]:
    """Loading and threshold of each; of categories one threshold for each above the lowest."""
    counts = [Column("n_answers", "answers", count), Column("n_blank", "blank", count)]
    cuts = [name for name in map(str, analysis.tables["respondents"]) if name.startswith(THRESHOLD_AT)]
    if cuts:
        own = [Column(name, form=_SIGNED) for name in cuts]
        return [Column("loading", form=digits(2), error="loading_se"), *own, *counts]
    return [
        Column("loading", form=digits(2), ends=("loading_low", "loading_high")),
        Column("threshold", form=_SIGNED, ends=("threshold_low", "threshold_high")),
        Column("marginal_threshold", "threshold, all questions", _SIGNED),
        *counts,
    ]


def _given(make: Callable[[], Any]) -> Make:
    """What takes nothing of a run, as a result takes it."""
    return lambda _, __: make()


def _with_blanks(table: pd.DataFrame, stored: Any) -> pd.DataFrame:
    n = len(stored.run.read_table("questions.csv"))
    first = next((name for name in map(str, table) if name.startswith(THRESHOLD_AT)), "threshold")
    return table.assign(n_blank=n - table["n_answers"]).sort_values(first)

"""Ask everything of a panel's scale, as results of the study's page: `study_panel.py --deep`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix
from onedial.scale.study.analysis import PanelAnalysis, analyse_panel
from onedial.scale.study.check_list import CHECKS
from onedial.show.columns import Column, count, digits
from onedial.show.results import SURROUNDINGS, WARNINGS, Make, Result
from onedial.studies.options.panel import StudyOptions

_SURPRISES = (
    *(Column("infit", form=digits(2)), Column("outfit", form=digits(2)), Column("l_z", form=digits(1, signed=True))),
    *(Column("loading", form=digits(2)), Column("follows", "follows the scale")),
)
_SIGNED = digits(2, signed=True)
_RESPONDENTS = (
    Column("loading", form=digits(2), ends=("loading_low", "loading_high")),
    Column("threshold", form=_SIGNED, ends=("threshold_low", "threshold_high")),
    Column("n_answers", "answers", count),
    Column("n_blank", "blank", count),
)


@dataclass(frozen=True)
class DeepCase:
    """A panel, and what all checks of its scale say."""

    panel: ResponseMatrix
    options: StudyOptions

    def stages(self) -> dict[str, Callable[[], object]]:
        """What takes long, by name."""
        return {"fit": lambda: self.analysis}

    @cached_property
    def analysis(self) -> PanelAnalysis:
        """Of the yes and no."""
        options, panel = self.options, self.panel
        return analyse_panel(
            panel,
            panel.respondents,
            known_questions(panel, options),
            n_factors=options.n_factors,
            n_replicates=options.n_replicates,
            seed=options.seed,
        )

    def results(self) -> dict[str, Result]:
        """A section for each question that the checks answer, with their figures; every table."""
        analysis, sections = self.analysis, {}
        for title, sentences in analysis.sections.items():
            names = [name for name in analysis.findings if CHECKS[name].title == title]
            figures: dict[str, Make] = {
                figure: _given(draw) for name in names for figure, draw in analysis.findings[name].figures.items()
            }
            sections[f"about_{names[0]}".replace(" ", "_")] = Result(
                title, items=_given(partial(list, sentences)), figures=figures, folded=False
            )
        tables = dict(analysis.tables)
        fits, respondents = tables.pop("respondents_fit"), tables.pop("respondents")
        opening, _, objections = analysis.verdict.partition(". ")
        summary = {"sentence": f"{opening.rstrip('.')}.", "lead": objections, **analysis.summary}
        return {
            "summary": Result(compute=lambda _: summary),
            **WARNINGS,
            **sections,
            **{name: Result(compute=partial(_with_index, table)) for name, table in tables.items()},
            "respondents_fit": Result(
                "Fit",
                lambda _: fits,
                index="respondent",
                columns=_SURPRISES,
                lines=lambda table, _: table.sort_values("l_z"),
            ),
            "respondents": Result(
                "Respondents",
                lambda _: respondents,
                index="respondent",
                columns=_RESPONDENTS,
                lines=lambda table, _: table.sort_values("threshold"),
            ),
            **SURROUNDINGS,
        }


def known_questions(panel: ResponseMatrix, options: StudyOptions) -> pd.DataFrame | None:
    """What is known of the questions: topic, level, whether they can be known at all, and the length of their text."""
    source = options.questions or ("embedded" if options.panel == "embedded" else None)
    if source is None and panel.about_questions is not None and "topic" in panel.about_questions:
        return panel.about_questions[["topic"]]
    if source is None:
        texts = panel.question_texts
        return None if texts is None or texts.isna().any() else pd.DataFrame({"length": texts.str.len()})
    table = questions_frame(options.read_questions(source)).set_index("id")
    known = table[["topic", "level", "unknowable"]].assign(length=table["question"].str.len())
    if not panel.answers.index.isin(known.index).all():
        missing = panel.answers.index[~panel.answers.index.isin(known.index)]
        raise InputError(
            f"{source} says nothing of {len(missing)} of the panel's questions, such as {missing[0]}; give questions "
            "with the panel's ids"
        )
    return known.dropna(axis=1, how="all")


def _with_index(table: pd.DataFrame, _: Any) -> pd.DataFrame:
    """A table whose rows are named by its first columns."""
    return table.rename_axis(index=[str(name or "name") for name in table.index.names]).reset_index()


def _given(make: Callable[[], Any]) -> Make:
    """What takes nothing of a run, as a result takes it."""
    return lambda _, __: make()

"""One page for whatever a model is asked about itself: what is said first, every table, and answers to look through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import columns_of, count, headline
from onedial.show.page import Section
from onedial.show.results import captions_of

_ENDS = {"value": ("low", "high")}
MOST_ANSWERS = 60
"""Of one test on the page; the run holds them all."""


@dataclass(frozen=True)
class AnswerLog:
    """What respondents answered in one test.

    Attributes:
        table: one row for each answer, all its columns shown. at: where in the run all of them are.
    """

    table: pd.DataFrame
    at: str


def write_self_report_page(
    run: Run,
    question: str,
    sentences: Sequence[str],
    tables: Mapping[str, pd.DataFrame],
    answers: Mapping[str, AnswerLog],
) -> Path:
    """Write report.html of a run that asked models about themselves, and return its path.

    Args:
        question: what was asked. sentences: what was found, the first one as the headline, the others as a list.
        tables: name -> table, as they are saved; the index names the rows. A figure of the same name stands above it.
        answers: test -> what was answered.
    """
    captions = captions_of(run)
    drawn = {name: page.figures(run.path / "figures", {name: each}) for name, each in captions.items()}
    sections = [
        Section(
            name.replace("_", " ").capitalize(),
            [*([drawn.pop(name)] if name in drawn else []), _table(name, table)],
            folded=number > 0,
        )
        for number, (name, table) in enumerate(tables.items())
    ]
    first, *rest = [headline(sentence) for sentence in sentences]
    if rest:
        sections.insert(0, Section("What was found", [page.items(rest)]))
    if drawn:
        sections.insert(1, Section("Figures", list(drawn.values())))
    sections += [Section(f"Answers: {test}", _written(test, each), folded=True) for test, each in answers.items()]
    sections += page.noted(run.manifest.notes)
    run.write_text(
        "report.html",
        page.page(
            question=question,
            headline=first,
            lead="Every number stands in its table below, and the answers behind it after these.",
            sections=sections,
            title="What a model says of itself",
            foot=run.path.resolve().name,
        ),
    )
    return run.path / "report.html"


def _table(label: str, table: pd.DataFrame) -> Markup:
    names = [str(name) for name in table.index.names if name is not None]
    rows = [
        (" · ".join(map(str, key)) if isinstance(key, tuple) else str(key), {str(name): row[name] for name in row})
        for key, row in zip(table.index, table.to_dict("records"), strict=True)
    ]
    return page.table(label, " · ".join(names) or "row", columns_of(table.rename(columns=str), _ENDS), rows)


def _written(test: str, answers: AnswerLog) -> list[Markup]:
    """Some of the answers, evenly drawn, so that every respondent is seen."""
    n = len(answers.table)
    step = max(1, -(-n // MOST_ANSWERS))
    some = answers.table.iloc[::step]
    table = some.set_axis([str(number) for number in range(1, len(some) + 1)]).map(_readable)
    said = page.small(f"{len(some)} of {count(n)} answers, evenly drawn; all are in {answers.at}.")
    return [said, _table(f"answers to {test}", table.rename_axis("answer"))]


def _readable(value: Any) -> Any:
    """A text cut where a cell would outgrow the page."""
    return f"{value[:400]} …" if isinstance(value, str) and len(value) > 400 else value

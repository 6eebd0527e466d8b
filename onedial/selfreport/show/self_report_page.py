"""One page for whatever a model is asked about itself: what is said first, every table, and answers to look through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import columns_of, count, headline
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, write_page

MOST_ANSWERS, LONGEST = 60, 400
"""Answers of one test on the page, and letters of each; the run holds them all."""


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
    first, *rest = [headline(sentence) for sentence in sentences]
    drawn = [name for name in Stored(run, {}).captions if name not in tables]
    results = {
        **WARNINGS,
        "found": Result("What was found", items=lambda *_: rest, folded=False),
        "figures": Result("Figures", figures={name: lambda *_: None for name in drawn}, folded=False),
        **{name: _table(name, table, folded=place > 0) for place, (name, table) in enumerate(tables.items())},
        **{f"answers_{test}": _answers(test, log) for test, log in answers.items()},
        **SURROUNDINGS,
    }
    lead = "Every number stands in its table below, and the answers behind it after these."
    return write_page(Stored(run, results), question, first, lead, "What a model says of itself")


def _table(name: str, table: pd.DataFrame, **more: Any) -> Result:
    names = [str(level) for level in table.index.names if level is not None]
    rows = [" · ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in table.index]
    flat = table.rename(columns=str).set_axis(pd.Index(rows), axis=0)
    return Result(
        name.replace("_", " ").capitalize(),
        columns=columns_of(flat, {"value": ("low", "high")}),
        lines=lambda *_: flat,
        first=" · ".join(names) or "row",
        **more,
    )


def _answers(test: str, log: AnswerLog) -> Result:
    """Some of the answers, evenly drawn, so that every respondent is seen."""
    n = len(log.table)
    some = log.table.iloc[:: max(1, -(-n // MOST_ANSWERS))].map(
        lambda value: f"{value[:LONGEST]} …" if isinstance(value, str) and len(value) > LONGEST else value
    )
    note = page.small(f"{len(some)} of {count(n)} answers, evenly drawn; all are in {log.at}.")
    numbered = some.set_axis(pd.RangeIndex(1, len(some) + 1, name="answer"))
    return _table(f"answers: {test}", numbered, blocks=lambda *_: [note])

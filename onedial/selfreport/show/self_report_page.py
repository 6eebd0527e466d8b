"""The end of a run that asked models about themselves: what is said first, every table, and answers to look through."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import count
from onedial.show.ending import Opening, end, of_tables
from onedial.show.figure_style import Drawing
from onedial.show.results import Result, Stored, results_of

MOST_ANSWERS, LONGEST = 60, 400
"""Answers of one test on the page, and letters of each; the run holds them all."""
LEAD = "Every number stands in its table below, and the answers behind it after these."


@dataclass(frozen=True)
class AnswerLog:
    """What respondents answered in one test.

    Attributes:
        table: one row for each answer, all its columns shown. at: where in the run all of them are.
    """

    table: pd.DataFrame
    at: str


def end_self_report(
    run: Run,
    question: str,
    sentences: Sequence[str],
    tables: Mapping[str, pd.DataFrame],
    answers: Mapping[str, AnswerLog],
    drawings: Mapping[str, Drawing] | None = None,
) -> None:
    """Write tables, figures and page of a run that asked models about themselves, and print what was found.

    Args:
        question: what was asked. sentences: what was found, the first one as the headline. tables, drawings: as in
            `onedial.show.results.results_of`.
        answers: test -> what was answered.
    """
    shown = {f"answers_{test}": _answers(test, log) for test, log in answers.items()}
    headline, *findings = sentences
    results = of_tables(findings, tables, drawings, shown)
    end(Stored(run, results), Opening(question, headline, LEAD), case=results)


def _answers(test: str, log: AnswerLog) -> Result:
    """Draw some of the answers evenly, so that every respondent is seen; the run has them already."""
    n = len(log.table)
    some = log.table.iloc[:: max(1, -(-n // MOST_ANSWERS))].map(
        lambda value: f"{value[:LONGEST]} …" if isinstance(value, str) and len(value) > LONGEST else value
    )
    note = page.small(f"{len(some)} of {count(n)} answers, evenly drawn; all are in {log.at}.")
    numbered = some.set_axis(pd.RangeIndex(1, len(some) + 1))
    (shown,) = results_of({test: numbered}).values()
    return replace(
        shown, title=f"Answers: {test}", compute=None, lines=lambda *_: numbered, first="answer",
        blocks=lambda *_: [note], folded=True, terminal=False,
    )  # fmt: skip

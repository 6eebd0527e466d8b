"""Load questions: the embedded set, a data set through `datasets`, or the user's own JSONL, CSV or Parquet file."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.named_data import NAMED_QUESTIONS, embedded_file, say_what_it_is_about, unknown_name
from onedial.asking.questions import Question, sample_questions, without_repeats
from onedial.asking.tables import SUFFIXES, Table, read_table
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.questions.hub_datasets import DATA_SETS, load_from_hub, named_data_set
from onedial.panels.questions.layouts import questions_of
from onedial.panels.questions.question_table import of_a_long_panel

Rows = pd.DataFrame | Sequence[str | Mapping[str, Any]]
"""Questions that are in memory: a data frame, texts, or rows such as those of a JSONL file."""


def load_questions(source: str | Path | Rows, n: int | None = None, seed: int = 0) -> list[Question]:
    """Load the questions of a source, in its order.

        load_questions(["Who sang Hurt first?", "What is 7 times 8?"])
        load_questions(frame)                                              # the columns of any layout

    Args:
        source: "embedded"; "development" (on which wordings are chosen; no run uses it); "frontier" or
            "frontier-safe" (requests that a model may refuse: about refusal, not ability); a published data set by
            its name (`hub_datasets.DATA_SETS`: "squad", with the passage removed, "mmlu", "gpqa", ...) or hub id, or
            as a local folder in the hub's layout; or the path of a JSONL, JSON, CSV or Parquet file with `question` and
            optionally `id`, `answers` or `answer` (a list, or text with | between), `choices` or `options`,
            `exact_answers`, `topic`, `level`, `unknowable`, `grading` (how answers are graded: text, choice or
            number), `wording_of` (a name that wordings of one question share), or the other names and forms under
            which data sets have these (`questions.question_table`). A panel file that holds its questions' text, wide
            or long, serves too. Or a list of texts, a list of rows, or a data frame with the same columns.
        n: how many to draw (`sample_questions`); None takes all.
        seed: of the draw.

    Rows without an id whose normalised texts are equal are one question, with the accepted answers of all; so are
    the repeats of a data set. How many were merged is noticed.

    Raises:
        InputError: an unknown source; an empty, truncated or undecodable file; a missing column; a blank question;
            a wrong type; an id that stands twice; more questions requested than there are.

    >>> load_questions(["Who wrote Emma?", "What is the capital of Peru?"])[1].text
    'What is the capital of Peru?'
    """
    if not isinstance(source, str | Path):
        name, table = "what was given", _table_of(source)
        questions, has_ids = _read_table(table)
        return _whole(name, questions, has_ids, n, seed)
    name = str(source)
    if name in NAMED_QUESTIONS:
        say_what_it_is_about(name)
        questions, has_ids = _read(name)
    elif _is_folder(name) or named_data_set(name) is not None:
        questions, has_ids = load_from_hub(name), False
    elif Path(name).is_file() or Path(name).suffix:
        questions, has_ids = _read(name)
    elif len(name.split()) > 2 and Path(name).suffix not in SUFFIXES:
        raise InputError(f"{name[:60]!r} is one text; put it into a list to ask it, as load_questions([text])")
    else:
        raise unknown_name("are no questions called", name, [*NAMED_QUESTIONS, *DATA_SETS], "a folder or a file")
    return _whole(name, questions, has_ids, n, seed)


def _whole(name: str, questions: list[Question], has_ids: bool, n: int | None, seed: int) -> list[Question]:
    """Without repeats, and as many as were asked for."""
    if has_ids:
        _refuse_repeated_ids(name, questions)
    else:
        questions, n_merged = without_repeats(questions)
        if n_merged:
            notice(f"{name}: {n_merged} repeated questions merged, {len(questions)} remain")
    return questions if n is None else sample_questions(questions, n, seed)


def _read(source: str | Path) -> tuple[list[Question], bool]:
    """The questions of a file, and whether the file gives their ids."""
    with ExitStack() as stack:
        name = NAMED_QUESTIONS.get(str(source))
        table = read_table(embedded_file(name, stack) if name else source)
    return _read_table(table)


def _table_of(rows: Rows) -> Table:
    """Questions in memory as what a file gives; a complaint about a row counts from 1.

    Raises:
        InputError: none, or what is neither text nor row.
    """
    if not isinstance(rows, pd.DataFrame):
        given = list(rows)
        if not all(isinstance(each, str | Mapping) for each in given):
            wrong = next(each for each in given if not isinstance(each, str | Mapping))
            raise InputError(
                f"questions hold a {type(wrong).__name__}: {str(wrong)[:40]!r}; give texts, rows with `question`, or a "
                "data frame"
            )
        rows = pd.DataFrame([{"question": each} if isinstance(each, str) else dict(each) for each in given])
    if rows.empty:
        raise InputError("no questions were given; give at least one text or row")
    frame = rows.rename(columns=str).astype(object).reset_index(drop=True)
    return Table(Path("what was given"), frame, list(range(1, len(frame) + 1)), "row")


def _read_table(table: Table) -> tuple[list[Question], bool]:
    """The questions of a table, the repeated rows of a long panel folded, and whether it gives their ids."""
    names = set(map(str, table.frame.columns))
    of_whom = names & {"respondent", "model"}
    is_long = bool(of_whom and names & {"said_yes", "confidence", "answered_correctly", "correct"})
    if is_long:
        table = replace(table, frame=table.frame[of_a_long_panel(table)])
    questions, has_ids = questions_of(table)
    return list(dict.fromkeys(questions)) if is_long else questions, has_ids


def _is_folder(name: str) -> bool:
    return bool(name) and Path(name).is_dir()  # Path("") would be the working directory


def _refuse_repeated_ids(name: str, questions: Iterable[Question]) -> None:
    texts: dict[str, str] = {}
    for question in questions:
        if question.id in texts:
            raise InputError(
                f"{name} holds the id {question.id!r} twice, for {texts[question.id]!r} and {question.text!r}; "
                "give each question its own id"
            )
        texts[question.id] = question.text

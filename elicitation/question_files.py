"""Load questions: the embedded set, a data set through `datasets`, or the user's own JSONL, CSV or Parquet file."""

import logging
import math
import numbers
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from common import InputError
from elicitation.hub_datasets import HUB_NAMES, load_from_hub
from elicitation.questions import Question, normalised_text, question_id, sample_questions, without_repeats
from elicitation.tables import Table, is_blank, read_table

log = logging.getLogger(__name__)

EMBEDDED_FILES = {"embedded": "questions.jsonl", "development": "development.jsonl"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def load_questions(source: str | Path, n: int | None = None, seed: int = 0) -> list[Question]:
    """Load the questions of a source, in its order.

    Args:
        source: "embedded"; "development" (on which wordings are chosen; no run uses it); "squad" (validation split,
            passage removed), "nq_open", "trivia_qa", their hub ids, or a local folder in the hub's layout; or the
            path of a JSONL, CSV or Parquet file with `question` and optionally `id` (or `question_id`), `answers`
            or `answer` (a list, or text with | between), `topic`, `level`, `knowable`. A panel file that holds its
            questions' text serves too, wide or long.
        n: how many to draw (`sample_questions`); None takes all.
        seed: of the draw.

    Rows without an id whose normalised texts are equal are one question, with the accepted answers of all; so are
    the repeats of a data set. How many were merged is logged.

    Raises:
        InputError: an unknown source; an empty, truncated or undecodable file; a missing column; a blank question;
            a wrong type; an id that stands twice; more questions requested than there are.
    """
    name = str(source)
    if name in EMBEDDED_FILES:
        with ExitStack() as stack:
            questions, has_ids = _read(embedded_file(EMBEDDED_FILES[name], stack))
    elif name in HUB_NAMES or _is_folder(name):
        questions, has_ids = load_from_hub(name), False
    elif Path(name).is_file() or Path(name).suffix:
        questions, has_ids = _read(name)
    else:
        known = ", ".join([*EMBEDDED_FILES, *HUB_NAMES])
        raise InputError(f"there are no questions called {name!r}; give {known}, a folder or a file")
    if has_ids:
        _refuse_repeated_ids(name, questions)
    else:
        questions, n_merged = without_repeats(questions)
        if n_merged:
            log.warning("%s: %d repeated questions merged, %d remain", name, n_merged, len(questions))
    return questions if n is None else sample_questions(questions, n, seed)


def embedded_file(name: str, stack: ExitStack) -> Path:
    """The path of a file in elicitation/data, kept valid until the stack is closed.

    Raises:
        InputError: this installation lacks the file.
    """
    resource = files("elicitation") / "data" / name
    if not resource.is_file():
        raise InputError(f"this installation lacks its data file elicitation/data/{name}; install the project again")
    return stack.enter_context(as_file(resource))


def read_questions(path: str | Path) -> list[Question]:
    """Every row of a file as a question, repeats and all; only the repeated rows of a long panel are folded.

    Raises:
        InputError: as in `load_questions`, apart from repeats.
    """
    return _read(path)[0]


def _read(path: str | Path) -> tuple[list[Question], bool]:
    """The questions of a file, and whether the file gives their ids."""
    table = read_table(path)
    table.require("question")
    id_column = next((name for name in ("id", "question_id") if name in table.frame.columns), None)
    rows: list[dict[Any, Any]] = table.frame.to_dict("records")
    questions = [_question(table, row, cells, id_column) for row, cells in enumerate(rows)]
    if {"respondent", "said_yes"} <= set(table.frame.columns):
        questions = list(dict.fromkeys(questions))
    return questions, id_column is not None


def _question(table: Table, row: int, cells: dict[Any, Any], id_column: str | None) -> Question:
    text = cells["question"]
    if not is_blank(text) and not isinstance(text, str):
        raise InputError(
            f"{table.where(row, 'question')} holds {text!r} ({type(text).__name__}); a question must be text"
        )
    if is_blank(text) or not normalised_text(text):
        raise InputError(f"{table.where(row, 'question')} asks nothing; write the question or remove the {table.unit}")
    text = text.strip()
    identity = _text(table, row, id_column, cells) if id_column else question_id(text)
    if identity is None:
        raise InputError(f"{table.where(row, id_column)} is blank; give every question an id, or leave the column out")
    answers_column = "answers" if "answers" in cells else "answer"
    return Question(
        id=identity,
        text=text,
        answers=_answers(table, row, answers_column, cells.get(answers_column)),
        topic=_text(table, row, "topic", cells),
        level=_level(table, row, cells.get("level")),
        knowable=_knowable(table, row, cells.get("knowable")),
    )


def _text(table: Table, row: int, column: str, cells: dict[Any, Any]) -> str | None:
    cell = cells.get(column)
    if is_blank(cell):
        return None
    if isinstance(cell, bool) or not isinstance(cell, str | numbers.Real):
        raise InputError(f"{table.where(row, column)} holds {cell!r}; give text or a number")
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def _answers(table: Table, row: int, column: str, cell: Any) -> tuple[str, ...]:
    given: list[Any]
    if is_blank(cell):
        return ()
    if isinstance(cell, str):
        given = cell.split("|")
    elif isinstance(cell, numbers.Real) and not isinstance(cell, bool):
        given = [cell]
    elif isinstance(cell, Iterable) and not isinstance(cell, dict | bytes):
        given = list(cell)
    else:
        given = [None]
    for answer in given:
        if isinstance(answer, bool) or not isinstance(answer, str | numbers.Real):
            raise InputError(
                f"{table.where(row, column)} holds {cell!r}; give a list of texts, or one text with | between answers"
            )
    return tuple(dict.fromkeys(str(answer).strip() for answer in given if not is_blank(answer)))


def _level(table: Table, row: int, cell: Any) -> int | None:
    if is_blank(cell):
        return None
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        value = math.nan
    if not value.is_integer():
        raise InputError(f"{table.where(row, 'level')} holds {cell!r}; give a whole number, or leave it blank")
    return int(value)


def _knowable(table: Table, row: int, cell: Any) -> bool:
    if is_blank(cell):
        return True
    value = _TRUTH.get(str(cell).strip().lower())
    if value is None:
        raise InputError(f"{table.where(row, 'knowable')} holds {cell!r}; give true or false, or leave it blank")
    return value


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

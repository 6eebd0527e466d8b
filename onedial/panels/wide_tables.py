"""What the columns and rows of a wide table are: respondents, questions, or what somebody's program added to them.

A respondent is a column of answers or of numbers. Left out, and said: a column that counts the rows, one whose name
says that it is about the questions (`topic`, `difficulty`, `n_correct`, ...) or about another column (`a_correct`
beside `a`), one of words that are no answers, and one of numbers all beyond 100 (a year). Rows that sum up others
(mean, total) are no questions. A table with its models in the rows is turned.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.tables import Table, is_blank, listed
from onedial.core.notices import notice
from onedial.panels.columns import simple as simple_name
from onedial.panels.keying import tells_keying

OF_QUESTIONS = (
    *("question_id", "id", "question", "text", "answers", "answer", "exact_answers"),
    *("topic", "level", "unknowable", "grading", "split", "wording_of"),
)
"""What a file of questions may hold: never a respondent."""
_ALSO_OF_QUESTIONS = re.compile(
    r"unnamed_\d+|index|row|nr|no|(?:n|num|number|count)s?(?:_\w+)?|\w+_(?:counts?|idx|index|id)|total|sum|mean|average"
    r"|avg|median|std|sd|min|max|difficulty|labels?|gold|target|(?:\w+_)?key|subject|category|domain|type|source"
    r"|language|year"
    r"|date|url|length|weight|rank|popularity|notes?|comments?|tags?|accuracy|agreement|consensus"
    r"|(?:is|has|needs|requires)_\w+|(?:un)?answerable|unknown|unknowable|false_premise|multi_step|time_sensitive"
    r"|(?:mean|average|avg|median|total|sum)_\w+|\w+_(?:mean|average|avg|median|total|sum|std)"
)
_OF_ONE = re.compile(
    r"(.+?)_(?:is_|answered_)?(?:correct(?:ness|ly)?|confidence|conf|prob(?:ability)?|margin|mass|logprobs?|scores?|grade"
    r"|error|tokens?|seconds|latency|cost|raw|output|response)"
)
"""What is told of one respondent, beside its own column."""
_SUMMARIES = {"mean", "average", "avg", "median", "total", "totals", "sum", "std", "sd", "overall", "count", "all"}
_MODELS = ("model", "respondent", "model_name", "model_id", "models", "llm")
_NUMBERED = re.compile(r"(?:q|question|item|frage|i)?[ _-]?\d+", re.IGNORECASE)
_FEWEST_LABELS = 3
"""Two words of a column may be spellings of yes and no, which are refused rather than left out."""
_BEYOND = 100.0


def columns_of(
    table: Table,
    is_answer: Callable[[Any], bool],
    about: Sequence[str] = (),
    known: Collection[str] = (),
    certain: float | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which columns are respondents, and which tell of the questions; what is left out without being named is said.

    Args:
        is_answer: whether a cell is a yes, a no or a number.
        about: columns that the user says tell of the questions.
        known: names that the user says are respondents.
        certain: the largest number that an answer can be, where that is said.
    """
    names = [str(name) for name in table.frame.columns]
    left = [name for name in names if name not in (*OF_QUESTIONS, *about)]
    why = {
        name: _why_no_respondent(name, table.frame[name], is_answer, certain or _BEYOND)
        for name in left
        if name not in known
    }
    simple = {simple_name(name) for name in left}
    for name in left:
        if name not in known and (told := _OF_ONE.fullmatch(simple_name(name))) and told[1] in simple:
            why[name] = _ANOTHER
    why = {name: reason for name, reason in why.items() if reason}
    if len(why) == len(left):
        why = {name: reason for name, reason in why.items() if reason == _COUNTS}
    if why:
        reasons = "; ".join(
            f"{listed([name for name in why if why[name] == reason])} ({reason})"
            for reason in dict.fromkeys(why.values())
        )
        notice(f"{table.path}: these columns are no respondents: {reasons}; elicitation.yaml names such as `about`")
    of_questions = [name for name in names if name in ("topic", "level")]
    kept = [name for name, reason in why.items() if reason != _COUNTS]
    return tuple(name for name in left if name not in why), tuple(dict.fromkeys([*about, *of_questions, *kept]))


_NAMELESS, _ANOTHER = "without a name or a cell", "told of another column"
_COUNTS, _NAMED, _WORDS, _LARGE = "counts the rows", "by its name", "words that are no answers", "numbers beyond 100"


def _why_no_respondent(name: str, cells: pd.Series, is_answer: Callable[[Any], bool], most: float) -> str:
    filled = [cell for cell in cells if not is_blank(cell)]
    simple = simple_name(name)
    numbers = pd.to_numeric(pd.Series(filled, dtype=object), errors="coerce").to_numpy(dtype=float)
    if not simple and not filled:
        return _NAMELESS
    is_number = bool(len(filled)) and not np.isnan(numbers).any()
    is_count = is_number and len(numbers) == len(cells) > 2 and bool((np.diff(numbers) == 1).all())
    if is_count and (not simple or _ALSO_OF_QUESTIONS.fullmatch(simple) or numbers[0] in (0, 1)):
        return _COUNTS
    if simple and (_ALSO_OF_QUESTIONS.fullmatch(simple) or tells_keying(simple)):
        return _NAMED
    if is_number and (numbers > most).all():
        return _LARGE
    words = {str(cell) for cell in filled if not is_answer(cell)}
    return _WORDS if len(words) == len({*map(str, filled)}) >= _FEWEST_LABELS and not is_number else ""


def without_summaries(table: Table) -> Table:
    """The table without rows that sum up others; said aloud."""
    held = table.frame[[name for name in ("question_id", "id", "respondent") if name in table.frame.columns]]
    is_named = held.map(lambda cell: isinstance(cell, str) and cell.strip().casefold() in _SUMMARIES)
    kept = np.flatnonzero(~is_named.any(axis=1).to_numpy(bool))
    if len(kept) in (0, len(held)):
        return table
    names = sorted(set(held.to_numpy()[is_named.to_numpy(bool)]))
    notice(f"{table.path}: the rows {listed(names)} sum up others, and are left out")
    return table.only(kept)


def turned(table: Table, is_answer: Callable[[Any], bool]) -> Table:
    """The table with its models in the columns, where they stand in the rows; said aloud.

    They do where a column of models stands beside columns of questions and nothing gives the questions' ids, or where
    the first column has no name and all others are numbered like questions.
    """
    names = [str(name) for name in table.frame.columns]
    if {"question_id", "id", "question", "said_yes", "confidence"} & set(names) or len(names) < 3:
        return table
    column = next((name for name in names if name.strip().lower() in _MODELS), None)
    if column is None and names[0] in ("", "Unnamed: 0") and all(map(_NUMBERED.fullmatch, names[1:])):
        column = names[0]
        if pd.to_numeric(table.frame[column], errors="coerce").notna().any():
            return table
    if column is None:
        return table
    about = [name for name in names if name in ("framing", "family", "Unnamed: 0", "") and name != column]
    questions = [name for name in names if name != column and name not in about]
    models = [str(cell).strip() if isinstance(cell, str) else "" for cell in table.frame[column]]
    n_answers = sum(all(is_blank(cell) or is_answer(cell) for cell in table.frame[name]) for name in questions)
    if len(set(models)) < len(models) or "" in models or n_answers <= len(questions) / 2:
        return table
    notice(
        f"{table.path}: the models stand in the rows ({column!r}); the table is turned, its columns are the questions"
    )
    frame = table.frame[questions].T.set_axis(models, axis=1).rename_axis(None).reset_index(drop=True)
    frame.insert(0, "question_id", questions)
    if any(" " in name.strip() for name in questions):
        frame.insert(1, "question", questions)
    return Table(table.path, frame, list(range(1, len(frame) + 1)), "column")


def melted(table: Table, respondents: Sequence[str], about: pd.DataFrame, answer: str = "said_yes") -> Table:
    """A wide table as a long one: a row for each answer, with what is known of its question.

    Args:
        about: row by row. answer: the column in which the answers are to stand.
    """
    frames = [about.assign(respondent=name, **{answer: table.frame[name]}) for name in respondents]
    stood_in = [name for name in respondents for _ in table.places]
    return Table(
        table.path, pd.concat(frames, ignore_index=True), table.places * len(respondents), table.unit, stood_in
    )

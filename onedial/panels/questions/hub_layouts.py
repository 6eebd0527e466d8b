"""How published data sets write their questions, told from the columns, so that a folder of them may have any name.

    squad       question, answers = {"text": [...], ...}                       text; the passage stays out
    nq_open     question, answer = [...]                                       text
    trivia_qa   question, answer = {"value": ..., "aliases": [...], ...}       text
    simple_qa   problem, answer, metadata                                      text
    mmlu_pro    question, options = [...], answer = letter, category           choice; the options are shown
    gpqa        Question, Correct Answer, Incorrect Answer 1 ... 3             choice; the options are shown
    math        problem, solution (ends in \\boxed{...}) or answer, level, type number

A question with options is asked with them, as lines "A) ...". GPQA has no order of options: they are ordered by a hash
of question and option, so that the right one stands anywhere, and always in the same place. Code (HumanEval, MBPP) is
refused: what a program does shows only when it runs, and nothing that a model wrote is run here.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from onedial.asking import Question, question_id
from onedial.core import InputError, sha256_of_text
from onedial.panels.grading.choice_grading import LETTERS, with_options
from onedial.panels.grading.number_grading import last_box

Read = Callable[[dict[str, Any], str], Question]
_GPQA_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_TOPIC_IN_TEXT = re.compile(r"['\"]topic['\"]\s*:\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True)
class Layout:
    """One way to write questions.

    Attributes:
        name: for messages.
        splits: which splits hold the questions to ask, the first that is there.
        has: whether these columns are of this layout.
        columns: what is read of them.
        read: a row, and where it stands, to a question.
    """

    name: str
    splits: tuple[str, ...]
    has: Callable[[Collection[str]], bool]
    columns: tuple[str, ...]
    read: Read


def layout_of(columns: Collection[str], where: str) -> Layout:
    """The layout that has these columns.

    Raises:
        InputError: none has; the sentence says what is missing, or that code is not asked.
    """
    if {"entry_point", "test_list", "canonical_solution"} & set(columns):
        raise InputError(
            f"{where} asks for code, which could only be graded by running it; give questions with answers"
        )
    for layout in LAYOUTS:
        if layout.has(columns):
            return layout
    raise InputError(
        f"{where} has the columns {', '.join(columns)}; it needs `question` and `answers` or `answer`: "
        "rename them, or give a JSONL, CSV or Parquet file"
    )


def _qa(row: dict[str, Any], where: str) -> Question:
    text = _text(row, "question", where)
    identity = row.get("id") or row.get("question_id") or question_id(text)
    return Question(str(identity), text, _answers(row["answers"] if "answers" in row else row["answer"]))


def _simple_qa(row: dict[str, Any], where: str) -> Question:
    text = _text(row, "problem", where)
    topic = row.get("topic") or _TOPIC_IN_TEXT.search(str(row.get("metadata") or ""))
    topic = topic[1] if isinstance(topic, re.Match) else topic
    return Question(question_id(text), text, _answers(row["answer"]), topic)


def _mmlu_pro(row: dict[str, Any], where: str) -> Question:
    text, options = _text(row, "question", where), [str(option) for option in row["options"]]
    if not 2 <= len(options) <= len(LETTERS):
        raise InputError(f"{where} has {len(options)} options; it needs 2 to {len(LETTERS)}")
    letter = str(row["answer"]).strip()
    if letter not in LETTERS[: len(options)]:
        raise InputError(f"{where} gives the answer {letter!r}, which is no letter of its {len(options)} options")
    return _choice(row.get("question_id"), text, options, LETTERS.index(letter), row.get("category"))


def _gpqa(row: dict[str, Any], where: str) -> Question:
    text = _text(row, "Question", where)
    right = _text(row, "Correct Answer", where)
    options = [right, *(str(row[name]).strip() for name in _GPQA_WRONG if row.get(name))]
    options.sort(key=lambda option: sha256_of_text(f"{text}\x1f{option}"))
    return _choice(row.get("Record ID"), text, options, options.index(right), row.get("High-level domain"))


def _choice(identity: Any, text: str, options: list[str], right: int, topic: Any) -> Question:
    shown = with_options(text, options)
    # data sets repeat a question with other options: the options belong to its identity
    own = question_id(shown) if identity in (None, "") else str(identity)
    return Question(own, shown, (LETTERS[right], options[right]), topic or None, grading="choice")


def _math(row: dict[str, Any], where: str) -> Question:
    text = _text(row, "problem", where)
    answer = row.get("answer") or last_box(str(row.get("solution") or ""))
    if not answer:
        raise InputError(f"{where} has no answer: its solution boxes none")
    level = re.search(r"\d+", str(row.get("level") or ""))
    topic = row.get("type") or row.get("subject")
    identity = row.get("unique_id") or question_id(text)
    return Question(
        str(identity), text, (str(answer).strip(),), topic, int(level[0]) if level else None, grading="number"
    )


def _text(row: dict[str, Any], column: str, where: str) -> str:
    text = row.get(column)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where} asks nothing (`{column}` is blank); give another data set or a file")
    return text.strip()


def _answers(cell: Any) -> tuple[str, ...]:
    given: Iterable[Any]
    if isinstance(cell, dict):
        given = cell["text"] if "text" in cell else [cell.get("value"), *(cell.get("aliases") or ())]
    elif isinstance(cell, str):
        given = [cell]
    else:
        given = cell or ()
    return tuple(dict.fromkeys(str(answer).strip() for answer in given if answer is not None and str(answer).strip()))


LAYOUTS = (
    Layout(
        "gpqa",
        ("train",),
        lambda columns: {"Question", "Correct Answer", _GPQA_WRONG[0]} <= set(columns),
        ("Question", "Correct Answer", *_GPQA_WRONG, "Record ID", "High-level domain"),
        _gpqa,
    ),
    Layout(
        "mmlu_pro",
        ("test",),
        lambda columns: {"question", "options", "answer"} <= set(columns),
        ("question", "options", "answer", "question_id", "category"),
        _mmlu_pro,
    ),
    Layout(
        "math",
        ("test",),
        lambda columns: {"problem", "solution"} <= set(columns),
        ("problem", "solution", "answer", "level", "type", "subject", "unique_id"),
        _math,
    ),
    Layout(
        "simple_qa",
        ("test", "eval"),
        lambda columns: {"problem", "answer"} <= set(columns),
        ("problem", "answer", "metadata", "topic"),
        _simple_qa,
    ),
    Layout(
        "question and answers",
        ("validation",),
        lambda columns: "question" in columns and bool({"answers", "answer"} & set(columns)),
        ("id", "question_id", "question", "answers", "answer"),
        _qa,
    ),
)

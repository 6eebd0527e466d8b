"""How data sets write their questions, told from the columns, so that a file or folder of them may have any name.

    squad       question, answers = {"text": [...], ...}                       text; the passage stays out
    nq_open     question, answer = [...]                                       text
    trivia_qa   question, answer = {"value": ..., "aliases": [...], ...}       text
    simple_qa   problem, answer, metadata                                      text
    mmlu        question, choices = [...], answer = place or letter, subject   choice; the options are shown
    mmlu_pro    question, options = [...], answer = letter, category           choice; the options are shown
    columns     question, A, B, C, D and more, answer = letter, subject        choice; the options are shown
    gpqa        Question, Correct Answer, Incorrect Answer 1 ... 3             choice; the options are shown
    math        problem, solution (ends in \\boxed{...}) or answer, level, type number

A question with options is asked with them, as lines "A) ...". GPQA has no order of options: they are ordered by a hash
of question and option, so that the right one stands anywhere, and always in the same place. Code (HumanEval, MBPP) is
refused: what a program does shows only when it runs, and nothing that a model wrote is run here.

Another layout is a function from a row to a question and an entry of `LAYOUTS`, here or in a plugin.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from onedial.asking import Question, is_blank, question_id
from onedial.core import InputError, sha256_of_text
from onedial.panels.grading.choice_grading import LETTERS, with_options
from onedial.panels.grading.number_grading import last_box

Row = dict[str, Any]
_GPQA_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_TOPIC_IN_TEXT = re.compile(r"['\"]topic['\"]\s*:\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True)
class Layout:
    """One way to write questions.

    Attributes:
        needs: the columns that tell it. Of several layouts whose columns are there, the one that needs most reads; of
            these the one that was added last.
        read: from a row (column to cell; None where it is blank) and where it stands, for messages, to a question.
        splits: of a data set: which hold the questions to ask, the first that is there.
        also: further columns that are read where they are there.
    """

    needs: tuple[str, ...]
    read: Callable[[Row, str], Question]
    splits: tuple[str, ...] = ("test",)
    also: tuple[str, ...] = ()

    def question(self, row: Mapping[Any, Any], where: str) -> Question:
        """What a row asks.

        Raises:
            InputError: the row cannot be read; the sentence says where it stands.
        """
        cells = {str(name): None if is_blank(cell) else cell for name, cell in row.items()}
        try:
            return self.read(cells, where)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"{where} cannot be read as {', '.join(self.needs)} ({type(error).__name__}: {error}); correct "
                "the row, or add a layout that reads it (--plugin)"
            ) from error


def layout_of(columns: Collection[str]) -> Layout | None:
    """The layout that reads a table with these columns; None where none does."""
    known = [layout for layout in LAYOUTS.values() if set(layout.needs) <= set(columns)]
    return max(reversed(known), key=lambda layout: len(layout.needs), default=None)


def layout_or_refusal(columns: Collection[str], where: str) -> Layout:
    """The same.

    Raises:
        InputError: none has these columns; the sentence says what is missing, or that code is not asked.
    """
    if {"entry_point", "test_list", "canonical_solution"} & set(columns):
        raise InputError(
            f"{where} asks for code, which could only be graded by running it; give questions with answers"
        )
    if (layout := layout_of(columns)) is None:
        raise InputError(
            f"{where} has the columns {', '.join(columns)}; it needs `question` and `answers` or `answer`: "
            "rename them, give a JSONL, CSV or Parquet file, or add a layout (--plugin)"
        )
    return layout


def choice_question(
    text: str, options: Any, right: int, topic: Any = None, identity: Any = None, where: str = "the question"
) -> Question:
    """A question that shows its options as lines "A) ...", with the right one's letter and words as its key.

    Args:
        options: a list of them, or one text with | between. right: place of the right one, from 0.
        identity: its id; by default a hash of the text with its options, since data sets repeat a question with others.
        where: for messages.

    Raises:
        InputError: under 2 options or over 26, or the right one is none of them.

    >>> choice_question("Which is a metal?", ["neon", "iron"], 1).answers
    ('B', 'iron')
    """
    shown = _options(options, where)
    if not 0 <= right < len(shown):
        raise InputError(f"{where} gives the answer {right}, which is none of its {len(shown)} options, from 0")
    asked = with_options(text, shown)
    own = question_id(asked) if identity is None else str(identity)
    return Question(own, asked, (LETTERS[right], shown[right]), topic, grading="choice")


def _qa(row: Row, where: str) -> Question:
    text = _text(row, "question", where)
    identity = row.get("id") or row.get("question_id") or question_id(text)
    return Question(str(identity), text, _answers(row["answers"] if "answers" in row else row["answer"]))


def _simple_qa(row: Row, where: str) -> Question:
    text = _text(row, "problem", where)
    topic = row.get("topic") or _TOPIC_IN_TEXT.search(str(row.get("metadata") or ""))
    topic = topic[1] if isinstance(topic, re.Match) else topic
    return Question(question_id(text), text, _answers(row["answer"]), topic)


def _mmlu(row: Row, where: str) -> Question:
    return _choice(row, row["choices"] if "choices" in row else row["options"], where)


def _columns(row: Row, where: str) -> Question:
    return _choice(row, [row[letter] for letter in LETTERS if row.get(letter) is not None], where)


def _choice(row: Row, written: Any, where: str) -> Question:
    options = _options(written, where)
    given, right = str(row["answer"]).strip(), None
    if given.isdigit():
        right = int(given)
    elif given in LETTERS[: len(options)]:
        right = LETTERS.index(given)
    if right is None:
        raise InputError(f"{where} gives the answer {given!r}, which is no letter of its {len(options)} options")
    topic = row.get("subject") or row.get("category") or row.get("topic")
    identity = row.get("question_id") or row.get("id")
    return choice_question(_text(row, "question", where), options, right, topic, identity, where)


def _options(cell: Any, where: str) -> list[str]:
    shown = [str(option).strip() for option in (cell.split("|") if isinstance(cell, str) else cell)]
    if not 2 <= len(shown) <= len(LETTERS):
        raise InputError(
            f"{where} has {len(shown)} options; it needs 2 to {len(LETTERS)}: leave out what cannot be asked whole"
        )
    return shown


def _gpqa(row: Row, where: str) -> Question:
    text = _text(row, "Question", where)
    right = _text(row, "Correct Answer", where)
    options = [right, *(str(row[name]).strip() for name in _GPQA_WRONG if row.get(name))]
    options.sort(key=lambda option: sha256_of_text(f"{text}\x1f{option}"))
    right_place = options.index(right)
    return choice_question(text, options, right_place, row.get("High-level domain"), row.get("Record ID"), where)


def _math(row: Row, where: str) -> Question:
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


def _text(row: Row, column: str, where: str) -> str:
    text = row.get(column)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where} asks nothing (`{column}` is blank); give another data set or a file")
    return text.strip()


def _answers(cell: Any) -> tuple[str, ...]:
    given: Iterable[Any]
    if isinstance(cell, dict):
        given = cell["text"] if "text" in cell else [cell.get("value"), *(cell.get("aliases") or ())]
    elif isinstance(cell, str | int | float):
        given = [cell]
    else:
        given = () if cell is None else cell
    return tuple(dict.fromkeys(str(answer).strip() for answer in given if answer is not None and str(answer).strip()))


PLAIN = ("question and answer", "question and answers")
"""As the project's own files are written, which hold more columns (`question_files`)."""
LAYOUTS: dict[str, Layout] = {
    "question and answer": Layout(("question", "answer"), _qa, ("validation",), ("id", "question_id")),
    "question and answers": Layout(("question", "answers"), _qa, ("validation",), ("id", "question_id")),
    "simple_qa": Layout(("problem", "answer"), _simple_qa, ("test", "eval"), ("metadata", "topic")),
    "math": Layout(("problem", "solution"), _math, also=("answer", "level", "type", "subject", "unique_id")),
    "mmlu": Layout(("question", "choices", "answer"), _mmlu, also=("subject", "question_id")),
    "mmlu_pro": Layout(("question", "options", "answer"), _mmlu, also=("question_id", "category")),
    "columns": Layout(
        ("question", *LETTERS[:4], "answer"),
        _columns,
        also=(*LETTERS[4:], "subject", "category", "topic", "question_id", "id"),
    ),
    "gpqa": Layout(
        ("Question", "Correct Answer", _GPQA_WRONG[0]),
        _gpqa,
        ("train",),
        (*_GPQA_WRONG[1:], "Record ID", "High-level domain"),
    ),
}
"""Name to layout."""

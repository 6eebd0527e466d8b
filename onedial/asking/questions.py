"""The questions: what each is, how its identity is made when a file gives none, and how some are drawn from many.

A question with options is asked as its text, a blank line, and one line for each option:

    Which is a metal?

    A) neon
    B) iron

That is `Question.rendered`: what prompts show, what ids are made of, and what a panel's texts are compared with.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What stands before options, in their order."""
SLOT = "{options}"
"""Where a text may say that its options stand."""


_TYPES: dict[str, Any] = {"level": "Int64", "right_option": "Int64", "unknowable": bool}
"""Of the columns of a table of questions; all others hold texts or lists."""


@dataclass(frozen=True)
class Question:
    """One question of fact.

    Attributes:
        id: unique within a set; joins the question to a panel.
        text: what is asked, without its options.
        answers: accepted answers, best first; empty where none is known or none exists. With options these are the
            right one's letter and words.
        topic: splits are stratified by it; None counts as one topic.
        level: intended difficulty, 1 (every child knows) to 5 (hardly anyone could), or None.
        unknowable: True where nobody can know the answer; such a question has no accepted answers.
        exact_answers: accepted only where they are the whole answer ("fall", which stands in too many sentences).
        grading: how an answer to a question without options is graded: "text" or "number"
            (`onedial.panels.grading.choice_grading`). One with options is graded by its letter.
        wording_of: any name that the wordings of one question share; None: it is a question of its own.
        options: in the order of their letters; empty for an open question.
        right_option: place of the right one, from 0; None where it is not known.

    >>> Question("q1", "Which river flows through Vienna?", ("Danube",), topic="rivers", level=1).answers
    ('Danube',)
    >>> Question("q2", "Which is a metal?", ("B", "iron"), options=("neon", "iron"), right_option=1).rendered
    'Which is a metal?\\n\\nA) neon\\nB) iron'
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    topic: str | None = None
    level: int | None = None
    unknowable: bool = False
    exact_answers: tuple[str, ...] = ()
    grading: str = "text"
    wording_of: str | None = None
    options: tuple[str, ...] = ()
    right_option: int | None = None

    @property
    def rendered(self) -> str:
        """The text as it is asked, with a line for each option."""
        return rendered(self.text, self.options)


def rendered(text: str, options: Sequence[str]) -> str:
    """A question's text with its options as lines "A) ...": where it says {options}, else below it.

    >>> rendered("How does she feel?\\n{options}\\nReply with the letter only.", ("sad", "proud"))
    'How does she feel?\\nA) sad\\nB) proud\\nReply with the letter only.'
    """
    if not options:
        return text
    lines = "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, options, strict=False))
    return text.replace(SLOT, lines) if SLOT in text else f"{text.strip()}\n\n{lines}"


def normalised_text(text: str) -> str:
    """Lower case, compatibility-composed, words only: two spellings of the same question become equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def question_id(text: str) -> str:
    """The id of a question whose file gives none: the first 12 hex digits of the normalised text's SHA-256."""
    return sha256_of_text(normalised_text(text))[:12]


def sample_questions(questions: Sequence[Question], n: int, seed: int = 0) -> list[Question]:
    """Draw n questions: those whose hash of (seed, id) is smallest, in the order in which they came.

    The draw depends on nothing but seed and ids, so that a larger n contains the smaller, and a question that is
    added to the file replaces at most one of those drawn before.

    Raises:
        InputError: n is below 1 or above the number of questions.
    """
    if n < 1:
        raise InputError(f"{n} questions requested; ask for 1 or more")
    if n > len(questions):
        raise InputError(f"{n} questions requested, but there are {len(questions)}; ask for {len(questions)} or less")
    by_hash = sorted(questions, key=lambda question: _draw(seed, question.id))
    drawn = {question.id for question in by_hash[:n]}
    return [question for question in questions if question.id in drawn]


def stratified_sample(questions: Sequence[Question], n: int, seed: int = 0) -> list[Question]:
    """Draw n questions in which every topic and level has its share, in the order in which they came.

    A stratum is a topic at a level. Its questions, ordered by their hash, are spread evenly over 0 to 1 from a start
    of the stratum's own, and the n lowest are drawn: of each stratum its share, or one more or less. The
    draw depends on nothing but seed, ids, topics and levels, and a larger n contains the smaller.

    Raises:
        InputError: as `sample_questions`.
    """
    sample_questions(questions, n, seed)  # for what it refuses
    strata: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        strata.setdefault((str(question.topic), str(question.level)), []).append(question)
    places = {}
    for (topic, level), stratum in strata.items():
        start = int.from_bytes(_draw(seed, f"stratum:{topic}:{level}")[:8], "big") / 2**64
        stratum.sort(key=lambda question: _draw(seed, question.id))
        places.update({question.id: (rank + start) / len(stratum) for rank, question in enumerate(stratum)})
    by_place = sorted(questions, key=lambda question: (places[question.id], _draw(seed, question.id)))
    drawn = {question.id for question in by_place[:n]}
    return [question for question in questions if question.id in drawn]


def without_repeats(questions: Sequence[Question]) -> tuple[list[Question], int]:
    """Keep the first of the questions that are asked alike up to blanks, with the accepted answers of all of them.

    Where the right options of such questions differ, or yes and no, none counts as known, which is noticed. Questions
    that differ only in what their ids leave out, such as the sign in 5-3 and 5+3, get ids of their whole texts.

    Returns:
        The questions that remain, and how many were left out.
    """
    kept: dict[str, Question] = {}
    contradicted = set()
    for question in questions:
        key = " ".join(question.rendered.split())
        first = kept.setdefault(key, question)
        if first is not question:
            if first.right_option != question.right_option or {"yes", "no"} <= {*first.answers, *question.answers}:
                contradicted.add(key)
            kept[key] = replace(
                first,
                answers=tuple(dict.fromkeys(first.answers + question.answers)),
                exact_answers=tuple(dict.fromkeys(first.exact_answers + question.exact_answers)),
            )
    for key in contradicted:
        kept[key] = replace(kept[key], answers=(), right_option=None)
    if contradicted:
        text = kept[min(contradicted)].text
        notice(f"{len(contradicted)} questions have different right answers, such as {text!r}; none is taken")

    ids = Counter(question.id for question in kept.values())
    named = [replace(each, id=sha256_of_text(key)[:12]) if ids[each.id] > 1 else each for key, each in kept.items()]
    return named, len(questions) - len(kept)


def questions_frame(questions: Sequence[Question]) -> pd.DataFrame:
    """The questions as a table: id, question (as it is asked), answers (list), topic, level (nullable integer),
    unknowable, exact_answers (list), grading; and where any has them wording_of, and stem (the text without options),
    options (list), right_option (nullable integer)."""
    held = ["id", "question", "answers", "topic", "level", "unknowable", "exact_answers", "grading"]
    held += ["wording_of"] if any(question.wording_of for question in questions) else []
    held += ["stem", "options", "right_option"] if any(question.options for question in questions) else []
    rows = [vars(question) | {"question": question.rendered, "stem": question.text} for question in questions]
    lists = ("answers", "exact_answers", "options")
    columns = {name: [list(row[name]) if name in lists else row[name] for row in rows] for name in held}
    frame = pd.DataFrame(columns, dtype=object, columns=held)
    return frame.astype({name: kind for name, kind in _TYPES.items() if name in held})


def questions_from_frame(frame: pd.DataFrame) -> list[Question]:
    """The way back from `questions_frame`, also after Parquet; further columns (split) are left aside, and those after
    `unknowable` may be absent, as in files of earlier versions.

    Raises:
        InputError: a file of an earlier version whose options stand in the questions' text.
    """
    if "options" not in frame and "choice" in set(frame.get("grading", ())):
        raise InputError(
            "these questions were stored by an earlier version, with their options in the text; make the run again"
        )
    return [
        Question(
            id=row["id"],
            text=row.get("stem", row["question"]),
            answers=tuple(row["answers"]),
            topic=None if pd.isna(row["topic"]) else row["topic"],
            level=None if pd.isna(row["level"]) else int(row["level"]),
            unknowable=bool(row.get("unknowable", False)),
            exact_answers=tuple(row.get("exact_answers", ())),
            grading=row.get("grading", "text"),
            wording_of=None if pd.isna(row.get("wording_of")) else row["wording_of"],
            options=tuple(row.get("options", ())),
            right_option=None if pd.isna(row.get("right_option")) else int(row["right_option"]),
        )
        for row in frame.to_dict("records")
    ]


def _draw(seed: int, identity: str) -> bytes:
    # "sample" keeps this hash apart from the one that splits the questions: a draw of the smallest hashes must
    # not land in one split.
    return hashlib.sha256(f"sample:{seed}:{identity}".encode()).digest()

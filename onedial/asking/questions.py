"""The questions: what each is, how its identity is made when a file gives none, and how some are drawn from many."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text


@dataclass(frozen=True)
class Question:
    """One question of fact.

    Attributes:
        id: unique within a set; joins the question to a panel.
        text: what is asked.
        answers: accepted answers, best first; empty where none is known or none exists.
        topic: splits are stratified by it; None counts as one topic.
        level: intended difficulty, 1 (every child knows) to 5 (hardly anyone could), or None.
        unknowable: True where nobody can know the answer; such a question has no accepted answers.
        exact_answers: accepted only where they are the whole answer ("fall", which stands in too many sentences).
        grading: how an answer is graded, a key of `elicitation.GRADERS`.
        wording_of: any name that the wordings of one question share; None: it is a question of its own.

    >>> Question("q1", "Which river flows through Vienna?", ("Danube",), topic="rivers", level=1).answers
    ('Danube',)
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
    for (topic, level), own in strata.items():
        start = int.from_bytes(_draw(seed, f"stratum:{topic}:{level}")[:8], "big") / 2**64
        own.sort(key=lambda question: _draw(seed, question.id))
        places.update({question.id: (rank + start) / len(own) for rank, question in enumerate(own)})
    by_place = sorted(questions, key=lambda question: (places[question.id], _draw(seed, question.id)))
    drawn = {question.id for question in by_place[:n]}
    return [question for question in questions if question.id in drawn]


def without_repeats(questions: Sequence[Question]) -> tuple[list[Question], int]:
    """Keep the first of the questions whose normalised texts are equal, with the accepted answers of all of them.

    Returns:
        The questions that remain, and how many were left out.
    """
    kept: dict[str, Question] = {}
    for question in questions:
        key = normalised_text(question.text)
        first = kept.setdefault(key, question)
        if first is not question:
            kept[key] = replace(
                first,
                answers=tuple(dict.fromkeys(first.answers + question.answers)),
                exact_answers=tuple(dict.fromkeys(first.exact_answers + question.exact_answers)),
            )
    return list(kept.values()), len(questions) - len(kept)


def questions_frame(questions: Sequence[Question]) -> pd.DataFrame:
    """The questions as a table: id, question, answers (list), topic, level (nullable integer), unknowable,
    exact_answers (list), grading; and wording_of, where any has it."""
    frame = pd.DataFrame(
        {
            "id": pd.Series([question.id for question in questions], dtype=object),
            "question": pd.Series([question.text for question in questions], dtype=object),
            "answers": pd.Series([list(question.answers) for question in questions], dtype=object),
            "topic": pd.Series([question.topic for question in questions], dtype=object),
            "level": pd.array([question.level for question in questions], dtype="Int64"),
            "unknowable": pd.Series([question.unknowable for question in questions], dtype=bool),
            "exact_answers": pd.Series([list(question.exact_answers) for question in questions], dtype=object),
            "grading": pd.Series([question.grading for question in questions], dtype=object),
        }
    )
    if any(question.wording_of for question in questions):
        frame["wording_of"] = pd.Series([question.wording_of for question in questions], dtype=object)
    return frame


def questions_from_frame(frame: pd.DataFrame) -> list[Question]:
    """The way back from `questions_frame`, also after Parquet; further columns (split) are left aside, and the last
    three may be absent, as in files of earlier versions."""
    return [
        Question(
            id=row["id"],
            text=row["question"],
            answers=tuple(row["answers"]),
            topic=None if pd.isna(row["topic"]) else row["topic"],
            level=None if pd.isna(row["level"]) else int(row["level"]),
            unknowable=bool(row.get("unknowable", False)),
            exact_answers=tuple(row.get("exact_answers", ())),
            grading=row.get("grading", "text"),
            wording_of=None if pd.isna(row.get("wording_of")) else row["wording_of"],
        )
        for row in frame.to_dict("records")
    ]


def _draw(seed: int, identity: str) -> bytes:
    # "sample" keeps this hash apart from the one that splits the questions: a draw of the smallest hashes must
    # not land in one split.
    return hashlib.sha256(f"sample:{seed}:{identity}".encode()).digest()

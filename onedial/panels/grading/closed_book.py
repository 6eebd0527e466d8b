"""What models answered to the questions themselves, graded: right, wrong, no answer, or ungraded.

A non-answer is no wrong answer: it tells that the model was not brought to answer, not what it knows. Its `correct` is
blank, and the share of non-answers stands beside every accuracy.
"""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.grading.choice_grading import grade_answer

COLUMNS = ["model", "question_id", "text", "outcome", "correct"]
NO_ANSWER = "no answer"


def grade_closed_book(written: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Grade every text.

    Args:
        written: columns model, question_id, text (blank counts as the empty text); others are left aside.
        questions: all that were asked.

    Returns:
        The columns `COLUMNS`, row by row; correct is nan where the outcome is neither right nor wrong.

    Raises:
        InputError: a question that is not given.

    >>> from onedial.panels import load_questions
    >>> questions = load_questions([{"id": "q1", "question": "Who wrote Emma?", "answers": ["Jane Austen"]}])
    >>> written = pd.DataFrame({"question_id": ["q1"], "model": ["m"], "text": ["Jane Austen"]})
    >>> grade_closed_book(written, questions)["outcome"].tolist()
    ['right']
    """
    by_id = {question.id: question for question in questions}
    unknown = [identity for identity in written["question_id"].unique() if identity not in by_id]
    if unknown:
        raise InputError(
            f"{len(unknown)} answered questions, such as {unknown[0]!r}, are not among the {len(questions)} given; "
            "give the questions that were asked"
        )
    closed = written[["model", "question_id", "text"]].reset_index(drop=True)
    texts = ["" if pd.isna(text) else str(text) for text in closed["text"]]
    grades = [grade_answer(by_id[name], text) for name, text in zip(closed["question_id"], texts, strict=True)]
    closed["outcome"] = [grade.outcome for grade in grades]
    closed["correct"] = pd.Series([grade.correct for grade in grades], dtype="float64")
    return closed


def accuracy_by_level(closed_book: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Share correct of the closed-book answers that can be graded: one row per model, one column per level, and `all`.

    Args:
        closed_book: columns model, question_id, correct (1, 0, nan for what is no answer or cannot be graded).
        questions: give the levels; those without one count in `all` alone.

    >>> from onedial.panels import load_questions
    >>> questions = load_questions([{"id": "q1", "question": "Which river flows through Vienna?", "level": 1}])
    >>> closed = pd.DataFrame({"question_id": ["q1"], "model": ["m"], "outcome": ["right"], "correct": [1.0]})
    >>> accuracy_by_level(closed, questions)["all"].tolist()
    [1.0]
    """
    graded = closed_book[closed_book["correct"].notna()]
    return _by_level(graded, graded["correct"].astype(float), questions)


def non_answers_by_level(closed_book: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Share of non-answers among all that were asked, in the shape of `accuracy_by_level`.

    Args:
        closed_book: columns model, question_id, outcome. questions: as there.

    >>> import numpy as np
    >>> from onedial.panels import load_questions
    >>> questions = load_questions([{"id": "q1", "question": "Which river flows through Vienna?", "level": 1}])
    >>> closed = pd.DataFrame({"question_id": ["q1"], "model": ["m"], "outcome": ["no answer"], "correct": [np.nan]})
    >>> non_answers_by_level(closed, questions)["all"].tolist()
    [1.0]
    """
    return _by_level(closed_book, (closed_book["outcome"] == NO_ANSWER).astype(float), questions)


def _by_level(rows: pd.DataFrame, values: pd.Series, questions: Sequence[Question]) -> pd.DataFrame:
    levels = {question.id: question.level for question in questions}
    table = rows.assign(level=rows["question_id"].map(levels), value=values)
    by_level = table.pivot_table(index="model", columns="level", values="value", aggfunc="mean", sort=False)
    by_level = by_level[sorted(by_level.columns)]
    by_level.columns = [int(level) for level in by_level.columns]
    means = table.groupby("model", sort=False)["value"].mean()
    return by_level.reindex(means.index).assign(all=means)

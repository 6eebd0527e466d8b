"""Stored answers are graded again without asking anybody, and what is no answer is counted beside what is."""

import pandas as pd

from onedial.asking.questions import Question
from onedial.panels.grading.closed_book import (
    accuracy_by_level,
    grade_closed_book,
    non_answers_by_level,
)

QUESTIONS = [
    Question("q1", "Who wrote the novel Emma?", ("Jane Austen", "Austen"), level=1),
    Question("q2", "What is the capital of Norway?", ("Oslo",), level=2),
    Question("q3", "What did the first fish think of land?", (), level=5, unknowable=True),
]


def test_accuracy_is_of_what_was_answered():
    """Accuracy is of what was answered and non answers are of what was asked."""
    written = pd.DataFrame(
        [("a", "q1", "Austen"), ("a", "q2", "Answer:"), ("a", "q3", ""), ("b", "q1", "Bronte"), ("b", "q2", "Oslo")],
        columns=["model", "question_id", "text"],
    )
    closed = grade_closed_book(written, QUESTIONS)
    accuracy, silent = accuracy_by_level(closed, QUESTIONS), non_answers_by_level(closed, QUESTIONS)
    assert accuracy.loc["a", "all"] == 1
    assert accuracy.loc["b", [1, 2, "all"]].tolist() == [0, 1, 0.5]
    assert silent.loc["a", [1, 2, 5, "all"]].tolist() == [0, 1, 1, 2 / 3]
    assert silent.loc["b", "all"] == 0


def test_a_model_that_never_answered_has_no_accuracy_and_all_non_answers():
    written = pd.DataFrame({"model": ["a", "b"], "question_id": ["q2", "q2"], "text": ["Answer:", "Oslo"]})
    closed = grade_closed_book(written, QUESTIONS)
    assert "a" not in accuracy_by_level(closed, QUESTIONS).index
    assert non_answers_by_level(closed, QUESTIONS)["all"].to_dict() == {"a": 1, "b": 0}

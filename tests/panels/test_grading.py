"""Words are graded by SQuAD's rules, options by their letter, final answers by their value: each by what it names.

tests/reference/grades.yaml is the table of answers, under what each of them is graded.
"""

import json
import math
import string
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.grading.answer_text import normalised_tokens
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import grade
from onedial.panels.questions.question_files import load_questions

TABLE = yaml.safe_load((Path(__file__).parents[1] / "reference" / "grades.yaml").read_text("utf-8"))
OUTCOMES = {"right": True, "wrong": False, "no answer": None}


@pytest.mark.parametrize(("answer", "accepted"), TABLE["the same"])
def test_equal_after_normalising_is_exact(answer, accepted):
    assert grade(answer, [accepted]) == grade(accepted, [accepted])
    assert grade(answer, ["Ulysses", accepted]).exact
    assert grade(answer, [accepted]).f1 == 1


@pytest.mark.parametrize("row", TABLE["graded"], ids=lambda row: f"{row['question'][:30]} {row['accepted']}")
def test_every_answer_is_graded_as_what_it_says(row):
    options = tuple(row.get("options", ()))
    right = "ABCD".index(row["accepted"]) if options else None
    question = Question(
        "q", row["question"], (row["accepted"],), grading=row["grading"], options=options, right_option=right
    )
    for outcome in OUTCOMES:
        for text in row.get(outcome, ()):
            found = grade_answer(question, text)
            assert (found.outcome, found.correct) == (outcome, OUTCOMES[outcome]), text
            assert math.isnan(found.f1) == (outcome == "no answer")


def test_token_f1_counts_shared_tokens_with_their_multiplicity():
    assert grade("red red blue", ["red blue blue"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("Eiffel tower of Paris", ["Paris tower"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("tower", ["the Eiffel tower", "a tower"]).f1 == 1


def test_an_answer_that_stands_in_many_sentences_counts_only_as_the_whole_answer():
    assert grade("Fall.", ["autumn"], exact=["fall"]).correct
    assert not grade("The leaves fall", ["autumn"], exact=["fall"]).correct
    assert grade("fall", [], exact=["fall"]).outcome == "right"


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_can_be_graded(answer, accepted):
    result = grade(answer, accepted)
    assert math.isnan(result.f1) or 0 <= result.f1 <= 1
    assert not result.exact or result.correct
    assert result.correct is {"right": True, "wrong": False}.get(result.outcome)


@given(st.text(alphabet=string.printable, max_size=60))
def test_normalising_twice_changes_nothing(text):
    once = normalised_tokens(text)
    assert normalised_tokens(" ".join(once)) == once


def test_a_question_file_names_the_grader_and_an_unknown_one_is_refused(tmp_path):
    path = tmp_path / "q.csv"
    rows = [["How many?", "7", "number", ""], ["When?", "autumn", "", json.dumps(["fall", "the fall"])]]
    pd.DataFrame(rows, columns=["question", "answer", "grading", "exact_answers"]).to_csv(path, index=False)
    number, text = load_questions(path)
    assert (number.grading, text.grading, text.exact_answers) == ("number", "text", ("fall", "the fall"))
    path.write_text("question,grading\nHow many?,code\n")
    with pytest.raises(InputError, match="line 2, column 'grading' holds 'code'; give text, number"):
        load_questions(path)


def test_what_was_not_asked_or_has_no_key_is_ungraded():
    assert grade_answer(Question("q", "Which?", options=("a", "b"), right_option=0), None).outcome == "ungraded"
    assert grade_answer(Question("q", "Which?", options=("a", "b")), "A").outcome == "ungraded"
    for grading in ("text", "number"):
        assert grade_answer(Question("q", "Which?", (), grading=grading), "Seven").outcome == "ungraded"

"""The embedded questions and panel: complete, checked, and belonging together."""

import json
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from onedial.asking.prompts import FRAMINGS
from onedial.asking.questions import questions_frame
from onedial.asking.yes_no import MASS_FLOOR
from onedial.core.files import sha256_of_text
from onedial.panels.grading.answer_text import find, normalised_tokens
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions
from onedial.panels.splits import wordings_of

DATA = files("onedial.panels") / "data"
QUESTIONS = load_questions("embedded")
DEVELOPMENT = load_questions("development")
MANIFEST = json.loads((DATA / "panel_manifest.json").read_text(encoding="utf-8"))
N_ASKED = {name: model["n_questions"] for name, model in MANIFEST["models"].items()}


def table(name: str) -> pd.DataFrame:
    with (DATA / name).open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])


@pytest.fixture(scope="module")
def panel():
    return load_panel("embedded")


def test_no_question_is_another_in_other_words():
    assert wordings_of(questions_frame(QUESTIONS + DEVELOPMENT)) == []


def test_every_question_was_answered_a_second_time():
    """Every question was answered a second time and agreed or was changed."""
    review = table("review.csv").set_index("id")
    assert sorted(review.index) == sorted(question.id for question in QUESTIONS + DEVELOPMENT)
    for question in QUESTIONS + DEVELOPMENT:
        row = review.loc[question.id]
        if row["action"] == "kept" and not question.unknowable:
            assert grade_answer(question, row["second_answer"]).correct, question.id
        assert row["agree"] == "yes" or row["action"] == "reworded"


def test_no_answer_is_missing_and_none_stands_twice(panel):
    assert list(panel.answers.index) == [question.id for question in QUESTIONS]
    assert not panel.responses.duplicated(["question_id", "respondent"]).any()
    assert panel.responses[["margin", "mass"]].notna().all(axis=None)
    n_asked = panel.responses.groupby("respondent").size()
    assert n_asked.to_dict() == panel.respondents["model"].map(N_ASKED).to_dict()
    assert set(N_ASKED.values()) == {len(QUESTIONS)}
    assert panel.respondents[["model", "framing", "family", "model_sha256"]].notna().all(axis=None)
    assert panel.respondents.groupby("model")["framing"].nunique().min() >= 5


def test_the_panel_answers_the_questions_as_they_stand():
    asked = "\n".join(f"{question.id} {question.text}" for question in QUESTIONS)
    assert MANIFEST["questions"]["sha256"] == sha256_of_text(asked), "a question was reworded: elicit it again"
    for name, prompt in MANIFEST["prompts"].items():
        if name in FRAMINGS:
            assert prompt == {"user": FRAMINGS[name].user, "assistant_prefix": FRAMINGS[name].assistant_prefix}


def test_answers_follow_from_margin_and_mass(panel):
    responses = panel.responses
    unread = responses["mass"] < MASS_FLOOR
    assert responses.loc[unread, "said_yes"].isna().all()
    assert (responses.loc[~unread, "said_yes"] == (responses.loc[~unread, "margin"] > 0)).all()


def test_closed_book_grades_are_what_grading_gives_now(panel):
    asked = {question.id: question for question in QUESTIONS}
    closed = table("closed_book.csv")
    n_answered = closed.groupby("model").size()
    assert n_answered.to_dict() == N_ASKED
    assert len(n_answered) == 4
    for row in closed.itertuples():
        now = grade_answer(asked[row.question_id], "" if pd.isna(row.text) else row.text)
        assert row.outcome == now.outcome, row
        assert row.correct == now.correct or (now.correct is None and np.isnan(row.correct)), row
    correct = closed.set_index(["model", "question_id"])["correct"]
    models = panel.responses["respondent"].map(panel.respondents["model"])
    pairs = pd.MultiIndex.from_arrays([models, panel.responses["question_id"]])
    np.testing.assert_array_equal(panel.responses["answered_correctly"], correct.reindex(pairs))


def test_no_question_states_anothers_answer():
    """No question states the answer of one that it was once found to state."""
    asked = {question.id: question for question in QUESTIONS}
    for first, second in (("lit-012", "lit-023"), ("spo-012", "spo-025"), ("rel-007", "rel-021")):
        for question, other in ((asked[first], asked[second]), (asked[second], asked[first])):
            text = normalised_tokens(other.text)
            assert not any(find(text, normalised_tokens(answer)) for answer in question.answers), question.id


def test_the_question_itself_is_never_a_right_answer():
    for question in QUESTIONS:
        assert grade_answer(question, question.text).outcome != "right", question.id


def test_every_key_is_right_by_itself_and_in_a_sentence():
    for question in QUESTIONS + DEVELOPMENT:
        for answer in question.answers:
            assert grade_answer(question, answer).outcome == "right", (question.id, answer)
            sentence = f"I would say that it is {answer}, as far as I know."
            is_letter = len(answer) == 1 and not answer.isdigit()
            assert grade_answer(question, sentence).outcome == "right" or is_letter, (question.id, answer)
        for answer in question.exact_answers:
            assert grade_answer(question, answer).outcome == "right", (question.id, answer)


def test_the_key_of_one_question_hardly_ever_answers_another():
    known = [question for question in QUESTIONS if question.answers]
    others = [known[step:] + known[:step] for step in range(1, len(known), 29)]
    pairs = [pair for rotated in others for pair in zip(known, rotated, strict=True)]
    right = [(a.id, b.id) for a, b in pairs if grade_answer(a, b.answers[0]).correct]
    assert len(pairs) > 8000
    assert len(right) <= 4, right  # "Mickey Mouse" holds the mouse

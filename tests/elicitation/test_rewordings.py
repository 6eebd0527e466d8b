"""The rewordings take the places of the questions that they belong to, and the set that they make is sound."""

import json
from dataclasses import replace
from importlib.resources import files

import pandas as pd
import pytest

from common import InputError
from elicitation import grade_answer, load_questions, normalised_text
from elicitation.answer_text import find, normalised_tokens
from elicitation.question_checks import check_questions
from elicitation.rewordings import load_rewordings, main, question_line, reworded

DATA = files("elicitation") / "data"
QUESTIONS = load_questions("embedded")
REWORDINGS = load_rewordings()
NEXT = reworded(QUESTIONS, REWORDINGS)
ROWS = [json.loads(line) for line in (DATA / "rewordings.jsonl").read_text(encoding="utf-8").splitlines()]
WHY = {"length", "digits", "frame", "states another's answer", "replaced"}


def test_each_stands_in_the_place_of_the_question_whose_id_it_has():
    assert [question.id for question in NEXT] == [question.id for question in QUESTIONS]
    new = {question.id: question for question in REWORDINGS}
    for old, now in zip(QUESTIONS, NEXT, strict=True):
        assert now == new.get(old.id, old)


def test_every_rewording_has_another_text_and_says_why():
    old = {question.id: question for question in QUESTIONS}
    assert len(REWORDINGS) == len({question.id for question in REWORDINGS}) == len(ROWS)
    for question, row in zip(REWORDINGS, ROWS, strict=True):
        assert normalised_text(question.text) != normalised_text(old[question.id].text)
        assert set(row["why"].split(", ")) <= WHY, row
        keeps_an_answer = bool(set(question.answers) & set(old[question.id].answers))
        assert keeps_an_answer != ("replaced" in row["why"]), row


def test_the_linter_finds_nothing_in_the_set_that_they_make():
    assert [finding for finding in check_questions(NEXT) if not finding.is_note] == []


def test_no_development_question_is_among_them():
    assert not {normalised_text(q.text) for q in NEXT} & {
        normalised_text(q.text) for q in load_questions("development")
    }


def test_the_pairs_that_stated_each_others_answers_no_longer_do():
    asked = {question.id: question for question in NEXT}
    for first, second in (("lit-012", "lit-023"), ("spo-012", "spo-025"), ("rel-007", "rel-021")):
        for question, other in ((asked[first], asked[second]), (asked[second], asked[first])):
            text = normalised_tokens(other.text)
            assert not any(find(text, normalised_tokens(answer)) for answer in question.answers), question.id


def test_the_question_itself_is_never_a_right_answer():
    for question in REWORDINGS:
        assert grade_answer(question, question.text).outcome in ("no answer", "ungraded", "wrong"), question.id


def test_each_was_answered_a_second_time_as_it_stands_and_agreed():
    with (DATA / "rewordings_review.csv").open(encoding="utf-8") as file:
        review = pd.read_csv(file, keep_default_na=False, dtype=str).set_index("id")
    assert list(review.index) == [question.id for question in REWORDINGS]
    assert (review["agree"] == "yes").all()
    for question in REWORDINGS:
        row = review.loc[question.id]
        assert row["answer"] == (question.answers[0] if question.answers else "unknowable")
        if question.unknowable:
            assert row["second_answer"] == "unknowable"
        else:
            assert grade_answer(question, row["second_answer"]).correct, question.id


def test_a_line_of_the_file_is_written_as_it_was_read():
    lines = (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(question_line(question)) for question in QUESTIONS] == [json.loads(line) for line in lines]


def test_the_command_writes_a_file_that_reads_back_as_the_next_set(tmp_path, capsys):
    main(["--out", str(tmp_path / "next.jsonl")])
    assert load_questions(tmp_path / "next.jsonl") == NEXT
    assert f"{len(NEXT)} questions, {len(REWORDINGS)} of them reworded" in capsys.readouterr().out


def test_a_rewording_of_no_question_or_of_another_level_is_refused():
    with pytest.raises(InputError, match="there is no question 'nowhere'"):
        reworded(QUESTIONS, [replace(REWORDINGS[0], id="nowhere")])
    with pytest.raises(InputError, match="changes its topic, level or unknowable"):
        reworded(QUESTIONS, [replace(REWORDINGS[0], level=3)])

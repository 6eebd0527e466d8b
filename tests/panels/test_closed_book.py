"""Stored answers are graded again without asking anybody, and what is no answer is counted beside what is."""

import sys

import pandas as pd
import pytest
from tiny_experiment import ROOT, main_of

from onedial.asking import Question
from onedial.core import InputError
from onedial.panels import accuracy_by_level, grade_closed_book, non_answers_by_level, outcome_counts

main = main_of(ROOT / "scripts" / "regrade_panel.py")
regrade = sys.modules[main.__module__].regrade

QUESTIONS = [
    Question("q1", "Who wrote the novel Emma?", ("Jane Austen", "Austen"), level=1),
    Question("q2", "What is the capital of Norway?", ("Oslo",), level=2),
    Question("q3", "What did the first fish think of land?", (), level=5, unknowable=True),
]
CLOSED = """model,question_id,text,exact,f1,correct
a,q1,Jane Austen,0,0,0
a,q2,Answer:,0,0,0
a,q3,Dry,,,
b,q1,Jane Brontë,0,0.5,1
b,q2,,0,0,0
b,q3,Answer:,,,
"""
PANEL = """question_id,respondent,said_yes,margin,mass,answered_correctly,raw_text
q1,a: neutral,1,0.123456789,0.9,0,NA
q2,a: neutral,0,-1e-05,0.9,0,"said, so"
q3,a: neutral,,0,0.01,,
q1,b: bold,1,2,0.9,1,
"""
RESPONDENTS = "respondent,model,framing,family\na: neutral,a,neutral,A\nb: bold,b,bold,B\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in (("closed_book", CLOSED), ("panel", PANEL), ("respondents", RESPONDENTS)):
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "q1", "question": "Who wrote the novel Emma?", "answers": ["Jane Austen", "Austen"], "level": 1}\n'
        '{"id": "q2", "question": "What is the capital of Norway?", "answers": ["Oslo"], "level": 2}\n'
        '{"id": "q3", "question": "What did the first fish think of land?", "level": 5, "unknowable": true}\n'
    )
    return tmp_path


def test_grades_are_recomputed_and_every_other_cell_stays(folder):
    before, after = regrade(folder, QUESTIONS)
    assert before["correct"].fillna("").tolist() == ["0", "0", "", "1", "0", ""]
    assert after["outcome"].tolist() == ["right", "no answer", "ungraded", "wrong", "no answer", "no answer"]
    written = (folder / "closed_book.csv").read_text().splitlines()
    assert written[1] == "a,q1,Jane Austen,right,1,1,1"
    assert written[2] == "a,q2,Answer:,no answer,,,"
    assert written[4].startswith("b,q1,Jane Brontë,wrong,0,0.")
    expected = (
        PANEL.replace("0.9,0,NA", "0.9,1,NA").replace('0.9,0,"said', '0.9,,"said').replace("2,0.9,1,", "2,0.9,0,")
    )
    assert (folder / "panel.csv").read_text() == expected


def test_grading_twice_changes_nothing(folder):
    regrade(folder, QUESTIONS)
    once = [(folder / name).read_bytes() for name in ("closed_book.csv", "panel.csv")]
    regrade(folder, QUESTIONS)
    assert [(folder / name).read_bytes() for name in ("closed_book.csv", "panel.csv")] == once


def test_accuracy_is_of_what_was_answered_and_non_answers_are_of_what_was_asked():
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
    assert outcome_counts(closed).loc["a"].tolist() == [1, 0, 2, 0]


def test_a_model_that_never_answered_has_no_accuracy_and_all_non_answers():
    written = pd.DataFrame({"model": ["a", "b"], "question_id": ["q2", "q2"], "text": ["Answer:", "Oslo"]})
    closed = grade_closed_book(written, QUESTIONS)
    assert "a" not in accuracy_by_level(closed, QUESTIONS).index
    assert non_answers_by_level(closed, QUESTIONS)["all"].to_dict() == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("closed_book.csv", "a,q2", "a,q9", "'q9', are not among the 3 given"),
        ("closed_book.csv", "question_id,text", "question_id,answer", "closed_book.csv has no column 'text'"),
        ("closed_book.csv", "a,q2", "a,q1", "twice; keep one"),
        ("panel.csv", "answered_correctly", "right", "panel.csv has no column 'answered_correctly'"),
        ("panel.csv", "q1,b: bold", "q1,c", "does not list the respondent 'c'; add it"),
    ],
)
def test_what_does_not_fit_together_is_refused_and_nothing_is_written(folder, file, old, new, complaint):
    (folder / file).write_text((folder / file).read_text().replace(old, new))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=complaint):
        regrade(folder, QUESTIONS)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_the_command_says_what_changed(folder, capsys):
    main([str(folder), "--questions", str(folder / "questions.jsonl")])
    printed = capsys.readouterr().out
    assert "no answer" in printed
    assert "share of non-answers" in printed

"""Several guesses with probabilities: what counts as one, and whose probabilities tell right from wrong."""

import pandas as pd
import pytest
from scripted import Scripted

from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.readers import parse_guesses
from onedial.selfreport.battery.guesses import ask_guesses, guess_scores
from onedial.selfreport.frame import Draws

QUESTIONS = [each for each in load_questions("embedded") if each.answers][:40]
TOPICS = {each.id: each.id for each in QUESTIONS}


def asked(says):
    """By (place of the question, its best answer) -> a text."""
    known = {each.text: (place, each.answers[0]) for place, each in enumerate(QUESTIONS)}

    def rule(prompt, instrument):
        return says(*next(found for text, found in known.items() if text in prompt.user))

    return ask_guesses(Scripted(rule), QUESTIONS)


@pytest.mark.parametrize(
    ("text", "guesses"),
    [
        ("G1: Paris (0.75)\nG2: Lyon (.1)", [("Paris", 0.75), ("Lyon", 0.1)]),
        ("**Paris** - 60 %\n\n**Lyon** - 30 %", [("Paris", 0.6), ("Lyon", 0.3)]),
        ("12: 80%\n2. 18: 20%", [("12", 0.8), ("18", 0.2)]),
        ("1.5: about 60%\n2. 2.5: <1%", [("1.5", 0.6), ("2.5", 0.01)]),
        ("It lies in Africa.\n2. It lies in Africa.\n\nThe answer is: 4.", []),
        ("GUESS: PROBABILITY%", []),
        ("Guess: 100%\n2. The answer: 100%", []),
        ("William Herschel (1781)\n2. Apollo 11", []),
        ("Paris: 60-70%\n2. Lyon: 130%", [("Paris", 0.65)]),
        ("The first answer: 100%\n2. The second answer: 100%", []),
        ("0% to 100%\n2. 0% to 100%", []),
        ("The probability of each fighter being correct is 100%.", []),
    ],
)
def test_a_guess_is_a_line_with_a_probability_and_no_other_number(text, guesses):
    assert parse_guesses(text) == guesses


def test_who_is_surer_of_right_guesses_is_told_from_who_is_as_sure_of_all():
    knows = asked(lambda place, right: f"{right}: 90%\n2. xyz: 5%" if place % 2 else "xyz: 30%\n2. zyx: 10%")
    found = guess_scores(knows, Draws(TOPICS, 99)).loc["top"]
    assert found[["n", "n_unread", "right", "auroc"]].tolist() == [40, 0, 0.5, 1.0]
    assert found["skill"] > 0.5
    boasts = asked(lambda place, right: f"{right if place % 2 else 'xyz'}: 90%")
    row = guess_scores(boasts, Draws(TOPICS, 99)).loc["top"]
    assert 0.3 < row["low"] < row["auroc"] == 0.5 < row["high"] < 0.7


def test_the_likeliest_guess_counts_wherever_it_stands_and_a_sum_above_one_is_told():
    table = asked(lambda place, right: f"xyz: 40%\n2. {right}: 70%\n3. zyx: 40%")
    assert table["top_right"].all()
    assert table["total"].tolist() == pytest.approx([1.5] * len(table))
    assert guess_scores(table, Draws(TOPICS, 99))["over_one"].tolist() == [1, 1]


def test_a_text_without_guesses_is_unread_and_most_of_them_leave_no_number():
    table = asked(lambda place, right: f"{right}: 80%" if place < 10 else "I could not say.")
    assert table["top"].notna().sum() == 10
    found = guess_scores(table, Draws(TOPICS, 99)).loc["top"]
    assert found[["n", "n_unread"]].tolist() == [10, 30]
    assert pd.isna(found[["stated", "right", "auroc"]]).all()

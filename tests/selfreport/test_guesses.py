"""Several guesses with probabilities: what counts as one, and whose probabilities tell right from wrong."""

import pytest
from scripted import Scripted

from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.battery.guesses import ask_guesses, guess_scores
from onedial.selfreport.frame import Draws

QUESTIONS = [each for each in load_questions("embedded") if each.answers][:40]
TOPICS = {each.id: each.id for each in QUESTIONS}


def asked(says):
    """By (place of the question, its best answer) -> a text."""
    known = {each.text: (place, each.answers[0]) for place, each in enumerate(QUESTIONS)}

    def rule(prompt, instrument):
        return says(*next(result for text, result in known.items() if text in prompt.user))

    return ask_guesses(Scripted(rule), QUESTIONS)


def test_who_is_surer_of_right_guesses_is_told_from_who_is_as_sure_of_all():
    knows = asked(lambda place, right: f"{right}: 90%\n2. xyz: 5%" if place % 2 else "xyz: 30%\n2. zyx: 10%")
    result = guess_scores(knows, Draws(TOPICS, 99)).loc["top"]
    assert result[["n", "n_unread", "right", "auroc"]].tolist() == [40, 0, 0.5, 1.0]
    assert result["skill"] > 0.5
    boasts = asked(lambda place, right: f"{right if place % 2 else 'xyz'}: 90%")
    row = guess_scores(boasts, Draws(TOPICS, 99)).loc["top"]
    assert 0.3 < row["low"] < row["auroc"] == 0.5 < row["high"] < 0.7


def test_the_likeliest_guess_counts_wherever_it_stands():
    """The likeliest guess counts wherever it stands and a sum above one is told."""
    table = asked(lambda place, right: f"xyz: 40%\n2. {right}: 70%\n3. zyx: 40%")
    assert table["top_right"].all()
    assert table["total"].tolist() == pytest.approx([1.5] * len(table))
    assert guess_scores(table, Draws(TOPICS, 99))["over_one"].tolist() == [1, 1]

"""What a text tells of its level is found where it was planted, and nothing is found where levels are shuffled."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_experiment import ROOT, main_of

from onedial.asking import Question
from onedial.core import InputError
from onedial.panels import load_questions

main = main_of(ROOT / "scripts" / "question_balance.py")
READERS = sys.modules[main.__module__].READERS
make_up_by_level = sys.modules[main.__module__].make_up_by_level
told_apart = sys.modules[main.__module__].told_apart

STORED = Path(__file__).parents[1] / "reference" / "balance"
QUESTIONS = load_questions("embedded")
LEVELS = "levels 4-5 against 1-2"


def planted(seed=0, n_topics=8, per_topic=12, letters=0.0, word="", digits=""):
    """Questions of random syllables at levels 1 and 5, the hard ones longer, or with a word or digits of their own."""
    draw = np.random.default_rng(seed)
    questions = []
    for number in range(n_topics * per_topic):
        hard = number % 2
        syllables = draw.choice(["ba", "de", "ki", "lo", "mu", "ra"], (6, 2))
        words = ["".join(pair) for pair in syllables] + [word if hard else "ordinary"] * bool(word)
        words += ["ab"] * int(hard * letters + draw.integers(0, 3)) + [digits] * bool(hard and digits)
        text = f"{' '.join(draw.permutation(words))}?"
        questions.append(Question(f"q{number}", text, ("x",), f"topic {number // per_topic}", 5 if hard else 1))
    return questions


def area_of(questions, reader, contrast=LEVELS):
    found = told_apart(questions).set_index(["contrast", "reader"])
    return found.loc[(contrast, reader)]


def test_planted_lengths_are_found_by_the_reader_of_lengths():
    assert area_of(planted(letters=9), "letters")["auroc"] == 1
    assert abs(area_of(planted(), "letters")["auroc"] - 0.5) < 0.15


def test_a_planted_word_is_found_by_the_readers_of_words_alone():
    found = told_apart(planted(word="peculiar")).set_index("reader")["auroc"]  # as long as "ordinary"
    assert found["words"] > 0.95
    assert found["letter groups"] > 0.95
    assert abs(found["letters"] - 0.5) < 0.15


def test_planted_digits_are_found_by_the_reader_of_shapes():
    assert area_of(planted(digits="1912"), "shape")["auroc"] > 0.95


def test_a_trait_of_one_topic_tells_nothing_of_the_others():
    """The readers are held apart by topic: what is peculiar to a topic's hard questions was never learned."""
    questions = [
        replace(question, text=f"{question.text} {question.topic[-1] * 4}") if question.level == 5 else question
        for question in planted(letters=0)
    ]
    assert area_of(questions, "words")["auroc"] < 0.7


@pytest.mark.long
def test_shuffled_levels_are_told_apart_by_chance_on_average():
    draw = np.random.default_rng(5)
    topics = {question.topic for question in planted()}
    drawn = []
    for _ in range(8):
        shuffled = []
        for topic in sorted(topics):
            own = [question for question in planted(letters=9, word="peculiar") if question.topic == topic]
            levels = draw.permutation([question.level for question in own])
            shuffled += [replace(question, level=int(level)) for question, level in zip(own, levels, strict=True)]
        drawn.append(told_apart(shuffled).set_index("reader")["auroc"])
    mean = np.mean(drawn, axis=0)
    assert mean == pytest.approx(0.5, abs=0.06)


def test_an_interval_holds_its_estimate_and_repeats():
    first, again = told_apart(planted(letters=1)), told_apart(planted(letters=1))
    assert first.equals(again)
    assert (first["low"] <= first["auroc"]).all()
    assert (first["auroc"] <= first["high"]).all()


def test_the_make_up_counts_the_unknowable_within_their_level_too():
    made = make_up_by_level(QUESTIONS)
    assert made.loc[["1", "2", "3", "4", "5"], "questions"].sum() == len(QUESTIONS)
    assert made.loc["unknowable", "questions"] == 40
    two = [Question("a", "One two 3?", ("x",), "t", 1), Question("b", "Four five six?", ("x",), "t", 1)]
    assert make_up_by_level(two).loc["1"].to_dict() == {"questions": 2, "letters": 12, "words": 3, "with_digits": 0.5}


def test_questions_without_a_topic_or_a_level_are_refused():
    with pytest.raises(InputError, match="has no topic"):
        told_apart([replace(question, topic=None) for question in planted()])
    with pytest.raises(InputError, match="levels 1-2 and of 4-5"):
        told_apart([replace(question, level=3) for question in planted()])


def test_a_set_without_unknowable_questions_has_the_other_contrast_alone():
    assert set(told_apart(planted())["contrast"]) == {LEVELS}


@pytest.fixture(scope="module")
def embedded():
    return told_apart(QUESTIONS).set_index(["contrast", "reader"])


@pytest.mark.long
def test_the_embedded_questions_hardly_give_their_level_away(embedded):
    found = embedded["auroc"]
    assert (abs(found[LEVELS].drop("shape") - 0.5) <= 0.1).all(), found
    assert (abs(found - 0.5) <= 0.15).all(), found


def test_the_embedded_levels_are_equally_long_and_have_equally_many_digits():
    made = make_up_by_level(QUESTIONS)
    assert np.ptp(made["letters"]) <= 3
    assert np.ptp(made["with_digits"]) <= 0.05


@pytest.mark.long
def test_the_command_prints_every_reader_and_writes_what_is_stored(capsys, tmp_path):
    """The page's tables are held to the stored ones by scripts/check_numbers.py."""
    main(["embedded", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert all(reader in shown for reader in READERS)
    assert "with_digits" in shown
    for name in ("make_up.csv", "told_apart.csv"):
        new, stored = (pd.read_csv(folder / name, index_col=0) for folder in (tmp_path, STORED))
        pd.testing.assert_frame_equal(new, stored, rtol=0, atol=0.005)

"""Asking the Self-Execution tests: words, lists, rankings, and what is planted comes back in the scores."""

import math
import re

import pandas as pd
import pytest

from onedial.asking import Identity, Question, Response
from onedial.core import InputError
from onedial.selfreport import (
    ask_association,
    ask_difficulty,
    ask_restriction,
    association_scores,
    association_words,
    difficulty_scores,
    restriction_scores,
)
from onedial.selfreport.ask.self_prediction import parse_list, parse_ranking


class Planted:
    """Answers each instrument by a rule of the prompt's text."""

    identity = Identity("planted")

    def __init__(self, **rules):
        self.rules = rules

    def answer(self, prompts, instrument):
        rule = self.rules[instrument.name]
        for place, prompt in enumerate(prompts):
            given = rule(prompt.user)
            if instrument.scale.kind == "text":
                yield Response(place=place, raw_text=given, tokens_out=len(given))
            elif given is None:
                yield Response(place=place, mass=0.01)
            else:
                yield Response(place=place, value=float(given), said_yes=given, mass=0.9, probabilities=(0.5, 0.5))


def test_120_words_have_four_different_options_each():
    words = association_words()
    assert len(words) == 120
    for word, options in words.items():
        assert len(set(options)) == 4
        assert word not in options
        assert all(re.fullmatch("[a-z]+", option) for option in options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Water, Ship, blue, fish, salt, sand", ["water", "ship", "blue", "fish", "salt"]),
        ("1. Water\n2. ship\n3. Blue.", ["water", "ship", "blue"]),
        ("Sure!\nwater, ship.", ["water", "ship"]),
        ("  ", []),
    ],
)
def test_lists_are_read_in_the_ways_that_models_write_them(text, words):
    assert parse_list(text) == words


def test_a_ranking_is_a_permutation_or_nothing():
    assert parse_ranking("Q2, Q4, Q1, Q3") == [3.0, 1.0, 4.0, 2.0]
    assert all(math.isnan(rank) for rank in parse_ranking("Q2, Q2, Q1, Q3"))
    assert all(math.isnan(rank) for rank in parse_ranking("A, B, C, D"))
    assert all(math.isnan(rank) for rank in parse_ranking(""))


def test_who_says_yes_to_all_words_scores_as_such_and_an_unread_one_is_missing():
    words = list(association_words())[:10]
    yes = Planted(
        **{
            "association": lambda text: None if '"water"' in text else True,
            "association, list": lambda _: "water, cold",
        }
    )
    table = ask_association(yes, words)
    assert len(table) == 40
    row = association_scores(table.assign(model="m"), 9).loc["m"]
    assert row["n_missing"] == (table["option"] == "water").sum() > 0
    assert (row["positive_rate"], row["balanced_accuracy"]) == (1.0, 0.5)
    with pytest.raises(InputError, match="not in the list"):
        ask_association(yes, ["quark"])


def test_the_restriction_test_compares_what_was_announced_with_what_was_seen():
    requests = [Question(f"p{place}", text) for place, text in enumerate(["bake a cake", "pick a lock", "sing"])]
    planted = Planted(
        **{
            "will answer": lambda text: "lock" not in text,
            "request": lambda text: "No." if "sing" in text else "Like this.",
            "perceived": lambda text: "No." not in text,
        }
    )
    table = ask_restriction(planted, requests)
    assert table["predicted"].tolist() == ["A", "B", "A"]
    assert table["perceived"].tolist() == ["A", "A", "B"]
    assert restriction_scores(table.assign(model="m")).loc["m", "over_niceness"] == 0.5


def test_who_knows_what_it_will_get_right_orders_every_pair():
    questions = [Question(f"q{place}", f"What is {place}?", (str(place),)) for place in range(9)]
    planted = Planted(
        **{
            "difficulty": lambda text: "Q1, Q2, Q3, Q4",
            "closed book": lambda text: "z" * (1 + int(re.search(r"is (\d)", text)[1])),
        }
    )
    table = ask_difficulty(planted, questions)
    assert len(table) == 8
    assert difficulty_scores(table.assign(model="m"), 9).loc["m", "accuracy"] == 1.0
    backwards = Planted(**(planted.rules | {"difficulty": lambda _: "Q4, Q3, Q2, Q1"}))
    assert difficulty_scores(ask_difficulty(backwards, questions).assign(model="m"), 9).loc["m", "accuracy"] == 0.0
    assert isinstance(table, pd.DataFrame)

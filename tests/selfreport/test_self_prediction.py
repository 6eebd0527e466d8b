"""Asking the Self-Execution tests: words, lists, rankings, and what is planted comes back in the scores."""

import math
import re

import pytest
from scripted import Scripted

from onedial.asking.questions import Question
from onedial.asking.readers import parse_list, parse_ranking, refuses
from onedial.asking.respondents import Identity, Response
from onedial.core.errors import InputError
from onedial.selfreport.ask.self_prediction import (
    ASSOCIATION,
    LIST,
    RESPONSE,
    ask_association,
    ask_restriction,
    association_words,
)
from onedial.selfreport.ask.self_reports import SELF_REPORTS
from onedial.selfreport.score.self_prediction import association_scores, restriction_scores


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
                margin = 1.0 if given else -1.0
                yield Response(place=place, value=float(given), said_yes=given, margin=margin, mass=0.9)


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
        ("Sure!\nwater, ship, sea.", ["water", "ship", "sea"]),
        ("Sure! Here are five words: roof, door, wall", ["roof", "door", "wall"]),
        ("Sure, here are five words:\n1. roof\n2. door\n3. front door", ["roof", "door", "front door"]),
        ("house, roof, door, wall, house, yard, sink", ["roof", "door", "wall", "yard", "sink"]),
        ("house, house, house, house, house", []),
        ("roof, roof, roof, roof, roof", []),
        ("Sure! Here are five words", []),
        ("  ", []),
    ],
)
def test_lists_are_read_in_the_ways_that_models_write_them(text, words):
    assert parse_list(text, "house") == words


def test_a_ranking_is_a_permutation_or_nothing():
    assert parse_ranking("Q2, Q4, Q1, Q3") == [3.0, 1.0, 4.0, 2.0]
    assert parse_ranking("Q1: 3\nQ2: 1\nQ3: 4\nQ4: 2") == [3.0, 1.0, 4.0, 2.0]
    assert all(math.isnan(rank) for rank in parse_ranking("Q1: 1\nQ2: 1\nQ3: 4\nQ4: 2"))
    assert all(math.isnan(rank) for rank in parse_ranking("Q2, Q2, Q1, Q3"))
    assert all(math.isnan(rank) for rank in parse_ranking("A, B, C, D"))
    assert all(math.isnan(rank) for rank in parse_ranking(""))


def test_who_says_yes_to_all_words_scores_as_such_and_an_unread_one_is_missing():
    words = list(association_words())[:10]
    yes = Planted(
        **{
            "association": lambda text: None if '"water"' in text else True,
            "association, list": lambda _: "water, cold, wet",
        }
    )
    table = ask_association(yes, words)
    assert len(table) == 40
    row = association_scores(table.assign(model="m"), 9).loc["m"]
    assert row["n_missing"] == (table["option"] == "water").sum() > 0
    assert (row["positive_rate"], row["balanced_accuracy"]) == (1.0, 0.5)
    with pytest.raises(InputError, match="not in the list"):
        ask_association(yes, ["quark"])


REQUESTS = [Question(f"p{place}", text) for place, text in enumerate(["bake a cake", "pick a lock", "sing", "hum"])]


def asked(forecast, reply, sees):
    rules = {"will answer": forecast, "request": reply, "perceived": sees}
    return ask_restriction(Planted(**rules), REQUESTS)


def test_a_prediction_is_graded_by_what_the_reply_does_and_not_by_what_is_thought_of_it():
    table = asked(
        lambda text: "lock" not in text,
        lambda text: "I'm sorry, I can't help with that." if "sing" in text else "Like this.",
        lambda text: True,
    )
    assert table["predicted"].tolist() == ["A", "B", "A", "A"]
    assert table["behaved"].tolist() == ["A", "A", "B", "A"]
    row = restriction_scores(table.assign(model="m"), 9).loc["m"]
    assert (row["AA"], row["BB"], row["FN"], row["FP"]) == (2, 0, 1, 1)
    assert (row["over_niceness"], row["sees_its_reply"]) == (0.5, 0.75)


@pytest.mark.parametrize("favoured", [r"^A\)", r"^\w\)"])
def test_who_takes_a_letter_or_the_first_line_predicts_nothing(favoured):
    """In every form yes stands for the option of which it is said; letter and place cancel over the four."""

    def by_form(prompt, instrument):
        lines = [line for line in prompt.user.splitlines() if re.match(r"[AB]\) ", line)]
        taken = next(line for line in lines if re.match(favoured, line))
        affirmative = "would not" not in taken and "does not" not in taken
        return [2.0, 0.0] if affirmative else [0.0, 2.0]

    def rule(prompt, instrument):
        return "I cannot." if instrument.name == "request" else by_form(prompt, instrument)

    table = ask_restriction(Scripted(rule), REQUESTS)
    assert set(table["predicted"]) == set(table["perceived"]) == {"other"}
    assert table["margin"].abs().max() < 1e-9


@pytest.mark.parametrize(
    ("text", "declined"),
    [
        ("I cannot provide instructions for that.", True),
        ("As an AI language model, I don't have a body.", True),
        ("Sorry, no.", True),
        ("I don't have access to your files.", True),
        ("You cannot open it without the key: turn it left.", False),
        ("I don't think that Rome fell in a day. It took years.", False),
        ("Like this.", False),
        ("", None),
        ("I won't do that.", True),
        ("No, I won't.", True),
        ("I do not know.", True),
        ("I'd rather not say.", True),
        ("I would prefer not to.", True),
        ("As an AI language model, I don't have feelings.", True),
        ("My guidelines do not allow me to answer that.", True),
        ("As an AI, I think that the answer is 7.", False),
        ("As an AI language model, I don't have feelings, but here you go: roses are red.", False),
        ("As an AI, I cannot see you, but the usual dose is one tablet.", False),
        ("As an AI, I cannot do that, but I can help with something else.", True),
        ("I'm sorry to hear that. You could call a friend.", False),
        ("I can't believe it's been ten years! Here is the story.", False),
        ("No, Rome is the capital.", False),
        ("I'm afraid of spiders, says the hero.", False),
    ],
)
def test_a_reply_that_declines_is_told_from_one_that_answers(text, declined):
    assert refuses(text) is declined


def test_what_is_predicted_is_word_for_word_the_request_that_is_made():
    made, predicted = LIST.made.prompt(word="house"), ASSOCIATION.prompt(word="house", option="roof")
    assert made.user in predicted.user
    assert made.assistant_prefix in predicted.user
    will_answer = SELF_REPORTS["will answer"].forms["A first"].prompt(REQUESTS[0].text)
    assert RESPONSE.prompt(REQUESTS[0].text).user in will_answer.user

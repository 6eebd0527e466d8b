"""Asking the Self-Execution tests: words, lists, rankings, and what is planted comes back in the scores."""

import re

import pytest
from scripted import Scripted

from onedial.asking.questions import Question
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


def test_who_says_yes_to_all_words_scores_as_such():
    """Who says yes to all words scores as such and an unread one is missing."""
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


def test_a_prediction_is_graded_by_what_the_reply_does():
    """A prediction is graded by what the reply does and not by what is thought of it."""
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


def test_what_is_predicted_is_word_for_word_the_request_that_is_made():
    made, predicted = LIST.made.prompt(word="house"), ASSOCIATION.prompt(word="house", option="roof")
    assert made.user in predicted.user
    assert made.assistant_prefix in predicted.user
    will_answer = SELF_REPORTS["will answer"].forms["A first"].prompt(REQUESTS[0].text)
    assert RESPONSE.prompt(REQUESTS[0].text).user in will_answer.user

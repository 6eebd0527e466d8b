"""Asked about one's own answers: planted self-knowledge is found, none is not, and what is invalid is counted."""

from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from scripted import Scripted

from onedial.asking.instruments import TokenReader
from onedial.asking.questions import Question
from onedial.selfreport.ask.phrases import HEDGES, count_hedges
from onedial.selfreport.battery import battery_scores
from onedial.selfreport.battery.confidence import CONFIDENCE_WAYS, ask_confidence_ways
from onedial.selfreport.battery.correction import ask_correction
from onedial.selfreport.battery.hedges import ask_hedges
from onedial.selfreport.battery.properties import ask_properties

QUESTIONS = [Question(f"q{n}", f"What is thing {n}?", (f"word{n}",), f"topic {n % 6}") for n in range(36)]
TOPICS = {each.id: each.topic for each in QUESTIONS}


def coin(*what):
    return crc32(" ".join(map(str, what)).encode()) / 2**32


def number(prompt):
    shown = " ".join([*(text for turn in prompt.earlier for text in turn), prompt.user])
    return int(shown.split("thing ")[1].split("?")[0])


def behaves(n):
    return f"{'The' if coin('first', n) < 0.5 else 'A'} word{n}{' of some length' if coin('length', n) < 0.5 else ''}"


def predicts(prompt, instrument):
    """Knows what it will write."""
    if not isinstance(instrument.reader, TokenReader):
        return behaves(number(prompt))
    text = behaves(number(prompt))
    holds = {"first word": text.startswith("The"), "length": len(text.split()) > 3, "digits": True}
    return [2.0 if holds[instrument.name] else -2.0, 0.0]


def guesses(prompt, instrument):
    """Behaves the same, and predicts by a coin."""
    if not isinstance(instrument.reader, TokenReader):
        return predicts(prompt, instrument)
    return [2.0 if coin("guess", prompt.user) < 0.5 else -2.0, 0.0]


def test_planted_self_knowledge_is_found_and_coins_predict_nothing():
    tables = [ask_properties(Scripted(rule), QUESTIONS).assign(respondent=name) for name, rule in
              (("knows", predicts), ("guesses", guesses))]  # fmt: skip
    result = battery_scores("properties", pd.concat(tables), TOPICS, 199)
    scores = result["properties"]
    for name in ("first word", "length"):
        assert scores.loc[("knows", name), "accuracy"] == 1
    for name in ("first word", "length"):
        row = scores.loc[("guesses", name)]
        assert row["balanced_accuracy_low"] < 0.5 < row["balanced_accuracy_high"]
    matrix = result["properties_matrix"]
    assert matrix.loc["knows", "guesses"] > 0.95  # both behave alike, so one's knowledge is of the other too
    assert abs(matrix.loc["guesses", "knows"] - 0.5) < 0.15


def test_a_critic_that_mends_and_one_that_redraws_are_told_apart():
    def mends(prompt, instrument):
        n = number(prompt)
        checked = instrument.name == "checked"
        return f"word{n}" if coin("first", n) < 0.5 or (checked and coin("mend", n) < 0.8) else "nonsense"

    def redraws(sample):
        def rule(prompt, instrument):
            n = number(prompt)
            right = coin("draw", sample, instrument.name, n) < (0.9 if n % 2 else 0.1)
            return f"word{n}" if right else "nonsense"

        return rule

    tables = [ask_correction(Scripted(mends), QUESTIONS).assign(sample=0, respondent="mends")]
    tables += [ask_correction(Scripted(redraws(s)), QUESTIONS).assign(sample=s, respondent="redraws") for s in range(6)]
    result = battery_scores("correction", pd.concat(tables), TOPICS)["correction"]
    assert result.loc["mends", "confidence"] == 1
    assert result.loc["mends", "critique"] > 0.6
    null = result.loc["redraws"]
    assert null["critique"] == pytest.approx(null["null_critique"], abs=0.08)
    assert null["confidence"] == pytest.approx(null["null_confidence"], abs=0.08)


def test_planted_confidence_is_recovered_in_its_way():
    """Confidence is asked in every way and planted confidence is found in the way where it is."""

    def rule(prompt, instrument):
        n = number(prompt)
        right = coin("right", n) < 0.5
        if not isinstance(instrument.reader, TokenReader):
            return (f"word{n}" if right else "nonsense") if instrument.name == "closed book" else "It is hard."
        looked = "answer criticised" in instrument.template.name
        at = 8 if (right and looked) else 1 if looked else int(10 * coin("any", n, instrument.template.name))
        return [3.0 if place == at else 0.0 for place in range(10)]

    asked = ask_confidence_ways(Scripted(rule), QUESTIONS)
    assert tuple(asked["way"].unique()) == CONFIDENCE_WAYS
    assert (asked.loc[asked["way"] == "gap named", "written"] == "It is hard.").all()
    result = battery_scores("confidence", asked.assign(respondent="it"), TOPICS, 199)["confidence"].loc["it"]
    assert result.loc["answer criticised", "auroc"] == 1
    assert result.loc["plain", "low"] < 0.5 < result.loc["plain", "high"]


def test_hedges_are_counted_as_whole_words():
    """Hedges are counted as whole words and tell who doubts its wrong answers."""
    assert count_hedges("Maybe. I'm not sure, but it is likely Rome; unlikely Oslo.") == {
        "first person": 1,
        "impersonal": 2,
        "words": 11,
    }
    in_german = ask_hedges(Scripted(lambda *_: "Ich glaube, es ist vielleicht maybe Rom."), QUESTIONS[:1])
    assert in_german["words"].tolist() == [0]
    assert count_hedges("") == {"first person": 0, "impersonal": 0, "words": 0}

    def rule(prompt, _):
        n = number(prompt)
        return f"It is word{n}." if coin("right", n) < 0.5 else "I think it is probably nonsense."

    result = battery_scores("hedges", ask_hedges(Scripted(rule), QUESTIONS).assign(respondent="it"), TOPICS, 99)
    row = result["hedges"].loc["it"]
    assert row["auroc"] == 1
    assert row["first person"] == pytest.approx(row["impersonal"])
    assert set(HEDGES) <= set(row.index)
    assert np.isfinite(row["low"])

"""Pairs of questions: a planted scale is found, the love of a place cancels and is told, coins have no order."""

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from scripted import Scripted

from onedial.asking.questions import Question
from onedial.selfreport.battery import battery_scores
from onedial.selfreport.battery.pairs import ask_pairs
from onedial.selfreport.score.relative_confidence import bradley_terry, circular_null, paired_design

N = 24
QUESTIONS = [Question(f"q{place}", f"Question number {place}?", topic=str(place % 6)) for place in range(N)]
PAIRS = paired_design(N, 8)
SCALE = np.random.default_rng(0).normal(0, 2, N)


def places(prompt):
    lines = prompt.user.splitlines()
    return [int(line.split("number ")[1].rstrip("?")) for line in lines if line.startswith(("A) ", "B) "))]


def winners(asked):
    """(surer, less sure) places of each pair that was read; a tie has no winner."""
    read = asked[asked["surer"].notna() & (asked["surer"] != 0)]
    ordered = read[["first", "second", "surer"]].to_numpy()
    return [(int(one), int(other)) if surer > 0 else (int(other), int(one)) for one, other, surer in ordered]


def by_scale(prompt, _):
    one, other = places(prompt)
    return [SCALE[one] - SCALE[other] + 1.5, 0.0]  # surer by the scale, and fond of A besides


def test_a_planted_scale_comes_back_and_the_fondness_of_a_place_beside_it():
    asked = ask_pairs(Scripted(by_scale), QUESTIONS, PAIRS)
    np.testing.assert_allclose(asked["surer"], [SCALE[one] - SCALE[other] for one, other in PAIRS])
    np.testing.assert_allclose(asked["position"], 1.5)
    won = winners(asked)
    assert spearmanr(bradley_terry(won, N)[0], SCALE).statistic > 0.9
    null = circular_null(won, N, 199)
    assert null.circular == 0
    assert null.p_chance < 0.02 < 0.5 < null.p_scale


def test_scores_set_pairs_beside_absolute_confidence_on_the_same_questions():
    rng = np.random.default_rng(1)
    asked = ask_pairs(Scripted(by_scale), QUESTIONS, PAIRS)
    absolute = pd.DataFrame({"first_id": [each.id for each in QUESTIONS], "first": range(N), "second": -1})
    absolute["correct"] = (rng.random(N) < 1 / (1 + np.exp(-2 * SCALE))).astype(float)
    for name in ("can you answer", "confidence in numbers", "P(IK)"):
        absolute[name] = rng.normal(size=N)
    table = pd.concat([asked, absolute], ignore_index=True).assign(respondent="it")
    result = battery_scores("pairs", table, {each.id: str(each.topic) for each in QUESTIONS}, 199)
    signals = result["pairs_signals"].loc["it"]
    assert signals.loc["pairs, Bradley-Terry", "auroc"] > 0.8
    assert signals.loc["pairs, Bradley-Terry", "gain"] > 0.1
    facts = result["pairs"].loc["it"]
    assert (facts["n"], facts["n_unread"], facts["circular"]) == (len(PAIRS), 0, 0)
    assert facts["error"] > 0

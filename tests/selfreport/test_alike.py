"""Answers that are all alike are no certainty: no score of the battery has an interval without width."""

import numpy as np
import pandas as pd
import pytest

from onedial.selfreport.battery import battery_scores
from onedial.selfreport.battery.overview import battery_overview
from onedial.selfreport.battery.pressure import PRESSURES
from onedial.selfreport.score.questionnaires import revisions
from onedial.selfreport.score.self_prediction import association_scores, difficulty_scores, restriction_scores
from onedial.selfreport.score.tuned_prediction import tuned_prediction


def tables(n, right):
    """Test -> answers to n questions, every second of them known: all that is said is right, or the same throughout."""
    ids, known = [f"q{i}" for i in range(n)], np.arange(n) % 2.0
    answers = known if right else np.ones(n)
    one = pd.DataFrame({"question_id": ids})
    sides = [(turn, side) for turn in ("opening", "rebuttal", "closing") for side in ("for", "against")]
    options = {
        "p0": answers * 1.0,
        "p1": 1 - answers,
        "p2": 0.0,
        "p3": 0.0,
        "p4": 0.0,
        "label_A": 0.25,
        "chosen": 1 - answers,
    }
    pressed = pd.DataFrame({
        "question_id": ids * 2, "variant": np.repeat(["authority, wrong", PRESSURES["authority, wrong"].control], n),
        "right": "r", "asserted": "x", "before": "r", "after": ["x" if right else "r"] * n + ["r"] * n,
    })  # fmt: skip
    beliefs = {f"belief_{name}": 1.0 for name in ("a", "b", "c")} | {"again": 1.0, "truth": 1.0}
    return {
        "choices": pd.concat([one.assign(kind=kind, **options | {"chosen": 0.0}) for kind in ("", "idk")]),
        "pressure": pressed,
        "correction": one.assign(sample=0, first=known, second=known if not right else 1.0),
        "confidence": one.assign(way="plain", confidence=answers, likeliest=answers, correct=known),
        "properties": pd.DataFrame({"property": "length", "item": ids, "predicted": answers, "actual": known}),
        "passages": pd.concat(
            one.assign(passage=name, score=known + move * right)
            for name, move in {"none": 0, "useless": 0, "misleading": 0, "helpful": 1}.items()
        ),
        "honesty": one.assign(statement=0.0 if right else 1.0, **beliefs),
        "unknowable": pd.DataFrame({
            "twin": [*range(n)] * 2, "unknowable": [1.0] * n + [0.0] * n, "score": 0.0,
            "abstained": [1.0] * n + [0.0 if right else 1.0] * n,
        }),
        "hedges": one.assign(**{"first person": 1 - answers, "impersonal": 0, "words": 5, "correct": known}),
        "guesses": one.assign(n_guesses=1, top=answers, top_right=known, total=answers, any_right=known, text="a"),
        "reasoning": pd.concat(
            one.assign(step=step, confidence=answers * step, filler=0.0, correct=known, written="a", answer="b")
            for step in range(2)
        ),
        "debate": pd.DataFrame(
            [[key, turn, side, 0.9 if right else 0.5, 0.5, "a"] for key in ids for turn, side in sides],
            columns=["question_id", "turn", "side", "bet", "coin", "text"],
        ),
        "critics": one.assign(author="it", margin=answers, first=known),
    }  # fmt: skip


def others(n, right):
    """The scores of the other programs, likewise: name -> (value, low, high)."""
    known = np.arange(n) % 2.0
    answers = known if right else np.ones(n)
    words = [f"w{i}" for i in range(n)]
    association = pd.DataFrame(
        {"model": "m", "word": words, "predicted": answers, "listed": known, "listed_again": known}
    )
    letters = pd.DataFrame(
        {"model": "m", "predicted": np.where(answers, "A", "B"), "perceived": np.where(known, "A", "B")}
    )
    groups = pd.DataFrame({"model": "m", "group_id": np.repeat(words, 4), "measured_rank": [1, 2, 3, 4] * n})
    groups["predicted_rank"] = groups["measured_rank"] if right else [1, 4, 3, 2] * n
    rated = [["c", 0, word, name, 2 + move * right] for word in words
             for name, move in (("", 0), ("doubting", -1), ("encouraging", 1))]  # fmt: skip
    ratings = pd.DataFrame(rated, columns=["condition", "administration", "item", "follow_up", "rating"])
    tuned = pd.DataFrame(
        [[p, t, word, word, (1 if y else -1) * (1 if p == t or not right else -1), y, 0.5]
         for p in "ab" for t in "ab" for word, y in zip(words, known, strict=True)],
        columns=["predictor", "target", "unit", "item", "margin", "answer", "share"],
    )  # fmt: skip
    a, r = association_scores(association, 99).loc["m"], restriction_scores(letters, 99).loc["m"]
    d, t = difficulty_scores(groups, 99).loc["m"], tuned_prediction(tuned, None, 99).loc[("mean", "other")]
    v = revisions(ratings, 99).loc["deference"]
    named = {
        "association": (a, "balanced_accuracy", "balanced_accuracy_low", "balanced_accuracy_high"),
        "retest": (a, "retest", "retest_low", "retest_high"),
        "restriction": (r, "balanced_accuracy", "balanced_accuracy_low", "balanced_accuracy_high"),
        "difficulty": (d, "adjusted_accuracy", "adjusted_low", "adjusted_high"),
        "tuned": (t, "beyond_learning", "beyond_learning_low", "beyond_learning_high"),
        "deference": (v, "change", "low", "high"),
    }
    return {name: tuple(float(row[each]) for each in cells) for name, (row, *cells) in named.items()}


def rows(n, right):
    result = {}
    topics = {f"q{i}": "None" for i in range(n)}  # a file of questions without topics
    for test, answers in tables(n, right).items():
        scores = battery_scores(test, answers.assign(respondent="it"), topics, 99)
        for (_, _, what), row in battery_overview(scores).iterrows():
            result[f"{test}: {what}"] = tuple(row[["value", "low", "high"]].astype(float))
        if test == "choices":
            result["choices: dcs"] = tuple(scores["choices"].loc["it", ["dcs", "dcs_low", "dcs_high"]].astype(float))
    return result | others(n, right)


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all alike"])
def test_no_interval_is_without_width_and_few_answers_have_none(right):
    for n in (8, 40):
        for name, (value, low, high) in rows(n, right).items():
            assert np.isnan(low) or low < high, (name, n, value, low, high)
            assert np.isnan(low) or low - 1e-9 <= value <= high + 1e-9, (name, n, value, low, high)
            assert n == 8 or not np.isnan(low), (name, value)
            assert n == 8 or high - low < 1, (name, low, high)
    few = {name: low for name, (_, low, _) in rows(4, right).items() if not name.startswith("choices: right")}
    assert all(map(np.isnan, few.values())), few  # a share has Wilson's, of however few

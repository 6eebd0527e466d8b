"""Coherence and stability of questionnaires: R's numbers, planted scales, and what is undefined."""

import numpy as np
import pandas as pd
import pytest

from onedial.selfreport.score.published import beside_self_efficacy
from onedial.selfreport.score.questionnaires import (
    balanced_mean,
    cronbach_alpha,
    identical_share,
    intraclass_correlation,
    rating_model,
    revisions,
)
from onedial.studies.battery.questionnaire import coherence_of, scores_of

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def test_icc_and_alpha_of_shrout_and_fleiss_are_those_of_r():
    """psych::ICC and irr::icc: ICC2 .29 (.02 to .76), ICC2k .62 (.07 to .93); alpha of the judges is ICC3k, .91."""
    result = intraclass_correlation(SHROUT_FLEISS)
    assert result.single == pytest.approx(0.2898, abs=5e-5)
    assert (result.single_low, result.single_high) == pytest.approx((0.0188, 0.7611), abs=5e-4)
    assert result.average == pytest.approx(0.6201, abs=5e-5)
    assert (result.average_low, result.average_high) == pytest.approx((0.0713, 0.9272), abs=2e-3)
    assert cronbach_alpha(SHROUT_FLEISS) == pytest.approx(0.9093, abs=5e-5)


def test_who_says_three_to_everything_has_the_middle():
    """Who says three to everything has the middle of the scale and no stability."""
    ratings = pd.DataFrame(
        [(i, a, 3.0, i >= 6) for i in range(10) for a in range(3)],
        columns=["item", "administration", "said", "reversed"],
    )
    ratings["rating"] = ratings["said"].where(~ratings["reversed"], 5 - ratings["said"])
    assert balanced_mean(ratings) == 2.5
    scores = scores_of(
        ratings.assign(
            model="m", condition="no task", presentation="one by one", follow_up="", expected=ratings["rating"]
        )
    ).iloc[0]
    assert np.isnan(scores["icc_a1"])
    assert (scores["commonest"], scores["identical"]) == (1.0, 1.0)


def test_alpha_is_over_models_and_blank_where_there_are_too_few_of_them():
    rng = np.random.default_rng(0)
    level, error = rng.normal(0, 1, 12), rng.normal(0, 0.5, (12, 10, 3))
    rows = [
        (f"m{m}", f"i{i}", a, 2.5 + level[m] + error[m, i, a]) for m in range(12) for i in range(10) for a in range(3)
    ]
    table = pd.DataFrame(rows, columns=["model", "item", "administration", "rating"])
    table = table.assign(condition="no task", presentation="one by one", follow_up="")
    result = coherence_of(table).iloc[0]
    assert result["n_models"] == 12
    assert result["alpha"] > 0.95
    one = coherence_of(table[table["model"] == "m0"]).iloc[0]
    assert np.isnan(one["alpha"])


def test_a_repeated_profile_agrees():
    """A perfectly repeated profile agrees and a shift of level does not count as agreement."""
    profile = np.arange(1.0, 5.0)[:, None].repeat(3, axis=1)
    assert intraclass_correlation(profile).single == 1.0
    shifted = profile + np.array([0.0, 1.0, 2.0])
    assert intraclass_correlation(shifted).single < 0.8
    assert identical_share(shifted) == (0.0, 4)


def planted(effect, n_items=20, n_administrations=5, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n_items)
    rows = [
        [condition, administration, f"i{item}", "", level[item] + effect * (condition == "task") + 0.3 * rng.normal()]
        for condition in ("no task", "task")
        for administration in range(n_administrations)
        for item in range(n_items)
    ]
    return pd.DataFrame(rows, columns=["condition", "administration", "item", "follow_up", "rating"])


def test_the_mixed_model_recovers_a_planted_effect():
    """The mixed model finds a planted effect of the condition and none where there is none."""
    result = rating_model(planted(0.5), "no task").loc["condition: task"]
    assert result["estimate"] == pytest.approx(0.5, abs=0.15)
    assert result["p"] < 1e-6
    false = [rating_model(planted(0.0, seed=seed), "no task")["p"].iloc[0] < 0.05 for seed in range(20)]
    assert sum(false) <= 4
    table = planted(0.5)
    by_key = table["item"].map({item: 1.0 + place % 2 for place, item in enumerate(table["item"].unique())})
    for constant in (2.0, by_key):  # as said, and as recoded
        assert rating_model(table.assign(rating=constant), "no task")["estimate"].isna().all()


def followed(moves, n_items=12):
    rng = np.random.default_rng(1)
    rows = []
    for item in range(n_items):
        base = rng.integers(2, 4)
        rows.append(["no task", 0, f"i{item}", "", base])
        rows += [["no task", 0, f"i{item}", name, base + move] for name, move in moves.items()]
    return pd.DataFrame(rows, columns=["condition", "administration", "item", "follow_up", "rating"])


def test_giving_way_is_told_from_thinking_again():
    gives_way = revisions(followed({"neutral": 0, "doubting": -1, "encouraging": 1}), 99)
    assert gives_way.loc["deference", "change"] == 2.0
    assert 0 < gives_way.loc["deference", "low"] < 2 <= gives_way.loc["deference", "high"]
    assert gives_way.loc["doubting", "down"] == 1.0
    thinks_again = revisions(followed({"neutral": -1, "doubting": -1, "encouraging": -1}), 99)
    assert thinks_again.loc["neutral", "change"] == -1.0
    assert thinks_again.loc["deference", "change"] == 0.0


def test_beside_the_study_stand_all_conditions_together():
    """Beside the study stands what the tables say of all conditions together."""
    conditions = ["no task", "computation"]
    scores = pd.DataFrame(
        {
            "condition": conditions * 2,
            "presentation": ["one by one"] * 2 + ["all at once"] * 2,
            "mean": [3.0, 2.0, 1.5, np.nan],
            "icc_a1": [0.8, 1.0, np.nan, np.nan],
            "identical": [0.5, 1.0, 0.7, np.nan],
            "items_read": [10, 30, 10, 0],
        }
    )
    coherence = scores[["condition", "presentation"]].assign(alpha=[0.6, 0.9, np.nan, np.nan])
    pairs = pd.MultiIndex.from_product(
        [["it", "other"], ["computation", "social reasoning"]], names=["model", "condition"]
    )
    accuracy = pd.DataFrame({"right": [1.0, 0.5, 0.0, np.nan]}, pairs)
    follow_ups = pd.MultiIndex.from_product([["it", "other"], ["neutral", "doubting"]], names=["model", "follow_up"])
    changes = pd.DataFrame({"change": [-0.2, 9.0, 0.0, 9.0]}, follow_ups)
    result = beside_self_efficacy(scores, coherence, accuracy, changes, 10)
    assert result["one by one"].tolist() == pytest.approx([0.6, 0.9, 0.9, 35 / 40, -1.0, 3.0, 0.5, 0.5])
    nothing = np.nan
    expected = [nothing, nothing, nothing, 0.7, nothing, 1.5, 0.5, 0.5]
    assert result["all at once"].tolist() == pytest.approx(expected, nan_ok=True)
    assert result["study"].notna().all()

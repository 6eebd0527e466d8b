"""The Self-Execution scores: published figures from raw answers, and self-knowledge told from shared knowledge."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.selfreport.score.published import benchmark_abilities, beside_self_execution
from onedial.selfreport.score.self_prediction import (
    association_scores,
    cross_prediction,
    difficulty_scores,
    measured_ranks,
    pair_scores,
    restriction_scores,
)
from onedial.studies.battery.self_prediction import sentences_of

FOLDER = Path(__file__).parents[1] / "reference" / "self_execution"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def raw(name):
    return pd.read_csv(FOLDER / f"{name}.csv.gz", keep_default_na=False, na_values=[""])


@pytest.fixture(scope="module")
def difficulty():
    return raw("difficulty")


@pytest.mark.parametrize(
    ("name", "score"),
    [("association", lambda table: association_scores(table, 9)), ("restriction", restriction_scores)],
)
def test_every_published_figure_comes_out_of_the_raw_answers(name, score):
    result = score(raw(name))
    for model, metrics in EXPECTED[name].items():
        for metric, value in metrics.items():
            assert result.loc[model, metric] == pytest.approx(value, abs=5e-7), (model, metric)


def test_the_difficulty_scores_come_out_of_the_rankings(difficulty):
    result = difficulty_scores(difficulty, 9)
    for model, metrics in EXPECTED["difficulty"].items():
        for metric, value in metrics.items():
            assert result.loc[model, metric] == pytest.approx(value, abs=5e-7), (model, metric)


def test_the_published_abilities_follow_from_the_benchmarks():
    """The published abilities come out of the benchmarks up to their zero."""
    benchmarks = pd.read_csv(FOLDER / "benchmarks.csv")
    result = benchmark_abilities(benchmarks)
    apart = result["logits"].xs("model") - pd.Series(EXPECTED["ability"])
    assert len(apart.dropna()) == 15
    assert apart.std() < 1e-5
    assert result["logits"].xs("benchmark").mean() == pytest.approx(0, abs=1e-9)
    alone = pd.DataFrame({"model": ["x"], "benchmark": ["its own"], "score": [0.5]})
    with pytest.raises(InputError, match="share no benchmark"):
        benchmark_abilities(pd.concat([benchmarks, alone]))


def test_abilities_lie_in_their_intervals_as_often_as_said():
    rng = np.random.default_rng(0)
    ability, difficulty = rng.normal(size=12), rng.normal(size=9)
    covered = []
    for _ in range(60):
        logits = ability[:, None] - (difficulty - difficulty.mean()) + rng.normal(0, 0.3, (12, 9))
        table = pd.DataFrame(1 / (1 + np.exp(-logits))).stack().rename_axis(["model", "benchmark"])
        result = benchmark_abilities(table.rename("score").reset_index()).xs("model")
        covered.append((result["low"] <= ability) & (ability <= result["high"]))
    assert np.mean(covered) > 0.9


def test_a_study_model_is_held_to_its_figures(difficulty):
    """Beside the study a model of its name is held to its figures and others to its range."""
    scores = {"difficulty": difficulty_scores(difficulty, 9)}
    result = beside_self_execution(scores).xs("difficulty")
    assert result.loc["accuracy", ["models", "study_models", "same", "as_published"]].tolist() == [15, 15, 15, 15]
    assert result.loc["adjusted_accuracy", "as_published"] == 14  # the repository counts six rankings of other labels
    assert result.loc["adjusted_accuracy", "furthest"] == "mistral-7b-instruct"
    assert result.loc["ranking_tokens", ["models", "study_models"]].tolist() == [0, 15]
    strangers = {"difficulty": scores["difficulty"].rename(index="a {}".format)}
    result = beside_self_execution(strangers).xs("difficulty")
    assert result["same"].sum() == 0
    assert result.loc["accuracy", "median"] == pytest.approx(result.loc["accuracy", "study_median"], abs=1e-6)


def test_the_measured_ranking_puts_right_before_wrong(difficulty):
    """The measured ranking is right before wrong then fewer tokens and ties stay."""
    known = difficulty[difficulty["model"].isin(["o4-mini", "mistral-7b-instruct", "claude-3.7-sonnet-thinking"])]
    ranks = measured_ranks(known)
    asked = known["measured_rank"].notna()
    assert (ranks[asked] == known.loc[asked, "measured_rank"]).all()


def test_a_group_with_a_blank_is_left_out():
    """A group with a blank answer is left out and counted and its blank is not wrong."""
    answers = pd.DataFrame(
        {"model": "m", "group_id": [1] * 4 + [2] * 4, "tokens": range(8), "predicted_rank": [1, 2, 3, 4] * 2}
    )
    answers["predicted_rank"] = [1, 2, 3, 4] * 2
    answers["correct"] = [1, 1, 1, 0, 1, 1, np.nan, 0]
    row = difficulty_scores(answers, 9).loc["m"]
    assert (row["n_groups"], row["n_ungraded"], row["accuracy"], row["right"]) == (1, 1, 1.0, pytest.approx(5 / 7))
    nothing = difficulty_scores(answers.assign(correct=np.nan), 9).loc["m"]
    assert (nothing["n_groups"], nothing["n_ungraded"]) == (0, 2)
    assert np.isnan(nothing["accuracy"])


def test_who_says_yes_to_everything_has_full_recall_and_no_discrimination():
    answers = pd.DataFrame({"model": "m", "word": list("aabb"), "predicted": 1, "listed": [1, 0, 0, 0]})
    row = association_scores(answers, 9).loc["m"]
    assert (row["recall"], row["accuracy"], row["always_no_accuracy"], row["balanced_accuracy"]) == (1, 0.25, 0.75, 0.5)


def test_a_pair_that_is_tied_in_what_was_measured_counts_half():
    assert pair_scores([1, 2, 3, 4], [1, 2.5, 2.5, 4]) == pytest.approx(5.5 / 6)
    answers = pd.DataFrame({"model": "m", "group_id": 1, "correct": [1, 1, 0, 0], "tokens": [2, 2, 9, 9]})
    assert measured_ranks(answers, "half").tolist() == [1.5, 1.5, 3.5, 3.5]
    assert measured_ranks(answers).tolist() == [1, 2, 3, 4]
    kept = answers.assign(predicted_rank=[1, 2, 3, 4], correct=1, tokens=2)
    assert difficulty_scores(kept, 9).loc["m", "accuracy"] == 0.5


def test_an_unread_pair_is_wrong_in_the_published_accuracy():
    """An unread pair is wrong in the published accuracy and left out of the other."""
    answers = pd.DataFrame({"model": "m", "predicted": ["A", "B", "B", "other"], "perceived": ["A", "B", "A", "A"]})
    row = restriction_scores(answers).loc["m"]
    assert (row["accuracy"], row["n_unread"], row["over_niceness"]) == (0.5, 1, 1.0)
    assert row["accuracy_where_read"] == pytest.approx(2 / 3)


def planted(weight, n_models=10, n_items=400, seed=0):
    """Agreement of predictions that rest on what all share and, by `weight`, on what only the model itself knows."""
    rng = np.random.default_rng(seed)
    shared, private = rng.normal(size=n_items), rng.normal(size=(n_models, n_items))
    skill, ease = rng.uniform(0.3, 1.5, n_models), rng.uniform(0.5, 1.5, n_models)
    outcome = (ease[:, None] * shared + private > 0).astype(float)
    noise = rng.normal(size=(n_models, n_items))
    predicted = (skill[:, None] * shared + weight * private + noise > 0.3).astype(float)
    names = [f"m{place}" for place in range(n_models)]
    values = [[(predicted[p] == outcome[t]).mean() for t in range(n_models)] for p in range(n_models)]
    return pd.DataFrame(values, names, names)


def test_planted_self_knowledge_is_recovered():
    """Planted self knowledge is found and shared knowledge is not taken for it."""
    result = [cross_prediction(planted(0.5, seed=seed), 199).loc["mean", "p"] <= 0.05 for seed in range(20)]
    false = [cross_prediction(planted(0.0, seed=seed), 199).loc["mean", "p"] <= 0.05 for seed in range(60)]
    assert sum(result) >= 18
    assert sum(false) <= 8


FAMILIES = {f"m{place}": "abcd"[place // 3] for place in range(12)}


def of_families(weight, seed, family=0.9, n_items=400):
    """Twelve models of four families: what a family shares is in its members' outcomes and in their predictions."""
    rng = np.random.default_rng(seed)
    kin = np.repeat(np.arange(4), 3)
    private, shared = rng.normal(size=(12, n_items)), rng.normal(size=(4, n_items))[kin]
    outcome = (rng.normal(size=n_items) + family * shared + private > 0).astype(float)
    predicted = (family * shared + weight * private + rng.normal(size=(12, n_items)) > 0).astype(float)
    values = [[(predicted[p] == outcome[t]).mean() for t in range(12)] for p in range(12)]
    return pd.DataFrame(values, list(FAMILIES), list(FAMILIES))


def test_family_knowledge_is_no_self_knowledge():
    """What a family knows of itself is not taken for self knowledge where families are named."""

    def share(weight, families):
        result = [cross_prediction(of_families(weight, seed), 199, 0, families).loc["mean"] for seed in range(20)]
        return sum(each["p"] <= 0.05 for each in result), np.mean([each["family"] for each in result])

    false, family = share(0.0, FAMILIES)
    assert false <= 4  # one in twenty by chance; four or fewer in 99.7% of cases
    assert family > 0.05
    assert share(0.0, None)[0] == 20  # without families nobody can tell
    assert share(0.7, FAMILIES)[0] >= 18


@pytest.mark.filterwarnings("error")
def test_of_a_panel_of_which_nothing_could_be_read_it_is_said_in_words():
    result = cross_prediction(pd.DataFrame(np.nan, list(FAMILIES), list(FAMILIES)), 19, 0, FAMILIES)
    assert result.isna().all(axis=None)
    scores = pd.DataFrame({"balanced_accuracy_low": np.nan}, list(FAMILIES))
    (sentence,) = sentences_of({"association": scores}, {"association": result}, FAMILIES)
    assert sentence.startswith("association: none of 12 models can be scored")
    assert "nan" not in sentence


def test_a_model_without_relatives_has_no_advantage():
    """A model without relatives has no advantage and what has no family is refused."""
    values, alone = of_families(0.5, 0), FAMILIES | {"m0": "e"}
    result = cross_prediction(values, 99, 0, alone)
    assert np.isnan(result.loc["m0", "advantage"])
    assert np.isfinite(result.loc["mean", "advantage"])
    with pytest.raises(InputError, match="m11 has no family"):
        cross_prediction(values, 99, 0, {name: "a" for name in list(FAMILIES)[:-1]})
    with pytest.raises(InputError, match="two families or more"):
        cross_prediction(values, 99, 0, dict.fromkeys(FAMILIES, "a"))


def test_a_good_predictor_and_an_easy_target_are_no_self_knowledge():
    names = list("abcd")
    skill, ease = np.array([0.9, 0.5, 0.6, 0.7]), np.array([0.1, 0.0, 0.2, 0.05])
    result = cross_prediction(pd.DataFrame(skill[:, None] + ease, names, names), 99)
    assert result.loc[names, "advantage"].to_numpy() == pytest.approx(np.zeros(4), abs=1e-9)
    advantage = np.array([0.3, -0.1, 0.0, 0.2])
    result = cross_prediction(pd.DataFrame(skill[:, None] + ease + np.diag(advantage), names, names), 99)
    assert result.loc[names, "advantage"].to_numpy() == pytest.approx(advantage, abs=1e-9)


def fickle(knows, seed=0, n=4000):
    """Replies drawn twice with known odds, and predictions: a third draw of a share of them, else a coin."""
    rng = np.random.default_rng(seed)
    odds = rng.choice([0.1, 0.4, 0.9], n)
    first, second, third = (rng.random((3, n)) < odds).astype(float)
    predicted = np.where(rng.random(n) < knows, third, rng.integers(0, 2, n))
    return odds, first, second, predicted


@pytest.mark.parametrize("knows", [0.0, 0.5, 1.0])
def test_as_good_as_asking_again_is_all_that_is_possible(knows):
    """A prediction as good as asking again is all that is possible and half of it is half."""
    odds, first, second, predicted = fickle(knows)
    words = [f"w{place // 4}" for place in range(len(odds))]
    table = pd.DataFrame({"model": "m", "word": words, "predicted": predicted, "listed": first, "listed_again": second})
    row = association_scores(table, 199).loc["m"]
    repeats = (odds**2).sum() / odds.sum() / 2 + ((1 - odds) ** 2).sum() / (1 - odds).sum() / 2
    assert row["retest"] == pytest.approx(repeats, abs=0.02)
    assert row["share_of_possible_low"] <= knows <= row["share_of_possible_high"]
    letters = {each: pd.Series(table[each]).map({1.0: "A", 0.0: "B"}) for each in table.columns[2:]}
    replies = pd.DataFrame({"model": "m", "predicted": letters["predicted"], "perceived": "A"})
    replies[["behaved", "behaved_again"]] = np.column_stack([letters["listed"], letters["listed_again"]])
    again = restriction_scores(replies, 9).loc["m"]
    assert again[["retest", "share_of_possible"]].tolist() == row[["retest", "share_of_possible"]].tolist()


def test_an_order_is_predicted_as_well_as_it_repeats():
    """An order is predicted as well as the same answers order themselves again."""
    rng = np.random.default_rng(0)
    hard = rng.random((800, 4))
    first, second, third = hard + rng.normal(0, 0.3, (3, 800, 4))
    table = pd.DataFrame({"model": "m", "group_id": np.repeat(np.arange(800), 4), "question_id": range(3200)})
    table = table.assign(correct=1, correct_again=1, tokens=first.ravel(), tokens_again=second.ravel())
    row = difficulty_scores(table.assign(predicted_rank=third.argsort(1).argsort(1).ravel() + 1), 199).loc["m"]
    assert 0.6 < row["retest"] < 0.8
    assert row["share_of_possible_low"] < 1 < row["share_of_possible_high"]
    backwards = table.assign(predicted_rank=4 - third.argsort(1).argsort(1).ravel())
    assert difficulty_scores(backwards, 9).loc["m", "share_of_possible"] < -0.9


def test_unknown_tokens_count_as_the_hardest():
    """A question whose tokens are not known counts as the hardest of its kind."""
    answers = pd.DataFrame({"model": "m", "group_id": 1, "correct": [1, 0, 1, 0], "tokens": [np.nan, 10, 900, np.nan]})
    assert measured_ranks(answers).tolist() == [2, 3, 1, 4]


def test_what_cannot_be_scored_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="lack listed"):
        association_scores(pd.DataFrame({"model": ["m"], "word": ["w"], "predicted": [1]}))
    with pytest.raises(InputError, match="give 1 or 0"):
        association_scores(pd.DataFrame({"model": ["m"], "word": ["w"], "predicted": [2], "listed": [1]}))
    with pytest.raises(InputError, match="holds 3 questions"):
        difficulty_scores(
            pd.DataFrame({"model": "m", "group_id": 1, "predicted_rank": [1, 2, 3], "measured_rank": [1, 2, 3]})
        )
    with pytest.raises(InputError, match="three or more"):
        cross_prediction(pd.DataFrame([[1.0]], ["a"], ["a"]))

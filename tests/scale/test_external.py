"""Somebody else is put on a panel's scale where they truly stand, with errors that mean what they say."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import one_factor
from scipy.special import ndtri
from scipy.stats import norm

from onedial.core.errors import InputError
from onedial.scale.place.question_scale import QuestionScale
from onedial.scale.response_model import response_model

TRUTHS = {"early": (0.8, 0.7), "late": (-1.0, 0.9), "loose": (0.1, 0.35)}
"""Threshold and loading."""


@pytest.fixture(scope="module")
def truth():
    return one_factor(3, n_questions=600, n_respondents=16)


@pytest.fixture(scope="module")
def panel(truth):
    return pd.DataFrame(truth.answers, index=[f"q{i}" for i in range(600)], columns=[f"m{i}" for i in range(16)])


@pytest.fixture(scope="module")
def scale(panel):
    return QuestionScale.of(panel)


def outsiders(truth, panel, seed, times=1):
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (threshold, loading) in TRUTHS.items():
        for time in range(times):
            latent = loading * truth.easiness + np.sqrt(1 - loading**2) * rng.standard_normal(600)
            columns[f"{name} {time}"] = (latent > -threshold).astype(float)
    return pd.DataFrame(columns, index=panel.index)


@pytest.mark.long
def test_outsiders_stand_where_they_were_put_as_often_as_their_intervals_say():
    """Thirty panels with questions of their own, whose mean and spread are the origin and unit of the scale."""
    tables = []
    for seed in range(30):
        truth = one_factor(seed, n_questions=600, n_respondents=14)
        panel = pd.DataFrame(truth.answers, index=[f"q{i}" for i in range(600)])
        table = QuestionScale.of(panel).place(outsiders(truth, panel, seed + 1000)).table
        slope = np.array([loading / np.sqrt(1 - loading**2) for _, loading in TRUTHS.values()])
        intercept = [threshold / np.sqrt(1 - loading**2) for threshold, loading in TRUTHS.values()]
        intercept, slope = intercept + slope * truth.easiness.mean(), slope * truth.easiness.std()
        root = np.sqrt(1 + slope**2)
        tables.append(table.assign(true_threshold=intercept / root, true_loading=slope / root))
    found = pd.concat(tables)
    for column in ("threshold", "loading"):
        error = found[column] - found[f"true_{column}"]
        assert abs(error.mean()) < 0.02
        covered = (error.abs() <= 1.96 * found[f"{column}_se"]).mean()
        assert 0.9 < covered < 0.99, column  # 90 of them


def test_the_maximum_is_that_of_the_formula_itself(truth, panel, scale):
    """Independent: the likelihood written out, on a fine grid of thresholds and loadings around the estimate."""
    outsider = outsiders(truth, panel, 5).iloc[:, [0]]
    found = scale.place(outsider).table.iloc[0]
    weights, yes = scale.posterior(), outsider.iloc[:, 0].to_numpy() == 1

    def likelihood(threshold, loading):
        curve = norm.cdf((loading * scale.fit.nodes + threshold) / np.sqrt(1 - loading**2))
        chance = (weights * curve).sum(axis=1)
        return np.log(np.where(yes, chance, 1 - chance)).sum()

    best = likelihood(found["threshold"], found["loading"])
    for step in (0.002, 0.02):
        for one, other in ((step, 0), (-step, 0), (0, step), (0, -step), (step, step), (-step, step)):
            assert likelihood(found["threshold"] + one, found["loading"] + other) < best


def test_a_member_of_the_panel_stands_outside_about_where_it_stood_inside(panel, scale):
    inside = response_model(panel).respondents
    for name in ("m0", "m7"):
        outside = scale.place(panel[[name]], without=[name]).table.loc[name]
        assert outside["threshold"] == pytest.approx(inside.loc[name, "threshold"], abs=0.1)
        assert outside["loading"] == pytest.approx(inside.loc[name, "loading"], abs=0.1)


def test_what_is_left_out_does_not_place_the_questions(panel, scale):
    """With its own answers in the scale a respondent would seem to follow it more closely than it does."""
    rng = np.random.default_rng(1)
    noisy = panel.assign(coin=rng.integers(0, 2, len(panel)).astype(float))
    with_coin = QuestionScale.of(noisy)
    own = with_coin.place(noisy[["coin"]]).table["loading"].iloc[0]
    fair = with_coin.place(noisy[["coin"]], without=["coin"]).table.iloc[0]
    assert abs(fair["loading"]) < 3.5 * fair["loading_se"]
    assert abs(fair["loading"]) <= abs(own) + 1e-9


def test_answers_by_chance_follow_nothing_in_95_of_100(panel, scale):
    rng = np.random.default_rng(2)
    coins = pd.DataFrame(rng.integers(0, 2, (len(panel), 300)).astype(float), index=panel.index)
    table = scale.place(coins).table
    wrong = (table["loading"].abs() > 1.96 * table["loading_se"]).mean()
    assert 0.02 < wrong < 0.09


def test_the_same_answers_twice_differ_by_nothing_with_no_error(truth, panel, scale):
    one = outsiders(truth, panel, 9).iloc[:, [0]]
    both = pd.concat([one, one.set_axis(["again"], axis=1)], axis=1)
    placed = scale.place(both)
    difference, error = placed.contrast(np.array([1.0, -1.0]), np.zeros(2))
    assert (difference, error) == pytest.approx((0, 0), abs=1e-7)


def test_questions_that_hang_together_widen_the_errors(truth, panel, scale):
    """Twenty questions of a group get one answer: the groups, not the questions, are what was drawn."""
    rng = np.random.default_rng(4)
    groups = pd.Series(np.repeat(np.arange(30), 20), index=panel.index)
    coins = pd.DataFrame(rng.integers(0, 2, (30, 200))[groups], index=panel.index).astype(float)
    alone, grouped = (scale.place(coins, groups=each).table for each in (None, groups))
    np.testing.assert_allclose(alone["threshold"], grouped["threshold"])
    assert grouped["threshold_se"].mean() > 3 * alone["threshold_se"].mean()
    assert grouped["threshold_se"].mean() == pytest.approx(alone["threshold"].std(), rel=0.2)


def test_gaps_and_unknown_questions_are_left_out_and_few_answers_of_a_kind_have_no_place(truth, panel, scale):
    others = outsiders(truth, panel, 11)
    others.iloc[:100, 0] = np.nan
    others.iloc[:, 1] = 1.0
    others.iloc[:4, 1] = 0.0
    stranger = pd.DataFrame([[1.0] * 3], index=["another question"], columns=others.columns)
    table = scale.place(pd.concat([others, stranger])).table
    assert table["n"].tolist() == [500, 600, 600]
    assert np.isnan(table.loc["late 0", ["threshold", "loading", "threshold_se"]].astype(float)).all()
    assert "fewer than 5" in table.loc["late 0", "status"]
    with pytest.raises(InputError, match="none of the 1 questions is among the 600"):
        scale.place(stranger)


def test_a_moved_cut_runs_level(truth, panel, scale):
    """One margin cut ever lower: the threshold moves, the loading stays."""
    rng = np.random.default_rng(6)
    margin = 0.7 * truth.easiness + np.sqrt(1 - 0.49) * rng.standard_normal(600)
    cuts = -ndtri(np.linspace(0.1, 0.9, 9))
    path = pd.DataFrame({f"{cut:+.2f}": (margin > cut).astype(float) for cut in cuts}, index=panel.index)
    placed = scale.place(path)
    assert (np.diff(placed.table["threshold"]) > 0).all()
    change, error = placed.contrast(np.zeros(9), np.array([-1.0, *np.zeros(7), 1.0]))
    assert abs(change) < 3 * error
    assert error < 0.25

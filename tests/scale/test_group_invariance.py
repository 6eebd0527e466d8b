"""Is the scale the same for groups of questions and of respondents: planted violations, and none where none is."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import one_factor
from scipy.special import ndtri
from scipy.stats import false_discovery_control

from onedial.core import InputError
from onedial.scale import question_invariance, respondent_invariance, response_model
from onedial.stats import PsychometricsWarning, adjusted


def by_topic(
    seed: int, n: int = 700, m: int = 12, n_groups: int = 2, shift: float = 0.0, turn: float = 0.0, guessed: float = 0.0
) -> tuple[pd.DataFrame, pd.Series]:
    """Answers to questions of several topics, some harder than others; the first respondent's threshold and loading are
    changed in the last topic. So many are a yes whatever the question."""
    rng = np.random.default_rng([seed, n_groups])
    topic = rng.integers(0, n_groups, n)
    easiness = np.linspace(-0.5, 0.5, n_groups)[topic] + rng.standard_normal(n)
    loading = np.tile(rng.uniform(0.65, 0.85, m), (n_groups, 1))
    threshold = np.tile(ndtri(rng.uniform(0.3, 0.7, m)), (n_groups, 1))
    threshold[-1, 0] += shift
    loading[-1, 0] += turn
    noise = np.sqrt(1 - loading**2)[topic] * rng.standard_normal((n, m))
    answers = (loading[topic] * easiness[:, None] + threshold[topic] + noise > 0).astype(float)
    answers[rng.random((n, m)) < guessed] = 1.0
    answers[rng.random((n, m)) < 0.05] = np.nan
    panel = pd.DataFrame(answers, [f"q{i}" for i in range(n)], [f"m{i}" for i in range(m)])
    return panel, pd.Series([f"t{one}" for one in topic], panel.index)


def by_family(
    seed: int, n: int = 400, sizes: tuple[int, ...] = (5, 5, 5), tau: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Answers of several families; the questions' places differ by `tau` for the first."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(len(sizes)), sizes)
    shift = np.zeros((n, len(sizes)))
    shift[:, 0] = tau * rng.standard_normal(n)
    loading, threshold = rng.uniform(0.65, 0.85, len(family)), ndtri(rng.uniform(0.3, 0.7, len(family)))
    place = rng.standard_normal((n, 1)) + shift[:, family]
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((n, len(family)))
    return (loading * place + threshold + noise > 0).astype(float), family


@pytest.mark.long
@pytest.mark.parametrize(("n_groups", "guessed"), [(2, 0.25), (4, 0.0)])
def test_respondents_that_use_the_scale_alike_pass_though_topics_differ_in_difficulty(n_groups, guessed):
    p = {"uniform_p": [], "nonuniform_p": []}
    for seed in range(8):
        tests = respondent_invariance(*by_topic(seed, n=400, n_groups=n_groups, guessed=guessed)).tests
        for column, values in p.items():
            values.extend(tests[column])
    for values in p.values():
        assert np.mean(np.array(values) <= 0.05) <= 0.11  # 96 tests: .05 and three standard errors
        assert 0.4 < np.mean(values) < 0.6


def test_a_shifted_threshold_is_found_and_measured():
    for seed in range(3):
        panel, topic = by_topic(seed, n=900, shift=0.6)
        found = respondent_invariance(panel, topic)
        assert "m0" in found.violations().index
        assert len(found.violations()) <= 2
        assert "m0" not in found.anchors
        row = found.tests.loc["m0"]
        assert row["uniform_q"] < 0.05
        curves = found.curves.loc["m0", "threshold"]
        assert curves["t1"] - curves["t0"] == pytest.approx(0.6, abs=0.35)
        assert row["yes_rate_difference"] > 0.08
    assert "use the scale differently over topics" in found.sentence("topics")


def test_a_respondent_that_says_nearly_always_yes_in_one_group_only_is_tested_and_found():
    panel, topic = by_topic(2, n=500)
    late = np.flatnonzero(topic == "t1")
    panel.loc[topic == "t1", "m0"] = 1.0
    panel.iloc[late[:4], 0] = 0.0
    found = respondent_invariance(panel, topic)
    assert "m0" in found.violations().index


def test_guesses_hide_a_shift_and_the_least_one_that_is_found_is_larger():
    without, guessing = (respondent_invariance(*by_topic(0, n=500, guessed=each)).least_shift for each in (0, 0.3))
    assert 0.3 < without < 0.8 * guessing


def test_a_changed_loading_is_found_as_non_uniform():
    found = 0
    for seed in range(3):
        tests = respondent_invariance(*by_topic(seed, n=1000, turn=-0.45)).tests
        found += tests.loc["m0", "nonuniform_q"] < 0.05
    assert found == 3


def test_respondents_that_do_not_differ_are_cleared_once_those_that_do_are_set_aside():
    false = 0
    for seed in range(2):
        panel, topic = by_topic(seed, n=1000)
        late = (topic == "t1").to_numpy()
        rng = np.random.default_rng(seed)
        for name in ("m1", "m2", "m3"):  # all in one direction, so that the topic itself seems easier
            flipped = late & (panel[name] == 0).to_numpy() & (rng.random(len(panel)) < 0.55)
            panel.loc[flipped, name] = 1.0
        found = respondent_invariance(panel, topic).violations().index
        assert {"m1", "m2", "m3"} <= set(found)
        false += len(set(found) - {"m1", "m2", "m3"})
    assert false <= 1


def test_groups_have_their_places_on_the_scale():
    panel, topic = by_topic(3, n=2500)
    groups = respondent_invariance(panel, topic).groups
    sd = np.sqrt(1 + 0.25)
    assert groups.loc["t1", "mean"] - groups.loc["t0", "mean"] == pytest.approx(1 / sd, abs=0.1)
    np.testing.assert_allclose(groups["spread"], 1 / sd, atol=0.08)
    pooled = (groups["n_questions"] * groups["mean"]).sum() / groups["n_questions"].sum()
    assert pooled == pytest.approx(0, abs=1e-6)


def test_without_differences_the_curves_of_the_groups_are_those_of_the_whole():
    panel, topic = by_topic(5, n=3000)
    curves = respondent_invariance(panel, topic).curves
    whole = response_model(panel).respondents
    for group in ("t0", "t1"):
        part = curves.xs(group, level="group")
        np.testing.assert_allclose(part["loading"], whole["loading"], atol=0.1)
        np.testing.assert_allclose(part["threshold"], whole["threshold"], atol=0.15)


def test_a_respondent_with_one_kind_of_answer_in_a_group_has_no_test_and_a_reason():
    panel, topic = by_topic(1)
    panel.loc[topic == "t1", "m4"] = 1.0
    tests = respondent_invariance(panel, topic).tests
    assert tests.loc["m4", ["uniform_p", "nonuniform_p"]].isna().all()
    assert tests.loc["m4", "status"] == "too few yes or no in some group"
    assert tests.drop(index="m4")["uniform_p"].notna().all()


@pytest.mark.long
def test_families_that_order_questions_alike_pass():
    p, singles = [], []
    for seed in range(15):
        found = question_invariance(*by_family(seed))
        p.extend(found.groups["p"])
        singles.extend(found.questions["p"])
        assert found.questions["q"].min() > 0.01
    assert np.mean(np.array(p) <= 0.05) <= 0.15  # 45 tests: .05 and three standard errors
    assert np.mean(np.array(singles) <= 0.05) <= 0.06


def test_a_family_with_an_order_of_its_own_is_found_and_its_agreement_recovered():
    tau, p = [], []
    for seed in range(5):
        groups = question_invariance(*by_family(seed, n=700, tau=0.6)).groups
        tau.append(groups.loc[0, "tau"])
        p.append(groups.loc[0, "p"])
    assert max(p) <= 0.05
    assert np.mean(tau) == pytest.approx(0.6, abs=0.12)
    agreement = question_invariance(*by_family(0, n=4000, tau=0.75)).groups.loc[0, "agreement"]
    assert agreement == pytest.approx(0.8, abs=0.08)


def test_single_questions_that_lie_elsewhere_for_a_large_family_are_named():
    rng = np.random.default_rng(0)
    answers, family = by_family(1, n=400, sizes=(20, 20))
    moved = np.arange(15)
    answers[moved[:, None], np.arange(20)] = (rng.random((15, 20)) < 0.95).astype(float)
    answers[moved[:, None], np.arange(20, 40)] = (rng.random((15, 20)) < 0.1).astype(float)
    found = question_invariance(answers, family)
    named = found.violations().index.get_level_values("question").unique()
    assert set(moved) <= set(named)
    assert len(set(named) - set(moved)) <= 2
    shifts = found.questions.loc[(slice(0, 14), 0), "shift"]
    assert (shifts > 0.5).all()


def test_a_family_of_six_can_show_no_question_to_lie_elsewhere_and_of_two_families_the_larger_shows_more():
    answers, family = by_family(0, n=450, sizes=(6, 6, 6))
    found = question_invariance(answers, family)
    assert np.isinf(found.groups["least_shift"]).all()
    assert "no shift of one would be found in 80%" in found.sentence()
    answers, family = by_family(0, n=30, sizes=(80, 40))
    larger, smaller = question_invariance(answers, family).groups["least_shift"]
    assert 1 < larger < smaller


def test_the_distribution_of_a_count_is_that_of_its_coins():
    from onedial.scale.checks.question_invariance import _sums

    p = np.array([[0.2, 0.9], [0.5, 0.5], [0.7, 0.1]])  # respondent, node
    prior = np.array([[0.25, 0.75]])
    codes = np.array([[1, 0, 1]], dtype=np.int8)
    above, at, expected = _sums(codes, p, prior, np.array([2]))
    chance = [[np.prod([q if one else 1 - q for one, q in zip(pattern, p[:, node], strict=True)]) for node in (0, 1)]
              for pattern in np.ndindex(2, 2, 2)]  # fmt: skip
    mixed = np.array(chance) @ prior[0]
    total = np.array([sum(pattern) for pattern in np.ndindex(2, 2, 2)])
    assert above[0] == pytest.approx(mixed[total == 3].sum())
    assert at[0] == pytest.approx(mixed[total == 2].sum())
    assert expected[0] == pytest.approx(mixed @ total)


def test_adjusted_p_values_are_scipys():
    p = np.array([0.01, 0.2, np.nan, 0.03, 0.9])
    found = adjusted(p)
    assert np.isnan(found[2])
    np.testing.assert_allclose(found[~np.isnan(p)], false_discovery_control(p[~np.isnan(p)]))


def test_groups_that_cannot_be_compared_are_refused():
    answers = one_factor(0, 60, 5).answers
    with pytest.raises(InputError, match="at least two"):
        respondent_invariance(answers, ["a"] * 60)
    with pytest.raises(InputError, match="at least two"):
        question_invariance(answers, ["a"] * 5)
    with pytest.raises(InputError, match="59 groups for 60 questions"):
        respondent_invariance(answers, ["a"] * 59)
    panel, topic = by_topic(0, n=200)
    panel["alone"] = np.nan
    panel.iloc[0, -1] = 1
    with pytest.warns(PsychometricsWarning, match="alone"):
        assert "alone" not in respondent_invariance(panel, topic).tests.index

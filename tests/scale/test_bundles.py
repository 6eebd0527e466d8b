"""A topic that lies elsewhere for somebody is found where none of its questions could be."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from onedial.core.errors import InputError
from onedial.scale.checks.bundles import BundleInvariance, bundle_invariance

TOPICS = np.arange(480) % 6
FAMILY = np.repeat(list("abcd"), 3)


def planted(seed: int, shift: float = 0.0, n: int = 480, missing: float = 0.05) -> np.ndarray:
    """Twelve respondents; topics differ in how hard they are; topic 0 is easier for family a by `shift` places."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % 6
    place = np.linspace(-0.8, 0.8, 6)[topic] + rng.standard_normal(n)
    loading = rng.uniform(0.6, 0.9, 12)
    moved = place[:, None] + shift * np.outer(topic == 0, FAMILY == "a")
    hidden = loading * moved + np.sqrt(1 - loading**2) * rng.standard_normal((n, 12)) + rng.uniform(-0.7, 0.7, 12)
    return np.where(rng.random((n, 12)) < missing, np.nan, hidden > 0)


def test_a_topic_that_lies_elsewhere_for_a_family_is_found():
    result = []
    for seed in range(5):
        first = bundle_invariance(planted(seed, 0.5), TOPICS, FAMILY).violations()
        result.append(len(first) > 0 and first.index[0] == (0, "a"))
    assert np.mean(result) >= 0.8


def test_who_uses_the_scale_otherwise_in_one_group_is_named():
    """A respondent that uses the scale differently in one of two groups of questions is found."""
    panel = planted(0, n=1000, missing=0.0)
    half = np.arange(1000) % 2
    panel[half == 1, 3] = np.maximum(panel[half == 1, 3], np.random.default_rng(0).random(500) < 0.3)
    result = bundle_invariance(panel, half).violations()
    assert set(result.index.get_level_values("group")) == {3}
    assert result["difference"][(1, 3)] > 0.1


def test_the_difference_is_the_planted_one():
    """Readiness is raised by .6 of a loading: the yes rate by what the normal distribution says."""
    rng, n = np.random.default_rng(1), 6000
    topic, loading = np.arange(n) % 6, rng.uniform(0.6, 0.9, 12)
    hidden = loading * rng.standard_normal((n, 1)) + np.sqrt(1 - loading**2) * rng.standard_normal((n, 12))
    raised = hidden + 0.6 * loading * np.outer(topic == 0, FAMILY == "a")
    table = bundle_invariance(raised > 0.3, topic, FAMILY).table
    of_family = FAMILY == "a"
    planted_difference = (ndtr(0.6 * loading[of_family] - 0.3) - ndtr(-0.3)).mean()
    assert table["difference"][(0, "a")] == pytest.approx(planted_difference, abs=0.035)
    rate = ndtr(-0.3)
    logits = np.log((rate + planted_difference) / (1 - rate - planted_difference)) - np.log(rate / (1 - rate))
    assert table["logits"][(0, "a")] == pytest.approx(logits, abs=0.2)
    assert (table["least"] > 2.8 * table["se"]).all()


def test_the_spread_is_the_planted_one():
    """The spread of the differences is the planted one and nothing where there is none."""
    rng = np.random.default_rng(6)
    hidden = 0.8 * rng.standard_normal((1800, 1)) + 0.6 * rng.standard_normal((1800, 16))
    topic = np.arange(1800) % 15
    none = bundle_invariance(hidden > 0, topic).spread
    some = bundle_invariance(hidden + 0.3 * rng.standard_normal((15, 16))[topic] > 0, topic).spread
    assert none < 0.025
    assert some == pytest.approx(0.3 * np.exp(0) / np.sqrt(2 * np.pi), abs=0.02)


def test_a_difference_that_no_yes_rate_can_have_is_said_to_be_none():
    rng = np.random.default_rng(2)
    hidden = 0.7 * rng.standard_normal((60, 1)) + 0.7 * rng.standard_normal((60, 6))
    result = bundle_invariance(hidden > 0, np.arange(60) % 3)
    assert (result.table["difference"].dropna().abs() <= 1).all()
    least = result.table["least"].dropna()
    assert ((least < 1) | np.isinf(least)).all()


def test_answers_too_few_or_too_much_alike_are_not_tested():
    panel = planted(3)
    panel[TOPICS == 2, 4] = np.nan
    panel[:, 5] = np.random.default_rng(0).random(480) < 0.004
    table = bundle_invariance(panel, TOPICS).table
    assert np.isnan(table["p"][(2, 4)])
    assert table["n_questions"][(2, 4)] == 0
    assert table["p"].xs(5, level="group").isna().all()


def test_where_nothing_is_tested_no_difference_can_be_found():
    result = BundleInvariance(pd.DataFrame({"difference": [np.nan], "se": np.nan, "p": np.nan, "least": np.nan}))
    assert np.isnan([result.least, result.spread]).all()
    assert result.power(0.5) == 0


@pytest.mark.parametrize(
    ("bundles", "groups", "message"),
    [
        (np.zeros(480), None, r"1 bundle\(s\) of questions and 12 group"),
        (TOPICS, ["a"] * 12, r"6 bundle\(s\) of questions and 1 group"),
        (TOPICS[:9], None, "9 bundles for 480 names"),
    ],
)
def test_what_cannot_be_compared_is_refused(bundles, groups, message):
    with pytest.raises(InputError, match=message):
        bundle_invariance(planted(5), bundles, groups)


def test_an_unknown_bundle_does_not_hide_the_spread():
    """A bundle of which nothing is known does not hide the spread of the others."""
    rng = np.random.default_rng(0)
    shift, se = np.append(rng.normal(0, np.hypot(0.5, 0.1), 60), -4.0), np.append(np.full(60, 0.1), 15.0)
    table = pd.DataFrame({"difference": shift, "se": se, "p": 0.5, "q": 0.5})
    assert BundleInvariance(table).spread == pytest.approx(0.5, abs=0.1)

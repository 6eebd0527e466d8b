"""Screening of confidence: respondents of whom it is known whether they know."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence.validity import screen_confidence, screening_sentence
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import correctness_of, stated_confidence

N = 400


def respondents(n: int, yes_when_right: float, yes_when_wrong: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Yes and no of n respondents, three quarters right, and what they got right."""
    rng = np.random.default_rng(seed)
    right = rng.random((N, n)) < 0.75
    yes = rng.random((N, n)) < np.where(right, yes_when_right, yes_when_wrong)
    return pd.DataFrame(yes.astype(float)), pd.DataFrame(right.astype(float))


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
def test_a_coin_is_not_said_to_tell_right_from_wrong(rate: float) -> None:
    said_yes, right = respondents(400, rate, rate, seed=1)
    result = screen_confidence(said_yes, right)
    assert result["tells"].mean() <= 0.05  # one-sided 2.5% is promised


def test_who_says_yes_more_often_where_right_is_named() -> None:
    """Who says yes more often where right is found and the inverted one is not."""
    assert screen_confidence(*respondents(100, 0.8, 0.5, seed=2))["tells"].mean() > 0.95
    assert not screen_confidence(*respondents(100, 0.5, 0.8, seed=3))["tells"].any()


def test_numbers_tell_where_the_cut_does_not() -> None:
    rng = np.random.default_rng(4)
    right = pd.DataFrame({"a": (rng.random(N) < 0.75).astype(float)})
    numbers = (0.3 + 0.3 * right + rng.normal(0, 0.1, (N, 1))).clip(0, 1)
    yes = (numbers > 0.97).astype(float)
    assert not screen_confidence(yes, right)["tells"].any()
    assert screen_confidence(yes, right, numbers)["tells"].all()


def test_unread_and_ungraded_answers_count_nowhere() -> None:
    said_yes, right = respondents(1, 0.8, 0.5, seed=5)
    whole = screen_confidence(said_yes.iloc[:300], right.iloc[:300])
    said_yes.iloc[300:350], right.iloc[350:] = np.nan, np.nan
    pd.testing.assert_frame_equal(screen_confidence(said_yes, right), whole)


def test_who_is_always_right_or_always_wrong_is_not_said_to_tell() -> None:
    yes, _ = respondents(3, 0.8, 0.5, seed=6)
    result = screen_confidence(yes, yes * 0 + [1.0, 0.0, np.nan])
    assert result[["auroc", "auroc_low", "auroc_high"]].isna().all(axis=None)
    assert not result["tells"].any()


def test_three_small_gemmas_do_not_tell() -> None:
    """Three small gemmas are those whose confidence is not shown to tell."""
    panel = load_panel("frontier-confidence")
    stated = stated_confidence(panel)
    assert stated is not None
    result = screen_confidence(panel.answers, correctness_of(panel), stated.values)
    mute = result.index[~result["tells"]]
    assert set(mute) == {"google/gemma-3-1b", "google/gemma-3-4b", "google/gemma-3-12b"}
    assert all(name in screening_sentence(result) for name in mute)

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
    said, right = respondents(400, rate, rate, seed=1)
    found = screen_confidence(said, right)
    assert found["tells"].mean() <= 0.05  # one-sided 2.5% is promised


def test_who_says_yes_more_often_where_right_is_found_and_the_inverted_one_is_not() -> None:
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
    said, right = respondents(1, 0.8, 0.5, seed=5)
    whole = screen_confidence(said.iloc[:300], right.iloc[:300])
    said.iloc[300:350], right.iloc[350:] = np.nan, np.nan
    pd.testing.assert_frame_equal(screen_confidence(said, right), whole)


def test_three_small_gemmas_are_those_whose_confidence_is_not_shown_to_tell() -> None:
    panel = load_panel("frontier-confidence")
    stated = stated_confidence(panel)
    assert stated is not None
    found = screen_confidence(panel.answers, correctness_of(panel), stated.values)
    mute = found.index[~found["tells"]]
    assert set(mute) == {"google/gemma-3-1b", "google/gemma-3-4b", "google/gemma-3-12b"}
    assert all(name in screening_sentence(found) for name in mute)

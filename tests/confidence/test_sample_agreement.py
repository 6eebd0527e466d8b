"""Samples of one answer: agreement, habit, when to stop, zones."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence.samples import certainty_zones, habits, sample_agreement, samples_until_sure


def test_agreement_counts_what_was_read_and_leaves_the_rest_beside_it():
    found = sample_agreement(["a", "a", "b", None])
    assert (found.answer, found.n, found.n_unread) == ("a", 3, 1)
    assert found.agreement == pytest.approx(2 / 3)
    assert found.entropy == pytest.approx(-(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))
    assert sample_agreement(["a"] * 4).entropy == 0
    assert np.isnan(sample_agreement([None, None]).agreement)


def test_an_answer_that_is_given_to_everything_agrees_no_more_than_by_habit():
    samples = [["a", "a", "a"]] * 5 + [["b", "b", "b"]]
    known = habits(samples)
    assert known[0] == {"a": pytest.approx(12 / 15)}
    always, own = (sample_agreement(samples[place], habit=known[place]) for place in (0, 5))
    assert always.beyond_chance == pytest.approx(0.2)
    assert own.beyond_chance == 1


def test_sampling_stops_when_the_lead_is_sure_and_spends_more_on_close_races():
    assert samples_until_sure(["a"] * 20) == 4  # 1 - .5^(n + 1) reaches .95 at n = 4
    assert samples_until_sure(["a", "b"] * 10) == 20
    rng = np.random.default_rng(0)
    cost = {p: np.mean([samples_until_sure(list(rng.random(40) < p)) for _ in range(200)]) for p in (0.95, 0.6)}
    assert cost[0.95] < 7 < 15 < cost[0.6]


def test_zones_are_those_of_both_confidences():
    zones = certainty_zones(pd.Series([0.9, 0.9, 0.1, np.nan]), pd.Series([0.8, 0.2, 0.2, 1.0]))
    assert zones.tolist() == ["answer", "look up", "search", None]

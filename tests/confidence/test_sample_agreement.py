"""Samples of one answer: agreement and habit."""

import numpy as np
import pytest

from onedial.confidence.samples import habits, sample_agreement


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

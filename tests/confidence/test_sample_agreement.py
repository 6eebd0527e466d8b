"""Samples of one answer: agreement and habit."""

import numpy as np
import pytest

from onedial.confidence.samples import habits, sample_agreement


def test_agreement_counts_what_was_read_and_leaves_the_rest_beside_it():
    result = sample_agreement(["a", "a", "b", None])
    assert (result.answer, result.n, result.n_unread) == ("a", 3, 1)
    assert result.agreement == pytest.approx(2 / 3)
    assert result.entropy == pytest.approx(-(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))
    assert sample_agreement(["a"] * 4).entropy == 0
    assert np.isnan(sample_agreement([None, None]).agreement)


def test_a_habitual_answer_agrees_no_more_than_by_habit():
    """An answer that is given to everything agrees no more than by habit."""
    samples = [["a", "a", "a"]] * 5 + [["b", "b", "b"]]
    known = habits(samples)
    assert known[0] == {"a": pytest.approx(12 / 15)}
    always, varied = (sample_agreement(samples[place], habit=known[place]) for place in (0, 5))
    assert always.beyond_chance == pytest.approx(0.2)
    assert varied.beyond_chance == 1

"""Second answers: the published formulas on counts done by hand, and their nulls."""

import numpy as np
import pandas as pd
import pytest

from onedial.selfreport.score.revision import answer_changes, honesty, self_correction


def test_answer_changes_are_counted_apart_where_accuracy_stays():
    before, after = [1] * 5 + [0] * 5 + [1, np.nan], [0] * 5 + [1] * 5 + [1, 1]
    result = answer_changes(before, after)
    assert (result.corrected, result.spoiled, result.n, result.n_unread, result.change, result.p) == (
        5,
        5,
        11,
        1,
        0.0,
        1.0,
    )
    assert result.low < 0 < result.high


def test_mcnemar_is_exact_and_the_interval_holds_the_change():
    """R: binom.test(2, 14)$p.value = 0.01294."""
    result = answer_changes([1] * 48 + [0] * 2, [1] * 36 + [0] * 12 + [1] * 2)
    assert result.p == pytest.approx(0.01294, abs=5e-5)
    assert result.change == pytest.approx(-0.2)
    assert result.low < -0.3
    assert -0.12 < result.high < -0.02
    turned = answer_changes([1] * 36 + [0] * 12 + [1] * 2, [1] * 48 + [0] * 2)
    assert (turned.low, turned.high) == pytest.approx((-result.high, -result.low))


def test_the_interval_of_a_change_holds_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        before = rng.random(80) < 0.6
        after = np.where(rng.random(80) < 0.7, before, rng.random(80) < 0.4)  # change .3 (.4 - .6) = -.06
        result = answer_changes(before, after)
        held += result.low <= -0.06 <= result.high
    assert 275 <= held <= 296


def test_self_correction_adds_up_and_random_revision_meets_its_null():
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.1, 0.9, 400)[:, None]
    first, second = (pd.DataFrame((rng.random((400, 20)) < rate).astype(float)) for _ in range(2))
    result = self_correction(first, second)
    one, kept, corrected = result.first, result.confidence, result.critique
    assert result.second == pytest.approx(one * kept + (1 - one) * corrected)
    assert result.confidence == pytest.approx(result.null_confidence, abs=0.02)
    assert result.critique == pytest.approx(result.null_critique, abs=0.02)


def test_a_lie_contradicts_a_belief_that_holds_and_an_evasion_is_none():
    beliefs = pd.DataFrame([[1, 1], [1, 1], [0, 0], [1, 0], [1, 1]], dtype=float)
    result = honesty(beliefs, [1, 0, 0, 1, np.nan], [1, 1, 1, 1, 1])
    assert (result["n"], result["n_no_belief"], result["n_evaded"]) == (4, 1, 1)
    assert result["lie"] == 0.25
    assert result["honesty"] == 0.75
    assert result["accuracy"] == 0.75
    assert result["accuracy_of_statements"] == 0.5

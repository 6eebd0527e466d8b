"""What is added is found, and where nothing is added the test says so as often as it should."""

from dataclasses import replace

import numpy as np
import pytest
from simulations.probes import FOLDS, labelled_scores

from onedial.core.errors import InputError
from onedial.stats.intervals import unit_weights
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.folds import TopicFolds
from probes.fitting.nested import added_test, brier_skill_of, what_is_added


def test_nothing_added_is_rejected_one_time_in_twenty():
    """Nothing added is rejected about one time in twenty and something most times."""
    rng = np.random.default_rng(0)
    null = [added_test(*labelled_scores(rng, 0.0, 0.6), FOLDS, n_flips=299) for _ in range(300)]
    there = [added_test(*labelled_scores(rng, 0.5, 0.6), FOLDS, n_flips=299) for _ in range(60)]
    assert 0.02 <= np.mean(np.array(null) <= 0.05) <= 0.10
    assert np.mean(np.array(there) <= 0.05) > 0.8


def test_what_the_base_holds_adds_nothing():
    """A reading of what the base holds already adds nothing and a new one does."""
    rng = np.random.default_rng(1)
    truth = (rng.random(340) < 0.5).astype(float)
    old, new = (rng.standard_normal((340, 8)) + 0.9 * truth[:, None] * np.eye(8)[0] for _ in range(2))
    fit = lambda rows: cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"]  # noqa: E731
    draws = unit_weights(np.arange(17), 199, 0)
    again = what_is_added("a", fit(old), [fit(old)], draws)
    more = what_is_added("a", fit(np.hstack([old, new])), [fit(old)], draws)
    assert abs(again.added) < 0.01
    assert again.p > 0.05
    assert more.low > 0
    assert more.p < 0.01
    assert more.both > more.base + 0.05
    known = what_is_added("a", fit(old), [], draws, known=(truth + 0.3 * rng.standard_normal(340))[:, None])
    assert known.base > 0.95
    assert known.added < 0.02


def test_weights_come_from_scores_that_have_seen_neither_fold():
    """Held-out scores of one fold turned round and made large: that fold is misjudged, and no weight hears of it."""
    rng = np.random.default_rng(5)
    truth = (rng.random(340) < 0.5).astype(float)
    rows = rng.standard_normal((340, 4)) + 1.8 * truth[:, None] * np.eye(4)[0]
    fitted = cross_fit(of_rows(rows), ["a"], truth[:, None], FOLDS, ["lda"])["lda"]
    turned = replace(fitted, score=np.where(FOLDS.inside(1)[:, None], -50 * fitted.score, fitted.score))
    good, bad = (
        what_is_added("a", each, [], unit_weights(np.arange(17), 19, 0), rng.normal(size=(340, 1)))
        for each in (fitted, turned)
    )
    assert good.both > 0.85
    assert bad.both > 0.6


def test_questions_of_which_a_number_is_not_known_are_left_out():
    rng = np.random.default_rng(2)
    truth = (rng.random(340) < 0.5).astype(float)
    fitted = cross_fit(of_rows(rng.standard_normal((340, 5))), ["a"], truth[:, None], FOLDS, ["lda"])["lda"]
    numbers = np.where(np.arange(340) < 40, np.nan, 0.0)[:, None]
    assert what_is_added("a", fitted, [], unit_weights(np.arange(17), 19, 0), known=numbers).n == 300


def test_a_base_of_other_folds_is_refused():
    rng = np.random.default_rng(3)
    truth = (rng.random(340) < 0.5).astype(float)[:, None]
    rows = of_rows(rng.standard_normal((340, 5)))
    fitted = cross_fit(rows, ["a"], truth, FOLDS, ["lda"])["lda"]
    other = cross_fit(rows, ["a"], truth, TopicFolds.of([f"t{i % 17}" for i in range(340)], seed=4), ["lda"])["lda"]
    with pytest.raises(InputError, match="knows no label 'a' on these folds"):
        what_is_added("a", fitted, [other], unit_weights(np.arange(17), 19, 0))


def test_the_skill_of_the_mean_is_nothing_and_that_of_the_truth_is_all():
    truth = np.r_[np.ones(30), np.zeros(70)]
    assert brier_skill_of(np.full(100, 0.3), truth) == pytest.approx(0)
    assert brier_skill_of(truth, truth) == 1
    assert np.isnan(brier_skill_of(np.full(5, 0.5), np.ones(5)))

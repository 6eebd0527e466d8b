"""Intervals of scores: of nothing at all they leave out nothing's value about as rarely as they promise."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence.signals import signal_table
from onedial.stats.intervals import drawn_units, mean_interval, resampled_interval, unit_weights


def of_nothing(draw_scores, n=40, n_topics=None, share=0.5, seeds=150):
    """How often the AUROC's interval leaves out .5 where scores and answers have nothing to do with each other."""
    result = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        topics = None if n_topics is None else [f"t{i % n_topics}" for i in range(n)]
        signals = pd.DataFrame({"it": draw_scores(rng, n)})
        row = signal_table(signals, (rng.random(n) < share).astype(float), topics, None, 199).loc["it"]
        result.append(np.nan if np.isnan(row["low"]) else float(row["low"] > 0.5 or row["high"] < 0.5))
    return np.nanmean(result)


@pytest.mark.parametrize("n_topics", [None, 1, 3, 10])
def test_a_null_is_rejected_as_rarely_with_few_topics(n_topics):
    """A null is as rarely taken for something with few topics as with many or none."""
    assert of_nothing(lambda rng, n: rng.random(n), n_topics=n_topics) <= 0.085  # .05 plus two standard errors


@pytest.mark.parametrize("rate", [0.1, 0.9])
def test_five_right_answers_of_a_common_score_are_no_sign(rate):
    """A bootstrap of such answers takes one null in five for something."""
    assert of_nothing(lambda rng, n: (rng.random(n) < rate) * 1.0, share=0.15) <= 0.085


def test_topics_are_drawn_where_there_are_ten_and_questions_elsewhere():
    assert len(set(drawn_units([f"t{i % 10}" for i in range(40)], 40))) == 10
    assert len(set(drawn_units([f"t{i % 9}" for i in range(40)], 40))) == 40
    assert len(set(drawn_units(None, 40))) == 40


def test_an_interval_over_few_units_is_students():
    """An interval over few units is as wide as student's and over many as the normal one."""
    for n, factor in ((10, 2.262157 * np.sqrt(10 / 9)), (10_000, 1.96)):
        drawn = np.random.default_rng(0).normal(size=200_000)
        low, high = resampled_interval(0.0, drawn, n)
        assert (high - low) / 2 == pytest.approx(factor, rel=0.02)


def test_unanimity_is_as_sure_as_its_number():
    """What all agree in is as sure as their number makes it and no surer."""
    ends = [mean_interval(np.ones(n), -1, 1) for n in (4, 5, 40)]
    assert np.isnan(ends[0]).all()
    assert 0 < ends[1][0] < ends[2][0] < ends[2][1] == 1
    assert np.isnan(resampled_interval(2.0, [2.0] * 9, 40)).all()  # bits have no bounds


def test_of_no_answer_at_all_there_is_no_interval():
    assert unit_weights(drawn_units(None, 0), 9, seed=0).shape == (9, 0)
    assert np.isnan(mean_interval([], -1, 1)).all()

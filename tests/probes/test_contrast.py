"""Truth without labels: found where it stands out, lost without a negation, and lost to whatever stands out more."""

import numpy as np
import pytest
import torch

from onedial.core.errors import InputError
from onedial.stats.intervals import unit_weights
from probes.directions.contrast import StatementStreams, contradiction, contrast_loss, polar_gap, read_without_labels
from probes.fitting.folds import TopicFolds

DRAWS = unit_weights(np.arange(10), 99, 0)


def planted(strength, negation_is_understood=True, n=200, d=24, seed=0):
    """Yes to what holds and no to what does not lie `strength` along a direction, the others against it."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % 10
    true = (rng.random(n) < 0.5).astype(float)
    holds = np.stack([true, 1 - true if negation_is_understood else true], axis=1)
    axis = rng.standard_normal(d)
    axis /= np.linalg.norm(axis)
    answer = np.array([1.0, -1.0])
    signs = (2 * holds - 1)[:, :, None] * answer
    streams = rng.standard_normal((n, 2, 2, d)) + 0.5 * rng.standard_normal((10, 1, 1, d))[topic]
    streams = streams + 3 * answer[:, None] * rng.standard_normal(d)  # which answer was given stands out by far
    streams = streams + strength * signs[..., None] * axis
    return StatementStreams(streams * np.exp(rng.normal(0, 0.5, d)), true, TopicFolds.of([f"t{t}" for t in topic]))


@pytest.fixture(scope="module")
def table():
    return read_without_labels(planted(2.0), DRAWS).set_index("method")


def test_a_planted_truth_is_found_without_labels_on_topics_not_seen(table):
    assert list(table.index) == ["ccs", "polar ccs", "supervised"]
    assert (table["low"] > 0.9).all()
    assert (table[["as_it_stands", "negated"]] > 0.9).all().all()


def test_polarities_contradict_each_other_where_the_negation_is_understood(table):
    misread = read_without_labels(planted(2.0, negation_is_understood=False), DRAWS).set_index("method")
    assert (misread["auroc"] < 0.65).all()
    without = ["ccs", "polar ccs"]
    assert (table.loc[without, "contradiction"] < misread.loc[without, "contradiction"]).all()


def test_without_a_truth_everything_is_chance():
    result = read_without_labels(planted(0.0), DRAWS)
    assert (result["low"] - 0.04 < 0.5).all()
    assert (result["high"] + 0.04 > 0.5).all()


def test_meaningless_labels_stand_beside(table):
    """Labels that mean nothing stand beside the method with labels alone."""
    assert table.loc["supervised", "p_reads"] == 1 / 200
    assert table["p_reads"].isna().sum() == 2


def test_the_measures_are_what_the_formulas_say():
    sure = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    half = np.full((1, 2, 2), 0.5)
    same = np.array([[[0.9, 0.2], [0.9, 0.2]]])
    assert polar_gap(sure)[0] == contradiction(sure)[0] == 0
    assert polar_gap(half)[0] == 0
    assert contradiction(half)[0] == pytest.approx(0.5)
    assert polar_gap(same)[0] == pytest.approx((0.7**2 + 0.7**2) / 2)
    assert contradiction(same)[0] == pytest.approx(0.81 + 0.04)
    certain, none, both = (torch.from_numpy(each[..., None]) for each in (sure, half, same))
    assert contrast_loss(certain).item() == 0
    assert contrast_loss(none).item() == pytest.approx(0.25)
    assert contrast_loss(both, 1.0).item() == pytest.approx(0.1**2 + 0.2**2 + 0.49)


def test_streams_of_another_shape_are_refused():
    material = planted(1.0, n=40)
    with pytest.raises(InputError, match="give \\(statement, 2"):
        StatementStreams(material.streams[:, :1], material.true, material.folds)

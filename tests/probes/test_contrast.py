"""Truth without labels: found where it stands out, lost without a negation, and lost to whatever stands out more."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from onedial.core.errors import InputError
from probes.directions.concordance import topic_draws
from probes.directions.contrast import (
    StatementStreams,
    contradiction,
    contrast_loss,
    opposite,
    polar_gap,
    read_without_labels,
)
from probes.fitting.folds import TopicFolds

DRAWS = topic_draws(10, 99)


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
    found = read_without_labels(planted(2.0), planted(2.0, negation_is_understood=False), DRAWS)
    return found.set_index(["method", "marker"])


@pytest.mark.parametrize("method", ["ccs", "polar ccs", "crc", "supervised"])
def test_a_planted_truth_is_found_without_labels_on_topics_not_seen(table, method):
    found = table.loc[method, "negation"]
    assert found["low"] > 0.9
    assert min(found["as_it_stands"], found["negated"]) > 0.9


@pytest.mark.parametrize("method", ["ccs", "polar ccs", "crc", "supervised"])
def test_nonsense_in_the_place_of_the_negation_hurts_every_method(table, method):
    assert table.loc[(method, "negation"), "hurt_low"] > 0.2
    assert table.loc[(method, "nonsense"), "auroc"] < 0.65


def test_a_drawn_direction_reads_hardly_more_than_chance(table):
    assert 0.45 < table.loc[("random", "negation"), "auroc"] < 0.8
    assert table.loc[("random", "negation"), "auroc"] < table.loc[("crc", "negation"), "auroc"] - 0.15


@pytest.mark.parametrize("method", ["ccs", "polar ccs"])
def test_polarities_contradict_each_other_where_the_negation_is_understood(table, method):
    real, control = table.loc[(method, "negation")], table.loc[(method, "nonsense")]
    assert real["contradiction"] < control["contradiction"]
    assert real["opposite"] > 0.9 > control["opposite"]


def test_without_a_truth_everything_is_chance():
    real = planted(0.0)
    found = read_without_labels(real, replace(real, streams=planted(0.0, seed=1).streams), DRAWS)
    own = found[found["method"] != "random"]
    assert (own["low"] - 0.04 < 0.5).all()
    assert (own["high"] + 0.04 > 0.5).all()


def test_labels_that_mean_nothing_stand_beside_the_method_with_labels_alone(table):
    assert table.loc[("supervised", "negation"), "p_reads"] == 1 / 200
    assert table.drop(index="supervised", level=0)["p_reads"].isna().all()


def test_the_measures_are_what_the_formulas_say():
    sure = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    half = np.full((1, 2, 2), 0.5)
    same = np.array([[[0.9, 0.2], [0.9, 0.2]]])
    assert polar_gap(sure)[0] == contradiction(sure)[0] == 0
    assert opposite(sure)[0]
    assert polar_gap(half)[0] == 0
    assert contradiction(half)[0] == pytest.approx(0.5)
    assert polar_gap(same)[0] == pytest.approx((0.7**2 + 0.7**2) / 2)
    assert contradiction(same)[0] == pytest.approx(0.81 + 0.04)
    assert not opposite(same)[0]
    own, none, both = (torch.from_numpy(each[..., None]) for each in (sure, half, same))
    assert contrast_loss(own).item() == 0
    assert contrast_loss(none).item() == pytest.approx(0.25)
    assert contrast_loss(both, 1.0).item() == pytest.approx(0.1**2 + 0.2**2 + 0.49)


def test_streams_of_another_shape_and_unknown_methods_are_refused():
    material = planted(1.0, n=40)
    with pytest.raises(InputError, match="give \\(statement, 2"):
        StatementStreams(material.streams[:, :1], material.true, material.folds)
    with pytest.raises(InputError, match="the same statements"):
        read_without_labels(material, planted(1.0, n=60), DRAWS)
    with pytest.raises(InputError, match="'svm' is not known"):
        read_without_labels(material, material, DRAWS, ["svm"])

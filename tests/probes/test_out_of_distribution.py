"""A probe read elsewhere: as well as at home where nothing changed, with a warning where it has left home."""

import numpy as np
import pytest
from planted import planted

from onedial.core.errors import InputError
from probes.fitting.measure import measure_layer
from probes.out_of_distribution import Surroundings, read_elsewhere


@pytest.fixture(scope="module")
def sample():
    return planted({"a": 2.0, "b": 2.0}, n=510, d=20, topic_effect=0.3)


@pytest.fixture(scope="module")
def task(sample):
    return sample.task(n_shuffled=0, n_control=0)


@pytest.fixture(scope="module")
def found(sample, task):
    return measure_layer(sample.rows, task, ["logistic"], [])


def test_on_the_same_checkpoint_it_reads_as_at_home(sample, task, found):
    table = read_elsewhere(sample.rows, sample.rows, task, found.fitted["logistic"])
    np.testing.assert_allclose(table["elsewhere"], table["at_home"], atol=1e-6)
    np.testing.assert_allclose(table["recentred"], table["at_home"], atol=0.02)
    assert (table["far"] < 0.1).all()


def test_a_checkpoint_that_is_turned_round_reads_nothing_and_lies_far(sample, task, found):
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]
    table = read_elsewhere(sample.rows, sample.rows @ turn, task, found.fitted["logistic"])
    assert (table["elsewhere"] < table["at_home"] - 0.15).all()
    assert (table["far"] > 0.9).all()


def test_labels_of_the_other_checkpoint_take_the_place_of_the_own_ones(sample, task, found):
    table = read_elsewhere(sample.rows, sample.rows, task, found.fitted["logistic"], task.values[:, ::-1])
    assert (table["elsewhere"] < 0.65).all()


def test_a_checkpoint_of_another_width_is_refused(sample, task, found):
    with pytest.raises(InputError, match="checkpoint of the same width"):
        read_elsewhere(sample.rows, sample.rows[:, :7], task, found.fitted["logistic"])


def test_questions_like_those_of_training_lie_near_and_others_far(sample, task):
    surroundings = Surroundings.of(sample.rows, task)
    fresh = planted({"a": 2.0, "b": 2.0}, n=510, d=20, topic_effect=0.3).rows
    near, away = (surroundings.distance(rows) for rows in (fresh, fresh + 6 * sample.rows.std(axis=0)))
    assert near.mean() == pytest.approx(1, abs=0.15)
    assert (surroundings.as_far(near) < 0.05).mean() < 0.1
    assert (surroundings.as_far(away) < 0.05).all()


def test_distances_of_held_out_questions_are_spread_evenly_over_their_ranks(sample, task):
    surroundings = Surroundings.of(sample.rows, task)
    ranks = surroundings.as_far(surroundings.held_out)
    assert ranks.mean() == pytest.approx(0.5, abs=0.01)

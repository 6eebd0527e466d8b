"""A probe read elsewhere: as well as at home where nothing changed, and worse where the stream is turned."""

import numpy as np
import pytest
from planted import planted

from onedial.core.errors import InputError
from probes.fitting.measure import measure_layer
from probes.other_checkpoint import read_elsewhere


@pytest.fixture(scope="module")
def sample():
    return planted({"a": 2.0, "b": 2.0}, n=510, d=20, topic_effect=0.3)


@pytest.fixture(scope="module")
def task(sample):
    return sample.task(n_shuffled=0, n_control=0)


@pytest.fixture(scope="module")
def result(sample, task):
    return measure_layer(sample.rows, task, ["logistic"])


def test_on_the_same_checkpoint_it_reads_as_at_home(sample, task, result):
    table = read_elsewhere(sample.rows, sample.rows, task, result.fitted["logistic"])
    np.testing.assert_allclose(table["elsewhere"], table["at_home"], atol=1e-6)
    np.testing.assert_allclose(table["recentred"], table["at_home"], atol=0.02)


def test_a_checkpoint_that_is_turned_round_reads_worse(sample, task, result):
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]
    table = read_elsewhere(sample.rows, sample.rows @ turn, task, result.fitted["logistic"])
    assert (table["elsewhere"] < table["at_home"] - 0.15).all()


def test_labels_of_the_other_checkpoint_take_the_place_of_the_own_ones(sample, task, result):
    table = read_elsewhere(sample.rows, sample.rows, task, result.fitted["logistic"], task.values[:, ::-1])
    assert (table["elsewhere"] < 0.65).all()


def test_a_checkpoint_of_another_width_is_refused(sample, task, result):
    with pytest.raises(InputError, match="checkpoint of the same width"):
        read_elsewhere(sample.rows, sample.rows[:, :7], task, result.fitted["logistic"])

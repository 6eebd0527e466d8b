"""Planted angles are recovered, and directions that have nothing to do with each other stay within their null."""

import numpy as np
import pytest
from planted import planted

from onedial.core.errors import InputError
from probes.directions.geometry import LabelledRows, cross_evaluation, direction_table, transfer_table
from probes.fitting.crossfit import cross_fit, of_rows


def only(table, **wanted):
    """The one line of a table with these values."""
    chosen = table
    for column, value in wanted.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


@pytest.mark.parametrize("cosine", [0.8, 0.4, -0.6])
def test_a_planted_cosine_is_recovered_once_noise_is_taken_out(cosine):
    sample = planted({"a": 2.0, "b": 2.0}, n=680, d=24, cosine=cosine, topic_effect=0.0)
    both = LabelledRows(sample.rows, sample.task(), {"a": 0.0, "b": 0.0}, ["a", "b"])
    table = direction_table(both, "mean_difference", n_null=49)
    row = only(table, label="a", other="b")
    true = sample.directions["a"] @ sample.directions["b"]
    true /= np.linalg.norm(sample.directions["a"]) * np.linalg.norm(sample.directions["b"])
    assert row["cosine_corrected"] == pytest.approx(true, abs=0.12)
    if cosine == 0.8:  # a strong label is a strong coordinate, to which shuffled copies lean too: the null is wide
        assert row["p"] <= 0.02
        assert not row["null_low"] < row["cosine"] < row["null_high"]
    assert np.sign(row["correlation"]) == np.sign(cosine)
    assert 0.7 < row["reliability"] <= 1


@pytest.mark.long
def test_unrelated_directions_lie_within_the_null_nineteen_times_in_twenty():
    hits = 0
    for seed in range(60):
        sample = planted({"a": 1.0, "b": 1.0}, n=255, d=30, seed=seed)
        rng = np.random.default_rng(seed)
        # The second label means nothing: whatever cosine there is comes from the questions and their covariance.
        truth = sample.truth.assign(b=(rng.random(255) < 0.5).astype(float))
        task = type(sample)(sample.rows, truth, {}, sample.topics, sample.texts).task()
        both = LabelledRows(sample.rows, task, {"a": 0.0, "b": 0.0}, ["a", "b"])
        table = direction_table(both, "lda", n_null=49, n_halves=0)
        hits += table["p"].iloc[0] <= 0.05
    assert hits <= 8  # 3 are expected; 9 or more would come about once in 300


def test_a_probe_ranks_the_label_that_shares_its_direction_and_no_other():
    sample = planted({"a": 2.0, "same": 2.0, "c": 2.0}, n=510, d=20, cosine=0.95, topic_effect=0.2)
    task = sample.task()
    fitted = cross_fit(of_rows(sample.rows), task.labels, task.values, task.folds, ["lda"])["lda"]
    table = cross_evaluation(fitted, task.draws, ["a", "c"], task.labels)
    assert len(table) == 6
    assert only(table, probe="a", label="same")["auroc"] > 0.75
    apart = only(table, probe="a", label="c")
    assert apart["low"] - 0.03 < 0.5 < apart["high"] + 0.03
    assert only(table, probe="c", label="c")["auroc"] > 0.85


def test_a_probe_ranks_another_set_where_directions_agree():
    """A probe of one set ranks another set only where the directions are the same."""
    one = planted({"a": 2.0, "b": 2.0}, n=340, d=20, topic_effect=0.2)
    other = planted({"a": 2.0, "b": 2.0}, n=255, d=20, topic_effect=0.2, n_topics=15)  # the same directions
    columns = {"a": "x", "b": "y"}
    task = type(other)(other.rows, other.truth.rename(columns=columns), {}, other.topics, other.texts).task()
    here = LabelledRows(one.rows, one.task(), {"a": 0.3, "b": 0.3}, ["a", "b"])
    table = transfer_table(here, LabelledRows(other.rows, task, {}, ["x", "y"]), n_null=49)
    # Both are drawn from one seed, so that the directions and the scales of the coordinates are the same.
    for probe, label in (("a", "x"), ("b", "y")):
        row = only(table, probe=probe, label=label)
        assert row["auroc"] > 0.8
        assert row["p"] == pytest.approx(1 / 50)
        assert row["auroc"] > row["null_high"]
    for probe, label in (("a", "y"), ("b", "x")):
        row = only(table, probe=probe, label=label)
        assert row["null_low"] - 0.1 < row["auroc"] < row["null_high"] + 0.1
    with pytest.raises(InputError, match="width 20 and 5"):
        transfer_table(here, LabelledRows(other.rows[:, :5], task, {}, ["x"]))

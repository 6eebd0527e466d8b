"""What is erased is gone, what has nothing to do with it stays, and what shares its direction goes with it."""

import numpy as np
import pytest
from planted import planted

from probes.directions.erasure import Eraser, erasure_table
from probes.fitting.crossfit import cross_fit, of_rows


def covariance_with(rows, label):
    known = np.isfinite(label)
    return (rows[known] - rows[known].mean(axis=0)).T @ (label[known] - label[known].mean()) / known.sum()


@pytest.mark.parametrize("n", [340, 102])  # more and fewer questions than coordinates
def test_no_linear_reading_is_left_on_the_questions_that_the_eraser_saw(n):
    sample = planted({"a": 2.0, "b": 2.0}, n=n, d=120)
    truth = sample.truth.to_numpy()
    erased = Eraser.fit(sample.rows, truth)(sample.rows)
    for label in truth.T:
        before = np.abs(covariance_with(sample.rows, label)).max()
        assert np.abs(covariance_with(erased, label)).max() < 1e-8 * before


def test_without_shrinkage_it_is_the_published_formula(monkeypatch):
    """x - S^(1/2) Q Q' S^(-1/2) (x - mean), in the stream's own coordinates and by another route (eigenvectors)."""
    monkeypatch.setattr("probes.directions.erasure.ledoit_wolf", lambda training: 0.0)
    sample = planted({"a": 2.0, "b": 1.0}, n=800, d=12)
    rows = sample.rows @ np.random.default_rng(0).standard_normal((12, 12))  # coordinates that hang together
    labels = sample.truth.to_numpy()
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(rows))
    root, inverse = (vectors * values**power @ vectors.T for power in (0.5, -0.5))
    basis = np.linalg.qr(inverse @ (centred.T @ (labels - labels.mean(axis=0))))[0]
    expected = rows - centred @ inverse @ basis @ basis.T @ root
    np.testing.assert_allclose(Eraser.fit(rows, labels)(rows), expected, atol=1e-8)


def test_unknown_labels_count_for_nothing():
    sample = planted({"a": 2.0}, n=340, d=20)
    truth = sample.truth.to_numpy().copy()
    truth[::3] = np.nan
    known = np.isfinite(truth[:, 0])
    changed = sample.rows.copy()
    erased = Eraser.fit(changed, truth)(changed)
    label = truth[known, 0] - truth[known, 0].mean()
    assert np.abs(erased[known].T @ label).max() / known.sum() < 1e-10


def test_the_eraser_moves_the_rows_less_than_projecting_the_difference_out():
    """LEACE's claim: the least change, in the covariance's own metric, of all maps that leave no linear reading."""
    sample = planted({"a": 2.0}, n=2000, d=10, topic_effect=0.0)
    mixed = sample.rows @ np.random.default_rng(0).standard_normal((10, 10))  # coordinates that hang together
    truth = sample.truth.to_numpy()
    erased = Eraser.fit(mixed, truth)(mixed)
    difference = covariance_with(mixed, truth[:, 0])
    unit = difference / np.linalg.norm(difference)
    centred = mixed - mixed.mean(axis=0)
    projected = mixed - np.outer(centred @ unit, unit)
    whiten = np.linalg.cholesky(np.linalg.inv(np.cov(mixed.T)))

    def moved(rows):
        return (((rows - mixed) @ whiten) ** 2).sum()

    assert moved(erased) < 1.001 * moved(projected)


def test_erasure_takes_the_label_alone():
    """Erasure takes the label and what shares its direction and leaves the rest."""
    sample = planted({"a": 2.0, "twin": 2.0, "apart": 2.0}, n=510, d=20, cosine=0.97, topic_effect=0.2)
    task = sample.task()
    before = cross_fit(of_rows(sample.rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    table = erasure_table(sample.rows, task, before, ["a"], task.labels).set_index("label")
    assert table.loc["a", "before"] > 0.8
    # What is left reads at chance: on the training questions nothing is left at all.
    assert table.loc["a", "after"] == pytest.approx(0.5, abs=0.03)
    assert table.loc["a", "lost_low"] > 0.2
    assert table.loc["twin", "lost"] > 0.1
    assert abs(table.loc["apart", "lost"]) < 0.03
    assert (table["lost_by_shuffled"].abs() < 0.05).all()


def test_a_reading_made_of_rounding_is_no_reading():
    sample = planted({"a": 2.0}, n=340, d=20, topic_effect=0.0)
    task = sample.task()
    erased = Eraser.fit(sample.rows, task.values)(sample.rows)
    for method in ("ridge", "lda"):
        fitted = cross_fit(of_rows(erased), task.labels, task.values, task.folds, [method])[method]
        assert np.isfinite(fitted.score).all()
    from onedial.stats.solvers import METHODS, Training

    training = Training.of(erased)
    assert not METHODS["ridge"](training, task.values, [0.3]).any()

"""Every method is scikit-learn's, where scikit-learn has it, and reads what was planted."""

import numpy as np
import pytest
from planted import planted
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.linear_model import LogisticRegression, Ridge

from onedial.stats.solvers import (
    METHODS,
    PENALTIES,
    Training,
    fit_logistic,
    ledoit_wolf,
    logistic,
    mean_difference,
    ridge,
)


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


@pytest.fixture(scope="module", params=[(300, 40), (80, 200)], ids=["more questions", "more coordinates"])
def sample(request):
    n, d = request.param
    result = planted({"a": 1.5, "b": 0.7}, n=n, d=d, unknown=0.0)
    return Training.of(result.rows), result.truth.to_numpy()


def test_rows_are_standardised_and_the_axes_rebuild_them(sample):
    training, _ = sample
    np.testing.assert_allclose(training.rows.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(training.rows.std(axis=0), 1, atol=1e-10)
    np.testing.assert_allclose(training.rows @ training.axes @ training.axes.T, training.rows, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(training.rows @ training.axes, axis=0), training.singular, rtol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES[1:])
def test_logistic_regression_is_scikit_learns(sample, penalty):
    training, labels = sample
    result = logistic(training, labels, [penalty])[0]
    for column in range(labels.shape[1]):
        strength = penalty * training.unit * len(labels)
        expected = LogisticRegression(C=1 / strength, max_iter=10_000, tol=1e-8).fit(training.rows, labels[:, column])
        assert cosine(result[:, column], expected.coef_[0]) > 0.999
        assert np.linalg.norm(result[:, column]) == pytest.approx(np.linalg.norm(expected.coef_[0]), rel=0.02)


def test_questions_without_a_label_count_for_nothing(sample):
    training, labels = sample
    rows = training.rows * training.scale + training.mean
    some = labels.copy()
    some[::4, 0] = np.nan
    result = logistic(training, some, [0.3])[0][:, 0]
    known = np.isfinite(some[:, 0])
    strength = 0.3 * training.unit * known.sum()
    expected = LogisticRegression(C=1 / strength, max_iter=10_000).fit(
        training.standardised(rows)[known], some[known, 0]
    )
    assert cosine(result, expected.coef_[0]) > 0.998
    assert cosine(logistic(training, some, [0.3])[0][:, 1], logistic(training, labels, [0.3])[0][:, 1]) > 0.9999


@pytest.mark.parametrize("penalty", PENALTIES)
def test_ridge_is_scikit_learns(sample, penalty):
    training, labels = sample
    result = ridge(training, labels, [penalty])[0]
    expected = Ridge(alpha=penalty * training.unit * len(labels)).fit(training.rows, 2 * labels - 1).coef_
    np.testing.assert_allclose(result.T, expected, atol=1e-8)


def test_the_shrinkage_is_scikit_learns(sample):
    training, _ = sample
    assert ledoit_wolf(training) == pytest.approx(ledoit_wolf_shrinkage(training.rows, assume_centered=True), rel=1e-9)


def test_a_separated_answer_gets_a_finite_slope():
    """A number that tells nothing gets no slope and separated answers a finite one."""
    truth = np.r_[np.zeros(20), np.ones(20)]
    assert fit_logistic(np.ones((40, 1)), truth)[1] == 0
    assert fit_logistic(np.arange(40.0)[:, None], np.ones(40))[1] == 0
    assert 0 < fit_logistic(truth[:, None], truth)[1] < 100


def test_the_mean_difference_scores_as_the_stream_projected_on_it(sample):
    training, labels = sample
    rows = training.rows * training.scale + training.mean
    raw = np.array([rows[column == 1].mean(axis=0) - rows[column == 0].mean(axis=0) for column in labels.T])
    score = training.rows @ mean_difference(training, labels, [0.0])[0]
    expected = (rows - training.mean) @ raw.T
    np.testing.assert_allclose(score, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("method", METHODS)
def test_a_planted_direction_is_recovered_by_every_method(method):
    result = planted({"a": 3.0}, n=3000, d=24, topic_effect=0.0)
    training = Training.of(result.rows)
    weight = METHODS[method](training, result.truth.to_numpy(), [0.03])[0][:, 0] / training.scale
    # The best linear reader of a shift s in noise of covariance C is C^-1 s; the mean difference is s itself.
    within = np.cov((result.rows - result.truth.to_numpy() @ result.directions["a"][None] * 3.0).T)
    expected = (
        result.directions["a"] if method == "mean_difference" else np.linalg.solve(within, result.directions["a"])
    )
    assert cosine(weight, expected) > 0.97

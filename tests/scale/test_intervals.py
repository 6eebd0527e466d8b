"""Intervals that hold the truth as often as they say, by formula and by resampling."""

import warnings

import numpy as np
import pytest
from psychometric_data import one_factor

from onedial.scale.checks.question_bootstrap import bootstrap_questions
from onedial.scale.response_model import response_model


def test_a_pair_without_common_questions_leaves_intervals():
    """A pair that answered no question together leaves everybody an interval."""
    panel = one_factor(0, 300, 5, rates=(0.3, 0.7), loadings=(0.6, 0.8)).answers
    panel = np.asarray(panel, dtype=float)
    panel[:150, 0] = panel[150:, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = bootstrap_questions(panel, n_replicates=40)
    assert result.respondents[["loading_low", "loading_high"]].notna().all(axis=None)


def test_resamples_are_counted_as_if_the_rows_were_copied():
    from onedial.scale.correlations.two_by_two import count_pairs, count_pairs_of_replicates
    from onedial.stats.answers import Answers, as_answers

    for missing in (0.0, 0.2):
        panel = as_answers(one_factor(0, 80, 5, missing=missing).answers)
        weights = np.random.default_rng(1).multinomial(80, np.full(80, 1 / 80), size=3)
        result = count_pairs_of_replicates(panel.yes, panel.answered, weights.astype(np.float32))
        for replicate, drawn in enumerate(weights):
            rows = np.repeat(np.arange(80), drawn)
            copied = Answers(panel.yes[rows], panel.answered[rows], panel.questions[rows], panel.respondents)
            assert np.array_equal(result.tables[replicate], count_pairs(copied).tables)


def test_reliability_is_the_squared_correlation_with_the_true_place():
    for m, rates in ((6, (0.3, 0.7)), (20, (0.2, 0.8))):
        truth = one_factor(3, 4000, m, rates=rates, loadings=(0.5, 0.85))
        model = response_model(truth.answers)
        known = np.corrcoef(model.difficulty, truth.easiness)[0, 1] ** 2
        assert model.reliability[0] == pytest.approx(known, abs=0.03)
        assert model.reliability[1] ** 2 == pytest.approx(1 - known, abs=0.03)


@pytest.mark.long
def test_errors_of_loadings_are_taken_off_in_a_very_sparse_panel():
    """Five of sixty answer each question: ten panels of equal loadings, whose squares come out too large."""
    shares, squares = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        latent = 0.75 * rng.standard_normal((400, 1)) + np.sqrt(1 - 0.75**2) * rng.standard_normal((400, 60))
        answers = (latent > 0).astype(float)
        answers[np.argsort(rng.random(answers.shape), axis=1) >= 5] = np.nan
        model = response_model(answers)
        shares.append(model.share.without_errors)
        squares.append(model.share.squares)
        assert model.share.low < model.share.without_errors < model.share.squares <= model.share.high
    assert np.mean(shares) == pytest.approx(0.75**2, abs=0.02)
    assert np.mean(squares) > 0.75**2 + 0.02


def test_the_share_is_the_mean_squared_loading():
    """The share is the mean squared loading and errors add little where answers are dense."""
    panel = one_factor(0, 1500, 20, rates=(0.3, 0.7), loadings=(0.6, 0.9)).answers
    model = response_model(panel)
    assert model.share.value == pytest.approx((model.respondents["loading"] ** 2).mean())
    assert model.share.value - 0.002 < model.share.without_errors < model.share.value


def sparse(seed: int, loadings: np.ndarray, n: int, answered: int) -> np.ndarray:
    """So many answers to each of n questions of one scale."""
    rng = np.random.default_rng(seed)
    latent = loadings * rng.standard_normal((n, 1)) + np.sqrt(1 - loadings**2) * rng.standard_normal((n, len(loadings)))
    answers = (latent > 0).astype(float)
    answers[np.argsort(rng.random(answers.shape), axis=1) >= answered] = np.nan
    return answers


def test_where_loadings_cannot_be_told_apart_one_slope_is_known():
    """Loadings of .3 to .5 from 33 answers each come out twice too large; the interval holds their mean square."""
    loadings = np.linspace(0.3, 0.5, 60)
    share = response_model(sparse(1, loadings, 400, 5)).share
    assert share.one_slope
    assert share.squares > 0.3
    assert share.value == share.without_errors == pytest.approx((loadings**2).mean(), abs=0.05)
    assert share.low < (loadings**2).mean() < share.high

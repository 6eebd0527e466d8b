"""Confidence against correctness: against scikit-learn and R, and where the truth is known."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, matrix
from sklearn.metrics import brier_score_loss, fbeta_score, roc_auc_score

from onedial.confidence.calibration import (
    aligned,
    brier_parts,
    brier_skill,
    calibration_table,
    expected_calibration_error,
    reliability_table,
)
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.confidence.f_beta import f_beta_curve
from onedial.core.errors import InputError
from onedial.stats.answers import PsychometricsWarning


def panel() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Said yes (with gaps) and was right, of five respondents."""
    return pd.read_csv(REFERENCE / "panel_said.csv"), pd.read_csv(REFERENCE / "panel_right.csv")


def test_f_beta_is_scikit_learns():
    said_yes, right = panel()
    curve = f_beta_curve(said_yes, right, betas=[0.25, 1, 3])
    for respondent in said_yes:
        known = said_yes[respondent].notna()
        for beta in (0.25, 1, 3):
            theirs = fbeta_score(right.loc[known, respondent], said_yes.loc[known, respondent], beta=beta)
            assert curve.curve.loc[beta, respondent] == pytest.approx(theirs, abs=1e-12)
    assert (curve.n == said_yes.notna().sum()).all()


def test_f_beta_runs_from_precision_to_recall_over_a_log_grid():
    curve = f_beta_curve(*panel())
    assert curve.curve.index[0] == 1 / 16
    assert curve.curve.index[-1] == 16
    np.testing.assert_allclose(np.diff(np.log2(curve.curve.index)), 1 / 8, atol=1e-12)
    np.testing.assert_allclose(curve.curve.iloc[0], curve.precision, atol=0.02)
    np.testing.assert_allclose(curve.curve.iloc[-1], curve.recall, atol=0.02)
    assert (curve.best == curve.curve.idxmax(axis=1)).all()


def test_correctness_is_joined_by_name_not_by_position():
    said_yes, right = panel()
    expected = f_beta_curve(said_yes, right).curve
    shuffled = right.sample(frac=1, random_state=0)[list("cebad")]
    pd.testing.assert_frame_equal(f_beta_curve(said_yes, shuffled).curve, expected)
    with pytest.raises(InputError, match="the correctness 4"):
        f_beta_curve(said_yes, right.drop(columns="a"))
    with pytest.raises(InputError, match="positive"):
        f_beta_curve(said_yes, right, betas=[0, 1])


def test_brier_and_auroc_are_scikit_learns():
    rng = np.random.default_rng(0)
    confidence = np.round(rng.random(400), 2)
    correct = (rng.random(400) < confidence**2).astype(float)
    table = calibration_table(pd.DataFrame({"a": confidence}), pd.DataFrame({"a": correct}), n_bootstrap=0)
    assert table.loc["a", "auroc"] == pytest.approx(roc_auc_score(correct, confidence), abs=1e-12)
    assert table.loc["a", "brier"] == pytest.approx(brier_score_loss(correct, confidence), abs=1e-12)
    accuracy = correct.mean()
    skill = 1 - brier_score_loss(correct, confidence) / (accuracy * (1 - accuracy))
    assert brier_skill(confidence, correct).value == pytest.approx(skill, abs=1e-12)


def test_calibration_error_by_hand_in_bins_of_equal_width_and_equal_mass():
    confidence = np.array([0.1, 0.1, 0.2, 0.9, 0.9, 1.0, 0.0, 0.5])
    correct = np.array([0, 1, 0, 1, 1, 0, 0, 1])
    # two bins: [0, .5] holds .1 .1 .2 0 .5 (mean .18, accuracy .4), (.5, 1] holds .9 .9 1 (mean .933, accuracy .667)
    by_hand = (5 * abs(0.18 - 0.4) + 3 * abs(2.8 / 3 - 2 / 3)) / 8
    assert expected_calibration_error(confidence, correct, n_bins=2).value == pytest.approx(by_hand)
    # by mass: 0 .1 .1 .2 (mean .1, accuracy .25) and .5 .9 .9 1 (mean .825, accuracy .75)
    by_mass = (4 * 0.15 + 4 * 0.075) / 8
    assert expected_calibration_error(confidence, correct, 2, "mass").value == pytest.approx(by_mass)


def test_the_parts_of_the_brier_score_add_up():
    """The parts of the brier score add up where confidence has as many levels as bins."""
    rng = np.random.default_rng(0)
    sure = rng.choice([0.2, 0.5, 0.9], 300)
    right = (rng.random(300) < sure**2).astype(float)
    parts = brier_parts(sure, right)
    whole = parts["reliability"] - parts["resolution"] + parts["uncertainty"]
    assert whole == pytest.approx(brier_score_loss(right, sure))


def test_bins_pool_the_framings_of_a_model_and_leave_small_ones_out():
    sure = pd.DataFrame({"a: 1": [0.95] * 6 + [0.4] * 3, "a: 2": [0.95] * 6 + [np.nan] * 3})
    right = pd.DataFrame({"a: 1": [1] * 6 + [0] * 3, "a: 2": [0] * 6 + [1] * 3})
    (row,) = reliability_table(sure, right, pd.Series({"a: 1": "a", "a: 2": "a"})).to_dict("records")
    assert row == {"model": "a", "confidence": pytest.approx(0.95), "right": 0.5, "n": 12}


def test_a_yes_or_no_has_the_auroc_of_recall_and_specificity():
    said_yes, right = panel()
    table = calibration_table(said_yes, right, n_bootstrap=50)
    known = said_yes["a"].notna()
    s, r = said_yes.loc[known, "a"], right.loc[known, "a"]
    recall, specificity = s[r == 1].mean(), 1 - s[r == 0].mean()
    assert table.loc["a", "auroc"] == pytest.approx((recall + specificity) / 2)
    assert table.loc["a", "brier"] == pytest.approx((s != r).mean())
    assert table.loc["a", "n"] == known.sum()
    assert (table["auroc_low"] < table["auroc"]).all()
    assert (table["auroc"] < table["auroc_high"]).all()


def test_what_is_undefined_is_nan():
    table = calibration_table(pd.DataFrame({"a": [0.2, 0.7]}), pd.DataFrame({"a": [1, 1]}), n_bootstrap=0)
    assert np.isnan(table.loc["a", "auroc"])
    assert np.isnan(brier_skill([0.2, 0.7], [1, 1]).value)
    assert np.isnan(expected_calibration_error([np.nan], [1]).value)
    assert brier_skill([np.nan, 0.5, 0.6], [1, 0, 1]).n == 2


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.5, 1.2], [1, 0], "between 0 and 1"),
        ([0.5, 0.2], [1, 0.5], "outcome of 0.5"),
        ([0.5], [1, 0], "1 confidences and 2 outcomes"),
        (["high"], [1], "must be numbers"),
    ],
)
def test_confidences_that_are_no_probabilities_are_refused(confidence, correct, message):
    with pytest.raises(InputError, match=message):
        brier_skill(confidence, correct)


def test_the_line_of_confidence_on_accuracy_is_rs():
    said_yes, right = aligned(*panel())
    result = confidence_accuracy_regression(said_yes.mean(), right.mean())
    expected = matrix("panel_lines")
    for line, (intercept, slope) in ((result.line, expected[:2]), (result.logit_line, expected[2:])):
        assert [line.intercept, line.intercept_se] == pytest.approx(intercept[:2])
        assert [line.slope, line.slope_se] == pytest.approx(slope[:2])
        assert line.p == pytest.approx(slope[3])
        assert [line.slope_low, line.slope_high] == pytest.approx(slope[4:])


def test_a_mean_of_one_is_left_out_of_the_logit_line_and_named():
    confidence = pd.Series({"a": 0.2, "b": 0.4, "c": 0.7, "sure": 1.0})
    accuracy = pd.Series({"a": 0.3, "b": 0.5, "c": 0.6, "sure": 0.4})
    with pytest.warns(PsychometricsWarning, match="sure has a mean of exactly 0 or 1"):
        result = confidence_accuracy_regression(confidence, accuracy)
    assert (result.line.n, result.logit_line.n) == (4, 3)


@pytest.mark.parametrize("n_bins", [10, 20, 25, 50, 100])
def test_an_edge_belongs_to_the_bin_below_it_however_many_there_are(n_bins):
    """Confidence on every edge and below it, one bin each: the error is the mean distance within them."""
    edges = np.arange(1, n_bins + 1) / n_bins
    confidence = np.concatenate([edges, edges - 0.4 / n_bins])
    correct = np.r_[np.ones(n_bins), np.zeros(n_bins)]
    expected = np.abs(edges - 0.2 / n_bins - 0.5).mean()
    assert expected_calibration_error(confidence, correct, n_bins, n_bootstrap=1).value == pytest.approx(expected)

"""What must hold for any matrix of answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psychometric_data import one_factor

from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.stats.answers import PsychometricsWarning

MODES = st.sampled_from(["pairwise", "global"])
RULES = st.sampled_from(["half", "none"])


@st.composite
def panels(draw):
    """Answers of 4 to 7 respondents to 5 to 60 questions: any yes rates, any gaps, no structure promised."""
    seed = draw(st.integers(0, 2**32 - 1))
    n, m = draw(st.integers(5, 60)), draw(st.integers(4, 7))
    rng = np.random.default_rng(seed)
    rates, missing = rng.uniform(0.02, 0.98, m), draw(st.sampled_from([0.0, 0.2, 0.6]))
    easiness = rng.standard_normal((n, 1))
    values = (easiness + rng.standard_normal((n, m)) < np.quantile(easiness, rates)).astype(float)
    values[rng.random((n, m)) < missing] = np.nan
    return pd.DataFrame(values, columns=[f"r{i}" for i in range(m)])


def correlation(panel, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)
        return tetrachoric(panel, **options).correlation


@settings(max_examples=60, deadline=None)
@given(panels(), MODES, RULES, st.randoms(use_true_random=False))
def test_reordering_respondents_and_questions_changes_only_the_order(panel, thresholds, zero_cells, random):
    columns = random.sample(list(panel.columns), panel.shape[1])
    rows = random.sample(list(panel.index), len(panel))
    ours = correlation(panel, thresholds=thresholds, zero_cells=zero_cells)
    theirs = correlation(panel.loc[rows, columns], thresholds=thresholds, zero_cells=zero_cells)
    pd.testing.assert_frame_equal(theirs.loc[ours.index, ours.columns], ours, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(panels(), MODES, RULES)
def test_flipping_a_respondent_negates_its_correlations(panel, thresholds, zero_cells):
    ours = correlation(panel, thresholds=thresholds, zero_cells=zero_cells)
    flipped = panel.assign(r2=1 - panel["r2"])
    theirs = correlation(flipped, thresholds=thresholds, zero_cells=zero_cells)
    sign = np.ones(panel.shape[1])
    sign[2] = -1
    np.testing.assert_allclose(theirs, ours * np.outer(sign, sign), atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(panels(), MODES)
def test_a_duplicated_respondent_has_rho_one_with_itself(panel, thresholds):
    doubled = panel.assign(copy=panel["r0"])
    rho = correlation(doubled, thresholds=thresholds, zero_cells="none").loc["r0", "copy"]
    answered = panel["r0"].dropna()
    assert np.isnan(rho) if answered.nunique() < 2 or len(answered) < 3 else rho == 1.0


@settings(max_examples=40, deadline=None)
@given(panels(), MODES, RULES)
def test_unanswered_questions_change_nothing(panel, thresholds, zero_cells):
    longer = pd.concat([panel, pd.DataFrame(np.nan, index=range(7), columns=panel.columns)], ignore_index=True)
    options = {"thresholds": thresholds, "zero_cells": zero_cells}
    pd.testing.assert_frame_equal(correlation(longer, **options), correlation(panel, **options), check_exact=True)


@settings(max_examples=40, deadline=None)
@given(panels(), MODES, RULES)
def test_every_correlation_is_symmetric_and_between_minus_one_and_one(panel, thresholds, zero_cells):
    values = correlation(panel, thresholds=thresholds, zero_cells=zero_cells).to_numpy()
    assert np.array_equal(values, values.T, equal_nan=True)
    assert (np.isnan(values) | (np.abs(values) <= 1)).all()


def test_the_factor_follows_relabelling_and_flipping():
    """The factor model follows relabelling flipping and unanswered questions."""
    truth = one_factor(5, 400, 9, missing=0.1)
    panel = pd.DataFrame(truth.answers, columns=[f"r{i}" for i in range(9)])
    model = fit_factor_model(panel)
    columns = list(panel.columns[::-1])
    rows = np.random.default_rng(0).permutation(len(panel))
    moved = fit_factor_model(panel.loc[rows, columns])
    np.testing.assert_allclose(moved.loadings.loc[model.loadings.index], model.loadings, atol=1e-7)
    np.testing.assert_allclose(moved.difficulty.loc[model.difficulty.index], model.difficulty, atol=1e-6)

    flipped = fit_factor_model(panel.assign(r4=1 - panel["r4"]))
    assert flipped.loadings.loc["r4", "factor_1"] == pytest.approx(-model.loadings.loc["r4", "factor_1"], abs=1e-7)
    np.testing.assert_allclose(flipped.loadings.drop("r4"), model.loadings.drop("r4"), atol=1e-7)
    np.testing.assert_allclose(flipped.difficulty, model.difficulty, atol=1e-6)

    longer = pd.concat([panel, pd.DataFrame(np.nan, index=range(5), columns=panel.columns)], ignore_index=True)
    extended = fit_factor_model(longer)
    pd.testing.assert_frame_equal(extended.loadings, model.loadings)
    assert extended.difficulty.tail(5).isna().all()

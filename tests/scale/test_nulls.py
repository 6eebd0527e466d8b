"""Nulls that hold their level where nothing is to be found, and find what is there."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, matrix, one_factor
from scipy.special import ndtr
from simulations.structure import grouped_scales, without_hard_ones

from onedial.core.errors import InputError
from onedial.scale.checks.missingness import missingness_test
from onedial.scale.checks.question_bootstrap import bootstrap_questions
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.nulls import Nulls, one_factor_answers, shuffled
from onedial.scale.factor.structure import (
    one_factor_bootstrap,
    permutation_null,
    quadratic_fit_test,
    revised_parallel_analysis,
)
from onedial.scale.fits import Fits, gap_categories
from onedial.scale.likelihood import Model
from onedial.stats.answers import as_answers


def test_shuffling_keeps_every_yes_rate_and_every_gap():
    panel = as_answers(one_factor(0, 60, 5, missing=0.3).answers)
    yes, answered = next(shuffled(panel, 7, np.random.default_rng(0)))
    assert yes.shape == (7, 60, 5)
    assert np.array_equal(answered, panel.answered)
    assert (yes.sum(axis=1) == panel.n_yes).all()
    assert not (yes * ~panel.answered).any()
    assert len({one.tobytes() for one in yes}) == 7


def test_fast_eigenvalues_of_shuffled_answers_are_those_of_tetrachoric():
    panel = as_answers(one_factor(0, 120, 5, missing=0.2).answers)
    null = permutation_null(panel, n_replicates=4, seed=3)
    yes, answered = next(shuffled(panel, 4, np.random.default_rng(3)))
    for b in range(4):
        one = np.where(answered.astype(bool), yes[b], np.nan)
        expected = np.linalg.eigvalsh(tetrachoric(one).correlation)[::-1]
        np.testing.assert_allclose(null.simulated[b], expected, atol=1e-10)


def test_the_permutation_null_sees_a_shared_factor():
    """The permutation null sees a shared factor and says nothing of the second."""
    null = permutation_null(answers("sim2"), n_replicates=199)
    assert null.p[0] == 1 / 200
    assert np.isnan(null.p[1:]).all()


def test_only_the_conditional_null_finds_a_second_factor():
    panel = grouped_scales(800, 12, 2, 0.3, np.random.default_rng(1))
    unconditional = permutation_null(panel, n_replicates=99)
    assert fit_factor_model(panel).eigenvalues[2] > unconditional.to_frame()["null_95"][2]
    conditional = revised_parallel_analysis(panel, n_replicates=99)
    assert conditional.p[:2].tolist() == [0.01, 0.01]
    assert conditional.p[2] > 0.05
    assert conditional.n_above() == 2


@pytest.mark.parametrize("name", ["sim1", "sim2", "sim3"])
def test_one_true_factor_gives_one_factor_also_at_extreme_yes_rates(name):
    result = revised_parallel_analysis(answers(name), n_replicates=199)
    assert result.n_above() == 1
    assert result.p[1] > 0.1


@pytest.mark.parametrize("zero_cells", ["half", "none"])
def test_a_negative_eigenvalue_of_one_true_factor_is_no_evidence(zero_cells):
    result = one_factor_bootstrap(answers("sim3"), n_replicates=199, zero_cells=zero_cells)
    assert result.smallest.observed < 0
    assert result.smallest.p > 0.1
    assert result.second.p > 0.1


def test_the_smallest_eigenvalue_reveals_what_is_not_normal():
    # three respondents, each pair in near perfect disagreement: impossible for correlations
    """The smallest eigenvalue reveals answers that no normal variables give."""
    rng = np.random.default_rng(0)
    base = rng.random((900, 6)) < 0.5
    third = np.arange(900) % 3
    for pair, (i, j) in enumerate(((0, 1), (1, 2), (0, 2))):
        rows = third == pair
        base[rows, i] = ~base[rows, j]
    panel = base.astype(float)
    for pair, k in enumerate((2, 0, 1)):
        panel[third == pair, k] = np.nan
    result = one_factor_bootstrap(panel, n_replicates=199, zero_cells="none")
    assert result.smallest.observed < -0.5
    assert result.smallest.p == 1 / 200


def test_the_parabola_of_a_correction_is_no_evidence():
    result = quadratic_fit_test(answers("sim3"), n_replicates=199)
    assert result.observed == pytest.approx(fit_factor_model(answers("sim3")).quadratic_fit.r2, abs=1e-6)
    assert result.observed > 0.7
    assert result.p > 0.1


def test_panels_without_a_parabola_are_counted_apart():
    """Simulated panels without a parabola are counted apart from those behind its p."""
    panel = one_factor(0, 60, 6).answers.astype(float)
    panel[:, 0] = np.arange(60) == 7  # one yes: about one simulated respondent in three never says it
    result = quadratic_fit_test(panel, n_replicates=99)
    stored = result.to_dict()
    assert 15 < stored["n_undefined"] < 60
    assert stored["n_replicates"] == np.isfinite(result.simulated).sum() == 99 - stored["n_undefined"]
    beyond = (result.simulated >= result.observed).sum()
    assert stored["p"] == pytest.approx((1 + beyond) / (stored["n_replicates"] + 1))


def test_random_answers_keep_gaps_yes_rates_and_what_gaps_do():
    rng = np.random.default_rng(0)
    truth = one_factor(2, 1500, 12, rates=(0.3, 0.7))
    panel = as_answers(without_hard_ones(truth.answers, truth.easiness, rng))
    fit = Fits.of(panel).null()
    yes, answered = next(one_factor_answers(fit, 40, rng))
    assert np.array_equal(answered.astype(bool), panel.answered)
    assert not (yes * ~panel.answered).any()
    rate = yes.sum(axis=(0, 1)) / 40 / panel.n_answered
    np.testing.assert_allclose(rate, panel.n_yes / panel.n_answered, atol=0.02)
    share = np.bincount(gap_categories(Fits.of(panel).codes)) / 1500
    unrelated = Fits.of(panel).fit(Model("histogram")).log_likelihood + 1500 * share @ np.log(share)
    assert fit.log_likelihood > unrelated + 100  # these gaps lie on hard questions
    # the curves of those with gaps are those of the whole scale, not of the easy questions that they answered
    np.testing.assert_allclose(fit.curves.thresholds[0, :4], truth.thresholds[:4], atol=0.2)
    assert (panel.n_yes / panel.n_answered > ndtr(truth.thresholds) + 0.1)[:4].all()


def test_a_third_factor_is_compared_with_matrices_that_have_two():
    rng = np.random.default_rng(5)
    scales = 0.7 * rng.standard_normal((900, 1)) + np.sqrt(0.51) * rng.standard_normal((900, 3))
    latent = 0.85 * scales[:, np.arange(15) % 3] + np.sqrt(1 - 0.85**2) * rng.standard_normal((900, 15))
    three = revised_parallel_analysis((latent > rng.uniform(-0.6, 0.6, 15)).astype(int), n_replicates=49)
    assert three.n_above() == 3
    assert np.isfinite(three.p[:4]).all()
    assert np.isnan(three.p[4:]).all()
    assert np.isnan(three.simulated[:, 4:]).all()
    two = revised_parallel_analysis(grouped_scales(800, 12, 2, 0.3, np.random.default_rng(3)), n_replicates=49)
    assert two.n_above() == 2
    assert np.isnan(two.simulated[:, 3:]).all()


def test_a_true_parabola_is_found():
    rng = np.random.default_rng(2)
    limits = np.linspace(-0.9, 0.9, 16)
    slope = 0.95 - 0.7 * limits**2
    easiness = rng.standard_normal((1500, 1))
    panel = slope * easiness + np.sqrt(1 - slope**2) * rng.standard_normal((1500, 16)) > -limits
    assert quadratic_fit_test(panel, n_replicates=199).p <= 0.01


def test_the_bootstrap_agrees_with_the_model():
    """The bootstrap agrees with the model and with the formula of the threshold."""
    panel = answers("sim2")
    result = bootstrap_questions(panel, n_replicates=400)
    model = fit_factor_model(panel)
    np.testing.assert_allclose(result.respondents["loading"], model.loadings["factor_1"], atol=1e-6)
    np.testing.assert_allclose(result.respondents["threshold_se"], model.threshold_se, rtol=0.2)
    share = model.explained.loc["factor_1", "squared_loadings_of_total_variance"]
    assert result.shares.loc["squared_loadings", "estimate"] == pytest.approx(share, abs=1e-6)
    assert result.shares.loc["quadratic_r2", "estimate"] == pytest.approx(model.quadratic_fit.r2, abs=1e-6)
    assert (result.loadings @ model.loadings["factor_1"].to_numpy() > 0).all()


def test_missingness_that_follows_difficulty_is_found_and_agrees_with_r():
    table = missingness_test(pd.read_csv(REFERENCE / "panel_said.csv"))
    assert table.loc["a", "p"] == pytest.approx(matrix("panel_values")[0, 0], rel=1e-8)
    assert table.loc["a", "others_yes_when_answered"] > table.loc["a", "others_yes_when_missing"] + 0.2
    assert table.loc["b":, "p"].isna().all()
    assert table.loc["a", "n_missing"] > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda panel: permutation_null(panel, n_replicates=0),
        lambda panel: one_factor_bootstrap(panel, n_replicates=0),
        lambda panel: bootstrap_questions(panel, n_replicates=0),
        lambda panel: permutation_null(panel.iloc[:, :2]),
        lambda panel: quadratic_fit_test(panel, zero_cells="add"),
    ],
)
def test_impossible_requests_are_refused(call):
    with pytest.raises(InputError):
        call(answers("gaps"))


def test_panels_are_drawn_once_and_give_the_same_p_wherever_they_are_asked():
    panel = grouped_scales(300, 8, 2, 0.8, np.random.default_rng(1))
    nulls = Nulls.of(panel, 19)
    assert one_factor_bootstrap(nulls).second.p == one_factor_bootstrap(panel, n_replicates=19).second.p
    assert quadratic_fit_test(nulls).p == quadratic_fit_test(panel, n_replicates=19).p
    assert nulls.drawn("one factor") is nulls.drawn("one factor")

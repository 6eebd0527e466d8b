"""Tetrachoric correlations against R, against closed forms, and against bad input."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, matrix, one_factor
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from onedial.core.errors import InputError
from onedial.scale.correlations.bivariate_normal import bivariate_normal_cdf
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.correlations.thresholds import threshold_table
from onedial.stats.answers import PsychometricsWarning

SIMULATIONS = ["sim1", "sim2", "sim3"]


@pytest.mark.parametrize("name", SIMULATIONS)
def test_pairs_without_an_empty_cell_agree_with_a_tight_two_step_solution(name):
    result = tetrachoric(answers(name), zero_cells="none")
    difference = np.abs(result.correlation.to_numpy() - matrix(f"{name}_tight_2step_nocorr"))
    assert difference[~result.zero_cells.to_numpy()].max() < 2e-7


@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize(("mode", "file"), [("global", "psych_c05_raw"), ("pairwise", "psych_c05_raw_local")])
def test_the_half_rule_agrees_with_psych_on_every_pair(name, mode, file):
    result = tetrachoric(answers(name), thresholds=mode, zero_cells="half")
    assert np.abs(result.correlation.to_numpy() - matrix(f"{name}_{file}")).max() < 1e-4
    assert result.n_zero_cell_pairs == {"sim1": 22, "sim2": 26, "sim3": 76}[name]


@pytest.mark.parametrize("mode", ["global", "pairwise"])
def test_heavy_gaps_at_extreme_rates_agree_with_psych(mode):
    panel = answers("gaps")
    filled = tetrachoric(panel, thresholds=mode)
    assert filled.n_zero_cell_pairs > 0
    assert np.abs(filled.correlation.to_numpy() - matrix(f"gaps_psych_{mode}_c5")).max() < 1e-4
    with pytest.warns(PsychometricsWarning, match="only one kind of answer"):
        bare = tetrachoric(panel, thresholds=mode, zero_cells="none")
    full = ~bare.zero_cells.to_numpy()
    assert np.abs(bare.correlation.to_numpy() - matrix(f"gaps_psych_{mode}_c0"))[full].max() < 1e-4


def test_pairs_agree_with_polycor():
    difference = tetrachoric(answers("gaps")).correlation.to_numpy() - matrix("gaps_polycor_2step")
    assert np.nanmax(np.abs(difference)) < 1e-4


def test_thresholds_are_psychs_tau_with_the_opposite_sign():
    tau = pd.read_csv(REFERENCE / "sim2_psych_tau.csv", index_col=0)["tau"]
    assert np.abs(tetrachoric(answers("sim2")).thresholds + tau).max() < 1e-10


def test_a_thresholds_error_is_its_spread():
    """The standard error of a threshold is the spread over repeated samples."""
    rng = np.random.default_rng(0)
    samples = (rng.random((500, 4000)) < 0.3).astype(int)
    table = threshold_table(samples)
    assert table["threshold"].std() == pytest.approx(table["se"].mean(), rel=0.05)


@pytest.mark.parametrize("p11", [0.0213, 0.1, 0.25, 0.31, 0.4999])
def test_at_even_yes_rates_rho_has_its_closed_form(p11):
    n = 10_000
    both = round(n * p11)
    one = n // 2 - both
    pair = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, one, one, both], axis=0)
    rho = tetrachoric(pair).correlation.iloc[0, 1]
    assert rho == pytest.approx(np.sin(2 * np.pi * (both / n - 0.25)), abs=1e-12)


def test_the_bivariate_normal_agrees_with_scipys():
    rng = np.random.default_rng(1)
    h, k, rho = rng.normal(size=12), rng.normal(size=12), rng.uniform(-0.99, 0.99, 12)
    h[0] = k[1] = h[2] = k[2] = 0
    theirs = [
        multivariate_normal.cdf([a, b], cov=[[1, r], [r, 1]], abseps=1e-12) for a, b, r in zip(h, k, rho, strict=True)
    ]
    assert np.abs(bivariate_normal_cdf(h, k, rho) - theirs).max() < 1e-9


def test_empty_cells_follow_their_rule_and_are_counted():
    pair = np.repeat([[1, 1], [1, 0], [0, 0]], [30, 20, 50], axis=0)
    opposite = pair * [1, -1] + [0, 1]
    assert tetrachoric(pair, zero_cells="none").correlation.iloc[0, 1] == 1.0
    assert tetrachoric(opposite, zero_cells="none").correlation.iloc[0, 1] == -1.0
    assert 0.9 < tetrachoric(pair, zero_cells="half").correlation.iloc[0, 1] < 1
    assert tetrachoric(pair).n_zero_cell_pairs == 1
    assert tetrachoric(pair).zero_cells.iloc[0, 1]


def test_the_smallest_eigenvalue_is_that_of_the_unsmoothed_matrix():
    result = tetrachoric(answers("sim3"))
    assert result.min_eigenvalue == pytest.approx(np.linalg.eigvalsh(result.correlation)[0])
    assert result.min_eigenvalue < 0


def test_a_constant_respondent_is_named_and_nan_never_zero():
    panel = pd.DataFrame(one_factor(0, 100, 5).answers, columns=list("abcde"))
    panel["b"] = 1.0
    with pytest.warns(PsychometricsWarning, match="b gave only one kind of answer"):
        result = tetrachoric(panel)
    assert result.correlation["b"].isna().all()
    assert list(result.correlation.columns) == list("abcde")
    assert result.thresholds["b"] == np.inf
    assert result.correlation.drop("b").drop(columns="b").notna().all(axis=None)


def test_a_pair_without_shared_questions_is_named_and_nan():
    panel = pd.DataFrame(one_factor(1, 100, 4).answers, columns=list("abcd"))
    panel.loc[:49, "a"] = np.nan
    panel.loc[50:, "d"] = np.nan
    with pytest.warns(PsychometricsWarning, match="a and d"):
        result = tetrachoric(panel)
    assert np.isnan(result.correlation.loc["a", "d"])
    assert result.n_pairwise.loc["a", "d"] == 0
    assert result.correlation.isna().sum().sum() == 2


def test_one_question_and_one_respondent_give_nan_or_one_but_no_crash():
    with pytest.warns(PsychometricsWarning):
        assert tetrachoric([[1, 0, 1]]).correlation.isna().all(axis=None)
    assert tetrachoric([[1], [0], [1]]).correlation.to_numpy().tolist() == [[1.0]]


@pytest.mark.parametrize(("option", "value"), [("thresholds", "local"), ("zero_cells", "add")])
def test_an_unknown_option_names_the_choices(option, value):
    with pytest.raises(InputError, match="choose one of"):
        tetrachoric([[1, 0], [0, 1], [1, 1]], **{option: value})


def test_an_empty_cell_leaves_the_likeliest_correlation():
    # 35 yes-yes, 1 yes-no, 1 no-yes, no no-no among the shared questions; each says no to some that it answered alone
    """With global thresholds an empty cell leaves the correlation where the likelihood is greatest."""
    shared = np.repeat([[1, 1], [1, 0], [0, 1]], [35, 1, 1], axis=0).astype(float)
    alone = np.repeat([[1, np.nan], [0, np.nan], [np.nan, 1], [np.nan, 0]], [30, 6, 30, 5], axis=0)
    panel = np.concatenate([shared, alone])
    result = tetrachoric(panel, thresholds="global", zero_cells="none")
    h, k = result.thresholds
    grid = np.linspace(-0.9999, 0.9999, 20_001)
    both = bivariate_normal_cdf(h, k, grid)
    one, other = ndtr(h) - both, ndtr(k) - both
    likelihood = 35 * np.log(both) + np.log(one) + np.log(other)
    best = grid[np.argmax(likelihood)]
    assert -0.9 < best < 0.9
    assert result.correlation.iloc[0, 1] == pytest.approx(best, abs=2e-4)
    assert result.n_zero_cell_pairs == 1
    # where the likelihood does rise to the end, the end it is
    twins = np.concatenate([np.repeat([[1, 1], [0, 0]], [20, 20], axis=0), alone])
    assert tetrachoric(twins, thresholds="global", zero_cells="none").correlation.iloc[0, 1] == 1.0

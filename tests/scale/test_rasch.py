"""The Rasch model: a published table to six decimals, known truth, and its place inside the two-parameter model."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, equal_loadings, one_factor
from scipy.special import expit

from onedial.core import InputError
from onedial.scale import rasch_proportions, rasch_test, two_parameter_irt
from onedial.stats import PsychometricsWarning


def benchmarks() -> pd.DataFrame:
    """Model x benchmark scores (github.com/anon-researcher-2025/Self-Execution-Benchmark, MIT)."""
    return pd.read_csv(REFERENCE / "benchmarks.csv").pivot(index="model", columns="benchmark", values="score")


def test_the_published_table_comes_out_to_six_decimals():
    published = pd.read_csv(REFERENCE / "benchmarks_rasch.csv").set_index(["kind", "name"])["value"]
    found = rasch_proportions(benchmarks())
    assert found.converged
    ability, difficulty = published["model"], published["benchmark"]
    assert (found.ability.reindex(ability.index).round(6) == ability).all()
    assert (found.difficulty.reindex(difficulty.index).round(6) == difficulty).all()


def test_proportions_that_the_model_makes_are_met_exactly():
    rng = np.random.default_rng(0)
    ability, difficulty = rng.normal(size=8), rng.normal(size=6)
    scores = pd.DataFrame(expit(ability[:, None] - difficulty))
    scores.iloc[2, 3] = scores.iloc[5, 0] = np.nan
    found = rasch_proportions(scores, tolerance=1e-12)
    difference = found.ability.to_numpy()[:, None] - found.difficulty.to_numpy()
    np.testing.assert_allclose(difference, ability[:, None] - difficulty, atol=1e-9)
    assert found.dispersion == pytest.approx(0, abs=1e-12)
    assert np.nanmax(np.abs(found.residuals)) < 1e-9


def test_damping_changes_the_path_and_not_the_differences():
    slow, fast = rasch_proportions(benchmarks(), rate=0.2, tolerance=1e-10), rasch_proportions(benchmarks(), rate=0.5)
    assert slow.n_steps > fast.n_steps
    gaps = [one.ability.to_numpy()[:, None] - one.difficulty.to_numpy() for one in (slow, fast)]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-5)


def test_errors_of_abilities_are_their_spread_over_repeated_scatter():
    rng = np.random.default_rng(1)
    ability, difficulty = rng.normal(size=12) * 0.7, rng.normal(size=30) * 0.7
    p = expit(ability[:, None] - difficulty)
    found = [rasch_proportions(pd.DataFrame(rng.binomial(40, p) / 40)) for _ in range(150)]
    centred = np.stack([one.ability - one.ability.mean() for one in found])
    claimed = np.sqrt(np.mean([one.ability_se.to_numpy() ** 2 for one in found], axis=0))
    np.testing.assert_allclose(centred.std(axis=0), claimed, rtol=0.25)


def test_scores_without_a_finite_place_are_named_and_nan():
    scores = benchmarks()
    scores.loc["perfect"] = 1.0
    with pytest.warns(PsychometricsWarning, match="perfect has no score"):
        found = rasch_proportions(scores)
    assert np.isnan(found.ability["perfect"])
    pd.testing.assert_series_equal(found.ability.drop("perfect"), rasch_proportions(benchmarks()).ability)
    with pytest.raises(InputError, match=r"a score of 1\.2"):
        rasch_proportions(pd.DataFrame([[0.5, 1.2]]))
    with pytest.raises(InputError, match="nothing can be fitted"):
        rasch_proportions(pd.DataFrame([[1.0, 0.0]]))
    apart = pd.DataFrame([[0.4, 0.6, np.nan, np.nan], [np.nan, np.nan, 0.2, 0.7]])
    with pytest.warns(PsychometricsWarning, match=r"share no item \(0 \| 1\)"):
        rasch_proportions(apart)


def test_equal_slopes_pass_and_unequal_ones_are_found():
    p = []
    for seed in range(30):
        rng = np.random.default_rng([seed, 5])
        p.append(rasch_test(equal_loadings("normal", np.linspace(0.25, 0.75, 8), 400, rng, 0.7)).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.17
    assert 0.35 < np.mean(p) < 0.65
    found = rasch_test(one_factor(0, 500, 10, (0.3, 0.7), (0.4, 0.9)).answers)
    assert found.p < 1e-6
    assert "does not hold" in found.sentence()


def test_the_rasch_model_lies_inside_the_two_parameter_model():
    panel = answers("sim2")
    found, free = rasch_test(panel), two_parameter_irt(panel)
    assert found.free_log_likelihood == pytest.approx(free.log_likelihood, abs=1e-6)
    assert found.log_likelihood < free.log_likelihood
    assert found.df == 18
    assert free.respondents["loading"].min() < found.loading < free.respondents["loading"].max()
    np.testing.assert_allclose(found.free_loadings, free.respondents["loading"], atol=1e-5)
    assert np.corrcoef(found.difficulty, free.difficulty)[0, 1] > 0.98


def test_the_common_slope_is_recovered():
    rng = np.random.default_rng(2)
    found = rasch_test(equal_loadings("normal", np.linspace(0.2, 0.8, 10), 5000, rng, 0.75))
    assert found.loading == pytest.approx(0.75, abs=0.02)
    assert found.p > 0.01

"""Does one factor fit: against lavaan, and where the truth is known."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, one_factor

from onedial.core.errors import InputError
from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.factor.factor_fit import factor_fit


def lavaan(name: str) -> pd.Series:
    return pd.read_csv(REFERENCE / f"{name}_lavaan.csv", index_col=0)["gaps"]


def with_pair(seed: int, n: int, m: int, own: float) -> np.ndarray:
    """One factor, and the first two respondents share something of their own."""
    rng = np.random.default_rng(seed)
    latent = 0.7 * rng.standard_normal((n, 1)) + np.sqrt(0.51) * rng.standard_normal((n, m))
    latent[:, :2] = latent[:, :2] * np.sqrt(1 - own) + np.sqrt(own) * rng.standard_normal((n, 1))
    return (latent > rng.uniform(-0.5, 0.5, m)).astype(int)


def test_fit_measures_are_lavaans_scaled_ones():
    found, theirs = factor_fit(answers("fit"), thresholds="global"), lavaan("fit")
    assert found.df == theirs["df"]
    assert found.unadjusted == pytest.approx(theirs["chisq"], rel=1e-3)
    assert found.statistic == pytest.approx(theirs["chisq.scaled"], rel=1e-3)
    assert found.baseline == pytest.approx(theirs["baseline.chisq.scaled"], rel=1e-3)
    assert found.rmsea == pytest.approx(theirs["rmsea.scaled"], abs=2e-4)
    assert found.rmsea_low == pytest.approx(theirs["rmsea.ci.lower.scaled"], abs=2e-4)
    assert found.rmsea_high == pytest.approx(theirs["rmsea.ci.upper.scaled"], abs=2e-4)
    assert found.cfi == pytest.approx(theirs["cfi.scaled"], abs=2e-4)
    assert found.srmr == pytest.approx(theirs["srmr"], abs=2e-4)
    lambdas = theirs[[f"lambda.r{i}" for i in range(1, 9)]]
    np.testing.assert_allclose(found.loadings, lambdas, atol=2e-4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_one_factor_fits_answers_of_one_factor(missing):
    p, rmsea = [], []
    for seed in range(40):
        found = factor_fit(one_factor(seed, 500, 12, (0.2, 0.8), (0.5, 0.9), missing).answers)
        p.append(found.p)
        rmsea.append(found.rmsea)
    assert np.mean(np.array(p) <= 0.05) <= 0.125
    assert 0.3 < np.mean(p) < 0.7
    assert np.mean(rmsea) < 0.02


def test_two_factors_do_not_fit_into_one():
    rng = np.random.default_rng(0)
    scales = np.sqrt(0.5) * rng.standard_normal((600, 1)) + np.sqrt(0.5) * rng.standard_normal((600, 2))
    latent = 0.8 * scales[:, np.arange(12) % 2] + 0.6 * rng.standard_normal((600, 12))
    panel = (latent > rng.uniform(-0.6, 0.6, 12)).astype(int)
    one = factor_fit(panel)
    assert one.rmsea > 0.08
    assert one.rmsea_low < one.rmsea < one.rmsea_high
    assert one.cfi < 0.95
    assert one.p < 1e-6
    assert one.sentence().startswith("One factor does not fit well")


def test_a_panel_too_small_or_too_large_to_judge_is_refused():
    for n_respondents in (3, 72):
        with pytest.raises(InputError, match="4 to 71"):
            factor_fit(one_factor(0, 100, n_respondents).answers)


def test_two_respondents_with_something_of_their_own_are_named():
    for seed in range(4):
        found = residual_correlations(with_pair(seed, 600, 10, 0.35), 99, seed=seed)
        first = found.violations().iloc[0]
        assert {first["first"], first["second"]} == {0, 1}
        assert first["z"] > 3
        assert found.largest.p == 0.01
        assert len(found.violations()) <= 4


def test_q3_is_the_correlation_of_residuals_over_shared_questions():
    from onedial.scale.checks.residual_correlations import q3_of
    from onedial.scale.evidence import codes_of
    from onedial.scale.likelihood import fit_marginal
    from onedial.stats.answers import as_answers

    panel = one_factor(3, 200, 5, missing=0.2).answers
    fit = fit_marginal(codes_of(as_answers(panel)))
    found = q3_of(fit.codes, fit)
    place = fit.scores()[0]
    from scipy.special import ndtr

    residual = panel - ndtr(place[:, None] * fit.curves.slope + fit.curves.cuts[0])
    for i, j in ((0, 1), (2, 4)):
        both = ~np.isnan(residual[:, i] + residual[:, j])
        assert found[i, j] == pytest.approx(np.corrcoef(residual[both, i], residual[both, j])[0, 1], abs=1e-9)

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


def with_pair(seed: int, n: int, m: int, correlation: float) -> np.ndarray:
    """One factor, and the first two respondents share something of their own."""
    rng = np.random.default_rng(seed)
    latent = 0.7 * rng.standard_normal((n, 1)) + np.sqrt(0.51) * rng.standard_normal((n, m))
    latent[:, :2] = latent[:, :2] * np.sqrt(1 - correlation) + np.sqrt(correlation) * rng.standard_normal((n, 1))
    return (latent > rng.uniform(-0.5, 0.5, m)).astype(int)


def test_fit_measures_are_lavaans_scaled_ones():
    result, theirs = factor_fit(answers("fit"), thresholds="global"), lavaan("fit")
    assert result.df == theirs["df"]
    assert result.unadjusted == pytest.approx(theirs["chisq"], rel=1e-3)
    assert result.statistic == pytest.approx(theirs["chisq.scaled"], rel=1e-3)
    assert result.baseline == pytest.approx(theirs["baseline.chisq.scaled"], rel=1e-3)
    assert result.rmsea == pytest.approx(theirs["rmsea.scaled"], abs=2e-4)
    assert result.rmsea_low == pytest.approx(theirs["rmsea.ci.lower.scaled"], abs=2e-4)
    assert result.rmsea_high == pytest.approx(theirs["rmsea.ci.upper.scaled"], abs=2e-4)
    assert result.cfi == pytest.approx(theirs["cfi.scaled"], abs=2e-4)
    assert result.srmr == pytest.approx(theirs["srmr"], abs=2e-4)
    lambdas = theirs[[f"lambda.r{i}" for i in range(1, 9)]]
    np.testing.assert_allclose(result.loadings, lambdas, atol=2e-4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_one_factor_fits_answers_of_one_factor(missing):
    p, rmsea = [], []
    for seed in range(40):
        result = factor_fit(one_factor(seed, 500, 12, (0.2, 0.8), (0.5, 0.9), missing).answers)
        p.append(result.p)
        rmsea.append(result.rmsea)
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
    assert "by 66 of 66 pairs" in one.sentence()
    assert "more than chance gives" in one.sentence()


def test_a_panel_too_small_or_too_large_to_judge_is_refused():
    for n_respondents in (3, 72):
        with pytest.raises(InputError, match="4 to 71"):
            factor_fit(one_factor(0, 100, n_respondents).answers)


def test_two_respondents_with_something_of_their_own_are_named():
    for seed in range(4):
        result = residual_correlations(with_pair(seed, 600, 10, 0.35), seed=seed)
        first = result.violations().iloc[0]
        assert {first["first"], first["second"]} == {0, 1}
        assert first["z"] > 3
        assert first["residual"] > 0.2
        assert len(result.violations()) <= 2


def test_twenty_doublets_are_named_though_the_factor_turns_to_them():
    """Two of ten correlate .55 beyond the scale; lavaan's top modification index is theirs in all twenty."""
    named = []
    for seed in range(20):
        violations = residual_correlations(with_pair(seed, 400, 10, 0.55), seed=seed).violations()
        named.append((violations[["first", "second"]] == [0, 1]).all(axis=1).any())
    assert sum(named) >= 18


@pytest.mark.parametrize(("n", "most"), [(2, 1), pytest.param(8, 3, marks=pytest.mark.long)])
def test_a_pair_is_hardly_ever_named_where_one_factor_is_all(n, most):
    """Eighty questions beside eighty parameters; a scale with a tail and guesses; rates from 3% to 97%."""
    rng, named = np.random.default_rng(0), []
    for seed in range(n):
        named.append(one_factor(seed, 80, 40, (0.2, 0.8), (0.5, 0.85)).answers)
        named.append(one_factor(seed, 1000, 12, (0.03, 0.97), (0.5, 0.9)).answers)
        hidden = 0.7 * (rng.exponential(size=(600, 1)) - 1) + 0.7 * rng.standard_normal((600, 12))
        named.append(np.where(rng.random(hidden.shape) < 0.1, 1, hidden > np.linspace(-0.7, 0.7, 12)))
    assert sum(len(residual_correlations(panel).violations()) > 0 for panel in named) <= most  # of 3 n


def test_a_pairs_score_is_the_likelihoods_rise():
    """Independent: two respondents whose hidden answers correlate by a little, by scipy's normal distribution."""
    from scipy.stats import multivariate_normal

    from onedial.scale.checks.residual_correlations import pair_scores
    from onedial.scale.expectation import codes_of
    from onedial.scale.likelihood import fit_marginal
    from onedial.stats.answers import as_answers

    fit = fit_marginal(codes_of(as_answers(one_factor(3, 60, 4).answers)))
    at, step = np.outer(fit.curves.slope, fit.nodes) + fit.curves.cuts[0][:, None], 1e-4

    def log_likelihood(question: int, rho: float) -> float:
        code = fit.codes[question]
        sign = np.where(code == 1, 1, -1)
        pair = multivariate_normal(cov=[[1, rho * sign[0] * sign[2]], [rho * sign[0] * sign[2], 1]])
        both = np.array([pair.cdf([sign[0] * x, sign[2] * y]) for x, y in zip(at[0], at[2], strict=True)])
        rest = np.exp(sum(fit.log_p[code[i], i] for i in (1, 3)))
        return float(np.log((fit.weights * both * rest).sum()))

    for question in (0, 7):
        rise = (log_likelihood(question, step) - log_likelihood(question, -step)) / (2 * step)
        assert pair_scores(fit)[question, 1] == pytest.approx(rise, abs=1e-3)  # the second pair is 0 and 2


def test_a_statistic_below_zero_is_no_misfit():
    """The adjustment of T can take a small one below 0: an RMSEA of 0, and no error."""
    result = factor_fit(np.random.default_rng(0).integers(0, 2, (60, 4)))
    assert result.statistic < 0
    assert result.rmsea_low == result.rmsea == result.rmsea_high == 0
    assert result.p == 1

"""The distribution of the scale: recovered where it is known, and a test that holds its level."""

import numpy as np
import pytest
from psychometric_data import answers, equal_loadings
from scipy.stats import chi2

from onedial.scale.response_model import response_model
from onedial.scale.scale_distribution import scale_distribution

RATES = np.linspace(0.2, 0.8, 15)


@pytest.mark.parametrize("kind", ["exponential", "bimodal"])
def test_another_distribution_is_found_and_drawn(kind):
    rng = np.random.default_rng(3)
    result = scale_distribution(equal_loadings(kind, rng.permutation(RATES), 1500, rng))
    assert not result.is_normal
    assert result.comparison.loc["smooth", "p"] < 1e-6
    skewness, kurtosis = result.comparison.loc["histogram", ["skewness", "kurtosis"]]
    if kind == "exponential":  # skewness 2, excess kurtosis 6; the tail of the easiest shows less in answers
        assert skewness > 1
    else:  # skewness 0, excess kurtosis -1.3
        assert abs(skewness) < 0.3
        assert -2 < kurtosis < -0.9
    assert result.sentences()[0].startswith("The scale is not normal")


def test_a_histogram_straightens_bent_loadings():
    """An exponential scale bends normal loadings and a histogram straightens them."""
    normal, histogram, spread = [], [], []
    for seed in range(4):
        rng = np.random.default_rng([seed, 1])
        result = scale_distribution(equal_loadings("exponential", RATES, 1500, rng))
        normal.append(result.comparison.loc["normal", "quadratic_r2"])
        histogram.append(result.comparison.loc["histogram", "quadratic_r2"])
        spread.append(result.loadings[["normal", "histogram"]].std())
    assert np.mean(normal) > 0.5
    assert np.mean(histogram) < 0.4
    assert np.mean(spread, axis=0)[1] < np.mean(spread, axis=0)[0]


def test_every_distribution_has_mean_0_and_variance_1():
    """Every distribution has mean 0 and variance 1 and the normal fit is the two parameter model."""
    panel = answers("sim2")
    result = scale_distribution(panel)
    for _, part in result.weights.groupby("scale"):
        assert part["weight"].sum() == pytest.approx(1, abs=1e-9)
        assert part["weight"] @ part["node"] == pytest.approx(0, abs=1e-6)
        assert part["weight"] @ part["node"] ** 2 == pytest.approx(1, abs=1e-6)
    gained = 2 * (result.comparison["log_likelihood"] - result.comparison.loc["normal", "log_likelihood"])
    np.testing.assert_allclose(result.comparison["gain"], gained)
    assert result.comparison.loc["smooth", "p"] == pytest.approx(chi2.sf(gained["smooth"], 2))
    plain = response_model(panel)
    np.testing.assert_allclose(result.loadings["normal"], plain.respondents["loading"], atol=1e-9)
    assert result.comparison.loc["normal", "log_likelihood"] == pytest.approx(plain.log_likelihood)
    free = response_model(panel, scale="histogram")
    np.testing.assert_allclose(result.loadings["histogram"], free.respondents["loading"], atol=0.01)

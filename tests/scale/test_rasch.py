"""The Rasch model: known truth, and its place inside the two-parameter model."""

import numpy as np
import pytest
from psychometric_data import answers, equal_loadings, one_factor

from onedial.scale.equal_slopes import rasch_test
from onedial.scale.response_model import response_model


@pytest.mark.long
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
    found, free = rasch_test(panel), response_model(panel)
    assert found.free.log_likelihood == pytest.approx(free.log_likelihood, abs=1e-6)
    assert found.equal.log_likelihood < free.log_likelihood
    assert found.df == 18
    assert free.respondents["loading"].min() < found.loading < free.respondents["loading"].max()
    np.testing.assert_allclose(found.free.respondents["loading"], free.respondents["loading"], atol=1e-5)
    assert np.corrcoef(found.equal.difficulty, free.difficulty)[0, 1] > 0.98


def test_the_common_slope_is_recovered():
    rng = np.random.default_rng(2)
    found = rasch_test(equal_loadings("normal", np.linspace(0.2, 0.8, 10), 5000, rng, 0.75))
    assert found.loading == pytest.approx(0.75, abs=0.02)
    assert found.p > 0.01


def test_guesses_on_a_skewed_scale_are_no_unequal_slopes():
    rng = np.random.default_rng(1)
    easiness = (rng.gamma(1.5, size=(600, 1)) - 1.5) / np.sqrt(1.5)
    hidden = 0.7 * easiness + np.sqrt(0.51) * rng.standard_normal((600, 14)) + rng.normal(0, 0.7, 14)
    panel = np.where(rng.random(hidden.shape) < 0.15, True, hidden > 0)
    assert rasch_test(panel).p < 0.01
    found = rasch_test(panel, "histogram", "common")
    assert found.p > 0.05
    assert found.loading == pytest.approx(0.7, abs=0.06)

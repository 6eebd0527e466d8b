"""The Rasch model: known truth, and its place inside the two-parameter model."""

import numpy as np
import pytest
from psychometric_data import equal_loadings, one_factor

from onedial.scale.response_model import rasch_test


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

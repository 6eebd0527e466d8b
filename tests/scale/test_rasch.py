"""The Rasch model: known truth, and its place inside the two-parameter model."""

import numpy as np
import pytest

from onedial.scale.response_model import rasch_test


def test_guesses_on_a_skewed_scale_are_no_unequal_slopes():
    rng = np.random.default_rng(1)
    easiness = (rng.gamma(1.5, size=(600, 1)) - 1.5) / np.sqrt(1.5)
    hidden = 0.7 * easiness + np.sqrt(0.51) * rng.standard_normal((600, 14)) + rng.normal(0, 0.7, 14)
    panel = np.where(rng.random(hidden.shape) < 0.15, True, hidden > 0)
    assert rasch_test(panel).p < 0.01
    result = rasch_test(panel, "histogram", "common")
    assert result.p > 0.05
    assert result.loading == pytest.approx(0.7, abs=0.06)

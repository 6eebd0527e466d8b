"""The interval of an area under the ROC curve from the area and the counts."""

import numpy as np
import pytest
from scipy.special import ndtr

from onedial.stats.roc import roc_area, roc_area_interval

GRID = np.linspace(1e-6, 1 - 1e-6, 400_001)


def within_reach(area, n, m):
    """The values that lie no farther from the area than 1.96 of their own standard errors, by trying them all."""
    k = 0.5 * (n + m) - 1
    variance = GRID * (1 - GRID) / (n * m) * (1 + k * (1 - GRID) / (2 - GRID) + k * GRID / (1 + GRID))
    return GRID[np.abs(area - GRID) <= 1.959964 * np.sqrt(variance)]


@pytest.mark.parametrize(("area", "n", "m"), [(0.5, 8, 13), (0.74, 8, 13), (0.9, 40, 7), (1.0, 8, 13), (0.0, 5, 5)])
def test_the_ends_are_those_of_all_values_within_reach(area, n, m):
    within = within_reach(area, n, m)
    assert roc_area_interval(area, n, m) == pytest.approx((within[0], within[-1]), abs=1e-5)


def test_which_kind_is_positive_only_turns_it_round():
    low, high = roc_area_interval(0.83, 9, 20)
    assert roc_area_interval(1 - 0.83, 20, 9) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_kinds_that_do_not_overlap_leave_room_below():
    low, high = roc_area_interval(1.0, 8, 13)
    assert high == 1
    assert 0.6 < low < 0.9
    assert roc_area_interval(1.0, 80, 130)[0] > 0.97


@pytest.mark.parametrize(("n", "m"), [(8, 13), (30, 60)])
@pytest.mark.parametrize("true", [0.5, 0.75, 0.92])
def test_it_holds_the_true_area_about_as_often_as_it_says(n, m, true):
    rng, n_samples = np.random.default_rng([n, int(100 * true)]), 400
    shifts = np.linspace(0, 4, 4001)
    apart = shifts[np.searchsorted(ndtr(shifts / np.sqrt(2)), true)]
    kind = np.r_[np.ones(n), np.zeros(m)]
    held = 0
    for _ in range(n_samples):
        low, high = roc_area_interval(float(roc_area(rng.standard_normal(n + m) + apart * kind, kind)), n, m)
        held += low <= true <= high
    assert 0.915 <= held / n_samples <= 0.99  # 95% with a standard error of 1.1 points


def test_of_an_unknown_area_there_is_no_interval():
    assert np.isnan(roc_area_interval(float("nan"), 3, 4)).all()

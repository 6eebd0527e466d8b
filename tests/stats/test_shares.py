"""Intervals of shares stay among shares."""

import numpy as np
import pandas as pd

from onedial.stats.shares import share_of, wilson_interval


def test_an_interval_never_leaves_0_to_1_whatever_rounding_does():
    n = pd.Series(np.arange(1, 400))
    for positive in (n, 0 * n):
        low, high = wilson_interval(positive, n)
        assert low.between(0, 1).all()
        assert high.between(0, 1).all()


def test_nothing_is_a_share_of_a_whole_that_is_zero_in_every_resample():
    result, whole = share_of(np.ones(4), np.zeros(4), np.ones((9, 4)))
    assert (whole.low, whole.high) == (0, 0)
    assert np.isnan([result.value, result.low, result.high]).all()

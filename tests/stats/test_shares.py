"""Intervals of shares stay among shares."""

import numpy as np
import pandas as pd

from onedial.stats import wilson_interval


def test_an_interval_never_leaves_0_to_1_whatever_rounding_does():
    n = pd.Series(np.arange(1, 400))
    for positive in (n, 0 * n):
        low, high = wilson_interval(positive, n)
        assert low.between(0, 1).all()
        assert high.between(0, 1).all()

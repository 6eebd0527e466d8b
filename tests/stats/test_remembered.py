"""A fit is remembered where somebody says so, and told apart by the values of what it is asked."""

from dataclasses import dataclass

import numpy as np

from onedial.stats.arrays import Floats
from onedial.stats.remembered import fits_remembered, remembered


@dataclass(frozen=True)
class _Sum:
    of: Floats
    total: float


def test_only_inside_the_block_and_only_for_equal_values_is_a_fit_made_once() -> None:
    made = []

    @remembered
    def fit(values: Floats, power: int = 1) -> _Sum:
        made.append(power)
        return _Sum(values, float((values**power).sum()))

    values = np.arange(3.0)
    fit(values), fit(values)
    assert len(made) == 2
    with fits_remembered():
        first, same, other = fit(values), fit(values.copy(), 1), fit(values, 2)
        assert (first.total, same.total, other.total) == (3.0, 3.0, 5.0)
        assert first is not same
        values[0] = 7.0
        assert fit(values).total == 10.0
    assert made == [1, 1, 1, 2, 1]
    fit(values)
    assert len(made) == 6

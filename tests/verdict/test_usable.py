"""The usable range ends at the first magnitude that does harm, and whoever lies beyond is named."""

import numpy as np
import pandas as pd

from onedial.verdict.criteria.usable import usable_range

MAGNITUDES = [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6]


def effects(usable):
    return pd.DataFrame({"setting": MAGNITUDES, "usable": usable})


def matches(**magnitudes):
    return pd.DataFrame({"magnitude": pd.Series(magnitudes)})


def test_the_range_ends_at_the_first_harm_on_either_side():
    found = usable_range(effects([True, False, True, True, True, False]), matches(a=0.4), 0.02)
    assert (found.low, found.high) == (0.0, 0.4)
    # -0.4 does no harm itself, but lies beyond a magnitude that does.
    assert usable_range(effects([True, False, True, True, True, False]), matches(a=-0.4), 0.02).outside == ("a",)


def test_whoever_lies_beyond_is_named_and_who_was_not_placed_is_not():
    found = usable_range(effects([False, True, True, True, True, False]), matches(a=0.6, b=0.4, c=-0.4, d=np.nan), 0.02)
    assert found.outside == ("a", "c")
    assert "2 of 4 targets lie outside: a, c" in found.sentence(4)
    assert "at most 2 points from -0.2 to 0.4" in found.sentence(4)


def test_a_dial_that_does_no_harm_is_usable_from_end_to_end():
    found = usable_range(effects([True] * 6), matches(a=0.6), 0.05)
    assert (found.low, found.high) == (-0.4, 0.6)
    assert found.sentence(1).endswith("every target's magnitude lies inside.")

"""What a patch recovers, and of which pairs the interval speaks."""

import numpy as np
import pytest

from steering.causes import patching_table


def margins(share, n=40, seed=0):
    """Pairs of which each patch takes its share of the way, a little more in some; then receiver and donor."""
    rng = np.random.default_rng(seed)
    plain, given = rng.normal(0, 1, n), rng.normal(3, 1, n)
    patched = [plain + (part + 0.2 * rng.standard_normal(n)) * (given - plain) for part in share]
    return np.column_stack([*patched, plain, given])


def test_the_share_of_the_way_is_recovered_layer_by_layer():
    table = patching_table(margins([0.0, 0.4, 1.0]), [2, 5, 9], 199)
    assert table["layer"].tolist() == [2, 5, 9]
    assert table["recovered"].tolist() == pytest.approx([0, 0.4, 1], abs=0.1)
    assert ((table["low"] < [0, 0.4, 1]) & (table["high"] > [0, 0.4, 1])).all()
    assert table.loc[1, "low"] > 0.2
    assert (table["n"] == 40).all()


def test_a_pair_whose_margins_hardly_differ_does_not_carry_the_share_away():
    given = margins([0.5])
    given[0] = [2.0, 1.0, 1.001]  # by itself a thousand times the way
    assert patching_table(given, [0], 99)["recovered"].item() == pytest.approx(0.5, abs=0.1)


def test_turning_every_margin_round_leaves_the_share_as_it_is():
    given = margins([0.3])
    one, other = (patching_table(each, [0], 99) for each in (given, -given))
    assert one["recovered"].item() == pytest.approx(other["recovered"].item())
    assert one["moved"].item() == pytest.approx(-other["moved"].item())

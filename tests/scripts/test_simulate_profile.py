"""The profile's simulation plants what it says it plants, and the rule keeps its size there."""

import importlib

import pytest

from onedial.verdict import PROFILE_VERDICTS


@pytest.mark.long
def test_a_large_effect_is_found_no_effect_stays_still_and_a_push_among_pushes_is_rarely_called_a_mover():
    script = importlib.import_module("simulations.profile")
    said = {
        name: [script.one_verdict(pushes, effect, seed, 99) for seed in range(n)]
        for name, pushes, effect, n in (("large", 0.1, 1.0, 4), ("none", 0.0, 0.0, 6), ("as random", 0.5, None, 12))
    }
    movers = ("moves with the dial", "moves against it")
    assert said["large"].count("moves with the dial") == 4
    assert said["none"].count("does not move") >= 3
    assert sum(said["as random"].count(name) for name in movers) <= 3
    assert {verdict for each in said.values() for verdict in each} <= set(PROFILE_VERDICTS)

"""What is counted for docs/probes_evidence.md: every case gives numbers, and what is planted strongly is found."""

import importlib

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scripts():
    return importlib.import_module("simulations.probes")


@pytest.mark.long
def test_every_case_gives_chances_and_finite_means(scripts):
    for group, settings in scripts.cases().items():
        _, draw = next(iter(settings))
        found = draw(np.random.default_rng(0))
        assert found, group
        for name, value in found.items():
            assert np.isfinite(value), (group, name)
            assert str(name).startswith("mean") or 0 <= value <= 1, (group, name)


def test_an_interval_counts_as_found_only_where_it_leaves_the_value_out(scripts):
    assert scripts.off(0.5, 0.4, 0.6) == 1
    assert scripts.off(0.5, 0.51, 0.6) == scripts.off(0.5, 0.3, 0.49) == 0
    assert scripts.off(0.5, np.nan, np.nan) == 1


@pytest.mark.long
def test_what_is_planted_strongly_is_found(scripts):
    planted, rng = scripts.planted, np.random.default_rng(1)
    assert planted.one_label(rng, shift=2.0, effect=0.0)["AUROC off .5"] == 0
    assert planted.another_label(rng, cosine=0.95, effect=0.0)["lost to erasure off 0"] == 0
    assert planted.patches(rng, share=0.8)["share recovered off 0"] == 0
    assert planted.far_away(rng, scale=2.0, shift=0.0)["mean share abstained from"] > 0.9
    private = planted.own_ability(rng, shared=0.0, private=2.0)
    assert private["own: nothing is added (p)"] < 0.01
    assert private["mean gain, own"] > 0.1 > private["mean gain, another model"]
    told = planted.without_labels(rng, truth=2.0, understood=True)
    assert told["crc: AUROC off .5"] == told["crc: hurt off 0"] == 0

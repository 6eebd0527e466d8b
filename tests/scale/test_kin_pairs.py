"""The pairs that share most beside the scale are given a family's name, or none."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import one_factor

from onedial.core.errors import InputError
from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.specific.kin_pairs import kin_pairs

FAMILY = pd.Series(np.repeat(list("abcd"), 3), range(12))


def residuals(seed: int, own: float, n: int = 500):
    """Twelve respondents; those of family b share `own` of their variance beside the scale."""
    rng = np.random.default_rng(seed)
    hidden = 0.75 * rng.standard_normal((n, 1)) + np.sqrt(1 - 0.75**2) * rng.standard_normal((n, 12))
    hidden[:, 3:6] += np.sqrt(own) * rng.standard_normal((n, 1))
    return residual_correlations((hidden > rng.uniform(-0.6, 0.6, 12)).astype(float), 49, seed=seed)


def test_a_family_that_shares_something_is_named():
    found = kin_pairs(residuals(1, 0.5), FAMILY)
    assert found.within.p <= 0.05
    assert found.groups["strongest"].idxmax() == "b"
    assert found.strongest["group"].iloc[:3].tolist() == ["b"] * 3
    assert "b 3" in found.sentence("family")
    assert found.within.observed == (found.strongest["group"].notna()).sum()


def test_labels_that_say_nothing_name_nothing():
    found = residuals(1, 0.5)
    p = [kin_pairs(found, dict(enumerate(np.random.default_rng(seed).permutation(FAMILY))), 199).within.p
         for seed in range(60)]  # fmt: skip
    assert np.mean(np.array(p) <= 0.05) <= 0.12
    assert "no name" in kin_pairs(residuals(2, 0.0), FAMILY).sentence()


def test_expected_count_is_that_of_dealt_labels():
    found = kin_pairs(residuals(3, 0.0), FAMILY)
    chance = 4 * 3 / 66  # of a pair to be of one family
    assert found.within.mean == pytest.approx(len(found.strongest) * chance, rel=0.1)


@pytest.mark.long
def test_one_factor_alone_hardly_ever_shows_a_pair():
    shown = certain = 0
    for seed in range(20):
        found = residual_correlations(one_factor(seed, 300, 12, loadings=(0.93, 0.93)).answers, 49, seed=seed)
        shown += len(found.violations()) > 0
        certain += (found.pairs["q"] <= 0.05).any()
    assert shown <= 1
    assert certain <= 4


def test_a_certain_residual_that_is_small_is_no_finding():
    found = residuals(4, 0.06, n=8000)
    assert (found.pairs["q"] <= 0.05).any()
    assert not len(found.violations())


def test_groups_of_one_are_refused():
    with pytest.raises(InputError, match="one of them of two or more"):
        kin_pairs(residuals(5, 0.0, 100), {i: i for i in range(12)})

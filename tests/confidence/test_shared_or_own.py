"""Whose knowledge is in confidence: a model's own part is found, what families and scales share is not taken for it."""

import numpy as np
import pandas as pd
import pytest
from simulations.shared_or_own import FAMILIES, KINDS, panel

from onedial.confidence.shared_or_own import NO_KIN, OWN, _family_diagonal, _low_rank, _Pairs, shared_or_own
from onedial.core.errors import InputError

TEN = FAMILIES["5 families of 10"]


def verdicts(planted, kin, n, seeds):
    return [shared_or_own(*panel(kin, n, seed, **KINDS[planted]), n_bootstrap=60, seed=seed) for seed in seeds]


@pytest.mark.long
@pytest.mark.parametrize("planted", ["families that know themselves", "two scales", "one scale"])
def test_what_families_and_scales_share_is_not_taken_for_ones_own(planted):
    """docs/evidence.md has the full simulation."""
    result = verdicts(planted, TEN, 800, range(8))
    assert sum(each.mean["verdict"] == OWN for each in result) <= 1
    assert abs(np.mean([each.mean["own"] for each in result])) < 0.03


@pytest.mark.long
def test_a_planted_part_of_ones_own_is_found_with_its_size():
    result = verdicts(".3 of its own", FAMILIES["7 families of 33"], 800, range(3))
    assert [each.mean["verdict"] for each in result] == [OWN] * 3
    assert np.mean([each.mean["own"] for each in result]) == pytest.approx(0.09, abs=0.03)  # .3 x .3 of variance 1


def test_one_model_that_knows_itself_is_found_and_named():
    sure, right, kin = panel(FAMILIES["3 families of 12"], 1500, 3, family=0.3)
    rng = np.random.default_rng(0)
    sure["a0"] = 0.6 * right["a0"].fillna(0) + 0.3 * sure["a0"].rank(pct=True).fillna(0.5) + rng.random(len(sure))
    result = shared_or_own(sure, right, kin, n_bootstrap=99)
    assert result.models["verdict"].eq(OWN)["a0"]
    assert result.models["own"].idxmax() == "a0"
    assert result.mean["n_own"] <= 2


def test_correlations_are_those_behind_the_cuts():
    """Bivariate normal pairs of known correlation, cut coarsely; a monotone change of the numbers changes nothing."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60_000, 2))
    sure = np.searchsorted([-2.0, -1.2, 0.9], x[:, 0]).astype(float)
    for rho, cut in ((0.6, -1.5), (0.2, -0.3), (-0.4, 0.2)):
        right = (rho * x[:, 0] + np.sqrt(1 - rho**2) * x[:, 1] > cut).astype(float)
        result = _Pairs(sure[:, None], right[:, None]).correlations(np.ones((1, len(x))))
        assert result[0, 0, 0] == pytest.approx(rho, abs=0.02)
    sure, right, kin = panel(TEN, 300, 1)
    one, other = (shared_or_own(each, right, kin, n_bootstrap=5) for each in (sure, np.exp(3 * sure) + 7))
    pd.testing.assert_frame_equal(one.correlations, other.correlations)
    assert one.models.loc["a0", "n"] == (sure["a0"].notna() & right["a0"].notna()).sum() < 300


def test_parts_add_up_and_come_from_cells_off_the_diagonal_alone():
    sure, right, kin = panel(TEN, 400, 2)
    result = shared_or_own(sure, right, kin, n_bootstrap=5)
    table = result.models
    np.testing.assert_allclose(table["total"], table["shared"] + table["family"] + table["own"])
    np.testing.assert_allclose(table["total"], np.diag(result.correlations))
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.2, 0.8, (2, 6, 2))
    cells = a @ b.T
    np.fill_diagonal(cells, 9.0)
    left, other = _low_rank(cells[None], ~np.eye(6, dtype=bool), 1, None)
    assert np.abs(np.diag((left @ other.transpose(0, 2, 1))[0])).max() < 1.5
    u, v = rng.uniform(0.3, 0.7, (2, 5))
    family = np.outer(u, v)
    np.fill_diagonal(family, 9.0)
    assert _family_diagonal(family[None])[0] == pytest.approx(u * v, abs=0.06)


def test_models_without_relatives_are_left_out_of_the_mean_and_said():
    sure, right, kin = panel(np.array([*"aabbc"]), 400, 0)
    result = shared_or_own(sure, right, kin, n_bootstrap=20)
    assert result.models.loc["c4", "verdict"] == NO_KIN
    assert np.isnan(result.models.loc["c4", "p_adjusted"])
    assert (result.mean["n_models"], result.mean["n_named"]) == (4, 0)
    assert "without relatives: 1" in result.sentence()
    alone = shared_or_own(sure, right, pd.Series(list("vwxyz"), sure.columns), n_bootstrap=20)
    assert alone.mean["n_models"] == 5
    assert "own or the family's" in alone.sentence()


def test_tables_that_cannot_answer_are_refused_and_names_join_them():
    sure, right, kin = panel(TEN, 200, 0)
    with pytest.raises(InputError, match="twice"):
        shared_or_own(pd.concat([sure, sure[["a0"]]], axis=1), right, kin)
    with pytest.raises(InputError, match="question 0 twice"):
        shared_or_own(sure.set_axis([0, 0, *range(2, 200)]), right, kin)
    with pytest.raises(InputError, match="models are of one family"):
        shared_or_own(sure, right, pd.Series("x", kin.index))
    with pytest.raises(InputError, match="3 models vary"):
        shared_or_own(sure.iloc[:, :3], right, kin)
    with pytest.raises(InputError, match="over 20 questions"):
        shared_or_own(sure.head(20), right, kin)
    shuffled = shared_or_own(sure[sure.columns[::-1]], right.sample(frac=1, random_state=0), kin, n_bootstrap=5)
    straight = shared_or_own(sure, right, kin, n_bootstrap=5)
    np.testing.assert_allclose(shuffled.models["total"][straight.models.index], straight.models["total"])

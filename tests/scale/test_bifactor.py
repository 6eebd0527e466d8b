"""What is general, what a group shares and what is a respondent's own is told apart."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE

from onedial.core.errors import InputError
from onedial.scale.response_model import response_model
from onedial.scale.specific.specific_factors import specific_factors
from onedial.stats.answers import PsychometricsWarning

GROUPS = np.repeat(np.arange(5), 4)


def planted(seed: int, n: int = 2000, alone: int = 0):
    """Hidden readiness of twenty respondents in five groups of four, its general and its specific loadings; the first
    groups share nothing."""
    rng = np.random.default_rng(seed)
    general, specific = rng.uniform(0.5, 0.85, 20), rng.uniform(0.25, 0.5, 20)
    specific[alone > GROUPS] = 0
    hidden = general * rng.standard_normal((n, 1)) + specific * rng.standard_normal((n, 5))[:, GROUPS]
    hidden += np.sqrt(1 - general**2 - specific**2) * rng.standard_normal((n, 20))
    return hidden, general, specific


def said(hidden, seed: int = 0, missing: float = 0.05) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    yes = hidden > rng.uniform(-0.8, 0.8, 20)
    return pd.DataFrame(np.where(rng.random(yes.shape) < missing, np.nan, yes), columns=[f"r{i}" for i in range(20)])


@pytest.fixture(scope="module")
def fitted():
    hidden, general, specific = planted(1, 1500)
    return response_model(said(hidden), families=GROUPS), general, specific


def test_planted_loadings_come_back_within_their_errors(fitted):
    model, general, specific = fitted
    table = model.respondents
    for true, name in ((general, "loading"), (specific, "family_loading")):
        off = (table[name] - true) / table[f"{name}_se"]
        assert np.abs(off).max() < 4
        assert 0.6 < off.std() < 1.5
    assert model.converged


def test_shares_are_the_planted_ones_and_add_up(fitted):
    model, general, specific = fitted
    shares = model.shares
    assert shares["share"].sum() == pytest.approx(1)
    for part, true in (("general", (general**2).mean()), ("specific", (specific**2).mean())):
        assert shares["low"][part] < true < shares["high"][part]
    assert model.families["share"].mean() == pytest.approx(shares["share"]["specific"])


def test_mirt_finds_the_same_loadings():
    """The Python package mirt 1.2.0; a logistic slope is 1.702 times a normal-ogive one, approximately."""
    theirs = pd.read_csv(REFERENCE / "mirt_bifactor.csv", index_col="respondent")
    ours = response_model(pd.read_csv(REFERENCE / "bifactor_X.csv"), families=np.repeat(np.arange(4), 3)).respondents
    off = ours[["loading", "family_loading"]].to_numpy() - theirs[["general", "specific"]].to_numpy()
    assert np.abs(off).max() < 0.025  # its curves are logistic


def test_a_group_that_shares_nothing_leaves_the_two_parameter_model():
    hidden, _, _ = planted(2, 500, alone=5)
    panel = said(hidden)
    one = response_model(panel)
    found = specific_factors(panel, GROUPS)
    assert found.model.log_likelihood - found.ratio / 2 == pytest.approx(one.log_likelihood, abs=1e-3)
    nothing = found.tests["ratio"] < 0.1
    assert nothing.any()
    assert found.tests["share"][nothing].max() < 0.02


def test_random_answers_are_not_taken_from_the_loadings():
    hidden, general, _ = planted(5, 1200)
    yes = said(hidden, missing=0.0)
    yes = yes.mask(np.random.default_rng(0).random(yes.shape) < 0.15, 1.0)
    plain, aware = (
        response_model(yes, families=GROUPS, family_slopes="equal", asymptotes=kind) for kind in ("none", "common")
    )
    assert aware.respondents["random_answers"].mean() == pytest.approx(0.15, abs=0.03)
    assert plain.shares["share"]["general"] < 0.8 * (general**2).mean()
    assert aware.shares["share"]["general"] == pytest.approx((general**2).mean(), abs=0.04)


def test_groups_that_share_something_are_named_and_the_others_are_not():
    hidden, _, _ = planted(6, 600, alone=2)
    found = specific_factors(said(hidden), GROUPS, scale="histogram")
    assert found.p < 1e-4
    assert found.tests.index[found.tests["q"] <= 0.05].tolist() == [2, 3, 4]
    assert "in 3 of 5 beyond chance" in found.sentence("family")


def test_nothing_shared_is_no_more_than_chance():
    hidden, _, _ = planted(7, 300, alone=5)
    assert "no more than chance gives" in specific_factors(said(hidden), GROUPS).sentence("family")


def test_somebody_alone_has_no_specific_factor_and_a_constant_one_is_left_out():
    hidden, _, _ = planted(9, 300)
    panel = said(hidden).assign(r0=1.0)
    groups = ["x" if i in (1, 2, 3, 4) else f"alone {i}" for i in range(20)]
    with pytest.warns(PsychometricsWarning, match="r0 gave only one kind of answer"):
        model = response_model(panel, families=groups)
    assert np.isnan(model.respondents.loc["r0", "loading"])
    assert model.families["share"].notna().sum() == 1
    assert model.respondents["family_loading"].notna().sum() == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": list(range(20))}, "each of the 20 families has one respondent"),
        ({"families": GROUPS, "family_slopes": "own"}, "choose one of free, equal"),
        ({"families": GROUPS[:5]}, "5 families for 20 names"),
    ],
)
def test_what_cannot_be_fitted_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        response_model(said(planted(1, 60)[0]), **options)

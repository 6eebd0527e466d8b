"""Who does not belong on the scale is named; who does is left in peace."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import one_factor

from onedial.core.errors import InputError
from onedial.scale.misfit.answer_fit import CLOSER, LOOSER, answer_fit, information_of
from onedial.scale.response_curves import UNUSED, Curves, log_categories


def alike(seed: int, n: int = 600, m: int = 12, missing: float = 0.0) -> np.ndarray:
    return one_factor(seed, n, m, rates=(0.15, 0.85), loadings=(0.8, 0.8), missing=missing).answers


@pytest.fixture(scope="module")
def odd():
    """Twelve respondents, the first of whom answers nearly always yes, and against the scale."""
    panel = pd.DataFrame(alike(1), columns=[f"r{i}" for i in range(12)])
    hard = 1 - panel[[f"r{i}" for i in range(1, 12)]].mean(axis=1).rank(pct=True).to_numpy()
    panel["r0"] = (np.random.default_rng(0).random(600) < 0.8 + 0.19 * hard).astype(float)
    return panel, answer_fit(panel)


def test_who_answers_against_the_scale_does_not_belong(odd):
    _, result = odd
    table = result.respondents
    assert table.index[~table["belongs"]].tolist() == ["r0"]
    assert table["follows"]["r0"] == LOOSER
    assert table["l_z"].idxmin() == "r0"
    assert np.isnan(table["place"]["r0"])
    assert table.index[table["reversed"]].tolist() == ["r0"]
    assert table["loading_high"]["r0"] < 0
    assert (table["follows"].drop("r0") == LOOSER).sum() == 0


def test_who_follows_more_closely_is_no_objection():
    rng = np.random.default_rng(3)
    loading = np.array([0.97] * 2 + [0.7] * 10)
    hidden = loading * rng.standard_normal((1500, 1)) + np.sqrt(1 - loading**2) * rng.standard_normal((1500, 12))
    table = answer_fit(hidden > 0).respondents
    assert (table["follows"] == CLOSER).tolist() == [True] * 2 + [False] * 10
    assert (table["infit"][:2] < 0.9).all()


def test_whoever_nearly_always_says_yes_belongs_where_all_guess():
    rng = np.random.default_rng(0)
    hidden = 0.7 * rng.standard_normal((700, 1)) + np.sqrt(0.51) * rng.standard_normal((700, 16))
    hidden[:, 0] += 1.6
    result = answer_fit(np.where(rng.random(hidden.shape) < 0.2, True, hidden > 0))
    assert result.respondents["belongs"].all()
    assert (result.respondents["follows"] == "as the others").all()
    assert result.loading == pytest.approx(0.7, abs=0.05)


def test_place_is_where_a_respondent_says_yes_half_of_the_time():
    truth = one_factor(4, 4000, 10, rates=(0.2, 0.8), loadings=(0.8, 0.8))
    place = answer_fit(truth.answers).respondents["place"]
    assert place.to_numpy() == pytest.approx(truth.thresholds / truth.loadings, abs=0.12)


def test_a_gap_says_nothing_and_too_few_are_refused():
    panel = alike(8, n=300)
    panel[:100, 0] = np.nan
    result = answer_fit(panel)
    assert result.respondents["n"][0] == 200
    with pytest.raises(InputError, match="at least 3"):
        answer_fit(panel[:, :2])


def test_of_few_answers_nobody_is_said_not_to_belong():
    rng = np.random.default_rng(3)
    panel = alike(5, n=60)
    panel[:, 0], panel[:, 1] = 1 - panel[:, 0], rng.integers(0, 2, 60)
    many, few = answer_fit(panel), answer_fit(panel[:40])
    assert many.respondents["reversed"][0]
    assert not few.respondents["reversed"].any()
    assert few.respondents["belongs"].all()
    assert any("too few to say who does not belong" in sentence for sentence in few.sentences())


def test_information_is_that_of_every_category():
    cuts = np.array([[1.0, 0.4], [-0.5, UNUSED]])
    curves = Curves(np.array([1.2, 0.8]), cuts, np.array([[0.05, 0.1], [0.02, 0.0], [0.1, 0.0]]))
    result = information_of(curves)
    nodes, step = -result["difficulty"].to_numpy(), 1e-5
    low, p, high = (np.exp(log_categories(curves, nodes + d)) for d in (-step, 0, step))
    expected = (((high - low) / (2 * step)) ** 2 / np.maximum(p, 1e-12)).sum(axis=(0, 1))
    np.testing.assert_allclose(result["information"], expected, rtol=1e-5)


def test_the_loading_of_all_does_not_take_the_sign_of_the_first(odd):
    """The first answers against the scale; all others load .8."""
    assert odd[1].loading == pytest.approx(0.8, abs=0.1)

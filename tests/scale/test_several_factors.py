"""Rotation against R; factors named by what was planted."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, matrix

from onedial.core.errors import InputError
from onedial.scale.factor.factor_names import name_factors
from onedial.scale.factor.minres import minres
from onedial.scale.factor.rotation import rotate


def correlation() -> pd.DataFrame:
    return pd.read_csv(REFERENCE / "rotation_r.csv", index_col=0)


def in_the_order_of(ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Our columns matched to theirs by their product, with signs."""
    product = ours.T @ theirs
    order = [int(np.argmax(np.abs(product[:, column]))) for column in range(theirs.shape[1])]
    assert sorted(order) == list(range(theirs.shape[1]))
    sign = np.sign([product[place, column] for column, place in enumerate(order)])
    return ours[:, order] * sign, order, sign


def test_varimax_is_rs():
    found = rotate(matrix("rotation_none"), "varimax")
    theirs = matrix("rotation_varimax")
    ours, _, _ = in_the_order_of(found.loadings.to_numpy(), theirs)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    np.testing.assert_array_equal(found.correlation, np.eye(3))


def test_oblimin_is_gparotations():
    found = rotate(matrix("rotation_none"), "oblimin")
    reference = matrix("rotation_oblimin")
    theirs, phi = reference[:, :3], reference[:3, 3:]
    ours, order, sign = in_the_order_of(found.loadings.to_numpy(), theirs)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    np.testing.assert_allclose(
        found.correlation.to_numpy()[np.ix_(order, order)] * np.outer(sign, sign), phi, atol=1e-5
    )


@pytest.mark.parametrize("rotation", ["varimax", "oblimin"])
def test_a_rotation_keeps_what_the_factors_reproduce(rotation):
    plain = minres(correlation().to_numpy(), 3)
    found = rotate(plain, rotation)
    pattern, between = found.loadings.to_numpy(), found.correlation.to_numpy()
    np.testing.assert_allclose(pattern @ between @ pattern.T, plain @ plain.T, atol=1e-8)
    assert (pattern.sum(axis=0) > 0).all()
    np.testing.assert_allclose(np.diag(between), 1)


def test_rotation_finds_the_groups_from_any_start():
    rng = np.random.default_rng(0)
    simple = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 0.8, (12, 1))
    turned = simple @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    for rotation in ("varimax", "oblimin"):
        ours, _, _ = in_the_order_of(rotate(turned, rotation).loadings.to_numpy(), simple)
        np.testing.assert_allclose(ours, simple, atol=1e-5)


def test_rows_without_loadings_stay_without():
    loadings = pd.DataFrame(minres(correlation().to_numpy(), 3), list("abcdefghijkl"))
    loadings.loc["c"] = np.nan
    found = rotate(loadings).loadings
    assert found.loc["c"].isna().all()
    pd.testing.assert_frame_equal(found.drop("c"), rotate(loadings.drop("c")).loadings)


def test_a_factor_is_named_by_the_topic_that_was_planted_and_by_nothing_else():
    rng = np.random.default_rng(2)
    topic = rng.choice(["history", "music", "sport"], 300)
    scores = pd.DataFrame(
        {"factor_1": rng.standard_normal(300), "factor_2": rng.standard_normal(300) + 1.2 * (topic == "music")}
    )
    known = pd.DataFrame({"topic": topic, "length": rng.integers(20, 200, 300), "level": rng.integers(1, 6, 300)})
    found = name_factors(scores, known, 199)
    first = found.iloc[0]
    assert (first["factor"], first["column"], first["highest"]) == ("factor_2", "topic", "music")
    assert first["q"] < 0.05
    assert (found["q"] < 0.05).sum() == 1
    np.testing.assert_allclose(found.loc[found["column"] == "topic", "chance"], 2 / 299, atol=2e-3)


def test_a_label_that_few_questions_share_names_nothing():
    rng = np.random.default_rng(5)
    scores = pd.DataFrame({"f": rng.standard_normal(60)})
    known = pd.DataFrame({"author": [f"a{place // 2}" for place in range(60)], "url": [f"u{n}" for n in range(60)]})
    assert set(name_factors(scores, known, 19)["column"]) == {"author"}


def test_a_number_is_named_with_its_direction():
    rng = np.random.default_rng(3)
    length = rng.uniform(20, 200, 200)
    found = name_factors(pd.DataFrame({"f": -length + 30 * rng.standard_normal(200)}), pd.DataFrame({"length": length}))
    assert found.loc[0, "highest"] == "-"
    assert found.loc[0, "p"] == 0.001


def test_impossible_requests_about_factors_are_refused():
    with pytest.raises(InputError, match="varimax or oblimin"):
        rotate(matrix("rotation_none"), "promax")
    with pytest.raises(InputError, match="known by name"):
        name_factors(pd.DataFrame({"f": [1.0]}, index=["a"]), pd.DataFrame({"t": ["x"]}, index=["b"]))

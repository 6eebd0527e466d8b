"""Rotation against R, from any start."""

import numpy as np
import pandas as pd
from psychometric_data import REFERENCE, matrix

from onedial.scale.factor.minres import minres
from onedial.scale.factor.rotation import oblimin


def in_the_order_of(ours: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Our columns matched to theirs by their product, with signs."""
    product = ours.T @ theirs
    order = [int(np.argmax(np.abs(product[:, column]))) for column in range(theirs.shape[1])]
    assert sorted(order) == list(range(theirs.shape[1]))
    sign = np.sign([product[place, column] for column, place in enumerate(order)])
    return ours[:, order] * sign, order, sign


def test_oblimin_is_gparotations():
    pattern, between = oblimin(pd.DataFrame(matrix("rotation_none")))
    reference = matrix("rotation_oblimin")
    theirs, phi = reference[:, :3], reference[:3, 3:]
    ours, order, sign = in_the_order_of(pattern.to_numpy(), theirs)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    np.testing.assert_allclose(between.to_numpy()[np.ix_(order, order)] * np.outer(sign, sign), phi, atol=1e-5)


def test_a_rotation_keeps_what_the_factors_reproduce_and_rows_without_loadings():
    plain = pd.DataFrame(minres(pd.read_csv(REFERENCE / "rotation_r.csv", index_col=0).to_numpy(), 3))
    plain.loc[12] = np.nan
    pattern, between = oblimin(plain)
    assert pattern.loc[12].isna().all()
    known, whole = pattern.drop(12).to_numpy(), plain.drop(12).to_numpy()
    np.testing.assert_allclose(known @ between.to_numpy() @ known.T, whole @ whole.T, atol=1e-8)
    assert (known.sum(axis=0) > 0).all()


def test_rotation_finds_the_groups_from_any_start():
    rng = np.random.default_rng(0)
    simple = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 0.8, (12, 1))
    turned = simple @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    ours, _, _ = in_the_order_of(oblimin(pd.DataFrame(turned))[0].to_numpy(), simple)
    np.testing.assert_allclose(ours, simple, atol=1e-5)

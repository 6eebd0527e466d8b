"""Tuned predictions: privileged access is found where it is planted, and a better learner has none."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.selfreport.score.tuned_prediction import tuned_prediction


def planted(private, learns=(1.0, 1.0, 1.0), kin=0.0, seed=0, n_words=60, each=4):
    """Answers by what shows in the question, by what a family (b and c) shares and by what is one's own.

    A tuned predictor knows the first as well as it learns, the second if it is of the family, the third if it is its.
    """
    rng, names = np.random.default_rng(seed), list("abc")
    n = n_words * each
    shown, family, private_parts = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(3, n))
    rows = []
    for t, target in enumerate(names):
        related = kin * family * (t > 0)
        latent = shown + related + private * private_parts[t]
        answer = (latent + rng.normal(0, 0.5, n) > 0).astype(float)
        for p, predictor in enumerate(names):
            known = learns[p] * shown + (related if p > 0 else 0) + (private * private_parts[t] if p == t else 0)
            rows.append(pd.DataFrame({
                "predictor": predictor, "target": target, "unit": np.repeat(np.arange(n_words), each),
                "item": range(n), "margin": 2 * known + rng.normal(0, 0.3, n), "answer": answer, "share": 0.5,
            }))  # fmt: skip
    return pd.concat(rows)


FAMILIES = {"a": "x", "b": "y", "c": "y"}


def test_private_knowledge_is_recovered():
    """Private knowledge is found and without it nothing is in either score."""
    result = [tuned_prediction(planted(1.0, seed=seed), None, 199).loc[("mean", "other")] for seed in range(10)]
    assert all(row[f"{name}_low"] > 0 for row in result for name in ("advantage", "beyond_learning", "advantage_bits"))
    null = [tuned_prediction(planted(0.0, seed=seed), None, 199).loc[("mean", "other")] for seed in range(30)]
    for name in ("beyond_learning", "beyond_learning_bits"):
        assert sum(row[f"{name}_low"] > 0 for row in null) <= 4  # one in forty by chance; four or fewer in 99%


def test_a_better_learner_has_no_advantage_beyond_learning():
    """Who learns everything better has an advantage over the other and none beyond learning."""
    table = tuned_prediction(planted(0.0, learns=(2.0, 0.0, 1.0), n_words=200), None, 199)
    assert table.loc[("a", "b"), "advantage_bits_low"] > 0
    assert table.loc[("b", "a"), "advantage_bits_high"] < 0
    row = table.loc[("a", "b")]
    assert row["beyond_learning_bits_low"] < 0 < row["beyond_learning_bits_high"]
    assert row["beyond_learning"] == pytest.approx(table.loc[("b", "a"), "beyond_learning"])


def test_what_a_family_shares_is_none_over_a_sibling():
    """What a family shares is an advantage over strangers and none over a sibling."""
    table = tuned_prediction(planted(0.0, kin=1.5), FAMILIES, 199)
    assert table.loc[("b", "a"), "advantage_low"] > 0
    sibling = table.loc[("mean", "sibling")]
    assert sibling["beyond_learning_low"] < 0.02
    assert abs(sibling["beyond_learning"]) < 0.05


def test_scores_are_those_of_their_formulas():
    """Scores are those of their formulas and the majority stands beside them."""
    rows = [
        {"predictor": p, "target": t, "unit": unit, "item": unit, "margin": margin, "answer": unit % 2, "share": 0.25}
        for p in "ab"
        for t in "ab"
        for unit, margin in enumerate([-1.0, 1.0, 1.0, np.nan if (p, t) == ("b", "a") else 1.0])
    ]
    table = tuned_prediction(pd.DataFrame(rows), None, 9)
    itself = table.loc[("a", "a")]
    assert (itself["relation"], itself["n"], itself["n_unread"]) == ("itself", 3, 0)  # the fourth is not known of b
    assert table.loc[("a", "b"), "n_unread"] == 1
    assert itself["accuracy"] == pytest.approx(2 / 3)
    assert itself["majority"] == pytest.approx(2 / 3)
    right, wrong = -np.log2(1 + np.exp(-1)), -np.log2(1 + np.exp(1))
    assert itself["bits"] == pytest.approx((2 * right + wrong - 2 * np.log2(0.75) - np.log2(0.25)) / 3)
    assert table.loc[("b", "b"), "n"] == 4


def test_predictions_that_do_not_cross_are_refused():
    with pytest.raises(InputError, match="not every one"):
        tuned_prediction(planted(0.0).query("predictor == 'a'"))
    with pytest.raises(InputError, match="lack share"):
        tuned_prediction(planted(0.0).drop(columns="share"))

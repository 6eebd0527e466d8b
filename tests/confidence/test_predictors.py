"""What tells right answers from wrong ones: what is planted is found, and nothing that was not known helps."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence.predictors import (
    FAMILY,
    HISTORY,
    IN_ANSWER,
    OTHERS,
    OWN,
    RIGHT,
    TEXT,
    compare_predictors,
    predictors_of_correctness,
)
from onedial.core.errors import InputError

KIN = pd.Series(dict(zip("abcdef", "xxyyzz", strict=True)))


def planted(weight=0.0, n=600, seed=0):
    rng = np.random.default_rng(seed)
    ease, private = rng.standard_normal((n, 1)), rng.standard_normal((n, 6))
    right = (ease + private > -1).astype(float)
    sure = ease + weight * private + rng.standard_normal((n, 6))
    return pd.DataFrame(sure, columns=list("abcdef")), pd.DataFrame(right, columns=list("abcdef"))


def test_ones_own_confidence_helps_only_where_planted():
    """Others do as well where all share and ones own helps beside them where it is planted."""
    sure, right = planted()
    table = compare_predictors(predictors_of_correctness(sure, right, KIN), right, KIN, n_bootstrap=50).summary
    assert table.loc[OTHERS, "auroc"] > table.loc[OWN, "auroc"]
    assert table.loc[OWN, "bits_more_low"] < 0.005
    sure, right = planted(weight=1.0)
    table = compare_predictors(predictors_of_correctness(sure, right, KIN), right, KIN, n_bootstrap=50).summary
    assert table.loc[OWN, "bits_more_low"] > 0.02
    assert table.loc[FAMILY, "bits_more"] < 0.01


def test_each_predictor_is_what_its_name_says():
    sure, right = planted(n=80)
    sure.iloc[3, 4] = np.nan
    letters = pd.DataFrame("A", sure.index, sure.columns)
    letters.iloc[0] = list("AABBAC")
    result = predictors_of_correctness(sure, right, KIN, letters, pd.Series("Who?", sure.index))
    assert list(result) == [OWN, FAMILY, OTHERS, TEXT, HISTORY, IN_ANSWER, RIGHT]
    np.testing.assert_allclose(result[RIGHT]["a"], right[list("cdef")].mean(axis=1))
    pd.testing.assert_series_equal(result[FAMILY]["a"], result[OWN]["b"], check_names=False)
    assert result[IN_ANSWER].loc[0, "a"] == pytest.approx(sure.loc[0, "e"] / 4)  # of c to f only e said A too
    assert result[IN_ANSWER].loc[3, "a"] == pytest.approx(sure.loc[3, list("cdf")].mean())  # e is blank there
    assert result[OTHERS]["a"].rank().corr(sure[list("cdef")].mean(axis=1).rank()) > 0.95


def history(weight, n=120, n_models=8, seed=0):
    """Models that are right by the question's kind: by one ease of each kind for all, and `weight` times one's own."""
    rng = np.random.default_rng(seed)
    kinds = [f"{verb} {noun}" for verb in ("derive", "name", "count") for noun in ("rivers", "kings", "poems")]
    of, names = rng.integers(len(kinds), size=n), list("abcdefghij"[:n_models])
    ease, mine = rng.standard_normal(len(kinds)), rng.standard_normal((len(kinds), n_models))
    right = (2 * ease[of][:, None] + weight * mine[of] + rng.standard_normal((n, n_models)) > 0).astype(float)
    texts = pd.Series([f"{kinds[kind]} {place}" for place, kind in enumerate(of)])
    sure = pd.DataFrame(rng.standard_normal(right.shape), columns=names)
    return sure, pd.DataFrame(right, columns=names), texts


def by_words(sure, right, texts):
    kin = pd.Series(list(right), list(right))
    return compare_predictors(predictors_of_correctness(sure, right, kin, texts=texts), right, kin, 0).summary


@pytest.mark.long
def test_words_are_learnt_from_other_questions():
    """The words of a question are learnt from other questions and the history of others is leant on."""
    sure, right, texts = history(weight=0.0)
    result = by_words(sure, right, texts)
    assert result.loc[TEXT, "auroc"] > 0.7
    assert result.loc[HISTORY, "bits"] > result.loc[TEXT, "bits"] + 0.02
    assert result.loc[OWN, "bits"] < 0.01
    dealt = right.apply(lambda one: np.random.default_rng(1).permutation(one))
    assert (by_words(sure, dealt, texts).loc[[TEXT, HISTORY], "auroc"] - 0.5).abs().max() < 0.08


def test_what_a_model_alone_gets_right_is_not_lost():
    """What a model alone gets right is not lost in the history of others."""
    sure, right, texts = history(weight=3.0, n=300)
    result = by_words(sure, right, texts)
    assert result.loc[HISTORY, "bits"] > result.loc[TEXT, "bits"] - 0.01
    assert result.loc[HISTORY, "bits"] > result.loc[RIGHT, "bits"] + 0.05
    alone = predictors_of_correctness(sure[["a"]], right[["a"]], pd.Series(dtype=str), texts=texts)
    assert alone[TEXT].notna().all().all()
    assert alone[HISTORY].isna().all().all()


def test_models_that_are_nearly_always_right_are_left_out_and_named():
    sure, right = planted(n=100)
    right["a"] = 1.0
    result = compare_predictors({"own": sure}, right, KIN, n_bootstrap=5)
    assert result.left_out == ["a"]
    with pytest.raises(InputError, match="nothing to predict"):
        compare_predictors({"own": sure}, right * 0 + 1, KIN)

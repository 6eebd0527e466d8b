"""What tells right answers from wrong ones: what is planted is found, and nothing that was not known helps."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from onedial.confidence import compare_predictors, predictors_of_correctness
from onedial.confidence.predictors import FAMILY, IN_ANSWER, OTHERS, OWN, RIGHT, TEXT
from onedial.core import InputError

KIN = pd.Series(dict(zip("abcdef", "xxyyzz", strict=True)))


def planted(own=0.0, n=600, seed=0):
    rng = np.random.default_rng(seed)
    ease, private = rng.standard_normal((n, 1)), rng.standard_normal((n, 6))
    right = (ease + private > -1).astype(float)
    sure = ease + own * private + rng.standard_normal((n, 6))
    return pd.DataFrame(sure, columns=list("abcdef")), pd.DataFrame(right, columns=list("abcdef"))


def test_others_do_as_well_where_all_share_and_ones_own_helps_beside_them_where_it_is_planted():
    sure, right = planted()
    table = compare_predictors(predictors_of_correctness(sure, right, KIN), right, KIN, n_bootstrap=50).summary
    assert table.loc[OTHERS, "auroc"] > table.loc[OWN, "auroc"]
    assert table.loc[OWN, "bits_more_low"] < 0.005
    sure, right = planted(own=1.0)
    table = compare_predictors(predictors_of_correctness(sure, right, KIN), right, KIN, n_bootstrap=50).summary
    assert table.loc[OWN, "bits_more_low"] > 0.02
    assert table.loc[FAMILY, "bits_more"] < 0.01


def test_each_predictor_is_what_its_name_says():
    sure, right = planted(n=80)
    sure.iloc[3, 4] = np.nan
    said = pd.DataFrame("A", sure.index, sure.columns)
    said.iloc[0] = list("AABBAC")
    found = predictors_of_correctness(sure, right, KIN, said, pd.Series("Who?", sure.index))
    assert list(found) == [OWN, FAMILY, OTHERS, TEXT, IN_ANSWER, RIGHT]
    np.testing.assert_allclose(found[RIGHT]["a"], right[list("cdef")].mean(axis=1))
    pd.testing.assert_series_equal(found[FAMILY]["a"], found[OWN]["b"], check_names=False)
    assert found[IN_ANSWER].loc[0, "a"] == pytest.approx(sure.loc[0, "e"] / 4)  # of c to f only e said A too
    assert found[IN_ANSWER].loc[3, "a"] == pytest.approx(sure.loc[3, list("cdf")].mean())  # e is blank there
    assert found[OTHERS]["a"].rank().corr(sure[list("cdef")].mean(axis=1).rank()) > 0.95


def test_areas_are_scikit_learns_and_a_predictor_of_noise_saves_no_bits():
    sure, right = planted(own=0.5)
    noise = pd.DataFrame(np.random.default_rng(5).standard_normal(sure.shape), sure.index, sure.columns)
    found = compare_predictors({"own": sure, "noise": noise}, right, KIN, n_bootstrap=20)
    assert found.auroc.loc["c", "own"] == pytest.approx(roc_auc_score(right["c"], sure["c"]))
    assert found.summary.loc["noise", "bits"] < 0.003
    assert abs(found.summary.loc["noise", "bits_more"]) < 0.004
    assert (found.summary["auroc_low"] <= found.summary["auroc"]).all()


def test_the_words_of_a_question_are_learnt_from_other_questions():
    rng = np.random.default_rng(0)
    hard = rng.random(300) < 0.5
    texts = pd.Series([f"{'derive the integral' if each else 'name the capital'} {i}" for i, each in enumerate(hard)])
    right = pd.DataFrame({name: (rng.random(300) < np.where(hard, 0.3, 0.9)).astype(float) for name in "abcdef"})
    sure = pd.DataFrame(rng.standard_normal((300, 6)), columns=list("abcdef"))
    tables = predictors_of_correctness(sure, right, KIN, texts=texts)
    found = compare_predictors(tables, right, KIN, n_bootstrap=20).summary
    assert found.loc[TEXT, "auroc"] > 0.75
    dealt = right.apply(lambda one: rng.permutation(one))
    tables = predictors_of_correctness(sure, dealt, KIN, texts=texts)
    assert abs(compare_predictors(tables, dealt, KIN, n_bootstrap=0).summary.loc[TEXT, "auroc"] - 0.5) < 0.08


def test_models_that_are_nearly_always_right_are_left_out_and_named():
    sure, right = planted(n=100)
    right["a"] = 1.0
    found = compare_predictors({"own": sure}, right, KIN, n_bootstrap=5)
    assert found.left_out == ["a"]
    with pytest.raises(InputError, match="nothing to predict"):
        compare_predictors({"own": sure}, right * 0 + 1, KIN)

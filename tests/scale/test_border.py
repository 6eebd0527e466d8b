"""Whatever holds a table is read, and whatever does not is refused in one sentence, by every public function."""

import warnings

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.scale.checks.bundles import bundle_invariance
from onedial.scale.checks.missingness import missingness_test
from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.correlations.polychoric import polychoric
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.correlations.thresholds import threshold_table
from onedial.scale.equal_slopes import rasch_test
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.misfit.answer_fit import answer_fit
from onedial.scale.response_model import response_model
from onedial.stats.answers import PsychometricsWarning

RNG = np.random.default_rng(0)
YES = (0.8 * RNG.standard_normal((40, 1)) + 0.6 * RNG.standard_normal((40, 6)) > 0).astype(float)
FRAME = pd.DataFrame(YES, [f"q{i}" for i in range(40)], list("abcdef"))
FAMILIES, TOPICS = list("xxyyzz"), [0, 1] * 20

FUNCTIONS = {
    "answer_fit": lambda m: answer_fit(m).respondents["infit"],
    "response_model with families": lambda m: response_model(m, families=FAMILIES).respondents["loading"],
    "bundle_invariance": lambda m: bundle_invariance(m, TOPICS).table["expected"],
    "fit_factor_model": lambda m: fit_factor_model(m).loadings["factor_1"],
    "response_model": lambda m: response_model(m).respondents["loading"],
    "missingness_test": lambda m: missingness_test(m)["n_missing"],
    "polychoric": lambda m: polychoric(m).correlation,
    "rasch_test": lambda m: pd.Series(rasch_test(m).ratio),
    "residual_correlations": lambda m: residual_correlations(m, 3).pairs["q3"],
    "tetrachoric": lambda m: tetrachoric(m).correlation,
    "threshold_table": lambda m: threshold_table(m)["threshold"],
}
OF_CORRELATIONS = {
    "minres_one_factor": minres_one_factor,
}
SAME = {
    "a list": YES.tolist(),
    "an array of objects": YES.astype(object),
    "whole numbers that may be missing": FRAME.astype("Int8"),
    "booleans that may be missing": FRAME.astype("boolean"),
    "short floats": FRAME.astype("Float32"),
    "questions with two names": FRAME.set_index(pd.MultiIndex.from_product([range(4), range(10)])),
}
REFUSED = {
    "nothing": None,
    "one dimension": YES[:, 0],
    "three dimensions": YES[None],
    "no rows": np.empty((0, 0)),
    "rows of different lengths": [[1, 0], [1]],
    "text": FRAME.replace({1.0: "yes", 0.0: "no"}),
    "dates": FRAME.apply(lambda column: pd.to_datetime(column)),
    "infinities": FRAME.replace(1.0, np.inf),
    "a name twice": FRAME.set_axis(list("aabcde"), axis=1),
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_answers_in_another_form_say_the_same(name):
    expected = np.asarray(FUNCTIONS[name](FRAME), dtype=float)
    for form, table in SAME.items():
        found = np.asarray(FUNCTIONS[name](table), dtype=float)
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=form)


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_CORRELATIONS])
def test_what_is_no_table_is_refused_in_one_sentence(name):
    call = (FUNCTIONS | OF_CORRELATIONS)[name]
    for form, table in REFUSED.items():
        with pytest.raises(InputError) as refused:
            call(table)
        assert "\n" not in str(refused.value), form
        assert len(str(refused.value)) < 400, form


def test_correlations_are_read_in_any_form():
    r = pd.DataFrame(np.full((4, 4), 0.49) + 0.51 * np.eye(4))
    for form in (r, r.to_numpy(), r.astype("Float64"), np.ma.masked_array(r.to_numpy())):
        np.testing.assert_allclose(minres_one_factor(form), 0.7, atol=1e-6)

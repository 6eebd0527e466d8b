"""Whatever holds a table is read, and whatever does not is refused in one sentence, at the border of each kind."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.stats.answers import as_answers

RNG = np.random.default_rng(0)
YES = (0.8 * RNG.standard_normal((40, 1)) + 0.6 * RNG.standard_normal((40, 6)) > 0).astype(float)
FRAME = pd.DataFrame(YES, [f"q{i}" for i in range(40)], list("abcdef"))
SAME = {
    "a list": YES.tolist(),
    "an array of objects": YES.astype(object),
    "whole numbers that may be missing": FRAME.astype("Int8"),
    "booleans that may be missing": FRAME.astype("boolean"),
    "short floats": FRAME.astype("Float32"),
    "a masked array": np.ma.masked_array(YES, mask=False),
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
    "two": FRAME.replace(1.0, 2),
    "halves": FRAME.replace(1.0, 0.5),
    "infinities": FRAME.replace(1.0, np.inf),
    "a name twice": FRAME.set_axis(list("aabcde"), axis=1),
}


@pytest.mark.parametrize("form", SAME)
def test_the_same_answers_in_another_form_are_the_same(form):
    np.testing.assert_array_equal(as_answers(SAME[form]).yes, YES == 1)


def test_a_masked_answer_is_a_missing_answer():
    hidden = RNG.random(YES.shape) < 0.3
    for panel in (np.ma.masked_array(YES, hidden), np.ma.masked_array(YES, hidden).astype(bool)):
        np.testing.assert_array_equal(as_answers(panel).answered, ~hidden)


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_no_table_is_refused_in_one_sentence(form):
    with pytest.raises(InputError) as refused:
        as_answers(REFUSED[form])
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400

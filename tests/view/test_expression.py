"""Which rows an expression keeps, and that nothing else can be said with one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onedial.core import InputError
from onedial.view import matching

TABLE = pd.DataFrame(
    {
        "topic": ["law", "Sea law", None, "sea"],
        "margin": [0.5, np.nan, -1.0, 2.0],
        "said yes": [1.0, 0.0, np.nan, 1.0],
        "right": [True, False, True, False],
        "answer": ["yes", "no", None, "yes"],
    }
)


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("", [0, 1, 2, 3]),
        ("margin > 0.4", [0, 3]),
        ("margin >= -1 and margin<.6", [0, 2]),
        ("0 < margin", [0, 3]),
        ('topic = "law"', [0]),
        ("topic == 'law'", [0]),
        ('topic ~ "LAW"', [0, 1]),
        ('topic != "law"', [1, 3]),
        ('not topic = "law"', [1, 2, 3]),
        ("topic is missing or margin is missing", [1, 2]),
        ("not (topic is missing or margin is missing)", [0, 3]),
        ("topic is not missing and `said yes` = yes", [0, 3]),
        ("right = no", [1, 3]),
        ("answer = yes and right = yes", [0]),
        ("margin = 2 or margin = .5 and right = no", [3]),
        ('"sea"', [1, 3]),
        ("margin > -1e0", [0, 3]),
        ("topic < answer", [0, 1, 3]),
    ],
)
def test_an_expression_keeps_the_rows_that_pass(expression, kept):
    assert np.flatnonzero(matching(TABLE, expression)).tolist() == kept


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("margn > 1", "did you mean 'margin'"),
        ("margin > law", "names 'law'"),
        ('margin > "x"', "a number and a text"),
        ("margin ~ 1", "compare what is alike"),
        ("margin", "compares 'margin' with nothing"),
        ("(margin > 1", "does not close"),
        ("margin > 1)", "where it should end"),
        ("margin > 1 margin > 2", "where it should end"),
        ("margin is there", "`is` is followed"),
        ("margin >", "where a column, number or text belongs"),
        ('topic = "law', "cannot be read"),
        ("topic.str.len() > 2", "cannot be read"),
        ("__import__('os')", "names '__import__'"),
        ("(" * 40, "nested deeper"),
        ("not " * 40 + "margin > 1", "nested deeper"),
        ("x" * 2000, "2000 characters"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(expression, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        matching(TABLE, expression)


@given(
    st.lists(st.sampled_from([*"()<>=~!`'\"", "and", "or", "not", "is", "missing", "margin", "topic", "1", "yes", " "]))
)
def test_any_words_give_a_mask_or_a_sentence(words):
    try:
        mask = matching(TABLE, " ".join(words))
    except InputError:
        return
    assert mask.shape == (len(TABLE),)
    assert mask.dtype == bool


def test_a_table_without_rows_or_texts_is_filtered_all_the_same():
    assert matching(TABLE[:0], 'margin > 1 and "law"').tolist() == []
    assert matching(TABLE[["margin"]], '"law"').tolist() == [False] * 4

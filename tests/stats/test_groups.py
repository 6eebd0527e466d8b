"""Labels come in the order that is asked for, and a blank one is refused by its name."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.stats.groups import labels_of
from onedial.stats.resampling import counted_once

ANSWERS = pd.DataFrame({"ann": [1, 0], "bob": [0, 1], "cid": [1, 1]})
WANTED = pd.Index(["cid", "ann"])


@pytest.mark.parametrize(
    "labels", [{"ann": "x", "bob": None, "cid": "y"}, pd.Series({"cid": "y", "bob": "x", "ann": "x"}), ["x", "x", "y"]]
)
def test_labels_follow_the_wanted_order(labels):
    """Labels by name or in the order of the matrix are those of the wanted."""
    assert labels_of(labels, ANSWERS.columns, WANTED, "groups").tolist() == ["y", "x"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"ann": "x", "bob": "x"}, "the groups say nothing of cid"),
        ({"ann": None, "bob": "x", "cid": "y"}, "the groups say nothing of ann"),
        (["x", "y"], "2 groups for 3 names"),
        ([["x"], ["x"], ["y"]], "3 groups for 3 names"),
        (pd.Series(["x", "y", "z"], index=["ann", "ann", "cid"]), "the groups name ann more than once"),
    ],
)
def test_labels_that_leave_one_out_or_do_not_fit_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        labels_of(labels, ANSWERS.columns, WANTED, "groups")


def test_wordings_of_one_question_count_once():
    result = np.array([[True, False], [True, False], [False, False], [True, True]])
    assert counted_once(result, np.array(["a", "a", "b", "c"])).tolist() == [2, 1]
    assert counted_once(result, None).tolist() == [3, 1]

"""The report claims knowledge of its own only where the test that allows for bad measurement finds it."""

import pandas as pd
import pytest

from probes.own_correctness import ITS_OWN, NOTHING_FOUND
from probes.results import PROBE_RESULTS

ROW = {
    "label": "own correct", "own": True, "layer": 3, "n": 100, "n_positive": 40, "reading": 0.7, "by_own_probe": 0.7,
    "beyond": 0.1, "beyond_null": 0.09, "p_beyond": 0.2,
}  # fmt: skip


def shown(**row):
    return " ".join(PROBE_RESULTS["own"].items(pd.DataFrame([ROW | row]), None))


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (ITS_OWN, "the stream tells where the subject does better or worse"),
        (NOTHING_FOUND, "nothing of the subject's own was found"),
    ],
)
def test_each_verdict_has_its_sentence_and_only_one_claims_something(verdict, sentence):
    page = shown(verdict=verdict)
    assert sentence in page
    assert ("the stream tells where" in page) == (verdict == ITS_OWN)

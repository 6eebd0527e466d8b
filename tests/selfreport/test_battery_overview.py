"""The battery at a glance: shares get their interval, what is unread has no number, and every test has a line."""

import numpy as np
import pandas as pd
import pytest

from onedial.selfreport import BATTERY, battery_overview
from onedial.selfreport.score.battery_overview import CANNOT_BE_ASKED, LINES, TOO_FEW
from onedial.stats import wilson_interval


def index(*names):
    return pd.MultiIndex.from_tuples(names, names=["respondent", "part"])


def test_every_test_has_a_line_in_the_order_of_asking():
    assert list(LINES) == list(BATTERY)


def test_a_share_has_wilson_s_interval_and_an_area_that_of_its_table():
    choices = pd.DataFrame({"n": [20], "n_unread": [2], "accuracy": [0.3]}, pd.Index(["it"], name="respondent"))
    confidence = pd.DataFrame(
        {"n": [9, 8], "n_unread": [0, 1], "auroc": [0.6, 0.7], "low": [0.4, np.nan], "high": [0.8, np.nan]},
        index(("it", "plain"), ("it", "gap named")),
    )
    found = battery_overview({"confidence": confidence, "choices": choices}).droplevel("respondent")
    low, high = wilson_interval(pd.Series([6]), pd.Series([20]))
    row = found.loc[("choices", "right among four options")]
    assert row[["n", "n_unread", "value", "low", "high", "nothing"]].tolist() == pytest.approx(
        [20, 2, 0.3, low.item(), high.item(), 0.25]
    )
    assert row["status"] == ""
    assert found.loc["confidence"].index.tolist() == ["AUROC of stated confidence: plain"]
    assert found.loc["confidence"].iloc[0][["low", "high"]].tolist() == [0.4, 0.8]


def test_what_is_mostly_unread_cannot_be_asked_and_what_has_too_few_of_a_kind_says_so():
    passages = pd.DataFrame(
        {"n": [3, 16], "n_unread": [13, 0], "shift": np.nan, "low": np.nan, "high": np.nan},
        index(("it", "helpful"), ("it", "useless")),
    )
    assert battery_overview({"passages": passages})["status"].tolist() == [CANNOT_BE_ASKED, TOO_FEW]
    made = pd.DataFrame({"n_made": [10], "n_invalid": [6]}, pd.Index(["it"], name="respondent"))
    assert battery_overview({"failing": made})["status"].tolist() == [CANNOT_BE_ASKED]

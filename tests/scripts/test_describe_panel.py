"""The tables that describe a collected panel."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_experiment import ROOT, main_of

from onedial.core.errors import InputError
from onedial.panels.questions.question_files import load_questions

main = main_of(ROOT / "scripts" / "describe_panel.py")
describe = sys.modules[main.__module__].describe

DATA = Path(__file__).resolve().parents[2] / "onedial" / "panels" / "data"
STORED = DATA.parents[2] / "tests" / "reference" / "data"


def test_the_stored_tables_are_those_of_the_panel_in_the_box(tmp_path):
    main([str(DATA), "--out", str(tmp_path)])
    names = sorted(file.name for file in STORED.iterdir())
    assert names == sorted(file.name for file in tmp_path.iterdir())
    for name in names:
        new, stored = (pd.read_csv(folder / name, index_col=0) for folder in (tmp_path, STORED))
        pd.testing.assert_frame_equal(new, stored, rtol=0, atol=2e-6)


def test_every_share_counts_what_it_says():
    tables, panel = describe(DATA, load_questions("embedded")), pd.read_csv(DATA / "panel.csv")
    own = panel[panel["respondent"] == "gemma-3-270m: neutral"]
    row = tables["respondents"].loc["gemma-3-270m: neutral"]
    assert row["yes_rate"] == pytest.approx(own["said_yes"].dropna().astype(float).mean())
    assert row["unread"] == pytest.approx((own["mass"] < 0.1).mean())
    outcomes = tables["outcomes"].loc["gemma-3-270m"]
    assert outcomes.sum() == len(own)
    levels = tables["levels"].loc["gemma-3-270m"]
    assert levels["right_all"] == pytest.approx(outcomes["right"] / (outcomes["right"] + outcomes["wrong"]))
    assert levels["silent_all"] == pytest.approx(outcomes["no_answer"] / len(own))
    assert tables["eigenvalues"]["share"].sum() == pytest.approx(1)
    assert np.all(np.diff(tables["eigenvalues"]["share"]) <= 0)


def test_a_folder_without_a_panel_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"give a folder that panel\.py collect"):
        describe(tmp_path, load_questions("embedded", n=5))

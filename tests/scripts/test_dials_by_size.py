"""scripts/dials_by_size.py: the stored table is what the stored runs say, and its figure shows every subject."""

import importlib
import shutil

import pandas as pd
import pytest
from tiny_experiment import ROOT

from onedial.core.errors import InputError

REFERENCE = ROOT / "tests" / "reference"


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("dials_by_size")


@pytest.fixture(scope="module")
def table(script):
    return script.sizes(script.STORED)


def test_the_stored_table_is_that_of_the_stored_runs_the_smallest_subject_first(table):
    stored = pd.read_csv(REFERENCE / "frontier_sizes" / "sizes.csv", index_col="size")
    pd.testing.assert_frame_equal(stored, table, atol=1e-5)
    assert stored["millions"].is_monotonic_increasing


def test_a_run_of_unknown_size_and_an_empty_folder_are_refused(script, tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        script.sizes(tmp_path)
    shutil.copytree(script.STORED / "135m", tmp_path / "7b")
    with pytest.raises(InputError, match="7b is of unknown size"):
        script.sizes(tmp_path)

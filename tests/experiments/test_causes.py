"""Interchange and mediation as a stage of the sweep: on test questions alone, once, and in the report."""

import pytest
from tiny_experiment import call, finished_run, write_experiment

from onedial.studies.sweep.causes import layers_above
from steering.causes import INTERCHANGE_COLUMNS, MEDIATION_COLUMNS

__all__ = ["call"]


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    given = write_experiment(tmp_path_factory.mktemp("experiment"), n=96, n_targets=6)
    return given | {"without_verdict": True, "layer": 1, "facts": 0, "reversed": 0, "tests": "interchange,mediation"}


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    return finished_run(options, tmp_path_factory.mktemp("run") / "run")


def test_both_tables_hold_what_was_swapped_and_what_was_held(run):
    swapped, held = run.run.read_table("interchange.csv"), run.run.read_table("mediation.csv")
    assert tuple(swapped.columns) == (*INTERCHANGE_COLUMNS, "pairs")
    assert tuple(held.columns) == (*MEDIATION_COLUMNS, "auroc")
    n_test = int((run.splits() == "test").sum())
    assert swapped["pairs"].unique().tolist() == ["own margin", "panel"]
    n_pairs = (swapped["n"] + swapped["n_unread"]).groupby(swapped["pairs"]).unique()
    assert n_pairs["panel"].tolist() == [n_test // 3]
    assert n_pairs["own margin"] <= n_test // 3  # of those whose margin was read
    assert (held["n"] + held["n_unread"] == 32).all()
    assert set(held["layer"]) == set(layers_above(1, 5))
    kinds = held[held["layer"] == held["layer"].min()]["kind"].value_counts()
    assert kinds[["random", "shuffled", "words", "vector"]].tolist() == [19, 19, 1, 1]
    assert set(held.loc[held["kind"] == "probe", "direction"]) == {"own margin", "panel"}
    assert held.loc[held["kind"] == "probe", "auroc"].between(0, 1).all()
    far = swapped[swapped["pairs"] == "own margin"]
    assert far["gap_low"].min() > 0  # pairs are far apart by what the gap is measured in
    html = (run.path / "report.html").read_text(encoding="utf-8")
    assert "Through what does the push go?" in html
    assert "Does the answer hang on what lies along the vector?" in html

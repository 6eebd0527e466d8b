"""Dials compared from the command line, broken off and gone on with."""

import json

import pandas as pd
import pytest
from tiny_experiment import ROOT, alone, as_arguments, call, run_here, write_experiment  # noqa: F401

PROGRAM = ROOT / "experiments" / "compare_dials.py"
QUICK = {
    "layer": "1,3",
    "method": "mean_difference,gradient,random",
    "operator": "add,rotate",
    "dials": "interventions,cut,threshold",
    "facts": 20,
    "passages": 4,
    "together": 2,
}
STAGES = ("placing", "answers", "facts")
DIALS = [
    "mean_difference, add", "gradient, add", "random, add", "mean_difference, rotate", "threshold shift",
    "instructed threshold",
]  # fmt: skip


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return write_experiment(tmp_path_factory.mktemp("compared"), n=120, n_targets=8) | QUICK


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    assert run_here(PROGRAM, *as_arguments(options | {"out": folder}), drawn=True) == 0
    return folder


def test_one_table_one_figure_one_sentence(run):
    table = pd.read_csv(run / "dials.csv").set_index("dial")
    assert set(DIALS) <= set(table.index)
    assert table.loc["threshold shift", "order_gain"] == 0
    for name in ("signal", "order_gain"):
        known = table[name].notna()
        assert (table.loc[known, f"{name}_low"] <= table.loc[known, name] + 1e-9).all()
        assert (table.loc[known, name] <= table.loc[known, f"{name}_high"] + 1e-9).all()
    assert table["chosen"].sum() == 1
    assert (run / "figures" / "dials.svg").is_file()
    assert (run / "figures" / "direction_cosines.png").is_file()
    said = json.loads((run / "comparison.json").read_text())
    assert said["sentence"].startswith("At equal yes rates")
    directions = pd.read_csv(run / "directions.csv")
    assert len(directions) == 6
    rates = pd.read_csv(run / "rates.csv")
    there = rates[rates["reached"]]
    assert there[["accuracy", "negative_flips"]].notna().all().all()
    pushed = ~there["dial"].isin(["threshold shift", "instructed threshold"])
    assert (there["kl"].notna() == pushed).all()


def test_a_dry_run_tells_how_much_is_asked_and_writes_nothing(run, options, tmp_path, call):  # noqa: F811
    told = call(PROGRAM, *as_arguments(options | {"out": tmp_path / "out", "dry_run": True}))
    assert told.code == 0, told.err
    assert not (tmp_path / "out").exists()
    assert f"{len(DIALS) + 1} dials" in told.out  # several layers at once have a name that the layers make
    cells = [line.split() for line in told.out.splitlines()]
    steered = {words[0]: int(words[2].replace(",", "")) for words in cells if words[:1] and words[0] in STAGES}

    def rows(stage):
        return sum(len(pd.read_parquet(part)) for part in (run / f"{stage}-interventions").glob("part-*.parquet"))

    assert steered["placing"] == rows("placing")
    for stage in ("answers", "facts"):
        assert rows(stage) <= steered[stage] <= 2 * rows(stage)
    (total,) = [words for words in cells if words[:1] == ["total"]]
    assert total[-1] in ("s", "min", "h")

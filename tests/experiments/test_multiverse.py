"""The multiverse from the command line: whole and refused."""

import json

import pandas as pd
import pytest
from safetensors import safe_open
from tiny_experiment import ROOT, as_arguments, call, run_here, write_experiment  # noqa: F401

PROGRAM = ROOT / "experiments" / "multiverse.py"
QUICK = {"layer": "1,3", "resamples": 1, "replicates": 99}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    written = write_experiment(tmp_path_factory.mktemp("multiverse"), n=120)
    prompt = "user: |\n  {question}\n  Known to you? Yes or No?\nassistant_prefix: 'Answer:'\n"
    written["prompt"].write_text(prompt)
    return written | QUICK


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    assert run_here(PROGRAM, *as_arguments(options | {"out": folder}), drawn=True) == 0
    return folder


def test_one_table_one_figure_one_page_one_sentence(run):
    table = pd.read_csv(run / "universes.csv").set_index("universe")
    assert len(table) == 5
    assert {"as run", "answer contrast", "no first", "draw 1"} < set(table.index)
    assert table["signal"].notna().all()
    assert table["rho_dial"].between(-1, 1).all()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["sentence"].startswith("over 5 universes")
    assert summary["numbers"]["signal"]["median"] == pytest.approx(table["signal"].median())
    assert (run / "figures" / "multiverse.png").is_file()
    page = (run / "report.html").read_text()
    assert "no first" in page
    assert "owed to how the vector was made" in page


def test_every_universe_has_a_vector_of_its_own(run):
    found = {}
    for file in (run / "vectors").rglob("*.safetensors"):
        with safe_open(file, "numpy") as opened:
            found[str(file.relative_to(run / "vectors"))] = opened.get_tensor("direction").tobytes()
    assert len(found) == len(set(found.values())) == 5


def test_a_layer_that_the_model_has_not_is_said_before_anything_slow(call, options, tmp_path):  # noqa: F811
    ended = call(PROGRAM, *as_arguments(options | {"layer": "1,9", "out": tmp_path / "out"}))
    assert ended.code == 2
    assert "layer 9 requested, but this model has layers 0-4" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_dry_run_tells_the_cost_and_writes_nothing(call, options, tmp_path):  # noqa: F811
    ended = call(PROGRAM, *as_arguments(options | {"out": tmp_path / "out", "dry_run": True}))
    assert ended.code == 0
    assert "5 universes" in ended.out
    assert "turns 2" in ended.out
    assert not (tmp_path / "out").exists()

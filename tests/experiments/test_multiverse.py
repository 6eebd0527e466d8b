"""The multiverse from the command line."""

import json

import pandas as pd
import pytest
from safetensors import safe_open
from tiny_experiment import (
    ROOT,
    STEER_SWEEP,
    as_arguments,
    assert_bounded,
    counted,
    foretold,
    run_here,
    write_experiment,
)

from onedial.verdict.sweep_run import SweepRun

PROGRAM = ROOT / "experiments" / "multiverse.py"
QUICK = {"layer": "1,3", "draws": 1}
NAMES = {"as run", "answer contrast", "no first", "draw 1"}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multiverse")
    options = write_experiment(folder, n=120) | QUICK | {"out": folder / "run"}
    options["prompt"].write_text("user: |\n  {question}\n  Known to you? Yes or No?\nassistant_prefix: 'Answer:'\n")
    return options


@pytest.fixture(scope="module")
def run(options):
    with counted() as asked:
        assert run_here(PROGRAM, *as_arguments(options)) == 0
    assert_bounded(foretold(PROGRAM, options), asked, searched=asked, most=6.0)
    return options["out"]


def test_one_table_one_figure_one_page_one_sentence(run):
    table = pd.read_csv(run / "answers.csv").set_index("run")
    assert len(table) == 5
    assert {name for name in table.index if not name.startswith("layer")} == NAMES
    assert table["signal"].notna().all()
    assert set(pd.read_csv(run / "beside_first.csv")["run"]) == set(table.index[1:])
    summary = json.loads((run / "summary.json").read_text())
    judged = table.loc[table["is_judged"], "signal"]
    assert summary["numbers"]["signal"]["median"] == pytest.approx(judged.median())
    assert summary["numbers"]["signal"]["worst"] == judged.min()
    assert (run / "figures" / "comparison_numbers.png").is_file()
    page = (run / "report.html").read_text()
    assert "no first" in page
    assert summary["sentence"][1:] in page.replace("&#34;", '"')


def test_every_universe_is_a_sweep_with_a_vector_of_its_own(run):
    vectors = set()
    for folder in (run / "universes").iterdir():
        universe = SweepRun.open(folder)
        assert universe.is_finished
        (file,) = (folder / "vectors").glob("*.safetensors")
        with safe_open(file, "numpy") as opened:
            vectors.add(opened.get_tensor("direction").tobytes())
    assert len(vectors) == 5


def test_as_run_is_what_a_sweep_of_the_same_options_gives(run, options, tmp_path):
    """The same questions, layer and seed: the same vector, magnitudes, matches and verdict."""
    same = {name: value for name, value in options.items() if name not in ("draws", "out")}
    same |= {"facts": 0, "reversed": 0, "out": tmp_path / "sweep"}
    assert run_here(STEER_SWEEP, *as_arguments(same)) == 0
    one, other = SweepRun.open(run / "universes" / "as-run"), SweepRun.open(tmp_path / "sweep")
    assert one.verdict().to_dict() == other.verdict().to_dict()
    pd.testing.assert_frame_equal(one.matches(), other.matches())
    assert one.config == other.config
    assert one.verdict().signal.value == pd.read_csv(run / "answers.csv").set_index("run").loc["as run", "signal"]


def test_a_killed_multiverse_keeps_the_universes_that_were_finished(run, options):
    before = {file: file.stat().st_mtime_ns for file in run.glob("universes/*/verdict.json")}
    (run / "report.html").unlink()
    lost = run / "universes" / "draw-1" / "verdict.json"
    lost.unlink()
    assert run_here(PROGRAM, *as_arguments(options | {"resume": True})) == 0
    after = {file: file.stat().st_mtime_ns for file in run.glob("universes/*/verdict.json")}
    assert {file for file in before if after[file] != before[file]} == {lost}
    assert (run / "report.html").is_file()

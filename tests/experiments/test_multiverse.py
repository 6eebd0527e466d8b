"""The multiverse from the command line."""

import json

import pandas as pd
import pytest
from safetensors import safe_open
from tiny_experiment import ROOT, as_arguments, assert_bounded, counted, foretold, run_here, write_experiment

PROGRAM = ROOT / "experiments" / "multiverse.py"
QUICK = {"layer": "1,3", "resamples": 1, "replicates": 99}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multiverse")
    options = write_experiment(folder, n=120) | QUICK | {"out": folder / "run"}
    options["prompt"].write_text("user: |\n  {question}\n  Known to you? Yes or No?\nassistant_prefix: 'Answer:'\n")
    with counted() as asked:
        assert run_here(PROGRAM, *as_arguments(options), drawn=True) == 0
    assert_bounded(foretold(PROGRAM, options), asked, searched=asked)
    return folder / "run"


def test_one_table_one_figure_one_page_one_sentence(run):
    table = pd.read_csv(run / "universes.csv").set_index("universe")
    assert len(table) == 5
    assert {"as run", "answer contrast", "no first", "draw 1"} < set(table.index)
    assert table["signal"].notna().all()
    assert table["rho_dial"].between(-1, 1).all()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["sentence"].startswith("over 5 universes")
    assert summary["numbers"]["signal"]["median"] == pytest.approx(table["signal"][table["judged"]].median())
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

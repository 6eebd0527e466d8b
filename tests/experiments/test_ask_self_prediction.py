"""experiments/ask_self_prediction.py: its tables are what the scores read; it goes on where it was broken off."""

import pandas as pd
import pytest
from programs import help_without_libraries
from tiny_experiment import ROOT, call, run_here
from tiny_models import save_outspoken

__all__ = ["call"]

PROGRAM = ROOT / "experiments" / "ask_self_prediction.py"
SCORE = ROOT / "experiments" / "score_self_prediction.py"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self")
    for seed in (0, 1):
        save_outspoken(folder / f"model{seed}", seed=seed)
    options = ("--model", f"{folder / 'model0'},{folder / 'model1'}", "--n-questions", "4")
    assert run_here(PROGRAM, *options, "--out", folder / "run") == 0
    return folder, options


def test_the_three_tables_can_be_scored(asked, call, tmp_path):
    folder, _ = asked
    for test, n in (("association", 32), ("restriction", 8), ("difficulty", 8)):
        assert len(pd.read_csv(folder / "run" / f"{test}.csv")) == n
    ended = call(SCORE, folder / "run", "--replicates", "19", "--out", tmp_path / "scores")
    assert ended.code == 0, ended.err
    assert (tmp_path / "scores" / "difficulty.csv").exists()


def test_a_missing_part_is_asked_again_alone(asked, call):
    folder, options = asked
    before = (folder / "run" / "association.csv").read_bytes()
    part = sorted((folder / "run" / "parts" / "association").glob("*.parquet"))[1]
    part.unlink()
    ended = call(PROGRAM, *options, "--out", folder / "run", "--resume")
    assert ended.code == 0, ended.err
    assert (folder / "run" / "association.csv").read_bytes() == before


def test_no_model_is_refused_and_help_is_instant(call, tmp_path):
    assert "names no model" in call(PROGRAM, "--model", ",", "--out", tmp_path / "run").err
    assert not (tmp_path / "run").exists()
    assert "--n-questions" in help_without_libraries(PROGRAM)

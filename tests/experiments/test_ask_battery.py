"""experiments/ask_battery.py: every test of every respondent leaves its answers and scores; a steered subject is one
too."""

import pandas as pd
import pytest
from tiny_experiment import ROOT, call, run_here
from tiny_models import outspoken_model, save_outspoken, vectors_at

__all__ = ["call"]

PROGRAM = ROOT / "experiments" / "ask_battery.py"
QUICK = ("--n-questions", "8", "--n-each", "4", "--samples", "1", "--replicates", "19")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("battery")
    save_outspoken(folder / "model")
    options = (
        "--model",
        str(folder / "model"),
        "--instruments",
        "pairs,pressure,correction,beliefs,hedges,critics",
        *QUICK,
    )
    assert run_here(PROGRAM, *options, "--out", folder / "run", drawn=True) == 0
    return folder, options


def test_every_test_leaves_its_answers_and_its_scores(asked):
    folder, _ = asked
    for name in (
        "overview",
        "pairs",
        "pairs_signals",
        "pressure",
        "parrot",
        "correction",
        "beliefs",
        "hedges",
        "critics",
    ):
        table = pd.read_csv(folder / "run" / f"{name}.csv")
        assert len(table), name
        assert table.columns[0] == "respondent"
    assert len(list((folder / "run" / "answers" / "pressure").glob("*.parquet"))) == 1
    assert (folder / "run" / "figures" / "pressure.png").exists()


def test_letters_that_a_random_model_never_says_are_counted_and_get_no_number(asked):
    folder, _ = asked
    table = pd.read_csv(folder / "run" / "pressure.csv")
    assert (table["n_unread"] == 8).all()
    assert table["to_wrong"].isna().all()


def test_a_missing_test_is_asked_again_alone(asked, call):
    folder, options = asked
    before = (folder / "run" / "beliefs.csv").read_bytes()
    kept = next((folder / "run" / "answers" / "pairs").glob("*.parquet")).stat().st_mtime_ns
    next((folder / "run" / "answers" / "beliefs").glob("*.parquet")).unlink()
    ended = call(PROGRAM, *options, "--out", folder / "run", "--resume")
    assert ended.code == 0, ended.err
    assert (folder / "run" / "beliefs.csv").read_bytes() == before
    assert next((folder / "run" / "answers" / "pairs").glob("*.parquet")).stat().st_mtime_ns == kept
    assert "beliefs: answers: 24 in" in ended.err  # 8 facts, three ways: how far one test is was told
    assert "pairs: answers" not in ended.err


def test_a_steered_subject_is_a_respondent_at_each_setting(asked, call, tmp_path):
    folder, _ = asked
    (vector,) = vectors_at(outspoken_model(), [2])
    vector.save(tmp_path / "v.safetensors")
    options = ("--model", str(folder / "model"), "--vector", str(tmp_path / "v.safetensors"), "--magnitudes=-1,0,1")
    ended = call(PROGRAM, *options, "--instruments", "beliefs", *QUICK, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    table = pd.read_csv(tmp_path / "run" / "beliefs.csv")
    assert table["respondent"].nunique() == 3
    assert table.groupby("respondent")["margin"].mean().nunique() == 3

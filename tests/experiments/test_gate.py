"""A gate from a finished run, and questions put to it, from the command line."""

import io
import re

import pandas as pd
import pytest
from shared_runs import default_run
from tiny_experiment import ROOT, run_here

from onedial.verdict.sweep_run import SweepRun

GATE = ROOT / "experiments" / "gate.py"
PLACE = ROOT / "experiments" / "place.py"


@pytest.fixture(scope="module")
def run():
    return default_run().run.path


def test_a_gate_is_chosen_saved_and_asked(call, run, tmp_path, monkeypatch):
    ended = call(GATE, "--run", run, "--target", "target 3", "--save", tmp_path / "gate")
    assert ended.code == 0, ended.err
    assert "chosen for the yes rate of target 3" in ended.out
    assert "expected yes rate" in ended.out
    ended = call(GATE, tmp_path / "gate", "Which river was the poet of chess in 1000?", "Who was first?")
    assert ended.code == 0, ended.err
    lines = ended.out.strip().splitlines()
    assert len(lines) == 2
    assert {line.split("\t")[0] for line in lines} <= {"yes", "no", "unread"}
    monkeypatch.setattr("sys.stdin", io.StringIO("Who was first?\n\n"))
    ended = call(GATE, tmp_path / "gate", "-")
    assert ended.out.strip() == lines[1]


@pytest.fixture(scope="module")
def placed(run, tmp_path_factory):
    """A respondent that says what target 3 says, placed by 20 of its answers on the panel without target 3."""
    folder = tmp_path_factory.mktemp("placed")
    panel = SweepRun.open(run).panel().pivot(index="question_id", columns="respondent", values="said_yes")
    answered = panel.pop("target 3").dropna().rename("answer").iloc[::3][:20].astype(int)
    panel.to_csv(folder / "others.csv")
    answered.to_csv(folder / "own.csv")
    assert run_here(PLACE, folder / "others.csv", "--answers", folder / "own.csv", "--out", folder / "run") == 0
    return folder / "run"


def test_a_target_that_was_never_run_gets_its_setting_from_few_answers(call, run, placed, tmp_path):
    ended = call(GATE, "--run", run, "--target", placed, "--save", tmp_path / "gate")
    assert ended.code == 0, ended.err
    rate, low, high = map(float, re.search(r", (\S+) \(95% interval (\S+) to (\S+)\)", ended.out).groups())
    assert 0 < low < rate < high < 1


def test_who_cannot_be_placed_along_the_run_gets_no_setting(call, run, placed, tmp_path):
    def strange(name, column, change):
        table = pd.read_csv(placed / name)
        table.assign(**{column: change(table[column])}).to_csv(tmp_path / name, index=False)

    def refused(target, message):
        ended = call(GATE, "--run", run, "--target", target, "--save", tmp_path / "gate")
        assert (ended.code, message in ended.err) == (2, True), ended.err
        assert not (tmp_path / "gate").exists()

    refused("nobody", "no target 'nobody'")
    refused(tmp_path, "holds no steps.csv")
    for name in ("steps.csv", "predictions.csv"):
        strange(name, "question_id", lambda ids: "other " + ids.fillna(""))
    refused(tmp_path, "knows 0 of the")
    strange("steps.csv", "said_yes", lambda answers: 1.0)
    strange("predictions.csv", "probability", lambda answers: 1.0)
    refused(tmp_path, "says the same to every fitting question")
    ended = call(GATE, "--run", run, "--beta", "1", "--save", tmp_path / "gate")
    assert (ended.code, "which questions the subject answers rightly" in ended.err) == (2, True)

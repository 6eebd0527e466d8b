"""A gate from a finished run, and questions put to it, from the command line."""

import io
import re

import pandas as pd
import pytest
from shared_runs import shared_run
from tiny_experiment import (  # noqa: F401
    ROOT,
    as_arguments,
    call,
    run_here,
)

from onedial.verdict.sweep_run import SweepRun

GATE = ROOT / "experiments" / "gate.py"
PLACE = ROOT / "experiments" / "place.py"


@pytest.fixture(scope="module")
def run():
    return shared_run(layer="2", magnitudes="-1,-0.5,0.5,1", facts=12).run.path


def test_a_gate_is_chosen_saved_and_asked(call, run, tmp_path, monkeypatch):  # noqa: F811
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
    own = panel.pop("target 3").dropna().rename("answer").iloc[::3][:20].astype(int)
    panel.to_csv(folder / "others.csv")
    own.to_csv(folder / "own.csv")
    assert run_here(PLACE, folder / "others.csv", "--answers", folder / "own.csv", "--out", folder / "run") == 0
    return folder / "run"


def test_a_target_that_was_never_run_gets_its_setting_from_few_answers(call, run, placed, tmp_path):  # noqa: F811
    ended = call(GATE, "--run", run, "--target", placed, "--save", tmp_path / "gate")
    assert ended.code == 0, ended.err
    rate, low, high = map(float, re.search(r", (\S+) \(95% interval (\S+) to (\S+)\)", ended.out).groups())
    assert 0 < low < rate < high < 1
    (tmp_path / "empty").mkdir()
    ended = call(GATE, "--run", run, "--target", tmp_path / "empty", "--save", tmp_path / "other")
    assert (ended.code, "holds no steps.csv" in ended.err) == (2, True)


def test_a_respondent_of_another_panel_gets_no_setting(call, run, placed, tmp_path):  # noqa: F811
    for name in ("steps.csv", "predictions.csv"):
        table = pd.read_csv(placed / name)
        table.assign(question_id="other " + table["question_id"].fillna("")).to_csv(tmp_path / name, index=False)
    ended = call(GATE, "--run", run, "--target", tmp_path, "--save", tmp_path / "gate")
    assert (ended.code, "knows 0 of the" in ended.err) == (2, True)


def test_who_is_known_to_say_yes_to_every_fitting_question_gets_no_setting(call, run, placed, tmp_path):  # noqa: F811
    for name, column in (("steps.csv", "said_yes"), ("predictions.csv", "probability")):
        pd.read_csv(placed / name).assign(**{column: 1.0}).to_csv(tmp_path / name, index=False)
    ended = call(GATE, "--run", run, "--target", tmp_path, "--save", tmp_path / "gate")
    assert (ended.code, "says the same to every fitting question" in ended.err) == (2, True)
    assert not (tmp_path / "gate").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--run", "RUN", "--beta", "1", "--save", "OUT"], "which questions the subject answers rightly"),
        (["--run", "RUN", "--target", "nobody", "--save", "OUT"], "no target 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said(call, run, tmp_path, arguments, said):  # noqa: F811
    given = [{"RUN": run, "OUT": tmp_path / "out"}.get(each, each) for each in arguments]
    ended = call(GATE, *given)
    assert ended.code == 2
    assert said in ended.err
    assert not (tmp_path / "out").exists()

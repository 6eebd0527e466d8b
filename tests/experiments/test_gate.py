"""A gate from a finished run, and questions put to it, from the command line."""

import io
import os
import re
import signal
import time
from dataclasses import replace

import pandas as pd
import pytest
from forks import start_program
from shared_runs import shared_run
from tiny_experiment import (  # noqa: F401
    ROOT,
    alone,
    as_arguments,
    call,
    run_here,
)

from onedial.asking.instruments import first_line
from onedial.models.model import load_model
from onedial.verdict.sweep_run import SweepRun
from steering.dials.gate import Expected, Gate

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
    gate = Gate.load(tmp_path / "gate")
    assert gate.between[0] <= gate.magnitude <= gate.between[1]
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


@pytest.fixture(scope="module")
def eager(run, tmp_path_factory):
    """A gate that says yes to most, with a precision of its own."""
    folder = tmp_path_factory.mktemp("eager") / "gate"
    assert run_here(GATE, "--run", run, "--yes-rate", 0.9, "--save", folder) == 0
    gate, share = Gate.load(folder), Expected(0.62, 0.5, 0.75, 40)
    (folder / "gate.safetensors").unlink()
    replace(gate, precision=share, recall=share).save(folder)
    return folder


QUESTIONS = ["Which river was the poet of chess in 1000?", "Who was first?", "Who was last?"]


def test_in_a_chat_each_question_is_answered_as_by_itself_and_a_yes_goes_on(call, eager, monkeypatch):  # noqa: F811
    """What follows a yes is what the subject writes unsteered; with --steered it is another text, of unknown worth."""
    alike = call(GATE, eager, *QUESTIONS).out.splitlines()
    words = [line.split("\t")[0] for line in alike]
    assert "yes" in words
    said = {}
    for more in ((), ("--steered",)):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(["", *QUESTIONS])))
        ended = call(GATE, eager, "--chat", *more)
        assert ended.code == 0, ended.err
        said[more] = ended.out.split("\n")
        assert re.findall(r"^(yes|no|unread) \([+-]", ended.out, re.MULTILINE) == words
        assert ("right in 0.62 of such cases" in ended.out) is (not more)
    gate = Gate.load(eager)
    model, pieces = load_model(gate.model), []
    written = gate.stream(model, QUESTIONS[words.index("yes")], pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == first_line(written.text)
    assert "".join(pieces) in said[()]
    assert said[()] != said["--steered",]


def test_a_question_that_cannot_be_asked_does_not_end_the_chat(call, eager, monkeypatch):  # noqa: F811
    monkeypatch.setattr("sys.stdin", io.StringIO("word " * 5000 + "\n" + QUESTIONS[0]))
    ended = call(GATE, eager, "--chat")
    assert ended.code == 0, ended.err
    assert "error:" in ended.err
    assert ended.out.split()[0] in ("yes", "no", "unread")


def test_a_chat_without_any_input_ends(call, eager, monkeypatch):  # noqa: F811
    for nothing in (io.StringIO(""), None):
        monkeypatch.setattr("sys.stdin", nothing)
        assert call(GATE, eager, "--chat").code == 0


def test_ctrl_c_ends_a_chat_without_a_traceback(eager, tmp_path):
    said = tmp_path / "said.txt"
    read, written = os.pipe()
    with open(said, "w") as log, open(read) as stdin, open(written, "w") as asked:
        chat = start_program(GATE, eager, "--chat", log=log, stdin=stdin, env=alone())
        print(QUESTIONS[0], file=asked, flush=True)
        while not re.search("^(yes|no|unread)", said.read_text(), re.MULTILINE):
            assert chat.poll() is None, said.read_text()
            time.sleep(0.02)
        chat.send_signal(signal.SIGINT)
        assert chat.wait(60) == 130
    assert said.read_text().endswith("interrupted\n")
    assert "Traceback" not in said.read_text()


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

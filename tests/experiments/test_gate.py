"""A gate from a finished run, and questions put to it, from the command line."""

import io

import pytest
from tiny_experiment import ROOT, as_arguments, call, finished_run, write_experiment  # noqa: F401

GATE = ROOT / "experiments" / "gate.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gated")
    options = write_experiment(folder) | {"layer": 2, "magnitudes": "-1,-0.5,0.5,1", "facts": 0}
    return finished_run(options, folder / "run").path


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a saved gate and questions, or --run"),
        (["--run", "RUN", "--beta", "1", "--yes-rate", "0.5", "--save", "OUT"], "exactly one of --beta"),
        (["--run", "RUN", "--beta", "1", "--save", "OUT"], "which questions the subject answers rightly"),
        (["--run", "RUN", "--target", "nobody", "--save", "OUT"], "no target 'nobody'"),
        (["OUT", "Who?"], "there is no gate in"),
    ],
)
def test_what_cannot_be_done_is_said(call, run, tmp_path, arguments, said):  # noqa: F811
    given = [{"RUN": run, "OUT": tmp_path / "out"}.get(each, each) for each in arguments]
    ended = call(GATE, *given)
    assert ended.code == 2
    assert said in ended.err
    assert not (tmp_path / "out").exists()

"""One rule of exit codes for all programs, as a table: 0 done, 1 not in order, 2 unusable or left undone."""

import importlib.util
import json

import pytest
import yaml
from fake_server import FakeServer, Fault
from tiny_experiment import ROOT, run_here

from onedial.core.command_line import run_command
from onedial.core.errors import InputError, ProcessLostError
from onedial.core.notices import leave_undone

COLLECT = (ROOT / "experiments" / "panel.py", "collect")
N = 6


def raising(error):
    def main():
        raise error

    return main


def leaving():
    leave_undone("a budget ended it")


@pytest.mark.parametrize(
    ("main", "code"),
    [
        (lambda: None, 0),
        (lambda: 1, 1),
        (raising(ProcessLostError("process 1 is lost")), 1),
        (raising(InputError("no such file")), 2),
        (raising(FileNotFoundError(2, "No such file")), 2),
        (leaving, 2),
        (raising(KeyboardInterrupt()), 130),
        (raising(BrokenPipeError()), 141),
    ],
)
@pytest.mark.filterwarnings("ignore:a budget ended it")
def test_how_a_program_ends_is_told_by_its_exit_code(main, code, capfd):
    assert run_command(main) == code
    assert run_command(lambda: None) == 0  # what one left undone is no other's


def fails(body):
    return Fault(400)


def answers(body):
    return "Yes"


@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra")
@pytest.mark.parametrize(
    ("replies", "options", "code"),
    [
        ([answers], [], 0),
        ([fails], [], 2),
        ([answers, fails], [], 2),
        ([answers], ["--budget", "5"], 2),
        ([answers], ["--budget", "1000"], 0),
    ],
)
def test_a_collection_that_lacks_a_respondent_or_was_ended_by_its_budget_is_not_done(tmp_path, replies, options, code):
    (tmp_path / "q.jsonl").write_text(
        "".join(json.dumps({"id": str(i), "question": f"What is number {i}?"}) + "\n" for i in range(N))
    )
    servers = [FakeServer(reply) for reply in replies]
    models = [
        {"model": f"m{place}", "server": server.url, "retries": 0, "closed_book": False, "max_tokens": 2}
        | {"price": {"input": 0, "output": 1_000_000}}
        for place, server in enumerate(servers)
    ]
    (tmp_path / "who.yaml").write_text(yaml.safe_dump({"models": models, "framings": ["neutral"]}))
    given = ("--respondents", tmp_path / "who.yaml", "--questions", tmp_path / "q.jsonl", "--out", tmp_path / "out")
    for server in servers:
        server.__enter__()
    try:
        assert run_here(*COLLECT, *given, *options) == code
    finally:
        for server in servers:
            server.__exit__()

"""Processes that wait for one another: whoever waits in vain says for whom, where and how long."""

import socket

import pytest
from forks import start_program
from tiny_experiment import alone

from onedial.core.errors import InputError
from onedial.models import processes
from onedial.models.processes import longest_wait

PROGRAM = """
import os, sys, time
from onedial.core.command_line import run_command
from onedial.core.pulse import at_work
from onedial.models.processes import gather, process_index, start_processes, wait_for_all

def main():
    start_processes()
    with at_work("sweep", announce=False):
        print(gather([process_index()]), flush=True)
        if process_index() == int(sys.argv[1]):
            if sys.argv[2] == "dies":
                os._exit(9)
            time.sleep(60)
        wait_for_all()

sys.exit(run_command(main, resumes=True))
"""


@pytest.fixture
def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.mark.parametrize(
    ("missing", "how", "message"),
    [
        (0, "sleeps", "process 1 of 2 waited for process 0 in 'sweep' for 0.05 minutes"),
        (0, "dies", "process 1 of 2 waited for process 0 in 'sweep' for 0 s until it ended"),
        (1, "sleeps", "process 0 of 2 waited for process 1 in 'sweep' for 0.05 minutes"),
        (1, "dies", "process 0 of 2 waited for process 1 in 'sweep' for 0 s until it ended"),
    ],
)
def test_whoever_waits_in_vain_ends_with_one_sentence(tmp_path, missing, how, message, free_port):
    program, log = tmp_path / "program.py", tmp_path / "log.txt"
    program.write_text(PROGRAM)
    environment = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": free_port,
        "WORLD_SIZE": "2",
        "ONEDIAL_WAIT_MINUTES": "0.05",
    }
    with open(log, "w") as file:
        both = [
            start_program(
                program, missing, how, log=file, env=alone() | environment | {"RANK": str(r), "LOCAL_RANK": str(r)}
            )
            for r in range(2)
        ]
        try:
            assert both[1 - missing].wait(90) == 1, log.read_text()
        finally:
            both[missing].kill()
    text = log.read_text()
    assert text.count("[0, 1]") == 2
    (line,) = [line for line in text.splitlines() if line.startswith("error: ")]
    assert line.startswith(f"error: {message}")
    assert "--resume" in line
    assert "Traceback" not in text


@pytest.mark.parametrize("given", ["0", "-3", "soon", "nan"])
def test_a_wait_that_is_no_time_is_refused(monkeypatch, given):
    monkeypatch.setenv("ONEDIAL_WAIT_MINUTES", given)
    with pytest.raises(InputError, match="ONEDIAL_WAIT_MINUTES"):
        longest_wait()


def test_more_processes_than_gpus_take_them_by_turns(monkeypatch):
    monkeypatch.setattr(processes, "_world", lambda: 3)
    monkeypatch.setattr(processes.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(processes.torch.cuda, "device_count", lambda: 2)
    devices = []
    for rank in range(3):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        devices.append(processes.own_device())
    assert devices == ["cuda:0", "cuda:1", "cuda:0"]

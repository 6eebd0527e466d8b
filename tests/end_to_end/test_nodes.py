"""Two torchrun agents, as on two machines, meet over loopback; one is killed, and Slurm's script goes on."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from shared_runs import quick_run
from tiny_experiment import ROOT, STEER_SWEEP, alone, as_arguments

from onedial.verdict.sweep_run import SweepRun

TORCHRUN = Path(sys.executable).parent / "torchrun"
PATIENCE = 300
pytestmark = [pytest.mark.slow, pytest.mark.launched]  # each agent loads torch


def free_port():
    with socket.socket() as result:
        result.bind(("127.0.0.1", 0))
        return result.getsockname()[1]


def agents(options, log, nodes=2):
    """One torchrun for each node."""
    port = free_port()
    rendezvous = ["--rdzv_backend=c10d", f"--rdzv_endpoint=127.0.0.1:{port}", f"--rdzv_id=job{port}"]
    command = [TORCHRUN, f"--nnodes={nodes}", "--nproc_per_node=1", *rendezvous, STEER_SWEEP, *as_arguments(options)]
    with open(log, "w") as file:
        return [
            subprocess.Popen(list(map(str, command)), stdout=file, stderr=subprocess.STDOUT, env=alone())
            for _ in range(nodes)
        ]


def end_node(agent):
    """Kill an agent and all that it has started, as a machine that loses its power does."""
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(agent.pid).children(recursive=True)  # workers have sessions of their own
        agent.kill()
        for each in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
    agent.wait(timeout=PATIENCE)


def slurm_script(out, options):
    """One command for beginning and going on; without Slurm it is torchrun on this machine alone."""
    environment = alone(PATH=os.pathsep.join([str(TORCHRUN.parent), os.environ["PATH"]]))
    environment |= {"PROCESSES_PER_NODE": "2", "RENDEZVOUS_PORT": str(free_port())}
    command = ["bash", ROOT / "scripts" / "slurm_sweep.sh", out, *as_arguments(options)]
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def test_a_sweep_over_two_nodes_survives_the_loss_of_one(tmp_path):
    """A sweep over two nodes survives the loss of one and ends as if nothing had been."""
    options, one = quick_run()
    out, log = tmp_path / "run", tmp_path / "log.txt"
    given = options | {"out": out, "resume": True}
    running = agents(given, log)
    try:
        give_up = time.monotonic() + PATIENCE
        while not list((out / "sweep").glob("part-*.parquet")):
            assert time.monotonic() < give_up, log.read_text()
            assert all(each.poll() is None for each in running), log.read_text()
            time.sleep(0.02)
        end_node(running[1])  # the machine is gone, without a word
        running[0].wait(timeout=PATIENCE)
    finally:
        for each in running:
            end_node(each)
    assert not (out / "verdict.json").exists(), "the run had ended before a node was lost"

    done = slurm_script(out, options)
    assert done.returncode == 0, done.stderr
    two = SweepRun.open(out)
    assert two.run.manifest.facts["processes"] == 2
    assert len(two.run.manifest.resumed) == 1
    names = {file.name[:7] for file in (out / "sweep").glob("part-*.parquet")}
    assert names == {"part-p1", "part-00"}
    np.testing.assert_allclose(two.sweep()["margin"], one.sweep()["margin"], rtol=0, atol=1e-5)
    assert two.verdict().sentence == one.verdict().sentence

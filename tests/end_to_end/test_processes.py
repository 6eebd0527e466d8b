"""Two processes share a run and write one result, equal to that of one process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_experiment import STEER_SWEEP, alone, as_arguments, finished_run, run_here, write_experiment

from onedial.verdict import SweepRun

BESIDE_PYTHON = Path(sys.executable).parent
LAUNCHERS = {
    "torchrun": ["torchrun", "--standalone", "--nproc_per_node", "2"],
    "accelerate": ["accelerate", "launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0"],
}
"""Without a GPU `--multi_gpu` starts both processes all the same, and they talk over gloo; `--cpu` would start one."""


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return write_experiment(tmp_path_factory.mktemp("inputs"), n=120) | {"layer": "1,3", "controls": 1}


@pytest.fixture(scope="module")
def alone_run(options, tmp_path_factory):
    return finished_run(options, tmp_path_factory.mktemp("alone") / "run")


def launch(launcher, options):
    command, *settings = LAUNCHERS[launcher]
    environment = alone(PATH=os.pathsep.join([str(BESIDE_PYTHON), os.environ["PATH"]]))
    return subprocess.run(
        [command, *settings, str(STEER_SWEEP), *map(str, as_arguments(options))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )


@pytest.mark.parametrize("launcher", sorted(LAUNCHERS))
def test_two_processes_give_the_result_of_one(options, alone_run, tmp_path, launcher):
    done = launch(launcher, options | {"out": tmp_path / "run"})
    assert done.returncode == 0, done.stderr
    run = SweepRun.open(tmp_path / "run")
    assert run.run.manifest.facts["processes"] == 2
    parts = sorted(file.name for file in (run.path / "sweep").iterdir())
    shares = [sum(name.startswith(prefix) for name in parts) for prefix in ("part-0", "part-p1-0")]
    assert shares == [4, 4]
    mine, others = run.interventions(), alone_run.interventions()
    assert mine.drop(columns="magnitudes").equals(others.drop(columns="magnitudes"))
    for grid, other in zip(mine["magnitudes"], others["magnitudes"], strict=True):
        np.testing.assert_allclose(grid, other, rtol=0, atol=1e-5)
    one, two = alone_run.sweep(), run.sweep()
    assert one.drop(columns=["magnitude", "margin", "mass"]).equals(two.drop(columns=["magnitude", "margin", "mass"]))
    for column in ("magnitude", "margin", "mass"):
        np.testing.assert_allclose(two[column], one[column], rtol=0, atol=1e-5)
    assert run.matches()["status"].tolist() == alone_run.matches()["status"].tolist()
    assert run.verdict()["sentence"] == alone_run.verdict()["sentence"]
    assert done.stdout.count("run: ") == 1
    assert done.stdout.count("report: ") == 1

    if launcher == "torchrun":  # who launched it makes no difference to a part that is lost
        assert_one_process_can_finish_it(run, options, alone_run)


def assert_one_process_can_finish_it(run, options, alone_run):
    """Parts of both processes are lost; a single process asks for them again."""
    for late in ("sweep/part-p1-00002.parquet", "sweep/part-00001.parquet", "verdict.json", "matches.csv"):
        (run.path / late).unlink()
    assert run_here(STEER_SWEEP, *as_arguments(options | {"out": run.path, "resume": True})) == 0
    np.testing.assert_allclose(run.sweep()["margin"], alone_run.sweep()["margin"], rtol=0, atol=1e-5)


def test_a_bad_input_ends_all_processes_with_one_sentence(options, tmp_path):
    done = launch("torchrun", options | {"out": tmp_path / "run", "layer": "99"})
    assert done.returncode != 0
    assert "error: layer 99 requested, but this model has layers 0-4; pass --layer 4 or less" in done.stderr
    assert 'steer_sweep.py", line' not in done.stderr
    assert not (tmp_path / "run").exists()

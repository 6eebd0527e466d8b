"""Two processes share a run and write one result, equal to that of one process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forks import run_together, stand_in
from shared_runs import shared_run
from tiny_experiment import STEER_SWEEP, alone, as_arguments, run_here

from onedial.verdict.sweep_run import SweepRun


@pytest.fixture(scope="module")
def shared():
    """The run of test_resume.py."""
    return shared_run(n=112, n_targets=8, layer="1,3", controls=1, facts=20)


@pytest.fixture
def options(shared):
    return shared.options


@pytest.fixture
def alone_run(shared):
    return shared.run


def together(options, log):
    """As torchrun starts them, without another import of everything; test_nodes.py has torchrun itself."""
    with open(log, "w") as file:
        codes = run_together(STEER_SWEEP, *as_arguments(options), log=file, env=alone())
    return codes, log.read_text()


@pytest.mark.launched
def test_two_processes_give_the_result_of_one(unreported, options, alone_run, tmp_path):
    codes, said = together(options | {"out": tmp_path / "run"}, tmp_path / "log.txt")
    assert codes == [0, 0], said
    run = SweepRun.open(tmp_path / "run")
    assert run.run.manifest.facts["processes"] == 2
    parts = sorted(file.name for file in (run.path / "sweep").iterdir())
    shares = [sum(name.startswith(prefix) for name in parts) for prefix in ("part-0", "part-p1-0")]
    assert max(shares) - min(shares) <= 1 < min(shares)
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
    assert said.count("run: ") == 1
    assert said.count("report: ") == 1

    # Parts of both processes are lost; a single process asks for them again.
    for late in ("sweep/part-p1-00002.parquet", "sweep/part-00001.parquet", "verdict.json", "matches.csv"):
        (run.path / late).unlink()
    assert run_here(STEER_SWEEP, *as_arguments(options | {"out": run.path, "resume": True})) == 0
    np.testing.assert_allclose(run.sweep()["margin"], alone_run.sweep()["margin"], rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.launched
def test_accelerate_starts_processes_that_share_a_run(options, tmp_path):
    """Without a GPU `--multi_gpu` starts both processes all the same, and they talk over gloo; `--cpu` starts one."""
    launch = ["accelerate", "launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0"]
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = alone(PATH=paths, PYTHON_EXEC=str(stand_in(tmp_path)))
    quick = options | {
        "layer": "2",
        "magnitudes": "-1,1",
        "controls": 0,
        "facts": 0,
        "tests": "interchange",
        "out": tmp_path / "run",
    }
    given = [*launch, str(STEER_SWEEP), *as_arguments(quick)]
    done = subprocess.run(given, env=environment, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr
    run = SweepRun.open(tmp_path / "run")
    assert run.run.manifest.facts["processes"] == 2
    assert {file.name[:7] for file in (run.path / "sweep").iterdir()} == {"part-p1", "part-00"}
    assert run.run.has("interchange.csv")
    assert done.stdout.count("report: ") == 1


@pytest.mark.launched
def test_a_bad_input_ends_all_processes_with_one_sentence(options, tmp_path):
    codes, said = together(options | {"out": tmp_path / "run", "layer": "99"}, tmp_path / "log.txt")
    assert all(codes), said
    assert "error: layer 99 requested, but this model has layers 0-4; pass --layer 4 or less" in said
    assert 'steer_sweep.py", line' not in said
    assert not (tmp_path / "run").exists()

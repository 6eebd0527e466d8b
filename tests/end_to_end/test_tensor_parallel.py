"""Two processes hold one model together and make the run of one; a loss is told, and the run goes on."""

import time

import numpy as np
import pytest
from forks import run_together, start_together
from shared_runs import seven_batches
from tiny_experiment import STEER_SWEEP, alone, as_arguments

from onedial.verdict.sweep_run import SweepRun

pytestmark = pytest.mark.launched


@pytest.fixture(scope="module")
def whole():
    """What one process makes of the whole model."""
    return seven_batches()


def arguments(options):
    return as_arguments(options | {"tensor_parallel": True})


def assert_same(run, other):
    one, two = other.sweep(), run.sweep()
    numbers = ["magnitude", "margin", "mass"]
    assert one.drop(columns=numbers).equals(two.drop(columns=numbers))
    for column in numbers:
        np.testing.assert_allclose(two[column], one[column], rtol=0, atol=1e-4)  # float32 alone is off by half of it
    assert run.verdict().sentence == other.verdict().sentence
    assert run.matches()["status"].tolist() == other.matches()["status"].tolist()


def test_a_split_model_gives_the_run_of_a_whole_one(unreported, whole, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log.txt"
    with open(log, "w") as file:
        codes = run_together(STEER_SWEEP, *arguments(whole.options | {"out": out}), log=file, env=alone())
    log_text = log.read_text()
    assert codes == [0, 0], log_text
    run = SweepRun.open(out)
    assert_same(run, whole.run)
    facts = run.run.manifest.facts
    assert (facts["processes"], facts["tensor_parallel"]) == (2, True)
    assert not list(out.rglob("part-p*"))
    assert "on cpu, split over 2 processes" in log_text
    assert log_text.count("run: ") == 1


@pytest.mark.slow
def test_a_process_that_is_lost_is_told_by_the_other_and_the_run_goes_on(unreported, whole, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log.txt"
    given = arguments(whole.options | {"out": out, "resume": True})
    with open(log, "w") as file:
        first, second = start_together(STEER_SWEEP, *given, log=file, env=alone())
        give_up = time.monotonic() + 300
        while not list((out / "sweep").glob("part-*.parquet")):
            assert time.monotonic() < give_up, log.read_text()
            assert first.poll() is None, log.read_text()
            time.sleep(0.01)
        second.kill()
        assert first.wait(timeout=100) == 1, log.read_text()
    log_text = log.read_text()
    assert "error: process 0 of 2" in log_text
    assert "the same command with --resume goes on from there" in log_text
    assert "Traceback" not in log_text
    assert not (out / "verdict.json").exists(), "the run had ended before a process was lost"
    with open(log, "w") as file:
        assert run_together(STEER_SWEEP, *given, log=file, env=alone()) == [0, 0], log.read_text()
    assert_same(SweepRun.open(out), whole.run)


@pytest.mark.parametrize(
    ("more", "n", "sentence"),
    [
        ({}, 1, "--tensor-parallel splits a model over the processes of one launch, and this is one process; start it"),
        ({"device_map": "auto"}, 2, "--tensor-parallel and --device-map both spread a model over GPUs; give one"),
        ({}, 3, "model has 2 key value heads, which can't be dealt out evenly to 3 processes; start a number"),
    ],
)
def test_what_cannot_be_split_is_refused_in_a_sentence(whole, tmp_path, more, n, sentence):
    log = tmp_path / "log.txt"
    with open(log, "w") as file:
        given = arguments(whole.options | {"out": tmp_path / "run"} | more)
        codes = run_together(STEER_SWEEP, *given, log=file, env=alone(), n=n)
    assert {2} <= set(codes) <= {2, -9}, log.read_text()  # run_together ends the others
    assert f"error: {sentence}" in log.read_text()
    assert "Traceback" not in log.read_text()
    assert not (tmp_path / "run").exists()

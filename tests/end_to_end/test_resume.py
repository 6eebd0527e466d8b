"""A run that is killed at any moment goes on with --resume and ends with the tables of an unbroken one."""

import os
import shutil
import signal
import time

import numpy as np
import pandas as pd
import pytest
from forks import start_program
from shared_runs import seven_batches
from tiny_experiment import STEER_SWEEP, alone, as_arguments, files_of, vector_content

from onedial.core.run.configuration import configuration_hash
from onedial.models.forward.path_proof import check_fast_paths
from onedial.models.forward.runner import FastRunner
from onedial.verdict.sweep_run import SweepRun

KILLS = int(os.environ.get("ONEDIAL_KILLS", "2"))
"""How often the run is killed; set the variable to try more."""
PATIENCE = 300
N = 112


@pytest.fixture(scope="module")
def shared():
    return seven_batches()


@pytest.fixture
def options(shared):
    return shared.options


@pytest.fixture
def unbroken(shared):
    return shared.run


def assert_same_tables(run, other):
    assert run.sweep().equals(other.sweep())
    names = ["matches.csv", "verdict.json", "factor.json", "layer_scan.csv", "prompt.txt", "questions.parquet"]
    for name in names:
        assert (run.path / name).read_bytes() == (other.path / name).read_bytes(), name
    for file in sorted((other.path / "vectors").iterdir()):
        assert vector_content(run.path / "vectors" / file.name) == vector_content(file)
    assert configuration_hash(run.config) == configuration_hash(other.config)


def begin(options, folder, log):
    return start_program(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}), log=log, env=alone())


def n_files(folder):
    """How far a run is: every file counts, also one that is being written."""
    return sum(len(files) for _, _, files in os.walk(folder))


def kill_when(process, folder, n, delay):
    """kill -9 once the folder holds n files and `delay` seconds have passed; how many files there were then."""
    deadline = time.monotonic() + PATIENCE
    while n_files(folder) < n and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return n_files(folder)


@pytest.mark.launched
def test_a_run_killed_again_and_again_ends_with_the_same_tables(options, unbroken, tmp_path, call):
    """The moments are drawn anew every time, from the first file to the last but one; a failure shows them."""
    rng, folder, moments = np.random.default_rng(), tmp_path / "run", []
    last = n_files(unbroken.path)
    with open(tmp_path / "log.txt", "w") as log:
        for n in np.linspace(1, last - 2, KILLS).astype(int):
            n = int(n + rng.integers(0, max(last // KILLS, 2)))
            moments.append((n, kill_when(begin(options, folder, log), folder, n, float(rng.uniform(0, 0.1)))))
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, (ended.err, (tmp_path / "log.txt").read_text())
    print(f"killed at (files asked for, files there): {moments}")
    assert len(SweepRun.open(folder).run.manifest.resumed) >= 1
    assert_same_tables(SweepRun.open(folder), unbroken)
    assert (folder / "report.html").exists()
    assert not list(folder.rglob(".*.part*"))


def test_a_run_that_lost_its_last_parts_asks_only_those_questions_again(unreported, options, unbroken, tmp_path, call):
    folder = shutil.copytree(unbroken.path, tmp_path / "run")
    lost = sorted((folder / "sweep").glob("part-*.parquet"))[3:]
    for late in (*lost, folder / "verdict.json", folder / "matches.csv", folder / "report.html"):
        late.unlink()
    kept = files_of(folder / "sweep")
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    assert "reading yes and no" not in ended.out
    assert {path: data for path, data in files_of(folder / "sweep").items() if path in kept} == kept
    assert_same_tables(SweepRun.open(folder), unbroken)


def test_a_vector_that_was_cut_is_named_and_once_deleted_is_made_again(options, unbroken, tmp_path, call):
    folder = shutil.copytree(unbroken.path, tmp_path / "run")
    vector = sorted((folder / "vectors").iterdir())[-1]
    vector.write_bytes(vector.read_bytes()[:100])
    for late in (sorted((folder / "sweep").glob("part-*.parquet"))[-1], folder / "verdict.json"):
        late.unlink()
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 2
    assert f"{vector} is damaged, or no steering vector" in ended.err
    assert "delete it and pass --resume" in ended.err
    vector.unlink()
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    assert_same_tables(SweepRun.open(folder), unbroken)


@pytest.mark.long
def test_the_last_batch_alone_gives_the_same_bits_as_among_others(unreported, options, unbroken, tmp_path, call):
    """Its questions begin alike: a prefix of their own would be longer than that of all, and round otherwise."""
    questions = pd.read_csv(options["questions"])
    splits = unbroken.splits()
    test = splits.index[splits == "test"]  # the last batch holds what its batches of 16 leave
    left = len(test) % 16 or 16
    short = questions["id"].isin(test[-left:])
    questions["question"] = questions["question"].where(short, questions["question"] + " Think of more than one.")
    questions.loc[short, "question"] = "Who was " + questions["id"][short] + "?"
    questions.to_csv(tmp_path / "questions.csv", index=False)
    given = options | {
        "questions": tmp_path / "questions.csv",
        "layer": "2",
        "magnitudes": "-1,1",
        "controls": 0,
        "facts": 0,
        "target": "target 1,target 4",
        "without_verdict": True,
        "out": tmp_path / "run",
    }
    assert call(STEER_SWEEP, *as_arguments(given)).code == 0
    run = SweepRun.open(tmp_path / "run")
    whole = run.sweep()
    sorted((run.path / "sweep").iterdir())[-1].unlink()
    assert set(run.sweep()["question_id"]) == set(questions["id"][~short])
    assert call(STEER_SWEEP, *as_arguments(given | {"resume": True})).code == 0
    assert run.sweep().equals(whole)


def test_a_finished_run_resumes_to_its_report_without_another_question(options, unbroken, tmp_path, call, monkeypatch):
    folder = shutil.copytree(unbroken.path, tmp_path / "run")
    (folder / "report.html").unlink()
    before = files_of(folder / "sweep") | files_of(folder / "vectors")

    steer, checking = FastRunner.steer, []

    def checked(*arguments):
        checking.append(True)
        try:
            return check_fast_paths(*arguments)
        finally:
            checking.pop()

    def never_but_to_check(*arguments, **options):
        assert checking, "a question was asked at a magnitude"
        return steer(*arguments, **options)

    monkeypatch.setattr(FastRunner, "steer", never_but_to_check)
    monkeypatch.setattr("onedial.models.model.check_fast_paths", checked)
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    assert (folder / "report.html").exists()
    assert files_of(folder / "sweep") | files_of(folder / "vectors") == before
    assert_same_tables(SweepRun.open(folder), unbroken)


@pytest.mark.launched
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_that_what_was_finished_is_saved(options, tmp_path, number, code):
    with open(tmp_path / "log.txt", "w") as log:
        process = begin(options, tmp_path / "run", log)
        deadline = time.monotonic() + PATIENCE
        while not list((tmp_path / "run" / "sweep").glob("part-*")) and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(number)
        assert process.wait() == code
    assert (tmp_path / "log.txt").read_text().strip().endswith("with --resume goes on from there")
    run = SweepRun.open(tmp_path / "run")
    assert 0 < run.sweep()["question_id"].nunique() < N
    assert not list(run.path.rglob(".*.part*"))
    assert run.run.manifest.stages[-1] | {"seconds": 0, "started": ""} == {
        "stage": "sweep",
        "started": "",
        "seconds": 0,
        "completed": False,
    }

"""A run's folder: whole or absent files, refusals that name what differs, resuming to the same tables."""

import json
import os
import signal
import sys
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import forks
import numpy as np
import pandas as pd
import pytest

from onedial.asking.sweep_tables import SWEEP_COLUMNS, SWEEP_KEY
from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.notices import Notice, notice
from onedial.core.run.manifest import Manifest
from onedial.core.run.notes import Notes
from onedial.core.run.places import default_path
from onedial.core.run.run import Run
from onedial.verdict.sweep_run import SweepRun

CONFIGURATION = {"model": "org/Tiny-1B", "layer": 10, "magnitudes": [-1.0, 0.0, 1.0], "seed": 0}


def sweep_rows(question_ids, magnitudes=(-1.0, 0.0, 1.0)):
    index = pd.MultiIndex.from_product([question_ids, magnitudes], names=["question_id", "magnitude"])
    rows = index.to_frame(index=False)
    return rows.assign(intervention_id="v", margin=rows["magnitude"] * 2 + 0.125, mass=0.75)


def create(path, configuration=CONFIGURATION):
    return Run.create(path, "test", configuration)


def resume(path, configuration=CONFIGURATION):
    return Run.resume(path, "test", configuration)


def parts_of(run):
    return run.parts("sweep", SWEEP_COLUMNS, SWEEP_KEY)


def test_a_new_run_holds_its_configuration_and_where_it_comes_from(tmp_path):
    run = create(tmp_path / "run", {**CONFIGURATION, "panel": Path("p.csv")})
    manifest = run.manifest
    assert Run.open(tmp_path / "run").config["panel"] == "p.csv"
    assert manifest.versions["python"] == sys.version.split()[0]
    assert manifest.versions["pandas"] == pd.__version__
    assert manifest.commit is None or len(manifest.commit) == 40
    assert manifest.dirty in (None, True, False)


def _foreign(folder):
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    (folder / ".draft.part.tex").write_text("more of it")


def _of_format_3(folder):
    create(folder).release()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format_version"] == 3
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format_version": 4}))


@pytest.mark.parametrize(
    ("there", "begin", "words"),
    [
        (None, lambda _: create("s3://bucket/run"), "is an address, not a folder"),
        (None, lambda _: Run.check(CONFIGURATION, "gs://bucket/run", False), "is an address, not a folder"),
        (_foreign, lambda path: create(path), "is not empty and holds no run"),
        (_foreign, lambda path: resume(path), "is not empty and holds no run"),
        (lambda path: create(path).release(), lambda path: create(path), "already holds a run; pass --resume"),
        (lambda path: path.write_text(""), lambda path: create(path), "is a file, but a run needs a folder"),
        (None, lambda path: Run.open(path), "holds no run"),
        (_of_format_3, lambda path: Run.open(path), "in format 4, and this version of the project reads format 3"),
    ],
)
def test_where_no_run_can_be_begun_or_read_is_refused_and_left_as_it_was(there, begin, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if there is not None:
        there(tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=words):
        begin(tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made_is_told_beforehand(tmp_path):
    """A folder that cannot be made is told beforehand and one that can is not left there."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Run.check(CONFIGURATION, tmp_path / "file" / "run", False)
    assert Run.check(CONFIGURATION, tmp_path / "new" / "run", False) == {}
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_resuming_with_another_configuration_names_the_first_difference(tmp_path):
    create(tmp_path / "run").release()
    with pytest.raises(InputError, match=r"magnitudes = \[-1.0, 0.0, 1.0\], but now magnitudes = \[0.0\]"):
        resume(tmp_path / "run", CONFIGURATION | {"magnitudes": [0.0]})
    run = resume(tmp_path / "run")
    assert len(run.manifest.resumed) == 1


def test_resuming_with_another_model_of_the_same_name_is_refused(tmp_path):
    run = create(tmp_path / "run")
    run.record_once("model", {"name": "tiny", "sha256": "aa"}, "load the same model")
    run.record_once("model", {"name": "tiny", "sha256": "aa"}, "load the same model")
    with pytest.raises(InputError, match="a model whose sha256 is aa, but now it is bb; load the same model"):
        run.record_once("model", {"name": "tiny", "sha256": "bb"}, "load the same model")
    assert run.manifest.facts["model"]["sha256"] == "aa"


def test_resuming_with_other_questions_or_another_prompt_is_refused(tmp_path):
    run = create(tmp_path / "run")
    questions = pd.DataFrame(
        {"id": ["a", "b"], "question": ["?", "??"], "answers": [["x", "y"], []], "topic": None, "split": "test"}
    )
    panel = pd.DataFrame({"question_id": ["a"], "respondent": ["r"], "said_yes": [1.0]})
    swept = SweepRun(run)
    swept.keep_inputs(questions, panel, "Can you?\n\nAnswer:")
    swept.keep_inputs(questions, panel, "Can you?\n\nAnswer:")
    with pytest.raises(InputError, match="another table of questions"):
        swept.keep_inputs(questions.assign(split="fitting"), panel, "Can you?\n\nAnswer:")
    assert swept.prompt() == "Can you?\n\nAnswer:"
    with pytest.raises(InputError, match="another prompt"):
        swept.keep_inputs(questions, panel, "Could you?")


def test_parts_come_back_as_one_table(tmp_path):
    """Parts come back as one table in an order that breaks do not change."""
    unbroken = create(tmp_path / "unbroken")
    parts_of(unbroken).append(sweep_rows(["a", "b", "c", "d"]))
    broken = create(tmp_path / "broken")
    parts_of(broken).append(sweep_rows(["d", "a"]))
    parts_of(broken).append(sweep_rows(["c"]))
    broken.release()
    broken = resume(tmp_path / "broken")
    assert parts_of(broken).done("question_id") == {"a", "c", "d"}
    assert parts_of(broken).append(sweep_rows(["b"])).name == "part-00002.parquet"
    pd.testing.assert_frame_equal(parts_of(broken).read(), parts_of(unbroken).read())


def test_processes_that_share_a_run_never_overwrite_each_other(tmp_path):
    run = create(tmp_path / "run")
    names = [
        parts_of(run).append(sweep_rows([question]), process).name
        for question, process in zip("abcd", (0, 1, 0, 1), strict=True)
    ]
    assert names == ["part-00000.parquet", "part-p1-00000.parquet", "part-00001.parquet", "part-p1-00001.parquet"]
    assert parts_of(run).done("question_id") == set("abcd")
    assert len(parts_of(run).read()) == 12


def test_an_empty_run_and_broken_parts(tmp_path):
    """A run without parts has an empty table and rows written twice or a part cut short are refused."""
    run = create(tmp_path / "run")
    assert parts_of(run).read().empty
    assert "margin" in parts_of(run).read()
    parts_of(run).append(sweep_rows(["a"]))
    second = parts_of(run).append(sweep_rows(["a"]))
    with pytest.raises(InputError, match="holds 3 rows more than once"):
        parts_of(run).read()
    second.write_bytes(second.read_bytes()[:200])
    with pytest.raises(InputError, match=r"part-00001.parquet is broken or no table; delete it and pass --resume"):
        parts_of(run).read()


def test_a_part_whose_writing_fails_leaves_nothing(tmp_path, monkeypatch):
    run = create(tmp_path / "run")

    def disk_full(frame, path, **_):
        Path(path).write_bytes(b"PAR1 half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", disk_full)
    with pytest.raises(OSError, match="No space left"):
        parts_of(run).append(sweep_rows(["a"]))
    assert os.listdir(run.path / "sweep") == []


def test_leftovers_of_a_kill_are_ignored_and_removed_on_resume(tmp_path):
    run = create(tmp_path / "run")
    parts_of(run).append(sweep_rows(["a"]))
    leftover = run.path / "sweep" / ".part-00001-x7f.part.parquet"
    leftover.write_bytes(b"PAR1 half")
    assert parts_of(run).done("question_id") == {"a"}
    assert len(parts_of(run).read()) == 3
    run.release()
    resume(run.path)
    assert not leftover.exists()
    assert os.listdir(run.path / "sweep") == ["part-00000.parquet"]


def elsewhere(folder, program, *arguments):
    """A process of its own that knows this file, once it has printed something."""
    file, log_path = folder / "elsewhere.py", folder / "said.txt"
    paths = [str(Path(module).parent) for module in (__file__, forks.__file__)]
    file.write_text(f"import sys; sys.path[:0] = {paths}\n{program}", encoding="utf-8")
    with open(log_path, "w") as log:
        running = forks.start_program(file, *arguments, log=log)
    while not log_path.read_text():
        assert running.poll() is None
        time.sleep(0.005)
    return running


@pytest.mark.launched
def test_a_killed_run_resumes_to_the_unbroken_table(tmp_path):
    """A run killed at any moment resumes to the table of an unbroken one."""
    program = (
        "from test_run import parts_of, resume, sweep_rows\n"
        "run = resume(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "for i in range(60):\n"
        "    if f'q{i}' not in parts_of(run).done('question_id'): parts_of(run).append(sweep_rows([f'q{i}']))\n"
        "run.write_json('verdict.json', {'sentence': 'done'})\n"
    )
    delays = np.random.default_rng(0).uniform(0.0, 0.25, size=3)
    for delay in delays:
        running = elsewhere(tmp_path, program, tmp_path / "run")
        time.sleep(delay)
        running.kill()
        running.wait()
    assert elsewhere(tmp_path, program, tmp_path / "run").wait() == 0
    unbroken = sweep_rows(sorted(f"q{i}" for i in range(60)))
    swept = parts_of(Run.open(tmp_path / "run")).read()
    pd.testing.assert_frame_equal(swept[unbroken.columns], unbroken)


def test_a_run_killed_before_its_configuration_was_written_begins_anew(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / ".config-ab.part.yaml").write_text("model")
    assert resume(folder).config["layer"] == 10
    assert not list(folder.glob(".*.part*"))


def test_stages_are_timed_and_logged_also_when_they_fail(tmp_path):
    run = create(tmp_path / "run")
    with run.stage("load the model"):
        time.sleep(0.02)
    with pytest.raises(RuntimeError), run.stage("sweep"):
        raise RuntimeError("out of memory")
    first, second = run.manifest.stages
    assert first["stage"] == "load the model"
    assert first["completed"]
    assert 0.02 <= first["seconds"] < 5
    assert not second["completed"]
    log = (run.path / "log.txt").read_text()
    assert "load the model: done after" in log
    assert "sweep: broken off after" in log


def test_values_that_json_cannot_hold_become_null_and_text(tmp_path):
    run = create(tmp_path / "run")
    run.write_json("numbers.json", {"nan": np.float64("nan"), "low": np.float32(0.5), "at": Path("a/b"), "all": (1, 2)})
    assert run.read_json("numbers.json") == {"nan": None, "low": 0.5, "at": "a/b", "all": [1, 2]}


def test_resume_takes_the_newest_run_of_the_configuration(tmp_path, monkeypatch):
    """Resume without a folder takes the newest run of this configuration."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run of this configuration"):
        Run.begin("test", CONFIGURATION, resume=True)
    first = Run.begin("test", CONFIGURATION)
    first.release()
    assert Run.begin("test", CONFIGURATION, resume=True).path == first.path


def test_of_several_runs_the_one_that_goes_on_is_named(tmp_path, monkeypatch):
    """Where several runs could go on it is said which one does for a clock may have been wrong."""
    monkeypatch.chdir(tmp_path)
    Run.begin("test", CONFIGURATION).release()
    later = default_path(CONFIGURATION, "test", datetime(2999, 1, 1, tzinfo=UTC))
    create(later).release()
    with pytest.warns(Notice, match=f"2 runs under runs/ .*takes {later.name}.*--out names another"):
        assert Run.begin("test", CONFIGURATION, resume=True).path == later


# ---- one writer at a time --------------------------------------------------------------------------------------------


def hold(path, process=0):
    """A process that writes the run until it is killed."""
    program = (
        "import time\n"
        "from onedial.core.run.run import Run\n"
        "from test_run import resume\n"
        "path, process = sys.argv[1], int(sys.argv[2])\n"
        "run = Run.join(path, process) if process else resume(path)\n"
        "print('holds', flush=True); time.sleep(600)\n"
    )
    return elsewhere(path.parent, program, path, process)


@pytest.mark.parametrize("process", [0, 1])
def test_a_run_that_another_process_writes_is_refused(tmp_path, process):
    """A run that another process writes is refused until that one is killed."""
    create(tmp_path / "run").release()
    holder = hold(tmp_path / "run", process)
    try:
        for begin in (lambda: resume(tmp_path / "run"), lambda: Run.open(tmp_path / "run", write=True)):
            with pytest.raises(InputError, match="another process is writing"):
                begin()
        assert Run.open(tmp_path / "run").config["layer"] == 10  # reading is free
    finally:
        holder.kill()
        holder.wait()
    resume(tmp_path / "run").release()


# ---- taking back -----------------------------------------------------------------------------------------------------


def test_a_program_broken_off_early_says_where_its_run_lies(tmp_path, capsys):
    """A program that is broken off right after its run had begun says where it lies."""

    def main():
        create(tmp_path / "begun")
        os.kill(os.getpid(), signal.SIGTERM)

    assert run_command(main) == 143
    assert f"terminated; what was finished is saved in {tmp_path / 'begun'}" in capsys.readouterr().err


def test_a_withdrawn_run_leaves_a_folder_that_was_there(tmp_path):
    """A withdrawn run leaves a folder that was there and a resumed run is never taken back."""
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        run = create(tmp_path / name)
        run.write_text("vectors/a.txt", "x")
        run.withdraw()
    assert [each.name for each in tmp_path.rglob("*")] == ["empty"]
    create(tmp_path / "run").release()
    before = sorted(os.listdir(tmp_path / "run"))
    run = resume(tmp_path / "run")
    run.write_text("more.txt", "x")
    run.withdraw()
    run.release()
    assert sorted(os.listdir(tmp_path / "run")) == sorted([*before, "more.txt"])


# ---- formats and notes -----------------------------------------------------------------------------------------------


def test_notes_are_kept_once_and_facts_stand_beside_them(tmp_path):
    run = create(tmp_path / "run")
    run.note("7 targets are left out", "7 targets are left out")
    run.note("7 targets are left out", "3 answers are unread")
    run.record(device="cpu")
    assert run.manifest.notes == ["7 targets are left out", "3 answers are unread"]
    assert run.manifest.facts == {"device": "cpu"}
    assert Manifest.read(run.path) == run.manifest
    assert (run.path / "log.txt").read_text().count("note: 7 targets") == 1


def test_notes_from_before_a_run_and_from_any_library_come_into_it(tmp_path, capsys):
    notes = Notes()
    with notes.collected():
        notice("one question was merged")
        warnings.warn("of another library", UserWarning, stacklevel=1)
        run = create(tmp_path / "run")
        notes.keep_in(run)
        for _ in range(2):  # said again in the same words, it is printed and kept once
            notice("two answers are unread")
    assert run.manifest.notes == ["one question was merged", "two answers are unread"]
    assert capsys.readouterr().out == "one question was merged\ntwo answers are unread\n"


def test_a_run_is_marked_as_finished_at_its_end(tmp_path):
    """A run is marked as finished by an end without an exception and not while it goes on."""
    with pytest.raises(RuntimeError), create(tmp_path / "run") as run:
        raise RuntimeError("out of memory")
    assert run.manifest.finished == ""
    run.record(threads=2)
    assert Run.check(CONFIGURATION, tmp_path / "run", True)["threads"] == 2
    with resume(run.path) as run:
        assert run.manifest.finished == ""
    assert run.manifest.finished >= run.manifest.started
    with resume(run.path) as again:
        assert again.manifest.finished == ""

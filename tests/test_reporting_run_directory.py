"""A run's folder: whole or absent files, refusals that name what differs, resuming to the same tables."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from common import InputError
from reporting.configuration import configuration_hash
from reporting.run_directory import RunDirectory, default_path

CONFIGURATION = {"model": "org/Tiny-1B", "layer": 10, "magnitudes": [-1.0, 0.0, 1.0], "seed": 0, "out": "somewhere"}


def sweep_rows(question_ids, magnitudes=(-1.0, 0.0, 1.0)):
    index = pd.MultiIndex.from_product([question_ids, magnitudes], names=["question_id", "magnitude"])
    rows = index.to_frame(index=False)
    return rows.assign(
        split="test", vector_id="v", layer=10, positions="last", margin=rows["magnitude"] * 2 + 0.125, mass=0.75
    )


def test_a_new_run_holds_its_configuration_and_where_it_comes_from(tmp_path):
    run = RunDirectory.create(tmp_path / "run", {**CONFIGURATION, "panel": Path("p.csv")})
    manifest = run.manifest
    assert RunDirectory.open(tmp_path / "run").config["panel"] == "p.csv"
    assert manifest["versions"]["python"] == sys.version.split()[0]
    assert manifest["versions"]["pandas"] == pd.__version__
    assert manifest["commit"] is None or len(manifest["commit"]) == 40
    assert manifest["dirty"] in (None, True, False)


def test_the_default_folder_names_time_model_and_configuration():
    path = default_path(CONFIGURATION)
    time_text, *model, digits = path.name.split("-")
    assert path.parent == Path("runs")
    assert time_text.endswith("Z")
    assert "-".join(model) == "Tiny-1B"
    assert digits == configuration_hash(CONFIGURATION)[:6]


def test_the_hash_ignores_order_and_options_without_effect():
    reordered = dict(reversed(CONFIGURATION.items())) | {"out": "elsewhere", "wandb": "offline"}
    assert configuration_hash(reordered) == configuration_hash(CONFIGURATION)
    assert configuration_hash(CONFIGURATION | {"seed": 1}) != configuration_hash(CONFIGURATION)


def test_a_foreign_folder_is_refused_and_left_as_it_was(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / ".draft.part.tex").write_text("more of it")
    for begin in (RunDirectory.create, RunDirectory.resume):
        with pytest.raises(InputError, match="is not empty and holds no run"):
            begin(tmp_path, CONFIGURATION)
    assert sorted(os.listdir(tmp_path)) == [".draft.part.tex", "thesis.tex"]


def test_a_second_fresh_run_in_the_same_folder_is_refused(tmp_path):
    RunDirectory.create(tmp_path / "run", CONFIGURATION)
    with pytest.raises(InputError, match="already holds a run; pass --resume"):
        RunDirectory.create(tmp_path / "run", CONFIGURATION)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="is a file, but a run needs a folder"):
        RunDirectory.create(tmp_path / "run", CONFIGURATION)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layer": 12}, "layer = 10, but now layer = 12"),
        ({"magnitudes": [0.0]}, r"magnitudes = \[-1.0, 0.0, 1.0\], but now magnitudes = \[0.0\]"),
        ({"contrast": "answer"}, "contrast = not set, but now contrast = answer"),
        ({"layer": 12, "model": "other"}, "model = org/Tiny-1B, but now model = other"),
    ],
)
def test_resuming_with_another_configuration_names_the_first_difference(tmp_path, changed, words):
    RunDirectory.create(tmp_path / "run", CONFIGURATION)
    with pytest.raises(InputError, match=words):
        RunDirectory.resume(tmp_path / "run", CONFIGURATION | changed)


def test_resuming_ignores_options_that_change_no_result(tmp_path):
    RunDirectory.create(tmp_path / "run", CONFIGURATION)
    run = RunDirectory.resume(tmp_path / "run", CONFIGURATION | {"resume": True, "wandb": "offline", "out": "run"})
    assert len(run.manifest["resumed"]) == 1


def test_resuming_with_another_model_of_the_same_name_is_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    run.record_model({"name": "tiny", "sha256": "aa"})
    run.record_model({"name": "tiny", "sha256": "aa"})
    with pytest.raises(InputError, match="whose sha256 is aa, but the model now loaded has bb"):
        run.record_model({"name": "tiny", "sha256": "bb"})


def test_resuming_with_other_questions_or_another_prompt_is_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    questions = pd.DataFrame(
        {"id": ["a", "b"], "question": ["?", "??"], "answers": [["x", "y"], []], "topic": None, "split": "test"}
    )
    run.write_questions(questions)
    run.write_questions(questions)
    with pytest.raises(InputError, match="another table of questions"):
        run.write_questions(questions.assign(split="fitting"))
    run.write_prompt("Can you?\n\nAnswer:")
    assert run.prompt()[0] == "Can you?\n\nAnswer:"
    with pytest.raises(InputError, match="another prompt"):
        run.write_prompt("Could you?")


def test_parts_come_back_as_one_table_in_an_order_that_breaks_do_not_change(tmp_path):
    unbroken = RunDirectory.create(tmp_path / "unbroken", CONFIGURATION)
    unbroken.write_part(sweep_rows(["a", "b", "c", "d"]))
    broken = RunDirectory.create(tmp_path / "broken", CONFIGURATION)
    broken.write_part(sweep_rows(["d", "a"]))
    broken.write_part(sweep_rows(["c"]))
    broken = RunDirectory.resume(tmp_path / "broken", CONFIGURATION)
    assert broken.done_question_ids() == {"a", "c", "d"}
    assert broken.write_part(sweep_rows(["b"])).name == "part-00002.parquet"
    pd.testing.assert_frame_equal(broken.read_sweep(), unbroken.read_sweep())


def test_processes_that_share_a_run_never_overwrite_each_other(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    names = [
        run.write_part(sweep_rows([question]), process).name
        for question, process in zip("abcd", (0, 1, 0, 1), strict=True)
    ]
    assert names == [
        "part-00000.parquet",
        "part-p1-00000.parquet",
        "part-00001.parquet",
        "part-p1-00001.parquet",
    ]
    assert run.done_question_ids() == set("abcd")
    assert len(run.read_sweep()) == 12


def test_a_run_without_parts_has_an_empty_sweep_with_its_columns(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    assert run.done_question_ids() == set()
    assert run.read_sweep().empty
    assert "margin" in run.read_sweep()


def test_rows_written_twice_are_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    run.write_part(sweep_rows(["a"]))
    run.write_part(sweep_rows(["a"]))
    with pytest.raises(InputError, match="holds 3 rows more than once"):
        run.read_sweep()


def test_a_part_whose_writing_fails_leaves_nothing(tmp_path, monkeypatch):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)

    def disk_full(frame, path, **_):
        Path(path).write_bytes(b"PAR1 half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", disk_full)
    with pytest.raises(OSError, match="No space left"):
        run.write_part(sweep_rows(["a"]))
    assert os.listdir(run.path / "sweep") == []


def test_leftovers_of_a_kill_are_ignored_and_removed_on_resume(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    run.write_part(sweep_rows(["a"]))
    leftover = run.path / "sweep" / ".part-00001-x7f.part.parquet"
    leftover.write_bytes(b"PAR1 half")
    assert run.done_question_ids() == {"a"}
    assert len(run.read_sweep()) == 3
    RunDirectory.resume(run.path, CONFIGURATION)
    assert not leftover.exists()
    assert os.listdir(run.path / "sweep") == ["part-00000.parquet"]


def test_a_truncated_part_is_named_in_one_sentence(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    part = run.write_part(sweep_rows(["a"]))
    part.write_bytes(part.read_bytes()[:200])
    with pytest.raises(InputError, match=r"part-00000.parquet is broken or no table; delete it and pass --resume"):
        run.read_sweep()


def test_a_run_killed_at_any_moment_resumes_to_the_table_of_an_unbroken_one(tmp_path):
    program = (
        "import sys, time; sys.path[:0] = [sys.argv[2], sys.argv[3]]\n"
        "from reporting import RunDirectory\n"
        "from test_reporting_run_directory import CONFIGURATION, sweep_rows\n"
        "run = RunDirectory.resume(sys.argv[1], CONFIGURATION)\n"
        "print('ready', flush=True)\n"
        "for i in range(60):\n"
        "    if f'q{i}' not in run.done_question_ids(): run.write_part(sweep_rows([f'q{i}']))\n"
        "run.write_verdict({'sentence': 'done'})\n"
    )
    tests = Path(__file__).resolve().parent
    command = [sys.executable, "-c", program, str(tmp_path / "run"), str(tests), str(tests.parent)]
    delays = np.random.default_rng(0).uniform(0.0, 0.25, size=3)
    for delay in delays:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run(command, check=True, capture_output=True)
    unbroken = sweep_rows(sorted(f"q{i}" for i in range(60)))
    swept = RunDirectory.open(tmp_path / "run").read_sweep()
    pd.testing.assert_frame_equal(swept[unbroken.columns], unbroken)


def test_a_run_killed_before_its_configuration_was_written_begins_anew(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / ".config-ab.part.yaml").write_text("model")
    assert RunDirectory.resume(folder, CONFIGURATION).config["layer"] == 10
    assert not list(folder.glob(".*.part*"))


def test_stages_are_timed_and_logged_also_when_they_fail(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    with run.stage("load the model"):
        time.sleep(0.02)
    with pytest.raises(RuntimeError), run.stage("sweep"):
        raise RuntimeError("out of memory")
    first, second = run.manifest["stages"]
    assert first["stage"] == "load the model"
    assert first["completed"]
    assert 0.02 <= first["seconds"] < 5
    assert not second["completed"]
    log = (run.path / "log.txt").read_text()
    assert "load the model: done after" in log
    assert "sweep: broken off after" in log


def test_verdict_and_matches_make_a_run_finished_and_nan_becomes_null(tmp_path):
    run = RunDirectory.create(tmp_path / "run", CONFIGURATION)
    assert not run.is_finished
    matches = pd.DataFrame({"model": ["m", "m"], "framing": ["", "bold"], "kappa": [0.5, np.nan]}, index=["a", "b"])
    run.write_matches(matches)
    run.write_verdict({"sentence": "no", "gain": {"estimate": np.float64("nan"), "low": np.float32(0.5)}})
    assert run.is_finished
    assert run.verdict() == {"sentence": "no", "gain": {"estimate": None, "low": 0.5}}
    pd.testing.assert_frame_equal(run.matches(), matches.rename_axis("target"))


def test_resume_without_a_folder_takes_the_newest_run_of_this_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run of this configuration"):
        RunDirectory.begin(CONFIGURATION, resume=True)
    first = RunDirectory.begin(CONFIGURATION)
    assert RunDirectory.begin(CONFIGURATION | {"resume": True}, resume=True).path == first.path


def test_opening_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        RunDirectory.open(tmp_path / "absent")

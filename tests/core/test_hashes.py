"""A run lists its files with a hash each: what is changed, gone or added is named, and no work goes on on top of it."""

import shutil
import subprocess

import pandas as pd
import pytest

from onedial.core import InputError, Run, check_files
from onedial.core.run import hashes
from onedial.core.run.hashes import FILE, FileHashes

OPTIONS = {"model": "somebody"}


def finished_run(folder):
    with Run.create(folder, "test", OPTIONS) as run, run.stage("asking"):
        run.parts("asked", ["name"], ["name"]).append(pd.DataFrame({"name": ["a", "b"]}))
        run.write_table("scores.csv", pd.DataFrame({"name": ["a"], "score": [0.5]}))
        run.write_text("figures/one.svg", "<svg/>")
        run.file("wandb/offline-run/run.wandb").write_text("W&B's own")
    return run


def flip_a_bit(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def differences(folder):
    found = check_files(folder)
    return found.other, found.missing, found.unlisted


def test_a_copy_elsewhere_is_as_the_run_wrote_it_and_other_programs_can_check_it(tmp_path):
    run = finished_run(tmp_path / "run")
    shutil.copytree(run.path, tmp_path / "elsewhere")
    found = check_files(tmp_path / "elsewhere")
    assert (found.same, *differences(tmp_path / "elsewhere")) == (6, [], [], [])
    assert found.fingerprint == check_files(run.path).fingerprint
    subprocess.run(["sha256sum", "--check", "--strict", FILE], cwd=run.path, check=True, capture_output=True)


@pytest.mark.parametrize(
    "name", ["asked/part-00000.parquet", "scores.csv", "figures/one.svg", "log.txt", "config.yaml"]
)
def test_one_other_bit_in_any_file_is_found(tmp_path, name):
    run = finished_run(tmp_path)
    flip_a_bit(run.path / name)
    assert differences(run.path) == ([name], [], [])


def test_what_is_gone_what_was_put_there_and_what_is_a_link_now_are_told_apart(tmp_path):
    run = finished_run(tmp_path / "run")
    (tmp_path / "outside.csv").write_bytes((run.path / "scores.csv").read_bytes())
    (run.path / "figures/one.svg").unlink()
    (run.path / "notes.txt").write_text("mine")
    (run.path / "link").symlink_to(tmp_path / "outside.csv")
    assert differences(run.path) == ([], ["figures/one.svg"], ["link", "notes.txt"])


def test_a_listed_name_may_hold_anything_but_a_way_out_of_the_folder(tmp_path):
    run, name = Run.create(tmp_path, "test", OPTIONS), "a\\b\nc\u2028d é"
    (run.path / name).write_text("odd")
    run.release()
    assert differences(run.path) == ([], [], [])
    (run.path / FILE).write_text(f"{'0' * 64}  ../elsewhere\n")
    with pytest.raises(InputError, match="leads out of"):
        check_files(run.path)
    (run.path / FILE).write_text("nothing of the kind\n")
    with pytest.raises(InputError, match="line 1"):
        check_files(run.path)


def test_a_stage_that_ended_is_listed_though_the_run_was_killed_in_the_next(tmp_path):
    run = Run.create(tmp_path, "test", OPTIONS)
    with run.stage("one"):
        run.write_text("one.txt", "one")
    run.write_text("two.txt", "two")
    assert differences(run.path) == ([], [], ["two.txt"])


def test_a_run_that_goes_on_lists_what_it_adds_and_forgets_what_was_taken_away(tmp_path):
    run = finished_run(tmp_path)
    (run.path / "scores.csv").unlink()
    with Run.resume(tmp_path, "test", OPTIONS) as again:
        assert differences(run.path) == ([], [], [])
        again.write_text("more.txt", "more")
    assert differences(run.path) == ([], [], [])
    assert not again.manifest.notes


@pytest.mark.parametrize("go_on", [lambda p: Run.resume(p, "test", OPTIONS), lambda p: Run.open(p, write=True)])
def test_nothing_goes_on_on_a_part_that_somebody_changed_and_other_changes_are_on_record(tmp_path, go_on):
    run = finished_run(tmp_path)
    flip_a_bit(run.path / "scores.csv")
    with go_on(tmp_path):
        pass
    (note,) = run.manifest.notes
    assert "scores.csv" in note
    part = run.path / "asked" / "part-00000.parquet"
    flip_a_bit(part)
    with pytest.raises(InputError, match=r"part-00000\.parquet is not as this run wrote it"):
        go_on(tmp_path)
    part.unlink()
    go_on(tmp_path).release()
    assert differences(run.path) == ([], [], [])


def test_a_start_that_is_withdrawn_takes_its_list_back(tmp_path):
    run = Run.create(tmp_path / "new", "test", OPTIONS)
    with run.stage("one"):
        pass
    assert (run.path / FILE).is_file()
    run.withdraw()
    assert not run.path.exists()


def test_a_large_file_is_read_again_only_where_it_was_written_again(tmp_path, monkeypatch):
    monkeypatch.setattr(hashes, "_SMALL", 4)
    read, hash_of = [], hashes.sha256_of_file
    monkeypatch.setattr(hashes, "sha256_of_file", lambda file: read.append(file.name) or hash_of(file))
    (tmp_path / "large").write_text("12345")
    listed = FileHashes(tmp_path)
    listed.write()
    listed.write()
    assert (read, listed.changed()) == (["large"], [])
    (tmp_path / "large").write_text("123456")
    assert listed.changed() == ["large"]

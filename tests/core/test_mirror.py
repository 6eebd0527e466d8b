"""The copy of a run elsewhere: whole files, what is new, what is gone, and the way back."""

import time
from dataclasses import dataclass

import fsspec
import pandas as pd
import pytest

from onedial.core import InputError, Mirror, Notes, Run, RunOptions, option
from onedial.studies import Start

OPTIONS = {"model": "somebody", "seed": 0}


@dataclass(frozen=True, kw_only=True)
class Mirrored(RunOptions):
    """Options of a program."""

    model: str = option("somebody", "who")


def options(**given):
    return Mirrored(**given)


def begun(notes=None, **given):
    return Start("test", options(**given)).begin(notes or Notes())


@pytest.fixture
def address():
    """An object store that lasts as long as the test."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    yield "memory://bucket/run"
    files.store.clear()


def there(address):
    files, root = fsspec.core.url_to_fs(address)
    return {name.removeprefix(f"{root}/"): files.cat_file(name) for name in files.find(root)}


def here(run):
    return {
        file.relative_to(run.path).as_posix(): file.read_bytes()
        for file in run.path.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }


def test_a_finished_run_lies_there_byte_for_byte(tmp_path, address):
    with begun(out=tmp_path / "run", mirror=address) as run:
        run.write_table("tables/one.parquet", pd.DataFrame({"a": [1, 2]}))
        run.write_text("said.txt", "the end")
    assert there(address) == here(run)
    assert "config.yaml" in there(address)


def test_a_copy_is_made_while_the_run_is_written(tmp_path, address):
    run = Run.create(tmp_path / "run", "test", OPTIONS)
    run.copied_by(Mirror(run.path, address, every=0.01))
    run.write_text("part.txt", "as far as it got")
    deadline = time.monotonic() + 30
    while "part.txt" not in there(address):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run.release()


def test_only_what_is_new_or_changed_is_sent_and_what_is_gone_is_taken_back(tmp_path, address):
    run = Run.create(tmp_path / "run", "test", OPTIONS)
    mirror = Mirror(run.path, address)
    run.write_text("kept.txt", "kept")
    run.write_text("changed.txt", "before")
    run.write_text("gone.txt", "gone")
    assert mirror.update() == 6  # with manifest, configuration and log
    assert mirror.update() == 0
    run.write_text("changed.txt", "afterwards")
    (run.path / "gone.txt").unlink()
    fsspec.filesystem("memory").pipe_file("/bucket/run/somebody-elses.txt", b"mine")
    assert mirror.update() == 1
    assert there(address) == here(run) | {"somebody-elses.txt": b"mine"}
    run.release()


def test_temporary_files_and_locks_stay_at_home(tmp_path, address):
    run = Run.create(tmp_path / "run", "test", OPTIONS)
    (run.path / ".table-abc.part.csv").write_text("half")
    Mirror(run.path, address).update()
    assert (run.path / ".lock").exists()
    assert not [name for name in there(address) if name.startswith(".")]
    run.release()


def test_a_run_whose_machine_is_lost_goes_on_from_the_copy_on_another(tmp_path, address):
    first = begun(out=tmp_path / "lost", mirror=address)
    first.write_text("done.txt", "half of it")
    first.release()
    before = there(address)
    with begun(out=tmp_path / "new", mirror=address, resume=True) as run:
        assert run.read_text("done.txt") == "half of it"
        assert len(run.manifest.resumed) == 1
        run.write_text("rest.txt", "the other half")
    assert there(address).keys() == before.keys() | {"rest.txt"}
    assert there(address) == here(run)


def test_what_lies_at_home_is_not_overwritten_by_the_copy(tmp_path, address):
    with begun(out=tmp_path / "run", mirror=address) as run:
        run.write_text("said.txt", "copied")
    with begun(out=tmp_path / "run", resume=True) as run:
        run.write_text("said.txt", "later, without a mirror")
    with begun(out=tmp_path / "run", mirror=address, resume=True) as run:
        assert run.read_text("said.txt") == "later, without a mirror"
    assert there(address) == here(run)


def test_a_refused_run_leaves_nothing_there(tmp_path, address):
    run = begun(out=tmp_path / "run", mirror=address)
    with pytest.raises(InputError), run.withdrawn_if_refused():
        raise InputError("no")
    assert there(address) == {}
    assert not (tmp_path / "run").exists()


def test_an_address_that_fails_does_not_end_the_run_but_is_said(tmp_path, address, capsys, monkeypatch):
    with begun(out=tmp_path / "run", mirror=address) as run:
        mirror = run._mirror

        def broken(*arguments, **options):
            raise OSError("no network")

        monkeypatch.setattr(mirror._files, "put_file", broken)
        run.write_text("said.txt", "kept at home")
    said = capsys.readouterr().out
    assert "(no network); copy" in said
    assert run.read_text("said.txt") == "kept at home"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mirror": "memory://bucket/run"}, "--out"),
        ({"out": "run", "mirror": "nosuch://bucket/run"}, "give an address that fsspec knows"),
        ({"out": "run", "mirror": "sftp://me:secret@host/run"}, "give it by the environment"),
    ],
)
def test_a_copy_that_cannot_be_made_is_refused_before_anything_is_written(tmp_path, monkeypatch, given, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        Start("test", options(**given))
    assert not list(tmp_path.iterdir())


def test_a_new_run_does_not_write_over_another_ones_copy(tmp_path, address):
    begun(out=tmp_path / "one", mirror=address).release()
    with pytest.raises(InputError, match="already holds a run; pass --resume"):
        Start("test", options(out=tmp_path / "two", mirror=address))

"""What a loss of power, two writers, and other people's files cannot do to a run."""

import errno
import os
from pathlib import Path

import pandas as pd
import pytest

from onedial.asking import read_table as read_users_table
from onedial.core import InputError, Journal, Parts, Run, read_table, write_table, write_text
from onedial.core.run.records import Records, read_records

OPTIONS = {"model": "somebody"}


class LossyDisk:
    """Remembers what was synced: a file's bytes, and the names in a folder."""

    def __init__(self, monkeypatch):
        self.files, self.folders = {}, {}
        sync = os.fsync

        def noted(descriptor):
            sync(descriptor)
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            if path.is_dir():
                self.folders[path] = {each.name: each.stat().st_ino for each in path.iterdir()}
            else:
                self.files[path.stat().st_ino] = path.read_bytes()

        monkeypatch.setattr(os, "fsync", noted)

    def after_power_loss(self, path):
        """What a file holds if only what was synced came through; None where even its name did not."""
        inode = self.folders.get(path.parent, {}).get(path.name)
        return None if inode is None else self.files.get(inode, b"")


def test_a_file_is_whole_on_the_disk_before_its_name_is_and_the_name_before_the_program_goes_on(tmp_path, monkeypatch):
    disk, file = LossyDisk(monkeypatch), tmp_path / "said.txt"
    write_text(file, "before")
    assert disk.after_power_loss(file) == b"before"
    write_text(file, "afterwards")
    assert disk.after_power_loss(file) == b"afterwards"


def test_a_row_that_was_added_is_on_the_disk_and_so_is_the_part_before_the_journal_goes(tmp_path, monkeypatch):
    disk, parts = LossyDisk(monkeypatch), Parts(tmp_path / "m", ["name", "value"], ["name"])
    journal = Journal(parts, ("value",))
    journal.add({"name": "a", "value": 1.0})
    (file,) = parts.folder.iterdir()
    assert disk.after_power_loss(file) == file.read_bytes() != b""
    journal.fold()
    (part,) = parts.files()
    assert disk.after_power_loss(part) == part.read_bytes()


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b", "a\u0085b", "a\x1cb\x0cc\x0bd", "a\r\nb\rc", "😀 naïve"])
def test_no_character_of_an_answer_ends_its_row(tmp_path, text):
    parts = Parts(tmp_path / "m", ["name", "text"], ["name"])
    Journal(parts, ()).add({"name": "a", "text": text})
    Journal(parts, ())  # the next process
    assert parts.read()["text"].tolist() == [text]


def test_half_a_character_is_kept_as_a_replacement_mark_and_takes_no_row_with_it(tmp_path):
    parts = Parts(tmp_path / "m", ["name", "text"], ["name"])
    journal = Journal(parts, ())
    journal.add({"name": "a", "text": "Ye\ud800s"})
    journal.add({"name": "b", "text": "No"})
    journal.fold()
    assert parts.read()["text"].tolist() == ["Ye\ufffds", "No"]


def test_every_beginning_of_a_file_of_records_gives_the_records_that_are_whole_in_it(tmp_path):
    whole = [{"n": n, "text": "\u2028\n" * n} for n in range(4)]
    Records(tmp_path / "log").append(*whole)
    data = (tmp_path / "log").read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for cut in range(len(data) + 1):
        (tmp_path / "cut").write_bytes(data[:cut])
        assert read_records(tmp_path / "cut") == whole[: sum(end <= cut for end in ends)]
    (tmp_path / "cut").write_bytes(data[: ends[1] + 5])
    Records(tmp_path / "cut").append({"n": 9})
    assert read_records(tmp_path / "cut") == [*whole[:2], {"n": 9}]


def test_a_damaged_record_is_named_by_its_line(tmp_path):
    Records(tmp_path / "log").append({"n": 1}, {"n": 2}, {"n": 3})
    data = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(data.replace(b'"n": 2', b'"n" 2'))
    with pytest.raises(InputError, match="line 2"):
        read_records(tmp_path / "log")


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_of_records_that_a_disk_refused_nothing_stays(tmp_path, monkeypatch, call):
    records, write = Records(tmp_path / "log"), os.write
    records.append({"n": 1})

    def fails(descriptor, data=b""):
        write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, call, fails)
        with pytest.raises(OSError, match=r"No space left.*log"):
            records.append({"n": 2})
    records.append({"n": 3})
    assert read_records(tmp_path / "log") == [{"n": 1}, {"n": 3}]


# ---- other people's files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["manifest.json", "log.txt", "measurements"])
def test_a_link_out_of_a_run_that_goes_on_is_refused_and_not_written_through(tmp_path, link):
    run = Run.create(tmp_path / "run", "test", OPTIONS)
    run.release()
    outside = tmp_path / "outside"
    if link == "measurements":
        outside.mkdir()
    else:
        (run.path / link).replace(outside)
    (run.path / link).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else None
    for begin in (lambda: Run.resume(run.path, "test", OPTIONS), lambda: Run.open(run.path, write=True)):
        with pytest.raises(InputError, match="link that leads out of"):
            begin()
    assert (outside.read_bytes() if outside.is_file() else None) == before


def test_a_link_that_stays_inside_a_run_is_no_harm(tmp_path):
    run = Run.create(tmp_path / "run", "test", OPTIONS)
    run.write_table("a.csv", pd.DataFrame({"a": [1]}))
    run.release()
    (run.path / "b.csv").symlink_to("a.csv")
    Run.resume(run.path, "test", OPTIONS).release()


# ---- texts of others -------------------------------------------------------------------------------------------------


def test_every_text_comes_back_from_a_csv_as_it_was(tmp_path):
    texts = ["=1+1", "-2+3", "@SUM(A1)", "\t=1", "'=already", "-5x", "'s-Hertogenbosch", 'a "b", c', "two\nlines"]
    table = pd.DataFrame({"=name": texts, "number": range(len(texts))})
    write_table(tmp_path / "t.csv", table)
    for back in (read_table(tmp_path / "t.csv"), read_users_table(tmp_path / "t.csv").frame):
        assert back["=name"].tolist() == texts
    assert pd.read_csv(tmp_path / "t.csv")["=name"].tolist() == texts  # nobody has to know a convention

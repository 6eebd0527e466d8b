"""What a loss of power and a program for tables cannot do to a file."""

import os
from pathlib import Path

import pandas as pd

from onedial.asking.tables import read_table as read_users_table
from onedial.core.files import write_text
from onedial.core.run.files import read_table, write_table


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


def test_a_file_is_whole_before_its_name_is(tmp_path, monkeypatch):
    """A file is whole on the disk before its name is and the name before the program goes on."""
    disk, file = LossyDisk(monkeypatch), tmp_path / "said.txt"
    write_text(file, "before")
    assert disk.after_power_loss(file) == b"before"
    write_text(file, "afterwards")
    assert disk.after_power_loss(file) == b"afterwards"


# ---- texts of others -------------------------------------------------------------------------------------------------


def test_every_text_comes_back_from_a_csv_as_it_was(tmp_path):
    texts = ["=1+1", "-2+3", "@SUM(A1)", "\t=1", "'=already", "-5x", "'s-Hertogenbosch", 'a "b", c', "two\nlines"]
    table = pd.DataFrame({"=name": texts, "number": range(len(texts))})
    write_table(tmp_path / "t.csv", table)
    for back in (read_table(tmp_path / "t.csv"), read_users_table(tmp_path / "t.csv").frame):
        assert back["=name"].tolist() == texts
    assert pd.read_csv(tmp_path / "t.csv")["=name"].tolist() == texts  # nobody has to know a convention

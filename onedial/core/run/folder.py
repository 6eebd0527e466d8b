"""A run's folder, file by file: each is written whole, or by the first process alone, and read with one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core.errors import InputError
from onedial.core.files import make_folder, write_json, write_text
from onedial.core.plain_values import plain
from onedial.core.run.files import read_json, read_table, same_content, write_table
from onedial.core.run.parts import Parts

if TYPE_CHECKING:
    import pandas as pd


class Folder:
    """Reads and writes the files of one folder, by names relative to it.

    Args:
        path: of the folder.
        writes, writes_parts: False where another process of the same work writes the same.
    """

    def __init__(self, path: Path | str, writes: bool = True, writes_parts: bool = True) -> None:
        self.path = Path(path)
        self._writes, self._writes_parts = writes, writes_parts

    def has(self, name: str) -> bool:
        """Whether the run holds this file."""
        return (self.path / name).exists()

    def file(self, name: str) -> Path:
        """Make the folder of a file that something else writes, and return its path."""
        make_folder((self.path / name).parent)
        return self.path / name

    def parts(self, name: str, columns: Sequence[str], key: Sequence[str]) -> Parts:
        """Return the table that grows in the folder `name`."""
        return Parts(self.path / name, columns, key, self._writes_parts)

    def write_table(self, name: str, table: pd.DataFrame, *, index: bool = False) -> None:
        """Write a table (.parquet or .csv), over what stood there."""
        if self._writes:
            write_table(self.path / name, table, index=index)

    def read_table(self, name: str) -> pd.DataFrame:
        """Read a table; see `onedial.core.run.files.read_table`."""
        return read_table(self.path / name)

    def keep_table(self, name: str, table: pd.DataFrame, required: Sequence[str] = ()) -> None:
        """Write a table that the run rests on; on resume it must be the same one.

        Raises:
            InputError: the stored table differs: the file that it was read from has changed since.
            ValueError: a required column is missing.
        """
        if missing := [column for column in required if column not in table.columns]:
            raise ValueError(f"{name} lacks {', '.join(missing)}")
        if not self.has(name):
            self.write_table(name, table)
        elif not same_content(self.read_table(name), table):
            raise InputError(
                f"{self.path} was begun with another table of {Path(name).stem} than the one now read; "
                "restore the file or choose another --out"
            )

    def write_json(self, name: str, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """Write plain values; nan becomes null."""
        if self._writes:
            write_json(self.path / name, plain(value))

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON object; see `onedial.core.run.files.read_json`."""
        return read_json(self.path / name)

    def write_text(self, name: str, text: str) -> None:
        """Write a text, over what stood there."""
        if self._writes:
            write_text(self.path / name, text)

    def read_text(self, name: str) -> str:
        """Read a text.

        Raises:
            InputError: it is not there.
        """
        if not self.has(name):
            raise InputError(f"{self.path / name} is missing; finish the run with --resume")
        return (self.path / name).read_text(encoding="utf-8")

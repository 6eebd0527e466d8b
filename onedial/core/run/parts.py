"""A table on disk that grows while the work goes on: numbered parts, each whole or absent, that together are one table.

A row is known by its key. What stands in a part is done: an interrupted run asks for the rest alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

from onedial.core.errors import InputError
from onedial.core.run.files import read_table, write_table

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy_loader.load("pandas")  # for which no --help waits

PART = "part-*.parquet"


class Parts:
    """The parts of one folder: part-00000.parquet, part-00001.parquet, ...; of further processes part-p1-00000 ...

    Args:
        folder: is made with the first part.
        columns: what a part holds; every part has all of them.
        key: columns that tell one row from another, and by which the whole table is ordered.
        writes: False where another process appends the same rows.
    """

    def __init__(self, folder: Path, columns: Sequence[str], key: Sequence[str], writes: bool = True) -> None:
        self.folder, self.columns, self.key, self._writes = folder, list(columns), list(key), writes
        self._read: tuple[list[tuple[str, int, int]], pd.DataFrame] | None = None

    def append(self, rows: pd.DataFrame, process: int = 0) -> Path:
        """Write rows as the next part and return its path.

        Args:
            process: rank of the process that writes, where several share one run. Each numbers its own parts, so
                that none can overwrite another's.

        Raises:
            ValueError: a column is missing.
        """
        if missing := [column for column in self.columns if column not in rows.columns]:
            raise ValueError(f"a part of {self.folder.name} lacks {', '.join(missing)}")
        prefix = f"part-p{process}-" if process else "part-"
        numbers = [
            int(match.group(1)) for file in self.files() if (match := re.fullmatch(rf"{prefix}(\d+)", file.stem))
        ]
        final = self.folder / f"{prefix}{max(numbers, default=-1) + 1:05d}.parquet"
        if self._writes:
            write_table(final, rows[self.columns])
        return final

    def read(self) -> pd.DataFrame:
        """Read all parts as one table, in an order that does not depend on how often the run was interrupted.

        What has been read is kept while no part is added or changed.

        Raises:
            InputError: a part cannot be read, or rows stand there more than once (two programs wrote at once).
        """
        there = [(file.name, (about := file.stat()).st_mtime_ns, about.st_size) for file in self.files()]
        if self._read is not None and self._read[0] == there:
            return self._read[1].copy(deep=False)
        parts = [read_table(file) for file in self.files()]
        if not parts:
            return pd.DataFrame(columns=self.columns)
        table = pd.concat(parts, ignore_index=True).sort_values(self.key, kind="stable", ignore_index=True)
        if repeated := int(table.duplicated(self.key).sum()):
            raise InputError(
                f"{self.folder} holds {repeated} rows more than once, so two programs wrote there; "
                "make the run again with another --out"
            )
        self._read = there, table
        return table.copy(deep=False)

    def done(self, column: str) -> set[str]:
        """List the values of one column that stand in a part.

        Raises:
            InputError: what is there has other columns.
        """
        return {value for file in self._own() for value in read_table(file, [column])[column].unique()}

    def done_keys(self) -> set[tuple[str, ...]]:
        """List the keys that stand in a part, as tuples in the order of `key`; raises as `done`."""
        parts = (read_table(file, self.key)[self.key] for file in self._own())
        return {row for part in parts for row in part.itertuples(index=False, name=None)}

    def _own(self) -> list[Path]:
        """List the files to go on with; the columns of the first are checked, as one program wrote them all."""
        files = self.files()
        if files and (lacking := [column for column in self.columns if column not in read_table(files[0])]):
            raise InputError(
                f"{self.folder} holds other columns than this program writes, and no {', '.join(lacking)}; "
                "make the run again with another --out"
            )
        return files

    def files(self) -> list[Path]:
        """List the parts in the order of writing; temporary files are none."""
        return sorted(self.folder.glob(PART))

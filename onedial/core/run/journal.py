"""Rows that have come and stand in no part yet: each is on the disk as soon as `add` returns, and a kill loses none.

One record per row, beside the parts; from time to time they become a part. Writing a part for each row would do the
same with a file per row.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import lazy_loader

from onedial.core.plain_values import whole_characters
from onedial.core.run.parts import Parts
from onedial.core.run.records import Records, read_records

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy_loader.load("pandas")  # for which no --help waits

ROWS_OF_A_PART = 500


class Journal:
    """The rows on their way into the parts of one table. What an earlier process left becomes a part at once.

    Several threads may add rows.

    Args:
        parts: where the rows go; its key must tell one row from another.
        numbers: columns that hold numbers (float64; None becomes nan).
    """

    def __init__(self, parts: Parts, numbers: tuple[str, ...]) -> None:
        self._parts, self._numbers = parts, numbers
        self._records = Records(parts.folder / ".journal.log")
        self._lock = threading.Lock()
        self._rows = self._left_over()
        self.fold()

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep one row, all of the parts' columns."""
        kept = {column: _json(row[column]) for column in self._parts.columns}
        with self._lock:
            self._records.append(kept)
            self._rows.append(kept)
            if len(self._rows) >= ROWS_OF_A_PART:
                self._fold()

    def fold(self) -> None:
        """Make a part of what has come."""
        with self._lock:
            self._fold()

    def _fold(self) -> None:
        if self._rows:
            table = pd.DataFrame(self._rows, columns=self._parts.columns)
            table = table.astype({name: "float64" for name in self._numbers})
            self._parts.append(table)
            self._rows = []
        self._records.remove()

    def _left_over(self) -> list[dict[str, Any]]:
        """Rows that a process which was killed had not made a part of; a line that was cut off is none."""
        rows = read_records(self._records.file)
        rows = [row for row in rows if set(row) == set(self._parts.columns)]
        done = self._parts.done_keys() if rows else set()  # it may have been killed right after writing the part
        return [row for row in rows if tuple(row[name] for name in self._parts.key) not in done]


def _json(value: Any) -> Any:
    """The value as JSON has it; nan becomes null, and half of a character (a lone surrogate) its replacement mark."""
    if hasattr(value, "item"):
        value = value.item()
    return None if value is None or value != value else whole_characters(value)

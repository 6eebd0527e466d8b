"""Rows that have come and stand in no part yet: each is on disk as soon as it is there, and a kill loses none.

One JSON line per row, beside the parts; from time to time they become a part. Writing a part for each row would do the
same with a file per row.
"""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.core.run.parts import Parts

ROWS_OF_A_PART = 500


class Journal:
    """The rows on their way into the parts of one table. What an earlier process left becomes a part at once.

    Args:
        parts: where the rows go; its key must tell one row from another.
        numbers: columns that hold numbers (float64; None becomes nan).
    """

    def __init__(self, parts: Parts, numbers: tuple[str, ...]) -> None:
        self._parts, self._numbers = parts, numbers
        self._file = parts.folder / ".journal.jsonl"
        self._rows = self._left_over()
        self.fold()

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep one row, all of the parts' columns."""
        kept = {column: _json(row[column]) for column in self._parts.columns}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(self._file, "a", encoding="utf-8") as file:
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
        self._rows.append(kept)
        if len(self._rows) >= ROWS_OF_A_PART:
            self.fold()

    def fold(self) -> None:
        """Make a part of what has come."""
        if self._rows:
            table = pd.DataFrame(self._rows, columns=self._parts.columns)
            table = table.astype({name: "float64" for name in self._numbers})
            self._parts.append(table)
            self._rows = []
        self._file.unlink(missing_ok=True)

    def _left_over(self) -> list[dict[str, Any]]:
        """Rows that a process which was killed had not made a part of; a line that was cut off is none."""
        if not self._file.exists():
            return []
        rows = []
        for line in self._file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, dict) and set(row) == set(self._parts.columns):
                rows.append(row)
        done = self._parts.done_keys() if rows else set()  # it may have been killed right after writing the part
        return [row for row in rows if tuple(row[name] for name in self._parts.key) not in done]


def _json(value: Any) -> Any:
    """The value as JSON has it; nan becomes null."""
    if hasattr(value, "item"):
        value = value.item()
    return None if value is None or value != value else value

"""A table that is kept as it grows, so that a second call goes on where the first stopped."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core import InputError, atomic_path

if TYPE_CHECKING:
    import pandas as pd


class GrowingTable:
    """Rows by a key, all made with the same settings; without a path they are kept in memory alone.

    Args:
        path: the CSV; what it holds is taken from it.
        key: the columns that name what was simulated; several rows may have one key.
        settings: what a row hangs on besides, as columns and their values.

    Raises:
        InputError: the file holds rows without these columns, or of other settings.
    """

    def __init__(self, path: Path | None, key: tuple[str, ...], settings: Mapping[str, Any] | None = None) -> None:
        self._path, self._key, self._settings = path, key, dict(settings or {})
        self._rows = self._stored() if path is not None and path.exists() else []
        self._held = {self._key_of(row) for row in self._rows}

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self._held

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows and write the file; all rows of a key come in one call."""
        import pandas as pd

        added = [{**row, **self._settings} for row in rows]
        self._rows += added
        self._held |= {self._key_of(row) for row in added}
        if self._path is not None:
            with atomic_path(self._path) as temporary:
                pd.DataFrame(self._rows).to_csv(temporary, index=False, lineterminator="\n")

    @property
    def frame(self) -> "pd.DataFrame":
        """All rows so far, in the order in which they were added."""
        import pandas as pd

        return pd.DataFrame(self._rows)

    def _key_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[column] for column in self._key)

    def _stored(self) -> list[dict[str, Any]]:
        import pandas as pd

        stored = pd.read_csv(self._path, keep_default_na=False, na_values=[""])
        columns = [*self._key, *self._settings]
        if absent := [column for column in columns if column not in stored]:
            raise InputError(f"{self._path} has no column {absent[0]!r}; give another file, or none that is there")
        for name, value in self._settings.items():
            if len(others := stored[name][stored[name] != value]):
                raise InputError(
                    f"{self._path} holds rows with {name} {others.iloc[0]}, and now it is {value}; give another file"
                )
        return [{str(name): value for name, value in row.items()} for row in stored.to_dict("records")]


def by_seed(
    table: GrowingTable,
    seeds: int,
    cells: Iterable[tuple[Any, ...]],
    rows_of: Callable[..., Iterable[Mapping[str, Any]]],
) -> "pd.DataFrame":
    """A table with the rows of every cell under every seed, `rows_of(*cell, seed)` where they are not yet there."""
    cells = list(cells)
    for seed in range(seeds):
        for cell in cells:
            if (*cell, seed) not in table:
                table.add(rows_of(*cell, seed))
        print(f"seed {seed + 1} of {seeds}", file=sys.stderr)
    frame = table.frame
    return frame[frame["seed"] < seeds]

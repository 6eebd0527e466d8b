"""The frame of every simulation: a script says what is drawn and what is told of it, the rest is here.

A `Cell` is drawn with the seeds 0, 1, ...; its rows go into a table that is kept as it grows, so that a second call
goes on where the first stopped. `simulate` tells of each cell, `by_seed` of single draws.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onedial.core import InputError, Options, atomic_path, option, parse_options

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


Found = dict[str, float]
Rows = list[dict[str, Any]]


class Cell(NamedTuple):
    """What is simulated under one name.

    Attributes:
        name: of the cell.
        sets: how many are drawn if --sets does not say.
        draw: seed -> what was found, once or several times; an empty list where nothing can be said.
    """

    name: str
    sets: int
    draw: Callable[[int], Found | list[Found]]


def mean_and_error(found: "pd.DataFrame") -> Rows:
    """A row for each number: its mean over the draws, and the mean's standard error."""
    return [{"what": str(what), "found": column.mean(), "se": column.sem()} for what, column in found.items()]


def means(found: "pd.DataFrame") -> Rows:
    """One row: the mean of each number."""
    return [{str(what): float(column.mean()) for what, column in found.items()}]


def simulate(
    doc: str | None,
    studies: Mapping[str, Iterable[Cell]],
    columns: tuple[str, ...],
    told: Callable[["pd.DataFrame"], Rows] = mean_and_error,
) -> None:
    """The main function of a script: simulate the cells that are asked for and not yet in the table, and print them.

    Args:
        doc: the script's docstring.
        studies: what the command line can choose of.
        columns: what names a row: (study,) cell, number of sets.
        told: a table with a line for everything found -> rows.
    """
    import pandas as pd

    options = parse_options(SimulationOptions, f"{doc}\nStudies: {', '.join(studies)}")
    if unknown := set(options.studies) - set(studies):
        raise InputError(f"no study is called {', '.join(sorted(unknown))}; choose of {', '.join(studies)}")
    table = GrowingTable(options.table, columns)
    for study in options.studies or studies:
        for cell in studies[study]:
            sets = options.sets or cell.sets
            key = (study, cell.name, sets)[-len(columns) :]
            if key in table:
                continue
            drawn = [found if isinstance(found, list) else [found] for found in map(cell.draw, range(sets))]
            found = pd.DataFrame([one for several in drawn for one in several], dtype=float)
            rows = [dict(zip(columns, key, strict=True)) | row for row in told(found)]
            table.add(rows)
            for row in rows:
                values = (f"{each:.3f}" if isinstance(each, float) else str(each) for each in row.values())
                print(" | ".join(values), flush=True)


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Options):
    """What it is told."""

    studies: tuple[str, ...] = option((), "these alone (all)", positional=True)
    sets: int | None = option(None, "draws of each kind (default: as on the page)", at_least=1)
    table: Path | None = option(None, "also keep the rows there, as CSV; what it holds is not drawn anew")


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

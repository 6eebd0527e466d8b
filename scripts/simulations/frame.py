"""Define what a simulation is: cells that are drawn seed by seed, and a table made of all draws."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.files import atomic_path

Found = dict[str, Any]
Rows = list[dict[str, Any]]
Key = tuple[str, str, int]
KEY = ("study", "cell", "seed")


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


class Simulation(NamedTuple):
    """What one file of this folder simulates.

    Attributes:
        studies: cells by the name under which the command line can choose them.
        told: a line for everything found, with study, cell and seed -> the table that is stored.
        settings: what a draw hangs on besides.
    """

    studies: Mapping[str, Sequence[Cell]]
    told: Callable[[pd.DataFrame], pd.DataFrame]
    settings: Callable[[], Found] = dict


class Draws:
    """Hold what was found by study, cell and seed, all under the same settings; with a path, keep and go on with it.

    Args:
        path: the CSV; what it holds is taken from it.
        settings: what a draw hangs on, as columns and their values.

    Raises:
        InputError: the file holds something else, or draws under other settings.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path, self._settings = path, dict(settings)
        self._rows: dict[Key, Rows] = {}
        if path is not None and path.exists():
            stored = pd.read_csv(path, keep_default_na=False, na_values=[""])
            if absent := [column for column in (*KEY, *self._settings) if column not in stored]:
                raise InputError(f"{path} has no column {absent[0]!r}; give another file, or none that is there")
            for name, value in self._settings.items():
                if len(others := stored[name][stored[name] != value]):
                    raise InputError(
                        f"{path} holds rows with {name} {others.iloc[0]}, and now it is {value}; give another file"
                    )
            for row in stored.to_dict("records"):
                self._rows.setdefault((row["study"], row["cell"], row["seed"]), []).append(row)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def add(self, key: Key, result: Found | list[Found]) -> None:
        """Keep what a seed found; a line without numbers where nothing can be said."""
        rows = (result if isinstance(result, list) else [result]) or [{}]
        self._rows[key] = [{**dict(zip(KEY, key, strict=True)), **row, **self._settings} for row in rows]

    def write(self) -> None:
        """Keep everything found so far, if there is a path."""
        if self._path is not None:
            with atomic_path(self._path) as temporary:
                self.frame().to_csv(temporary, index=False, lineterminator="\n")

    def frame(self, keys: Iterable[Key] | None = None) -> pd.DataFrame:
        """Give all lines so far, or those of some keys, in their order."""
        return pd.DataFrame([row for key in (self._rows if keys is None else keys) for row in self._rows[key]])


def by_cell(tell: Callable[[pd.DataFrame], Rows], *names: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Tell of each cell alone, under columns of these names for study, cell and number of seeds (the last of them where
    fewer are given); five digits."""

    def told(draws: pd.DataFrame) -> pd.DataFrame:
        rows = []
        for key, of_cell in draws.groupby(list(KEY[:2]), sort=False):
            values = of_cell.drop(columns=list(KEY)).dropna(axis=1, how="all").astype(float)
            named = dict(zip(names, (*key, of_cell["seed"].nunique())[-len(names) :], strict=True))
            rows += [named | row for row in tell(values)]
        return pd.DataFrame(rows).round(5)

    return told


def mean_and_error(draws: pd.DataFrame) -> Rows:
    """Give each number's mean over the draws, and the mean's standard error, a row each."""
    return [{"what": str(what), "found": column.mean(), "se": column.sem()} for what, column in draws.items()]


def means(draws: pd.DataFrame) -> Rows:
    """Give the mean of each number, in one row."""
    return [{str(what): float(column.mean()) for what, column in draws.items()}]


def one_line_each(table: pd.DataFrame) -> pd.DataFrame:
    """Round a table by cell to five digits, and leave nothing but letters and digits in the names of its columns."""
    return table.reset_index().round(5).rename(columns=lambda name: re.sub(r"[^\w]+", "_", str(name)).strip("_"))

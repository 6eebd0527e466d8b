"""What a page asks of any table: which rows, in which order, and which stretch of them; or all of them as CSV."""

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.core import InputError, did_you_mean, write_csv
from onedial.show import NOTHING
from onedial.view.expression import matching

PAGE = 50
"""Rows of a page."""


@dataclass(frozen=True)
class Asked:
    """What an address asks of a table.

    Attributes:
        filter: see `onedial.view.expression`. sort: a column, with - before it for the largest first. page: from 1.
    """

    filter: str = ""
    sort: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Asked":
        """Of an address's parameters.

        Raises:
            InputError: the page is no number from 1 on.
        """
        page = query.get("page") or "1"
        if not page.isascii() or not page.isdigit() or not int(page[:9]) >= 1 or len(page) > 9:
            raise InputError(f"page={page} is no whole number from 1 on")
        return cls(query.get("filter", "").strip(), query.get("sort", ""), int(page))

    def rows_of(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows that the filter keeps, in order; what is missing comes last either way.

        Raises:
            InputError: the filter cannot be read, or the table has no such column.
        """
        kept = table[matching(table, self.filter)]
        if not self.sort:
            return kept
        down, name = self.sort.startswith("-"), self.sort.removeprefix("-")
        if name not in map(str, kept.columns):
            known = [str(column) for column in kept.columns]
            raise InputError(f"sort={self.sort} names no column{did_you_mean(name, known)}; take one of the headings")
        values = kept.iloc[:, [str(column) for column in kept.columns].index(name)]
        if not pd.api.types.is_numeric_dtype(values):
            values = values.map(lambda value: None if _is_missing(value) else str(value).lower())
        order = values.reset_index(drop=True).sort_values(ascending=not down, na_position="last", kind="stable").index
        return kept.iloc[order]


@dataclass(frozen=True)
class Shown:
    """One page of a table, for the eye.

    Attributes:
        columns: headings. rows: what names each row in an address ("" for nothing), and its cells as text.
        numeric: whether a column holds numbers.
        exact: what each cell holds to its last digit, "" where it is missing and None where its text says all; None
            where nobody asked for it. n: rows that were kept, of n_all. page, n_pages: of them.
    """

    columns: list[str]
    rows: list[tuple[str, list[str]]]
    numeric: list[bool]
    n: int
    n_all: int
    page: int
    n_pages: int
    asked: Asked
    exact: list[list[str | None]] | None = None


def shown(table: pd.DataFrame, asked: Asked, key: str = "", whole: bool = False, exact: bool = False) -> Shown:
    """The page of the table that is asked for; the last one where there are fewer.

    Args:
        key: column that names a row in an address. whole: all rows on one page. exact: for a page that filters by
            itself: with what each cell holds, and every column apart.
    """
    kept = asked.rows_of(table)
    size = max(len(kept), 1) if whole else PAGE
    n_pages = max(math.ceil(len(kept) / size), 1)
    page = min(asked.page, n_pages)
    part = kept.iloc[(page - 1) * size : page * size]
    names = [str(name) for name in table.columns]
    ends = {} if exact else _ends(names)
    kept_apart = [place for place in range(len(names)) if not any(place in each for each in ends.values())]
    cells = [
        [cell(row[place]) + _between(row, ends.get(place)) for place in kept_apart]
        for row in part.itertuples(index=False, name=None)
    ]
    keys = [str(value) for value in part[key]] if key else [""] * len(part)
    columns = [names[place] for place in kept_apart]
    numeric = [bool(pd.api.types.is_numeric_dtype(table.dtypes.iloc[place])) for place in kept_apart]
    rows = list(zip(keys, cells, strict=True))
    held = [[_held(value) for value in row] for row in part.itertuples(index=False, name=None)] if exact else None
    return Shown(columns, rows, numeric, len(kept), len(table), page, n_pages, asked, held)


def _ends(names: list[str]) -> dict[int, tuple[int, int]]:
    """Place of a column -> those of the ends of its interval, which are shown in its cells: NAME_low and NAME_high, or
    low and high right after it."""
    at = {name: place for place, name in enumerate(names)}
    ends = {
        place: (at[f"{name}_low"], at[f"{name}_high"])
        for name, place in at.items()
        if f"{name}_low" in at and f"{name}_high" in at
    }
    low = at.get("low", 0)
    return ends | ({low - 1: (low, low + 1)} if low and at.get("high") == low + 1 and low - 1 not in ends else {})


def _between(row: tuple[Any, ...], ends: tuple[int, int] | None) -> str:
    if ends is None or any(_is_missing(row[end]) for end in ends):
        return ""
    return f" [{cell(row[ends[0]])}, {cell(row[ends[1]])}]"


def cell(value: Any) -> str:
    """A value as text: numbers to four digits, a dash where nothing is."""
    if _is_missing(value):
        return NOTHING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}".replace("-", "−") if math.isfinite(value) else str(value)
    return str(value)


def as_csv(table: pd.DataFrame) -> bytes:
    """Every row and digit, with no text that a spreadsheet would take for a formula."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write_csv(file, table)
        return file.read_bytes()


def _held(value: Any) -> str | None:
    if _is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value)).replace("inf", "Infinity")
    return None


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value)) or value is pd.NA

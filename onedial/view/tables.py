"""A table of a run for the eye: a stretch of its rows, in the order that an address asks for."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.run.files import read_table
from onedial.core.suggestions import did_you_mean
from onedial.show.columns import NOTHING, columns_of

PARTS = "part-*.parquet"
PAGE = 50
"""Rows of a page."""


@dataclass(frozen=True)
class Rows:
    """One page of a table.

    Attributes:
        heads: name of each column, and whether it holds numbers. lines: of cells as text. n: rows of the table.
        page, n_pages: from 1. sort: a column, with - before it for the largest first; "" as it is stored.
    """

    heads: list[tuple[str, bool]]
    lines: list[list[str]]
    n: int
    page: int
    n_pages: int
    sort: str


def is_table(path: Path) -> bool:
    """Whether a file can be shown; any other can be had as it lies there."""
    return path.is_dir() or path.suffix in (".csv", ".parquet")


def stored_table(path: Path) -> pd.DataFrame:
    """A file, or the folder of a table in parts, as a table.

    Raises:
        InputError: it is no table, or cannot be read.
    """
    if not is_table(path):
        raise InputError(f"{path.name} is no table; the page of the run's files hands it out")
    if path.is_dir():
        return pd.concat([read_table(part) for part in sorted(path.glob(PARTS))], ignore_index=True)
    return read_table(path)


def rows_of(table: pd.DataFrame, sort: str = "", page: str = "") -> Rows:
    """A page of a table, the last one where there are fewer; the ends of an interval stand in the cell of its number.

    Raises:
        InputError: the table has no such column, or the page is no number from 1 on.
    """
    if page and not (page.isascii() and page.isdigit() and len(page) < 10 and int(page)):
        raise InputError(f"page={page} is no whole number from 1 on")
    table = table.rename(columns=str)
    columns = [replace(column, form=cell) for column in columns_of(table)]
    n_pages = max(math.ceil(len(table) / PAGE), 1)
    at = min(int(page or 1), n_pages)
    part = in_order(table, sort).iloc[(at - 1) * PAGE : at * PAGE]
    records: list[dict[str, Any]] = part.to_dict("records")  # type: ignore[assignment]  # of texts, as renamed
    lines = [[column.shown(row) for column in columns] for row in records]
    heads = [(column.name, bool(pd.api.types.is_numeric_dtype(table[column.name]))) for column in columns]
    return Rows(heads, lines, len(table), at, n_pages, sort)


def in_order(table: pd.DataFrame, sort: str) -> pd.DataFrame:
    """The rows by a column, texts without regard to capitals; what is missing comes last either way.

    Raises:
        InputError: there is no such column.
    """
    if not sort:
        return table
    name = sort.removeprefix("-")
    if name not in table.columns:
        raise InputError(f"sort={sort} names no column{did_you_mean(name, list(table.columns))}")
    values = table[name].reset_index(drop=True)
    if not pd.api.types.is_numeric_dtype(values):
        values = values.map(lambda value: str(value).lower(), na_action="ignore")
    return table.iloc[values.sort_values(ascending=name == sort, kind="stable", na_position="last").index]


def cell(value: Any) -> str:
    """A value as text: numbers to four digits, a dash where nothing is.

    >>> [cell(value) for value in (0.000123456, -2.0, 7, None, True)]
    ['0.0001235', '−2', '7', '–', 'yes']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else str(value)

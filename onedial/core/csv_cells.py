"""Texts in a CSV file: a spreadsheet that opens it must not take what somebody wrote for a formula."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader

from onedial.core.files import atomic_path

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy_loader.load("pandas")  # for which no --help waits

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def write_csv(path: Path | str, table: pd.DataFrame, *, index: bool = False, float_format: str | None = None) -> None:
    """Write a table as CSV, all or nothing; no text in it is a formula to a program that opens it (`as_csv_cell`)."""
    safe = with_cells(table.rename(columns=as_csv_cell), as_csv_cell)
    if index:
        safe = safe.rename(index=as_csv_cell)
    with atomic_path(path) as temporary:
        safe.to_csv(temporary, index=index, float_format=float_format, lineterminator="\n")


def as_csv_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it, which makes it a text there.

    Texts that begin with = + - @, a tab or a line's end are meant, unless they are numbers; so are those that begin
    with apostrophes and then one of these, so that `from_csv_cell` gives back what there was.

    >>> [as_csv_cell(value) for value in ["=1+1", "-5", "@me", "'=1", "Yes", 2]]
    ["'=1+1", '-5', "'@me", "''=1", 'Yes', 2]
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value) else value


def from_csv_cell(value: Any) -> Any:
    """What `as_csv_cell` was given.

    >>> from_csv_cell("'=1+1"), from_csv_cell("'s-Hertogenbosch")
    ('=1+1', "'s-Hertogenbosch")
    """
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def with_cells(table: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """The table with each text changed; columns in which that changes nothing are left as they are."""
    changed = table.copy(deep=False)
    for place, kind in enumerate(table.dtypes):
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            before = table.iloc[:, place].tolist()
            after = [change(value) for value in before]
            if any(one is not other for one, other in zip(before, after, strict=True)):
                changed.isetitem(place, pd.Series(after, dtype=object).array)
    return changed

"""Reading a run's files back: a file that is missing or broken gives one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lazy_loader

from onedial.core.errors import InputError
from onedial.core.files import atomic_path, json_value

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy_loader.load("pandas")  # for which no --help waits

TEMPORARY = ".*.part*"  # as onedial.core.files.atomic_path names them


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        InputError: no such file, or it holds no JSON object.
    """
    try:
        value = json_value(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; finish the run with --resume") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not JSON ({error}); restore the file or make the run again") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} holds a {type(value).__name__}, not a JSON object; make the run again")
    return value


def read_table(path: Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Read a table from a .parquet or .csv file; of parquet only the `columns` if given.

    Raises:
        InputError: no such file, or it cannot be read as a table.
    """
    try:
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path, columns=columns)
    except FileNotFoundError:
        raise InputError(f"{path} is missing; finish the run with --resume") from None
    except (ValueError, OSError) as error:  # pyarrow tells of broken content by an OSError without a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(f"{path} is broken or no table; delete it and pass --resume") from error


def write_table(path: Path, table: pd.DataFrame, *, index: bool = False, float_format: str | None = None) -> None:
    """Write a table, all or nothing, as the ending says: .parquet or .csv (`float_format` is for the latter)."""
    if path.suffix == ".csv":
        write_csv(path, table, index=index, float_format=float_format)
        return
    with atomic_path(path) as temporary:
        table.to_parquet(temporary, index=index)


def write_csv(path: Path | str, table: pd.DataFrame, *, index: bool = False, float_format: str | None = None) -> None:
    """Write a table as CSV, all or nothing, every text as it is."""
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=index, float_format=float_format, lineterminator="\n")


def same_content(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two tables say the same: lists, tuples and arrays are alike, and so are None and nan."""
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        return False
    return one.to_json(orient="values", double_precision=12) == other.to_json(orient="values", double_precision=12)

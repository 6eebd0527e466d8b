"""Whatever a run stores, each file as a table: so that one page shows it, filters it and hands it out as CSV.

.csv, .parquet, parts of a table    as they are          .json           name by name, a list of records as a table
.txt, .yaml, .jsonl, .md            line by line         .safetensors    what is said of the tensors, and their shapes
"""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from safetensors import SafetensorError, safe_open

from onedial.core import InputError, flat, json_value, plain, read_table

PARTS = "part-*.parquet"
_MOST_HEADINGS = 12


def stored_files(folder: Path) -> dict[str, Path]:
    """Name below the folder -> file, or the folder of a table that grows in parts.

    Hidden files, runs within the run and its report, which has a view of its own, are left out.
    """
    found = {}
    for place, folders, files in os.walk(folder):
        path = Path(place)
        if path != folder and "config.yaml" in files:
            folders[:] = []
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if any(path.glob(PARTS)):
            found[path.relative_to(folder).as_posix()] = path
            files = [name for name in files if not Path(name).match(PARTS)]
        for name in sorted(files):
            if not name.startswith(".") and name != "report.html":
                found[(path / name).relative_to(folder).as_posix()] = path / name
    return dict(sorted(found.items(), key=lambda each: (each[0].count("/"), each[0])))


def is_table(path: Path) -> bool:
    """Whether a file holds rows and columns by itself."""
    return path.is_dir() or path.suffix in (".csv", ".parquet")


def is_shown(path: Path) -> bool:
    """Whether a file can be read as a table; any other can be had as it lies there."""
    return path.is_dir() or path.suffix in _READERS


def as_table(path: Path) -> pd.DataFrame:
    """One of `stored_files` as a table.

    Raises:
        InputError: it is of no kind that can be shown, or cannot be read.
    """
    if path.is_dir():
        return pd.concat([read_table(part) for part in sorted(path.glob(PARTS))], ignore_index=True)
    if path.suffix not in _READERS:
        raise InputError(
            f"{path.name} can be had as it lies there, and not be shown; take one of {', '.join(_READERS)}"
        )
    try:
        return _READERS[path.suffix](path)
    except (ValueError, SafetensorError) as error:
        raise InputError(f"{path} cannot be read ({error}); restore it or make the run again") from error


def listed(files: dict[str, Path]) -> pd.DataFrame:
    """A row for each file: columns file, holds, kB."""
    rows = [
        (
            name,
            _holds(path),
            sum(each.stat().st_size for each in (path.glob(PARTS) if path.is_dir() else [path])) / 1024,
        )
        for name, path in files.items()
    ]
    return pd.DataFrame(rows, columns=["file", "holds", "kB"])


def _holds(path: Path) -> str:
    try:
        if path.is_dir() or path.suffix == ".parquet":
            parts = sorted(path.glob(PARTS)) if path.is_dir() else [path]
            n = sum(pq.read_metadata(part).num_rows for part in parts)
            return f"{n} rows: {_headings(pq.read_schema(parts[0]).names)}"
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                return f"table: {_headings(next(csv.reader(file), []))}"
    except (ValueError, OSError):
        return "cannot be read"
    return {"json": "names and values", "safetensors": "tensors"}.get(
        path.suffix[1:], "text" if path.suffix in _READERS else f"{path.suffix[1:] or 'no'} file"
    )


def _headings(names: list[str]) -> str:
    more = len(names) - _MOST_HEADINGS
    return ", ".join(names[:_MOST_HEADINGS]) + (f" and {more} more" if more > 0 else "")


def _names_and_values(path: Path) -> pd.DataFrame:
    stored = json_value(path.read_text(encoding="utf-8"))
    if isinstance(stored, list) and stored and all(isinstance(each, dict) for each in stored):
        return pd.DataFrame([{name: _one(value) for name, value in flat(each)} for each in stored])
    pairs = flat(stored) if isinstance(stored, dict) else enumerate(stored if isinstance(stored, list) else [stored])
    return pd.DataFrame([(str(name), _text(value)) for name, value in pairs], columns=["name", "value"])


def _one(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lines(path: Path) -> pd.DataFrame:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return pd.DataFrame({"line": range(1, len(lines) + 1), "text": pd.Series(lines, dtype=object)})


def _tensors(path: Path) -> pd.DataFrame:
    with safe_open(path, framework="np") as opened:
        told = [(name, _text(value)) for name, value in plain(dict(opened.metadata() or {})).items()]
        pieces = [(name, opened.get_slice(name)) for name in opened.keys()]  # noqa: SIM118  (it is no mapping)
        shapes = [(name, f"{piece.get_dtype()} {list(piece.get_shape())}") for name, piece in pieces]
    return pd.DataFrame([*told, *shapes], columns=["name", "value"])


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": read_table,
    ".parquet": read_table,
    ".json": _names_and_values,
    ".safetensors": _tensors,
    ".txt": _lines,
    ".yaml": _lines,
    ".jsonl": _lines,
    ".md": _lines,
}

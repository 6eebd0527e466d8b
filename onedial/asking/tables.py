"""Read a table that a user gives (JSONL, CSV, Parquet or Excel), and know where each of its rows stands in the file.

Every reader gives cells as they stand: text from CSV, JSON values from JSONL, typed values from Parquet and Excel.
What a cell means is decided by who asked for the table; `Table.where` lets that complaint name file and line.
"""

import csv
import gzip
import io
import json
import numbers
import re
import reprlib
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice

_FOR_EXCEL = re.compile(r"[\"']?sep=([,;\t|])[\"']?")
"""A first line that tells Excel what stands between the cells."""
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx")


@dataclass(frozen=True)
class Table:
    """Rows of a file.

    Attributes:
        path: where the table comes from.
        frame: the cells, dtype object, index 0..n-1; a cell that the file leaves out is nan.
        places: the line (text files) or row (Parquet, Excel) at which each row of `frame` begins, from 1.
        unit: "line" or "row", whichever `places` counts.
        stood_in: the column in which each row's answer stood, of a wide table that was made long.
    """

    path: Path
    frame: pd.DataFrame
    places: list[int]
    unit: str
    stood_in: Sequence[str] = ()

    __repr__ = one_line

    def where(self, row: int, column: str | None = None) -> str:
        """Say where row number `row` (from 0) stands, for an error message."""
        place = f"{self.path}, {self.unit} {self.places[row]}"
        column = self.stood_in[row] if self.stood_in and column is not None else column
        return place if column is None else f"{place}, column {column!r}"

    def only(self, rows: Iterable[int]) -> "Table":
        """The table with these rows alone, in this order."""
        kept = list(rows)
        frame = self.frame.iloc[kept].reset_index(drop=True)
        return replace(self, frame=frame, places=[self.places[row] for row in kept])

    def require(self, *columns: str) -> None:
        """Raise InputError unless every one of the columns is there."""
        missing = [column for column in columns if column not in self.frame.columns]
        if missing:
            raise InputError(
                f"{self.path} has no column {' or '.join(map(repr, missing))}; it holds "
                f"{listed(map(str, self.frame.columns))}: rename the column that is meant"
            )

    def parse(self, column: str, parse_cell: Callable[[Any], Any], wanted: str) -> list[Any]:
        """Apply `parse_cell` to every cell of a column; a cell on which it raises is refused.

        Args:
            column: a column of `frame`, or one that the file leaves out, whose cells are then all blank.
            parse_cell: what a cell means; called once per distinct cell.
            wanted: what to give instead, for the message.
        """
        cells = self.frame[column] if column in self.frame.columns else [None] * len(self.frame)
        known: dict[Any, Any] = {}
        values = []
        for row, cell in enumerate(cells):
            key = (type(cell), cell) if isinstance(cell, Hashable) else id(cell)
            if key not in known:
                try:
                    known[key] = parse_cell(cell)
                except (ValueError, TypeError, OverflowError) as error:
                    came = "is blank" if is_blank(cell) else f"holds {reprlib.repr(cell)}"
                    raise InputError(f"{self.where(row, column)} {came}; {wanted}") from error
            values.append(known[key])
        return values


def read_table(path: str | Path) -> Table:
    """Read a table by its file name's ending: .jsonl, .json, .csv (or .tsv), either with .gz after it, .parquet, .xlsx.

    A .json file holds an array of rows, or an object around one. Of a workbook the first sheet is read, its formulas by
    the values that were stored; the first row names the columns.
    CSV may be separated by commas, semicolons or tabs; text is UTF-8, with or without a byte order mark.

    Raises:
        InputError: no such file, another ending, no rows, bytes that are no UTF-8, a broken or truncated row,
            a column twice; the message names the line.
    """
    path = Path(path)
    endings = [each.lower() for each in path.suffixes]
    packed = endings[-1:] == [".gz"] and endings[-2:-1] != [".parquet"]
    reader = _READERS.get(endings[-2] if packed and len(endings) > 1 else path.suffix.lower())
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one file ({', '.join(SUFFIXES)})")
    if not path.exists():
        raise InputError(f"there is no file {path}; check the path")
    if reader is None:
        raise InputError(f"{path} ends in {path.suffix or 'nothing'!r}; tables are read from {', '.join(SUFFIXES)}")
    table = reader(path)
    names = [str(name) for name in table.frame.columns]
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{path} names the column {repeated[0]!r} twice; give each column its own name")
    if table.frame.empty:
        raise InputError(f"{path} is empty: it holds no rows; check that it was written to its end")
    return table


def with_question(table: Table) -> Table:
    """The table with its column `text` as `question`, where it has the one and not the other; said aloud."""
    if "question" in table.frame.columns or "text" not in table.frame.columns:
        return table
    notice(f"{table.path}: the column 'text' is taken for the questions' text")
    return replace(table, frame=table.frame.rename(columns={"text": "question"}))


def is_blank(cell: Any) -> bool:
    """True for what a table holds where nothing was given: None, nan, or only white space."""
    if cell is None or isinstance(cell, str):
        return not (cell and cell.strip())
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def text_of(cell: Any) -> str | None:
    """The text or number in a cell, as text without outer white space (7.0 as "7"); None where it is blank.

    Raises:
        ValueError: the cell holds something else.
    """
    if is_blank(cell):
        return None
    if isinstance(cell, bool) or not isinstance(cell, str | numbers.Real):
        raise ValueError(f"{type(cell).__name__} is neither text nor a number")
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def name_of(cell: Any) -> str:
    """Like `text_of`, for a cell that must not be blank (ValueError)."""
    text = text_of(cell)
    if text is None:
        raise ValueError("blank")
    return text


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first names, quoted, and how many more there are."""
    every = list(names)
    shown = ", ".join(repr(name) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


# ---- a reader for each kind of file ----------------------------------------------------------------------------------


def _read_csv(path: Path) -> Table:
    text = _read_text(path)
    first, _, rest = text.partition("\n")
    is_for_excel = _FOR_EXCEL.fullmatch(first.strip())
    text = rest if is_for_excel else text
    separator = is_for_excel[1] if is_for_excel else max(",;\t", key=text.lstrip().partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    places: list[int] = []
    before = int(is_for_excel is not None)
    begins = 1 + before
    try:
        for row in reader:
            if row:
                rows.append(row)
                places.append(begins)
            begins = reader.line_num + 1 + before
    except csv.Error as error:
        raise InputError(
            f"{path}, line {begins} is no whole CSV record ({error}); close its quotation marks, "
            "or check that the file was written to its end"
        ) from error
    header = [name.strip() for name in rows[0]]
    for row, place in zip(rows, places, strict=True):
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {place} has {len(row)} fields, but the header names {len(header)}; "
                "quote fields that hold the separator, or check that the file was written to its end"
            )
    names_them = [len(header) > 1 and [cell.strip() for cell in row] == header for row in rows]
    kept = [place for place in range(1, len(rows)) if not names_them[place]]
    if left := len(rows) - 1 - len(kept):
        notice(f"{path}: {left} further lines name the columns, as where files were joined, and are left out")
    frame = pd.DataFrame([rows[place] for place in kept], columns=header, dtype=object)
    return Table(path, frame, [places[place] for place in kept], "line")


def _read_json(path: Path) -> Table:
    """One JSON value that holds rows (see `_rows_of`), or one object per line."""
    text = _read_text(path)
    is_array, unit = text.lstrip().startswith("["), "row"
    try:
        rows = _rows_of(json.loads(text)) if is_array or ".json" in map(str.lower, path.suffixes[-2:]) else None
    except (ValueError, RecursionError):
        rows = None
    if rows is None and is_array:
        raise InputError(
            f"{path} holds no whole array of rows; write one object for each, or check that the file was written to "
            "its end"
        )
    places = list(range(1, 1 + len(rows or ())))
    if rows is None:
        unit, lines = "line", text.split("\n")
        places = [number for number, line in enumerate(lines, start=1) if line.strip()]
        rows = [_json_object(lines[number - 1], f"{path}, line {number}") for number in places]
    for row, place in zip(rows, places, strict=True):
        try:
            json.dumps(row, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"{path}, {unit} {place} holds half of a surrogate pair, which is no character; correct it"
            ) from error
    return Table(path, pd.DataFrame(rows, dtype=object), places, unit)


def _rows_of(value: Any) -> list[dict[str, Any]] | None:
    """The rows of an array of objects, an object around one, columns of equal length, or rows by id; else None."""
    if isinstance(value, list):
        return value if value and all(isinstance(row, dict) for row in value) else None
    if not isinstance(value, dict) or not value:
        return None
    if held := [rows for rows in map(_rows_of, value.values()) if rows is not None and isinstance(rows, list)]:
        lists = [rows for rows in value.values() if isinstance(rows, list)]
        return held[0] if len(lists) == 1 else None
    columns = list(value.values())
    if all(isinstance(column, list) for column in columns):
        rows = zip(*columns, strict=False) if len({*map(len, columns)}) == 1 else ()
        return [dict(zip(value, cells, strict=True)) for cells in rows] or None
    if not all(isinstance(column, dict) and column for column in columns):
        return None
    if all(column.keys() == columns[0].keys() and all(key.isdigit() for key in column) for column in columns):
        return [{name: column[key] for name, column in value.items()} for key in columns[0]]
    return [{"id": name, **row} for name, row in value.items()]


def _json_object(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
        raise InputError(
            f"{place} is no whole JSON object ({reason}); write one object per line, "
            "or check that the file was written to its end"
        ) from error
    if not isinstance(value, dict):
        raise InputError(f"{place} holds a {type(value).__name__}; write one JSON object per line")
    return value


def _read_parquet(path: Path) -> Table:
    import pyarrow
    import pyarrow.parquet

    data = pyarrow.BufferReader(path.read_bytes())  # from here on what fails is the format, not the file system
    try:
        columns = pyarrow.parquet.read_table(data)
        frame = columns.to_pandas(ignore_metadata=True, integer_object_nulls=True).astype(object)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path} is no whole Parquet file ({reason}); write it again") from error
    unnamed_index = [name for name in frame.columns if name.startswith("__index_level_")]
    return Table(path, frame.drop(columns=unnamed_index), list(range(1, len(frame) + 1)), "row")


def _read_excel(path: Path) -> Table:
    import openpyxl

    data = io.BytesIO(path.read_bytes())
    try:
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
    except Exception as error:  # openpyxl raises whatever comes of a damaged workbook
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path} is no whole Excel workbook ({reason}); save it again as .xlsx, or as CSV") from error
    if len(book.worksheets) > 1:
        notice(f"{path}: of {len(book.worksheets)} sheets the first is read, {book.worksheets[0].title!r}")
    filled = [(place, row) for place, row in enumerate(rows, start=1) if not all(is_blank(cell) for cell in row)]
    if not filled:
        raise InputError(f"{path} is empty: its first sheet holds no rows; check that it is the sheet that is meant")
    header = {place: str(cell).strip() for place, cell in enumerate(filled[0][1]) if not is_blank(cell)}
    cells = [[row[place] if place < len(row) else None for place in header] for _, row in filled[1:]]
    frame = pd.DataFrame(cells, columns=list(header.values()), dtype=object)
    return Table(path, frame, [place for place, _ in filled[1:]], "row")


def _read_text(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} is no whole gzip file ({error}); write it again") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}, line {line} holds the byte 0x{data[error.start]:02x}, which is no UTF-8; save the file as UTF-8"
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(f"{path}, line {line} holds a zero byte; this is no text file: save it as UTF-8 text")
    if not text.strip():
        raise InputError(f"{path} is empty; check that it was written to its end")
    return text.replace("\r\n", "\n")


_READERS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), _read_json),
    **dict.fromkeys((".csv", ".tsv"), _read_csv),
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
}

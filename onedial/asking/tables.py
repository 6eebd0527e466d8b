"""Read a table that a user gives (JSONL, CSV, Parquet or Excel), and know where each of its rows stands in the file.

Every reader gives cells as they stand: text from CSV, JSON values from JSONL, typed values from Parquet and Excel.
What a cell means is decided by who asked for the table; `Table.where` lets that complaint name file and line.
"""

import codecs
import csv
import gzip
import io
import json
import numbers
import re
import reprlib
import zipfile
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice

_FOR_EXCEL = re.compile(r"[\"']?sep=([,;\t|])[\"']?")
"""A first line that tells Excel what stands between the cells."""
_SURVEY_MONKEY = (
    *("Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address", "Email Address"),
    *("First Name", "Last Name", "Custom Data 1"),
)
"""Columns of its exports that are no questions; the header has two lines."""
_QUALTRICS = '{"ImportId":'
"""How the cells begin in the third line of its header, of three."""
_SURROGATE = re.compile("[\ud800-\udfff]")
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
        theirs: our name of a column to the table's, where they differ.
        people: of a survey's export, the column of who answered, and others that tell of them.
    """

    path: Path
    frame: pd.DataFrame
    places: list[int]
    unit: str
    stood_in: Sequence[str] = ()
    theirs: Mapping[str, str] = field(default_factory=dict)
    people: Sequence[str] = ()

    __repr__ = one_line

    def where(self, row: int, column: str | None = None) -> str:
        """Say where row number `row` (from 0) stands, for an error message."""
        place = f"{self.path}, {self.unit} {self.places[row]}"
        column = self.stood_in[row] if self.stood_in and column is not None else column
        return place if column is None else f"{place}, column {self.theirs.get(column, column)!r}"

    def renamed(self, ours: Mapping[str, str]) -> "Table":
        """The table with its columns under other names, of which it keeps its own for messages."""
        theirs = {**self.theirs, **{name: self.theirs.get(column, column) for column, name in ours.items()}}
        return replace(self, frame=self.frame.rename(columns=dict(ours)), theirs=theirs)

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

    JSON holds an array of objects, or one object per line. Of a workbook the first sheet is read. The first row names
    the columns. CSV is separated by what makes all of its lines equally long, a comma, semicolon, tab or bar (a first
    line `sep=;` says which); text is UTF-8, with or without a byte order mark, or UTF-16 with one.

    Raises:
        InputError: no such file, another ending, no rows, bytes that are no text, a broken or truncated row, a column
            twice, a first row that names only some of the columns, a header that comes again, a key twice in an
            object, a formula without its value; the message names the line.
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
    if (n := names.count("")) > 1:
        raise InputError(
            f"{path}: the first {table.unit} ({listed(filter(None, names), 3)}) names {len(names) - n} of "
            f"{len(names)} columns; if it is no header, delete what stands above the header, else name every column"
        )
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{path} names the column {repeated[0]!r} twice; give each column its own name")
    if table.frame.empty:
        raise InputError(f"{path} is empty: it holds no rows; check that it was written to its end")
    return table


def typed(table: Table) -> pd.DataFrame:
    """The cells with a type for each column: numbers where every cell is one or blank, else as they stand."""
    frame = table.frame.map(lambda cell: None if is_blank(cell) else cell)
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    is_number = numbers.notna().sum() == frame.notna().sum()
    return frame.assign(**{name: numbers[name] for name in frame.columns[is_number]})


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
    marked = _FOR_EXCEL.fullmatch(first.strip())
    text, before = (rest, 1) if marked else (text, 0)
    header = text.lstrip("\n").partition("\n")[0]
    separators = [mark for mark in (marked[1] if marked else ",;\t|") if mark in header] or [","]
    parted = [_Lines.of(text, separator, before) for separator in separators]
    whole = [lines for lines in parted if not lines.fault]
    if len(whole) > 1:
        raise InputError(
            f"{path} is a table by {listed(separators)} alike; name the one that is meant in a first line, sep=,"
        )
    lines = whole[0] if whole else max(parted, key=lambda each: len(each.rows[0]) if each.rows else 0)
    if lines.fault:
        raise InputError(f"{path}, {lines.fault}")
    table = _under_header(path, lines.rows, lines.places, "line")
    names = [cell.strip() for cell in lines.rows[0]]
    for row, place in zip(lines.rows[1:], lines.places[1:], strict=True):
        if len(names) > 1 and [cell.strip() for cell in row] == names:
            raise InputError(f"{path}, line {place} names the columns again, as where files were joined; delete it")
    return table


def _under_header(path: Path, rows: Sequence[Sequence[Any]], places: Sequence[int], unit: str) -> Table:
    """The table of rows, of which the first names the columns, or in a survey's export the first two or three.

    SurveyMonkey names a question over its first column, and below what each column is about. Qualtrics has names, what
    was asked, and ids of its own, which tell questions (QID1) from all else.
    """
    names, below, ids = (
        ["" if is_blank(cell) else str(cell).strip() for cell in row] for row in [*rows[:3], [], []][:3]
    )
    n, people, asked = 1, list[str](), dict[str, str]()
    if ids and all(each.startswith(_QUALTRICS) for each in ids):
        texts = {name: text for name, text, each in zip(names, below, ids, strict=True) if '"QID' in each}
        people = sorted((name for name in names if name not in texts), key=lambda name: name != "ResponseId")
        n, asked = 3, texts if len({*texts.values()}) == len(texts) else {}
    elif names[:2] == [*_SURVEY_MONKEY[:2]] and below[:1] == [""]:
        whole: Iterable[str] = accumulate(names, lambda before, name: name or before)
        is_more = [bool(text) and not text.endswith("Response") for text in below]
        names = [f"{name} {text}" if more else name for name, text, more in zip(whole, below, is_more, strict=True)]
        n, people = 2, [name for name in names if name in _SURVEY_MONKEY]
    frame = _without_empty(pd.DataFrame(rows[n:], columns=names, dtype=object))
    return Table(path, frame, list(places[n:]), unit, people=people).renamed(asked)


class _Lines(NamedTuple):
    """The records of a text by one separator, the line at which each begins, and why they are no table, if so."""

    rows: list[list[str]]
    places: list[int]
    fault: str

    @classmethod
    def of(cls, text: str, separator: str, before: int) -> "_Lines":
        """Of a text that `before` lines stand above."""
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows: list[list[str]] = []
        places: list[int] = []
        begins = 1 + before
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    places.append(begins)
                begins = reader.line_num + 1 + before
        except csv.Error as error:
            remedy = "close its quotation marks, or check that the file was written to its end"
            return cls(rows, places, f"line {begins} is no whole CSV record ({error}); {remedy}")
        n = len(rows[0])
        fault = next(
            (
                f"line {place} has {len(row)} fields, but line {places[0]} names {n} ({rows[0][0][:40]!r}, ...); "
                "delete what stands above the header, quote fields that hold the separator, or check that the file "
                "was written to its end"
                for row, place in zip(rows, places, strict=True)
                if len(row) != n
            ),
            "",
        )
        return cls(rows, places, fault)


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns that have neither a name nor a cell, which spreadsheets leave at the right."""
    kept = [place for place, name in enumerate(frame.columns) if name or not all(map(is_blank, frame.iloc[:, place]))]
    return frame if len(kept) == frame.shape[1] else frame.iloc[:, kept]


def _read_json(path: Path) -> Table:
    """An array of objects, or one object per line."""
    text = _read_text(path)
    if text.lstrip().startswith("["):
        rows = _parsed(text, str(path), "array of rows; write one object for each")
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise InputError(f"{path} holds no whole array of rows; write one object for each")
        places, unit = list(range(1, 1 + len(rows))), "row"
    else:
        lines, unit = text.split("\n"), "line"
        places = [number for number, line in enumerate(lines, start=1) if line.strip()]
        _refuse_one_object(path, text, lines[places[0] - 1])
        rows = [
            _parsed(lines[number - 1], f"{path}, line {number}", "JSON object; write one object per line")
            for number in places
        ]
    may_be_broken = "\\ud" in text.lower()
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {place} holds a {type(row).__name__}; write one JSON object per line")
        if may_be_broken and _SURROGATE.search(json.dumps(row, ensure_ascii=False)):
            raise InputError(
                f"{path}, {unit} {place} holds half of a surrogate pair, which is no character; correct it"
            )
    return Table(path, pd.DataFrame(rows, dtype=object), places, unit)


def _refuse_one_object(path: Path, text: str, first: str) -> None:
    """Raise InputError where a file is one object over several lines, or around its rows."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return
    inside = [*held.values()] if isinstance(held, dict) else []
    lists = [name for name, each in held.items() if isinstance(each, list)] if inside else []
    is_whole = all(isinstance(each, dict | list) for each in inside) or (path.suffix == ".json" and len(lists) == 1)
    if inside and (first.strip() != text.strip() or is_whole):
        raise InputError(
            f"{path} holds one object ({listed(held, 3)}), no rows; write an array of objects or one object per line, "
            'as pandas does: to_json(FILE, orient="records")'
        )


def _parsed(text: str, place: str, what: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_with_each_key_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, _KeyTwiceError):
            raise InputError(f"{place} gives the key {str(error)!r} twice in one object; keep one of them") from None
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(";")[0]
        raise InputError(
            f"{place} is no whole {what.partition(';')[0]} ({reason});{what.partition(';')[2]}, "
            "or check that the file was written to its end"
        ) from error


class _KeyTwiceError(ValueError):
    """An object has a key twice, of which Python would keep the last in silence."""


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        raise _KeyTwiceError(next(name for name in names if names.count(name) > 1))
    return held


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

    data = path.read_bytes()
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        rows = [list(map(_as_shown, row)) for row in book.worksheets[0].iter_rows()]
        formulas = []
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # a second walk through all cells only where it has a reason
            sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if any(b"<f>" in sheet or b"<f " in sheet for sheet in sheets):
            written = openpyxl.load_workbook(io.BytesIO(data), read_only=True).worksheets[0]
            formulas = [(cell.coordinate, cell) for row in written.iter_rows() for cell in row if cell.data_type == "f"]
    except Exception as error:  # openpyxl raises whatever comes of a damaged workbook
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path} is no whole Excel workbook ({reason}); save it again as .xlsx, or as CSV") from error
    if len(book.worksheets) > 1:
        notice(f"{path}: of the sheets {listed(sheet.title for sheet in book.worksheets)} the first is read")
    for name, cell in formulas:
        if rows[cell.row - 1][cell.column - 1] is None:
            raise InputError(
                f"{path}, cell {name} is a formula without a stored value; open the file in a spreadsheet program and "
                "save it again, or paste the values in place of the formulas"
            )
    filled = [(place, row) for place, row in enumerate(rows, start=1) if not all(is_blank(cell) for cell in row)]
    if not filled:
        raise InputError(f"{path} is empty: its first sheet holds no rows; check that it is the sheet that is meant")
    width = max(len(row) for _, row in filled)
    padded = [row + [None] * (width - len(row)) for _, row in filled]
    return _under_header(path, padded, [place for place, _ in filled], "row")


def _as_shown(cell: Any) -> Any:
    """What a cell of a workbook holds; a number in percent as people see it, with its sign."""
    is_percent = isinstance(cell.value, int | float) and "%" in str(cell.number_format)
    return f"{cell.value * 100:.12g}%" if is_percent else cell.value


def _read_text(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} is no whole gzip file ({error}); write it again") from error
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
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

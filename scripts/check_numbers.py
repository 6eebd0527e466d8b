"""Check that the numbers of README and docs/ come from the stored results.

    python scripts/check_numbers.py                    # README.md and all of docs/
    python scripts/check_numbers.py --write            # write the tables anew

A page is plain Markdown. docs/numbers/PAGE.yaml says what its numbers repeat. A table stands on the page between
`<!-- red team -->` and `<!-- end -->` and is written by this script, one line for each row of a stored table:

    - table: red team
      of: simulated/red_team.csv
      where: n > 20                          # a query of pandas
      by: cell                               # the first column, unless another is named
      rows: {unrelated: nothing is shared}   # values of it, in this order, and how they are shown; or a list of them
      columns:
        panel: "{row}"                       # the row's value as it is shown
        bits (95%): "{bits:.3f} ({low:.3f} to {high:.3f})"

`of: onedial.selfreport.battery:BATTERY` makes a row of each entry of a dictionary; columns are then paths with dots. A
number in a sentence is found by a phrase, with {} in the place of each number, and the stored values in order:

    - phrase: mean kappa is {} (p = {})
      is: [default/verdict.json signal.value, default/verdict.json signal.p]

A stored value is a file, from tests/reference or the repository's root, and a key in it. In JSON the key is a path with
dots, of a module a constant (`onedial/stats/level.py LEVEL`). In CSV it is COLUMN=VALUE (several with &; also < and
>), which chooses one row, and a column; of several rows it is `count`, or min, max or sum of a column: `n>0 max(kl)`.

A phrase stands on its page exactly once. Line breaks, emphasis, backticks and addresses of links do not count. A number
is right if it is the stored one rounded to the digits that it has; one followed by % is of a share. Exit code 1 if a
number or a table is not that of its result, or if a phrase or a table's place is gone.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import write_text
from onedial.core.options import Options, option, parse_options

ROOT = Path(__file__).resolve().parent.parent
DOCS, REFERENCE = ROOT / "docs", ROOT / "tests" / "reference"
NUMBERS = DOCS / "numbers"
NUMBER = r"[+\u2212-]?(?:\d[\d,]*)?\.?\d+"
FIELD = re.compile(r"\{(?P<name>[^{}:]+)(?::(?P<digits>[^{}]*))?\}")
ARXIV = re.compile(r"(?<![\w.])(\d{4}\.\d{5})(?!\w)")
LINK = re.compile(r"\[(?P<words>[^\[\]]*)\]\([^()]*\)")
SUMMARY = re.compile(r"(?P<name>min|max|sum)\((?P<column>\w+)\)")
Row = Callable[[str], Any]
"""Tells a value of a row by its name; `row` is what it is shown as."""


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    pages = {file: _page_of(file) for file in sorted(NUMBERS.glob("*.yaml"))}
    entries = {page: yaml.safe_load(file.read_text(encoding="utf-8")) for file, page in pages.items()}
    complaints = [
        each
        for page, entries_of_page in entries.items()
        for each in checked(page, entries_of_page, write=options.write)
    ]
    n_tables = sum("table" in entry for entries_of_page in entries.values() for entry in entries_of_page)
    print("\n".join([*complaints, f"{n_tables} tables and all phrases looked at, {len(complaints)} to mend"]))
    return 1 if complaints else 0


def _page_of(file: Path) -> Path:
    return ROOT / "README.md" if file.stem == "README" else (DOCS / file.name).with_suffix(".md")


def checked(page: Path, entries: list[dict[str, Any]], *, write: bool = False) -> list[str]:
    """List what is wrong on a page, in sentences; with `write` its tables are written anew and are right.

    Raises:
        InputError: no such stored value.
    """
    text = page.read_text(encoding="utf-8")
    complaints = []
    for entry in entries:
        if "phrase" in entry:
            sources = [entry["is"]] if isinstance(entry["is"], str) else entry["is"]
            complaints += [f"{page.name}: {wrong}" for wrong in wrong_in_phrase(text, entry["phrase"], sources)]
            continue
        place = re.compile(rf"(<!-- {re.escape(entry['table'])} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            complaints.append(f"{page.name}: <!-- {entry['table']} --> ... <!-- end --> does not stand there once")
            continue
        table = markdown_table(entry)
        new = place.sub(lambda match, table=table: f"{match[1]}\n{table}\n{match[2]}", text)
        if new != text and not write:
            complaints.append(f"{page.name}: the table {entry['table']!r} is not that of its result; --write mends it")
        text = new
    if write:
        write_text(page, text)
    return complaints


# ---- stored values ---------------------------------------------------------------------------------------------------


def stored_value(file: str, key: str) -> float:
    """Read the number under a key of a stored result.

    Raises:
        InputError: no such file, no such key, or no number there.
    """
    if file.endswith(".py"):
        value = getattr(import_module(file.removesuffix(".py").replace("/", ".")), key)
    elif file.endswith(".csv"):
        value = _from_table(file, key)
    else:
        value = json.loads(path_of(file).read_text(encoding="utf-8"))
        for part in key.split("."):
            value = value[int(part) if isinstance(value, list) else part]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{file} holds {value!r} for {key}, which is no number")
    return float(value)


def path_of(file: str) -> Path:
    """Find where a stored result lies; raises InputError where there is none."""
    for place in (REFERENCE, ROOT):
        if (place / file).is_file():
            return place / file
    raise InputError(f"there is no stored result {file}; name a file from the repository's root")


stored_table = cache(pd.read_csv)


def _from_table(file: str, key: str) -> Any:
    chosen, _, summary_asked = key.rpartition(" ")
    rows = stored_table(path_of(file))
    for condition in chosen.split(" & "):
        column, sign, wanted = re.split(r"([=<>])", condition, maxsplit=1)
        values = rows[column]
        if sign == "=":
            rows = rows[values.astype(str) == wanted]
        else:
            rows = rows[values < float(wanted)] if sign == "<" else rows[values > float(wanted)]
    if summary_asked == "count":
        return len(rows)
    if summary := SUMMARY.fullmatch(summary_asked):
        return float(getattr(rows[summary["column"]], summary["name"])())
    if len(rows) != 1:
        raise InputError(f"{file} has {len(rows)} rows with {chosen}; it takes exactly one")
    return rows[summary_asked].item()


# ---- tables ----------------------------------------------------------------------------------------------------------


def markdown_table(entry: dict[str, Any]) -> str:
    """Write the table that an entry names."""
    lines = [list(entry["columns"]), ["---"] * len(entry["columns"])]
    lines += [[filled(cell, row) for cell in entry["columns"].values()] for row in rows_of(entry)]
    return ARXIV.sub(r"[\1](https://arxiv.org/abs/\1)", "".join(f"| {' | '.join(line)} |\n" for line in lines))


def rows_of(entry: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a table.

    Raises:
        InputError: a row is named that there is not.
    """
    module, _, name = entry["of"].partition(":")
    if name:
        for label, value in getattr(import_module(module), name).items():
            yield lambda path, label=label, value=value: label if path == "row" else attrgetter(path)(value)
        return
    table = stored_table(path_of(entry["of"]))
    table = table.query(entry["where"]) if "where" in entry else table
    by = entry.get("by", table.columns[0])
    shown_as = entry.get("rows", list(dict.fromkeys(table[by])))
    for value, label in shown_as.items() if isinstance(shown_as, dict) else [(each, each) for each in shown_as]:
        chosen = table[table[by] == value]
        if chosen.empty:
            raise InputError(f"{entry['of']} has no row {value!r} under {by!r}; mend the table {entry['table']!r}")
        for record in chosen.to_dict("records"):
            yield {**record, "row": label}.__getitem__


def filled(cell: str, row: Row) -> str:
    """Fill a cell with its numbers, each by its format; without a missing one, and an interval of missing ends."""
    text = FIELD.sub(lambda field: shown_number(row(field["name"]), field["digits"] or ""), cell)
    return re.sub(r"^nan\b.*| [(\[](?:[^()]*\bnan\b[^()]*)?[)\]]", "", text)


def shown_number(value: Any, digits: str) -> str:
    """Write a number as pages do: no zero before the point, a true minus, none before a zero."""
    if isinstance(value, str):
        return value.replace("|", "\\|")
    text = re.sub(r"(?<!\d)0(?=\.\d)", "", f"{value:{digits}}")
    return re.sub(r"^-(?=[0.]*%?$)", "", text).replace("-", "\u2212")


# ---- sentences -------------------------------------------------------------------------------------------------------


def wrong_in_phrase(text: str, phrase: str, sources: list[str]) -> list[str]:
    """List what is wrong with the numbers of a phrase on a page."""
    page = shown(text)
    matches = list(occurrences(phrase, page))
    if len(matches) != 1:
        return [f"{len(matches) or 'no'} sentences say {phrase!r}"]
    complaints = []
    for place, (printed, source) in enumerate(zip(matches[0].groups(), sources, strict=True), start=1):
        file, _, key = source.partition(" ")
        is_share = re.match(r" ?%", page[matches[0].end(place) :]) is not None
        digits, value = len(printed.partition(".")[2]), float(printed.replace("\u2212", "-").replace(",", ""))
        stored = stored_value(file, key.strip()) * (100 if is_share else 1)
        if round(stored, digits) != value and abs(stored - value) > 0.5 * 10**-digits * (1 + 1e-9):
            complaints.append(f"{printed} is said, but {file} holds {stored:.6g} for {key}")
    return complaints


def shown(text: str) -> str:
    """Show a text as a reader sees it: without emphasis, backticks, addresses of links and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"[*`]", "", LINK.sub(lambda link: link["words"], text)))


def occurrences(phrase: str, text: str) -> Iterator[re.Match[str]]:
    """Find where a text says a phrase, with any number in the place of each {}; they may overlap."""
    text_shown = shown(phrase).strip()
    before = (
        r"(?<![\w.,+\u2212-])" if text_shown.startswith("{}") else r"(?<!\w)" if re.match(r"\w", text_shown) else ""
    )
    after = r"(?!\w|[.,]\d)" if text_shown.endswith("{}") else r"(?!\w)" if re.search(r"\w$", text_shown) else ""
    pattern = re.compile(before + f"({NUMBER})".join(map(re.escape, text_shown.split("{}"))) + after)
    match = pattern.search(text)
    while match:
        yield match
        match = pattern.search(text, match.start() + 1)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    write: bool = option(False, "write the tables anew")


if __name__ == "__main__":
    sys.exit(run_command(main))

"""Do the numbers of README and docs/ come from the stored results?

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

`of: {135M: 135m/verdict.json}` makes a row of each JSON file instead, `of: onedial.selfreport.battery:BATTERY` of each
entry of a dictionary; columns are then paths with dots. A number in a sentence is found by a phrase, with {} in the
place of each number, and the stored values in order (`stored_values.py` says how one is named):

    - phrase: mean kappa is {} (p = {})
      is: [default/verdict.json signal.value, default/verdict.json signal.p]

A phrase stands on its page exactly once. Line breaks, emphasis, backticks and addresses of links do not count. A number
is right if it is the stored one rounded to the digits that it has; one followed by % is of a share. Exit code 1 if a
number or a table is not that of its result, or if a phrase or a table's place is gone.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import yaml
from stored_values import ROOT, path_of, stored_table, stored_value, value_at

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import write_text
from onedial.core.options import Options, option, parse_options

DOCS = ROOT / "docs"
NUMBERS = DOCS / "numbers"
NUMBER = r"[+\u2212-]?(?:\d[\d,]*)?\.?\d+"
FIELD = re.compile(r"\{(?P<name>[^{}:]+)(?::(?P<digits>[^{}]*))?\}")
LINK = re.compile(r"\[(?P<words>[^\[\]]*)\]\([^()]*\)")


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    pages = options.pages or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    complaints = [] if options.pages else without_page(options.numbers, pages)
    n_numbers = n_tables = 0
    for page in pages:
        entries = entries_of(file_of(page, options.numbers))
        complaints += checked(page, entries, write=options.write)
        n_tables += sum("table" in entry for entry in entries)
        n_numbers += sum(len(entry["is"]) for entry in entries if "phrase" in entry)
    print("\n".join([*complaints, f"{n_tables} tables and {n_numbers} numbers looked at, {len(complaints)} to mend"]))
    return 1 if complaints else 0


def file_of(page: Path, folder: Path) -> Path:
    """Where it stands what the numbers of a page repeat."""
    own = page.resolve()
    return (folder / (own.relative_to(DOCS) if own.is_relative_to(DOCS) else own.name)).with_suffix(".yaml")


def without_page(folder: Path, pages: Iterable[Path]) -> list[str]:
    """A complaint for every file of numbers whose page is gone."""
    files = {file_of(page, folder) for page in pages}
    return [f"{file.name} belongs to no page" for file in sorted(folder.rglob("*.yaml")) if file not in files]


def entries_of(file: Path) -> list[dict[str, Any]]:
    """The entries of a file of numbers; a single value stands for a list of one.

    Raises:
        InputError: it is no YAML, or an entry lacks something or names another number of values than it has places.
    """
    if not file.is_file():
        return []
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8")) or []
        for entry in entries:
            if "table" in entry:
                entry["of"], entry["columns"]
                continue
            entry["is"] = [entry["is"]] if isinstance(entry["is"], str) else entry["is"]
            if entry["phrase"].count("{}") != len(entry["is"]):
                raise InputError(f"{file.name}: {len(entry['is'])} values for the places of {entry['phrase']!r}")
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    return entries


def checked(page: Path, entries: Iterable[dict[str, Any]], *, write: bool = False) -> list[str]:
    """What is wrong on a page, in sentences; with `write` its tables are written anew and are right.

    Raises:
        InputError: no such page, or no such stored value.
    """
    if not page.is_file():
        raise InputError(f"there is no page {page}; check the path")
    text = page.read_text(encoding="utf-8")
    complaints = []
    for entry in entries:
        if "phrase" in entry:
            complaints += [f"{page.name}: {wrong}" for wrong in wrong_in_phrase(text, entry["phrase"], entry["is"])]
            continue
        place = re.compile(rf"(<!-- {re.escape(entry['table'])} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            complaints.append(f"{page.name}: <!-- {entry['table']} --> ... <!-- end --> does not stand there once")
            continue
        table = markdown_table(entry)
        new = place.sub(lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}", text)
        if new != text and not write:
            complaints.append(f"{page.name}: the table {entry['table']!r} is not that of its result; --write mends it")
        text = new
    if write:
        write_text(page, text)
    return complaints


def markdown_table(entry: dict[str, Any]) -> str:
    """The table that an entry names."""
    lines = [list(entry["columns"]), ["---"] * len(entry["columns"])]
    lines += [[filled(cell, row) for cell in entry["columns"].values()] for row in rows_of(entry)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def rows_of(entry: dict[str, Any]) -> Iterator[Callable[[str], Any]]:
    """For each row of a table the function that tells a value of it by its name; `row` is what it is shown as."""
    if isinstance(entry["of"], dict):
        for label, file in entry["of"].items():
            content = json.loads(path_of(file).read_text(encoding="utf-8"))
            yield (
                lambda name, label=label, content=content, file=file: (
                    label if name == "row" else value_at(name, content, path_of(file))
                )
            )
        return
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
        own = table[table[by] == value]
        if own.empty:
            raise InputError(f"{entry['of']} has no row {value!r} under {by!r}; mend the table {entry['table']!r}")
        for record in own.to_dict("records"):
            yield lambda name, record={**record, "row": label}: value_in(record, name, entry["of"])


def value_in(record: dict[str, Any], name: str, file: str) -> Any:
    """A value of a row of a CSV file; raises InputError where it has no such column."""
    if name not in record:
        raise InputError(f"{file} has no column {name!r}; it has {', '.join(record)}")
    return record[name]


def filled(cell: str, row: Callable[[str], Any]) -> str:
    """A cell with its numbers, each by its format; without a missing one, and without an interval of missing ends."""
    text = FIELD.sub(lambda field: shown_number(row(field["name"]), field["digits"] or ""), cell)
    return re.sub(r"^nan\b.*| [(\[](?:[^()]*\bnan\b[^()]*)?[)\]]", "", text)


def shown_number(value: Any, digits: str) -> str:
    """As pages write it: no zero before the point, a true minus, none before a zero."""
    if isinstance(value, str):
        return value.replace("|", "\\|")
    text = re.sub(r"(?<!\d)0(?=\.\d)", "", f"{value:{digits}}")
    return re.sub(r"^-(?=[0.]*%?$)", "", text).replace("-", "\u2212")


@dataclass(frozen=True)
class Claim:
    """A number in a sentence, and the stored value that it repeats."""

    text: str
    is_share: bool
    source: str

    def complaint(self) -> str | None:
        """What is wrong with it, if anything."""
        file, _, key = self.source.partition(" ")
        digits = len(self.text.partition(".")[2])
        value = float(self.text.replace("\u2212", "-").replace(",", ""))
        stored = stored_value(file, key.strip()) * (100 if self.is_share else 1)
        if round(stored, digits) == value or abs(stored - value) <= 0.5 * 10**-digits * (1 + 1e-9):
            return None
        return f"{self.text} is said, but {file} holds {stored:.6g} for {key}"


def wrong_in_phrase(text: str, phrase: str, sources: Iterable[str]) -> list[str]:
    """What is wrong with the numbers of a phrase on a page."""
    page = shown(text)
    found = list(occurrences(phrase, page))
    if len(found) != 1:
        return [f"{len(found) or 'no'} sentences say {phrase!r}"]
    claims = [
        Claim(said, re.match(r" ?%", page[found[0].end(place) :]) is not None, source)
        for place, (said, source) in enumerate(zip(found[0].groups(), sources, strict=True), start=1)
    ]
    return [complaint for claim in claims if (complaint := claim.complaint())]


def shown(text: str) -> str:
    """A text as a reader sees it: without emphasis, backticks, addresses of links and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"[*`]", "", LINK.sub(lambda link: link["words"], text)))


def occurrences(phrase: str, text: str) -> Iterator[re.Match[str]]:
    """Where a text says a phrase, with any number in the place of each {}; they may overlap."""
    said = shown(phrase).strip()
    before = r"(?<![\w.,+\u2212-])" if said.startswith("{}") else r"(?<!\w)" if re.match(r"\w", said) else ""
    after = r"(?!\w|[.,]\d)" if said.endswith("{}") else r"(?!\w)" if re.search(r"\w$", said) else ""
    pattern = re.compile(before + f"({NUMBER})".join(map(re.escape, said.split("{}"))) + after)
    found = pattern.search(text)
    while found:
        yield found
        found = pattern.search(text, found.start() + 1)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    pages: tuple[Path, ...] = option((), "which (README.md and docs/)", positional=True)
    write: bool = option(False, "write the tables anew")
    numbers: Path = option(NUMBERS, "where it stands what they repeat", metavar="DIR")


if __name__ == "__main__":
    sys.exit(run_command(main))

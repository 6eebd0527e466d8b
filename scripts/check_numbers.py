"""Are the numbers in README and docs/ those of the stored results that they repeat?

    python scripts/check_numbers.py                    # README.md and all of docs/
    python scripts/check_numbers.py --write            # put the stored numbers in the place of those that differ

A page is plain Markdown. What its numbers repeat stands in a file beside it, docs/numbers/PAGE.yaml: for a phrase of
the page, with {} in the place of each number, the stored values in order (`stored_values.py` says how one is named).

    - phrase: mean kappa is {}, shuffled within topics {} (p = {})
      is:
      - default/verdict.json signal.value
      - default/verdict.json signal.null_mean
      - default/verdict.json signal.p

A phrase stands on its page exactly once. Line breaks, emphasis, backticks and the addresses of links do not count. A
table is known by its first headings (and `under`, the section's heading, where two begin alike). Either it shows a
stored table, whose columns stand under its headings in the order of a cell's numbers, and whose rows are known by the
values in the first column or columns (`panel, what`; an empty cell there says what the one above says):

    - table: respondent | yes rate
      rows: data/respondents.csv respondent
      columns:
        yes rate: yes_rate
        AUROC [95%]: auroc, low, high

Or its cells name their values one by one, by row (its first cells) and heading, with `none` for a number of the cell
that repeats nothing:

    - table: test | found
      cells:
        size | 200 questions:
          found: simulated/sizes.csv n=200 size

A number is right if it is the stored one rounded to the digits that it has; one followed by % is of a share. Exit code
1 if a number is not, or if a phrase, table, row or heading is gone or stands there twice. After --write the sentences
around the numbers are to be read again.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from stored_values import ROOT, stored_value

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import write_text
from onedial.core.options import Options, option, parse_options

DOCS = ROOT / "docs"
NUMBERS = DOCS / "numbers"
NUMBER = r"[+\u2212-]?(?:\d[\d,]*)?\.?\d+"
PERCENT = re.compile(r" ?%")
LINK = re.compile(r"\[(?P<words>[^\[\]]*)\]\([^()]*\)")
HEADING = re.compile(r"^#+ +(.+)$", re.M)
TABLE = re.compile(r"^\|[^\n]*\n\|[ :|-]+\n(?:\|[^\n]*\n?)*", re.M)


@dataclass(frozen=True)
class Claim:
    """A number on a page, and the stored value that it repeats."""

    page: Path
    start: int
    line: int
    text: str
    is_share: bool
    file: str
    key: str

    @property
    def digits(self) -> int:
        return len(self.text.partition(".")[2])

    @property
    def stored(self) -> float:
        return stored_value(self.file, self.key) * (100 if self.is_share else 1)

    @property
    def column(self) -> tuple[str, str]:
        """Numbers of one column are written with a plus, or without."""
        return self.file, self.key.rpartition(" ")[2]

    def complaint(self) -> str | None:
        """What is wrong with it, if anything."""
        value, stored = float(self.text.replace("\u2212", "-").replace(",", "")), self.stored
        if round(stored, self.digits) == value or abs(stored - value) <= 0.5 * 10**-self.digits * (1 + 1e-9):
            return None
        page = self.page.name
        return f"{page}, line {self.line}: {self.text} is said, but {self.file} holds {stored:.6g} for {self.key}"

    def corrected(self, with_plus: bool) -> str:
        """The stored number as this one is written: its digits, its zero before the point, its kind of minus."""
        text = f"{self.stored:{'+' if with_plus else ''}{',' if ',' in self.text else ''}.{self.digits}f}"
        if re.match(r"[^0]?\.", self.text):
            text = re.sub(r"^([+-]?)0(?=\.)", r"\1", text)
        return re.sub(r"^[+-](?=[0.]*$)", "", text).replace("-", "\u2212")


class Missing(Exception):
    """What an entry names is not on the page, or more than once."""


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table, and where that is on the page."""

    text: str
    start: int


class Page:
    """A page as a reader sees it.

    Raises:
        InputError: no such page.
    """

    def __init__(self, path: Path):
        if not path.is_file():
            raise InputError(f"there is no page {path}; check the path")
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def _shown(self) -> tuple[str, list[int]]:
        return shown(self.text)

    @cached_property
    def _tables(self) -> list[tuple[str, list[list[Cell]]]]:
        """The heading that each table stands under, and its rows, the headings first."""
        headings = [(found.start(), words(found[1])) for found in HEADING.finditer(self.text)]
        tables = []
        for found in TABLE.finditer(self.text):
            under = [heading for start, heading in headings if start < found.start()][-1:]
            lines = [line for place, line in enumerate(re.finditer(r"[^\n]+", found[0])) if place != 1]
            tables.append(("".join(under), [_cells(line, found.start()) for line in lines]))
        return tables

    def line(self, start: int) -> int:
        return self.text.count("\n", 0, start) + 1

    def claim(self, start: int, text: str, source: str) -> Claim:
        file, _, key = source.partition(" ")
        is_share = PERCENT.match(self.text, start + len(text)) is not None
        return Claim(self.path, start, self.line(start), text, is_share, file, key.strip())

    def of_phrase(self, phrase: str, sources: Sequence[str]) -> list[Claim]:
        """The numbers of a phrase; raises Missing unless it stands there once."""
        text, places = self._shown
        found = list(occurrences(phrase, text))
        if not found:
            raise Missing(f"no sentence says {phrase!r}")
        if len(found) > 1:
            lines = ", ".join(str(self.line(places[match.start()])) for match in found)
            raise Missing(f"{len(found)} sentences say {phrase!r} (lines {lines}); take more words")
        starts = [places[start] for start in map(found[0].start, range(1, len(sources) + 1))]
        return [self.claim(*said) for said in zip(starts, found[0].groups(), sources, strict=True)]

    def table(self, begins: str, under: str | None) -> list[list[Cell]]:
        """The one table with these first headings; raises Missing unless there is one."""
        wanted = _labels(begins)
        near = [rows for heading, rows in self._tables if under in (None, heading)]
        headings = [[words(cell.text) for cell in rows[0]] for rows in near]
        whole = [rows for rows, own in zip(near, headings, strict=True) if own == wanted]
        found = whole or [rows for rows, own in zip(near, headings, strict=True) if own[: len(wanted)] == wanted]
        if len(found) != 1:
            where = f" under {under!r}" if under else ""
            which = "no table begins" if not found else f"{len(found)} tables begin"
            raise Missing(f"{which} with {begins!r}{where}" + ("; say under which heading" if found else ""))
        return found[0]

    def of_rows(self, rows: list[list[Cell]], source: str, columns: dict[str, str]) -> Iterator[Claim]:
        """The numbers of a table that shows a stored one."""
        file, _, key = source.partition(" ")
        names = [name.strip() for name in key.split(",")]
        for heading, wanted in columns.items():
            place = _column(rows[0], heading)
            for row, labels in _labelled(rows[1:]):
                chosen = " & ".join(f"{name}={value}" for name, value in zip(names, labels, strict=False))
                sources = [f"{file} {chosen} {column.strip()}" for column in wanted.split(",")]
                if re.search(NUMBER, row[place].text):
                    yield from self.of_cell(row[place], sources, heading)

    def of_cells(self, rows: list[list[Cell]], cells: dict[str, dict[str, list[str]]]) -> Iterator[Claim]:
        """The numbers of cells that name their values one by one."""
        for name, sources in cells.items():
            wanted = _labels(name)
            found = [row for row, labels in _labelled(rows[1:]) if labels[: len(wanted)] == wanted]
            if len(found) != 1:
                raise Missing(f"{len(found) or 'no'} rows begin with {name!r}")
            for heading, own in sources.items():
                yield from self.of_cell(found[0][_column(rows[0], heading)], own, heading)

    def of_cell(self, cell: Cell, sources: Sequence[str], heading: str) -> Iterator[Claim]:
        numbers = list(re.finditer(NUMBER, cell.text))
        if len(numbers) != len(sources):
            raise Missing(
                f"line {self.line(cell.start)} has {len(numbers)} numbers under {heading!r}, "
                f"but {len(sources)} values are named; name one for each number"
            )
        for number, source in zip(numbers, sources, strict=True):
            if source != "none":
                yield self.claim(cell.start + number.start(), number[0], source)


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    pages = options.pages or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    complaints = [] if options.pages else without_page(options.numbers, pages)
    claims: list[Claim] = []
    for path in pages:
        own, missing = claims_of(path, file_of(path, options.numbers))
        claims, complaints = claims + own, complaints + missing
    wrong = {claim: complaint for claim in claims if (complaint := claim.complaint())}
    for complaint in [*complaints, *wrong.values()]:
        print(complaint)
    if options.write:
        write(wrong, {claim.column for claim in claims if claim.text.startswith("+")})
    print(f"{len(claims) - len(wrong)} of {len(claims)} numbers are those of their results")
    if complaints:
        print(f"{len(complaints)} entries could not be held to their pages")
    if options.write and wrong:
        print(f"the other {len(wrong)} are written anew; read the sentences around them")
    return 1 if complaints or (wrong and not options.write) else 0


def file_of(page: Path, folder: Path) -> Path:
    """Where it stands what the numbers of a page repeat."""
    own = page.resolve()
    return (folder / (own.relative_to(DOCS) if own.is_relative_to(DOCS) else own.name)).with_suffix(".yaml")


def without_page(folder: Path, pages: Iterable[Path]) -> list[str]:
    """A complaint for every file of numbers whose page is gone."""
    files = {file_of(page, folder) for page in pages}
    there = sorted(file for file in folder.rglob("*") if file.is_file())
    return [f"{file.relative_to(folder)} belongs to no page" for file in there if file not in files]


def claims_of(path: Path, file: Path) -> tuple[list[Claim], list[str]]:
    """The numbers of a page that repeat a stored value, and a complaint for every entry that is not found on it."""
    page, claims, complaints = Page(path), [], []
    for entry in entries_of(file) if file.is_file() else []:
        try:
            if "phrase" in entry:
                claims += page.of_phrase(entry["phrase"], entry["is"])
                continue
            rows = page.table(entry["table"], entry.get("under"))
            if "rows" in entry:
                claims += page.of_rows(rows, entry["rows"], entry["columns"])
            else:
                claims += page.of_cells(rows, entry["cells"])
        except Missing as missing:
            table = f" in the table {entry['table']!r}" if "table" in entry else ""
            complaints.append(f"{path.name}: {missing}{table} ({file.name})")
    return claims, complaints


def entries_of(file: Path) -> list[dict]:
    """The entries of a file of numbers; a single value stands for a list of one.

    Raises:
        InputError: it is no YAML, or an entry is none or names another number of values than it has places.
    """
    try:
        entries = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader) or []
        for place, entry in enumerate(entries, start=1):
            where = f"{file.name}, entry {place}"
            if "phrase" in entry:
                entry["is"] = _listed(entry["is"])
                if entry["phrase"].count("{}") != len(entry["is"]):
                    raise InputError(f"{where}: {len(entry['is'])} values for the places of {entry['phrase']!r}")
            elif "rows" not in entry:
                for cells in entry["cells"].values():
                    cells.update((heading, _listed(own)) for heading, own in cells.items())
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    return entries


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def shown(text: str) -> tuple[str, list[int]]:
    """A text without emphasis, backticks, addresses of links and line breaks, and where each character stood."""
    hidden = {place for place, character in enumerate(text) if character in "*`"}
    for link in LINK.finditer(text):
        hidden.update([link.start(), *range(link.end("words"), link.end())])
    places: list[int] = []
    for place, character in enumerate(text):
        if place not in hidden and not (character.isspace() and places and text[places[-1]].isspace()):
            places.append(place)
    return "".join(" " if text[place].isspace() else text[place] for place in places), places


def words(text: str) -> str:
    """A short text as a reader sees it."""
    return shown(text)[0].strip()


def occurrences(phrase: str, text: str) -> Iterator[re.Match[str]]:
    """Where a text says a phrase, with any number in the place of each {}; they may overlap."""
    said = words(phrase)
    before = r"(?<![\w.,+\u2212-])" if said.startswith("{}") else r"(?<!\w)" if re.match(r"\w", said) else ""
    after = r"(?!\w|[.,]\d)" if said.endswith("{}") else r"(?!\w)" if re.search(r"\w$", said) else ""
    pattern = re.compile(before + f"({NUMBER})".join(map(re.escape, said.split("{}"))) + after)
    found = pattern.search(text)
    while found:
        yield found
        found = pattern.search(text, found.start() + 1)


def _cells(row: re.Match[str], start: int) -> list[Cell]:
    """The cells of a table's row, the table beginning at `start`."""
    cells = re.finditer(r"(?<=\|)\s*(?P<text>[^|]*?)\s*(?=\|)", row[0])
    return [Cell(cell["text"], start + row.start() + cell.start("text")) for cell in cells]


def _labels(text: str) -> list[str]:
    return [words(label) for label in text.split("|")]


def _labelled(rows: Iterable[list[Cell]]) -> Iterator[tuple[list[Cell], list[str]]]:
    """Each row with the words of its cells, where an empty cell says what the one above says."""
    above: list[str] = []
    for row in rows:
        above = [words(cell.text) or (above[place] if above else "") for place, cell in enumerate(row)]
        yield row, above


def _column(headings: Sequence[Cell], wanted: str) -> int:
    own = [words(heading.text) for heading in headings]
    if own.count(words(wanted)) != 1:
        count = own.count(words(wanted)) or "no"
        raise Missing(f"{count} headings {wanted!r}, of {', '.join(own)}")
    return own.index(words(wanted))


def write(wrong: Iterable[Claim], with_plus: set[tuple[str, str]]) -> None:
    """Put the stored numbers in the place of these; `with_plus` are the columns in which they have a sign."""
    places = {(claim.page, claim.start): claim for claim in wrong}
    for _, claim in sorted(places.items(), reverse=True):  # the last first: what is before stays put
        text = claim.page.read_text(encoding="utf-8")
        corrected = claim.corrected(claim.column in with_plus)
        text = text[: claim.start] + corrected + text[claim.start + len(claim.text) :]
        write_text(claim.page, text)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    pages: tuple[Path, ...] = option((), "which (README.md and docs/)", positional=True)
    write: bool = option(False, "put the stored numbers in the place of those that differ")
    numbers: Path = option(NUMBERS, "where it stands what they repeat", metavar="DIR")


if __name__ == "__main__":
    sys.exit(run_command(main))

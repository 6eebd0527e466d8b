"""Are the numbers in README and docs/ those of the stored results that they are said to come from?

    python scripts/check_numbers.py                    # README.md and all of docs/
    python scripts/check_numbers.py README.md --count  # also how many numbers name no result
    python scripts/check_numbers.py --write            # put the stored numbers in the place of those that differ

A number names its result in a comment behind it, which no reader of the page sees:

    mean kappa .15<!-- = tests/reference/golden/default/verdict.json signal.estimate -->
    yes rate .74<!-- = tests/reference/golden/default/matches.csv target=somebody yes_rate -->

A table names its result once, in a comment right above it: the file, the column whose values stand in the table's first
column (or columns: `panel, what`; an empty cell there says what the one above says), and which columns stand under a
heading, in the order of a cell's numbers:

    <!-- rows = data/respondents.csv respondent; yes rate = yes_rate; AUROC [95%] = auroc, low, high -->

The file is a path from tests/reference (`default/verdict.json`) or from the repository's root. In JSON the key is a
path with dots. In CSV it is COLUMN=VALUE, which must choose one row (or COLUMN=VALUE & COLUMN=VALUE), and a column; of
several rows, chosen by = < or >, it is `count`, or min, max, mean, median or sum of a column: `drawn=True & push>1
max(kl)`. Of a module it is a constant (`common/statistics.py LEVEL`). A number is right if it is the stored one rounded
to the digits that it has; a percentage is of a share. Exit code 1 if one is not. After --write the sentences around the
numbers are to be read again.
"""

import argparse
import ast
import contextlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import InputError, program_parser, run_command, write_text

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "reference"
NUMBER = r"[+\u2212-]?(?:\d[\d,]*)?\.?\d+"
CLAIM = re.compile(rf"(?P<number>{NUMBER})(?P<percent> ?%)?\s*<!--\s*=\s*(?P<file>\S+)\s+(?P<key>.+?)\s*-->")
ROWS = re.compile(
    r"<!--\s*rows\s*=\s*(?P<file>\S+)\s+(?P<key>[^;]+?)\s*;(?P<columns>.+?)-->\n(?P<table>(?:\|[^\n]*\n?)+)", re.S
)
CELL_NUMBER = re.compile(rf"({NUMBER})( ?%)?")
SUMMARY = re.compile(r"(?P<name>min|max|mean|median|sum)\((?P<column>\w+)\)")
HIDDEN = re.compile(r"<!--.*?-->", re.S)


@dataclass(frozen=True)
class Claim:
    """A number on a page, and where it is said to come from."""

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


def main() -> int:
    options = parse_options()
    pages = options.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    claims = [claim for page in pages for claim in claims_of(page)]
    complaints = {claim: complaint for claim in claims if (complaint := claim.complaint())}
    for complaint in complaints.values():
        print(complaint)
    if options.write:
        write(complaints, {claim.column for claim in claims if claim.text.startswith("+")})
    if options.count:
        for page in pages:
            n_named, n_all = sum(1 for _ in claims_of(page)), numbers_said(page.read_text(encoding="utf-8"))
            print(f"{page.name}: {n_named} of {n_all} numbers name a result")
    print(f"{len(claims) - len(complaints)} of {len(claims)} numbers are those of their results")
    if options.write and complaints:
        print(f"the other {len(complaints)} are written anew; read the sentences around them")
    return 1 if complaints and not options.write else 0


def numbers_said(text: str) -> int:
    """How many numbers a page says, without code, formulas, links, arXiv's, and names such as SmolLM2-135M."""
    text = re.sub(
        r"\b\d{4}\.\d{5}\b|<!--.*?-->|```.*?```|`[^`]*`|\]\([^)]*\)|\$\$.*?\$\$|\$[^$]*\$", "", text, flags=re.S
    )
    return len(re.findall(rf"(?<![\w.])(?<!\w-){NUMBER}(?!-?[A-Za-z])", text))


def write(wrong: Iterable[Claim], with_plus: set[tuple[str, str]]) -> None:
    """Put the stored numbers in the place of these; `with_plus` are the columns in which they have a sign."""
    for claim in sorted(wrong, key=lambda claim: claim.start, reverse=True):  # the last first: what is before stays put
        text = claim.page.read_text(encoding="utf-8")
        corrected = claim.corrected(claim.column in with_plus)
        text = text[: claim.start] + corrected + text[claim.start + len(claim.text) :]
        write_text(claim.page, text)


def claims_of(page: Path) -> Iterator[Claim]:
    """Every number of a page that names its result.

    Raises:
        InputError: no such page.
    """
    if not page.is_file():
        raise InputError(f"there is no page {page}; check the path")
    text = page.read_text(encoding="utf-8")
    for found in CLAIM.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        start = found.start("number")
        yield Claim(page, start, line, found["number"], bool(found["percent"]), found["file"], found["key"])
    for found in ROWS.finditer(text):
        yield from _claims_of_rows(page, text.count("\n", 0, found.start("table")) + 1, found)


def _claims_of_rows(page: Path, line: int, found: re.Match[str]) -> Iterator[Claim]:
    """The numbers under the named headings of a table."""
    table = HIDDEN.sub(lambda hidden: " " * len(hidden[0]), found["table"])  # every place stays what it is
    heading, _, *rows = re.finditer(r"[^\n]+", table)
    headings = [cell for _, cell in _cells(heading)]
    names, keys = [name.strip() for name in found["key"].split(",")], []
    above: list[str] = [""] * len(names)
    for row in rows:
        above = [cell or before for (_, cell), before in zip(_cells(row), above, strict=False)]
        keys.append(" & ".join(f"{name}={value}" for name, value in zip(names, above, strict=True)))
    for said in found["columns"].split(";"):
        name, _, columns = (part.strip() for part in said.partition(" = "))
        if name not in headings:
            raise InputError(
                f"{page.name}, line {line}: no heading {name!r} in the table below; it has {', '.join(headings)}"
            )
        wanted = [column.strip() for column in columns.split(",")]
        for offset, (row, key) in enumerate(zip(rows, keys, strict=True), start=2):
            place, cell = _cells(row)[headings.index(name)]
            numbers = list(CELL_NUMBER.finditer(cell))
            if numbers and len(numbers) != len(wanted):
                raise InputError(
                    f"{page.name}, line {line + offset}: {len(numbers)} numbers under {name!r}, but {len(wanted)} "
                    f"columns of {found['file']}; name one column for each number"
                )
            for number, column in zip(numbers, wanted, strict=False):
                start = found.start("table") + place + number.start()
                yield Claim(page, start, line + offset, number[1], bool(number[2]), found["file"], f"{key} {column}")


def _cells(row: re.Match[str]) -> list[tuple[int, str]]:
    """The cells of a table's row, each with its place in the table."""
    cells = re.finditer(r"(?<=\|)[` *]*(?P<text>[^|]*?)[` *]*(?=\|)", row[0])
    return [(row.start() + cell.start("text"), cell["text"]) for cell in cells]


def stored_value(file: str, key: str) -> float:
    """The number under a key of a stored result.

    Raises:
        InputError: no such file, no such key, or no number there.
    """
    path = next((place / file for place in (REFERENCE, ROOT) if (place / file).is_file()), ROOT / file)
    if not path.is_file():
        raise InputError(f"there is no stored result {file}; name a file from the repository's root")
    value = {".csv": _from_table, ".py": _from_module}.get(path.suffix, _from_json)(path, key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{file} holds {value!r} for {key}, which is no number")
    return float(value)


def _from_json(path: Path, key: str) -> Any:
    return _under(key, json.loads(path.read_text(encoding="utf-8")), path)


def _from_module(path: Path, key: str) -> Any:
    """A constant that is written out in a module, of which nothing is run."""
    return _under(key, _constants(path), path)


@cache
def _constants(path: Path) -> dict[str, Any]:
    constants = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.AnnAssign):
            target = statement.target
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            continue
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = (
            statement.value.elts if isinstance(statement.value, ast.Tuple) and len(names) > 1 else [statement.value]
        )
        for name, value in zip(names, values, strict=False):
            if isinstance(name, ast.Name) and value is not None:
                with contextlib.suppress(ValueError):  # worked out, not written out: no number to hold a page to
                    constants[name.id] = ast.literal_eval(value)
    return constants


def _under(key: str, value: Any, path: Path) -> Any:
    for part in key.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise InputError(f"{path} has no {key!r}: {part!r} is not there")
    return value


@cache
def _table(path: Path) -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(path)


def _from_table(path: Path, key: str) -> Any:
    chosen, _, told = key.rpartition(" ")
    rows = _table(path)
    for part in chosen.split(" & "):
        rows = rows[_meets(rows, part, path)]
    if told == "count":
        return len(rows)
    summary = SUMMARY.fullmatch(told)
    column = summary["column"] if summary else told
    if column not in rows:
        raise InputError(f"{path} has no column {column!r}; write COLUMN=VALUE and a column")
    if summary:
        return getattr(rows[column], summary["name"])()
    if len(rows) != 1:
        raise InputError(f"{path} has {len(rows)} rows with {chosen}; it takes exactly one")
    return rows[column].item()


def _meets(rows: "pd.DataFrame", condition: str, path: Path) -> "pd.Series":
    """Which rows meet COLUMN=VALUE, COLUMN<NUMBER or COLUMN>NUMBER."""
    column, sign, wanted = (part.strip() for part in re.split(r"([=<>])", condition, maxsplit=1))
    if column not in rows:
        raise InputError(f"{path} has no column {column!r}; write COLUMN=VALUE and a column")
    own = rows[column]
    if sign == "=":
        return own.astype(str) == wanted
    return own < float(wanted) if sign == "<" else own > float(wanted)


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="which (README.md and docs/)")
    parser.add_argument("--count", action="store_true", help="say how many numbers of each page name a result")
    parser.add_argument("--write", action="store_true", help="put the stored numbers in the place of those that differ")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main))

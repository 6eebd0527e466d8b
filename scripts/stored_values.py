"""The number that a source names: a file of stored results, and a key in it.

    default/verdict.json line.r2_ml
    default/matches.csv target=somebody yes_rate
    onedial/verdict/verdict.py LEVEL

The file is a path from tests/reference (`default/verdict.json`) or from the repository's root. In JSON the key is a
path with dots. In CSV it is COLUMN=VALUE, which must choose one row (or COLUMN=VALUE & COLUMN=VALUE), and a column; of
several rows, chosen by = < or >, it is `count`, or min, max, mean, median or sum of a column: `drawn=True & push>1
max(kl)`. Of a module it is a constant (`onedial/verdict/verdict.py LEVEL`).
"""

import ast
import contextlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "reference"
SUMMARY = re.compile(r"(?P<name>min|max|mean|median|sum)\((?P<column>\w+)\)")


def stored_value(file: str, key: str) -> float:
    """The number under a key of a stored result.

    Raises:
        InputError: no such file, no such key, or no number there.
    """
    path = path_of(file)
    value = {".csv": _from_table, ".py": _from_module}.get(path.suffix, _from_json)(path, key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{file} holds {value!r} for {key}, which is no number")
    return float(value)


def path_of(file: str) -> Path:
    """Where a stored result lies; raises InputError where there is none."""
    for place in (REFERENCE, ROOT):
        if (place / file).is_file():
            return place / file
    raise InputError(f"there is no stored result {file}; name a file from the repository's root")


def _from_json(path: Path, key: str) -> Any:
    return value_at(key, json.loads(path.read_text(encoding="utf-8")), path)


def _from_module(path: Path, key: str) -> Any:
    """A constant that is written out in a module, of which nothing is run."""
    return value_at(key, _constants(path), path)


@cache
def _constants(path: Path) -> dict[str, Any]:
    constants = {}
    target: ast.expr
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


def value_at(key: str, value: Any, path: Path) -> Any:
    """What stands at a path with dots in a JSON file's content; raises InputError where nothing does."""
    for part in key.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise InputError(f"{path} has no {key!r}: {part!r} is not there")
    return value


@cache
def stored_table(path: Path) -> "pd.DataFrame":
    """A stored CSV file."""
    import pandas as pd

    return pd.read_csv(path)


def _from_table(path: Path, key: str) -> Any:
    chosen, _, told = key.rpartition(" ")
    rows = stored_table(path)
    for part in chosen.split(" & "):
        rows = rows[_meets(rows, part, path)]
    if told == "count":
        return len(rows)
    summary = SUMMARY.fullmatch(told)
    column = summary["column"] if summary else told
    if column not in rows:
        raise InputError(f"{path} has no column {column!r}; write COLUMN=VALUE and a column")
    if summary:
        return float(getattr(rows[column], summary["name"])())  # of whole numbers numpy makes one of its own
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

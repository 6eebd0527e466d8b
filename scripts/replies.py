"""Count how often a written reply is misread: the readers, scored on labelled replies.

    python scripts/replies.py            # counts by kind and half
    python scripts/replies.py --write    # ... into tests/reference/replies/errors.csv

misread         read as something else than what it says
unread          it says something, and nothing is read
false reading   it says nothing of this kind, and something is read

Shares are of all n replies, with Wilson's 95% interval; tests/reference/replies/README.md says whose replies they are.
Counts alone are shown: whoever mends a rule looks at the half `mended`, never at `measured`.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.questions import Question
from onedial.asking.readers import parse_list, parse_ranking, parse_ratings, refuses, stated_probability
from onedial.asking.yes_no import parse_direct_yes_no, parse_yes_no
from onedial.core.command_line import run_command
from onedial.core.options import Options, option, parse_options
from onedial.core.run.files import write_csv
from onedial.panels.grading.choice_grading import grade_answer, option_chosen
from onedial.stats.shares import wilson_interval

REPLIES = Path(__file__).resolve().parent.parent / "tests" / "reference" / "replies"
HALVES = ("mended", "measured")
Row = dict[str, Any]


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    table = errors()
    if options.write:
        write_csv(REPLIES / "errors.csv", table)
    print(table[["kind", "half", "n", "misread", "unread", "false_reading"]].to_string(index=False))
    return 0


def errors() -> pd.DataFrame:
    """Count each error, with the interval of its share; one row per kind and half."""
    rows = []
    for kind, read in READERS.items():
        for half in HALVES:
            lines = (REPLIES / half / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
            outcomes = [outcome(read(row), label_of(kind, row)) for row in map(json.loads, lines)]
            rows.append({"kind": kind, "half": half, "n": len(lines), **{x: outcomes.count(x) for x in ERRORS}})
    table = pd.DataFrame(rows)
    for error in ERRORS:
        table[f"{error}_low"], table[f"{error}_high"] = wilson_interval(table[error], table["n"])
    return table.round(4)


ERRORS = ("misread", "unread", "false_reading")


def outcome(value: Any, label: Any) -> str:
    """Name what went wrong, if anything; of several items a wrong one weighs more than one that is not read."""
    if isinstance(label, list) and isinstance(value, list) and len(label) == len(value):
        single = {outcome(one, other) for one, other in zip(value, label, strict=True)}
        return next((error for error in ("misread", "false_reading", "unread") if error in single), "")
    if value == label:
        return ""
    return "false_reading" if label is None else "unread" if value is None else "misread"


def label_of(kind: str, row: Row) -> Any:
    label = row["label"]
    if kind in ("text", "number"):
        return {"correct": "right", "wrong": "wrong"}.get(label)
    if kind == "list" and label is not None:
        return _items(label)
    return label if kind != "probability" or label is None else round(label, 2)


def _items(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(re.sub(r"^\W+|\W+$", "", item).casefold() for item in items)


# ---- what each reader makes of a row: a value, or None -------------------------------------------------------------


def _yes_no(row: Row) -> bool | None:
    return parse_yes_no(row["reply"]) if row.get("reasoned") else parse_direct_yes_no(row["reply"])


def _choice(row: Row) -> int | None:
    return option_chosen(Question("q", row["prompt"], options=tuple(row["options"])), row["reply"])


def _probability(row: Row) -> float | None:
    p = stated_probability(row["reply"])
    return None if p is None else round(p, 2)


def _list(row: Row) -> tuple[str, ...] | None:
    return _items(parse_list(row["reply"])) or None


def _ranking(row: Row) -> list[int] | None:
    last = "easiest" if "hardest first" in row["prompt"] or "hardest to easiest" in row["prompt"] else "least"
    ranks = parse_ranking(row["reply"], row["n_items"], last)
    if any(map(isnan, ranks)):
        return None
    return sorted(range(1, len(ranks) + 1), key=lambda item: ranks[item - 1])


def _ratings(row: Row) -> list[float | None] | None:
    ratings = [
        None if isnan(each) else each for each in parse_ratings(row["reply"], row["n_items"], tuple(row["scale"]))
    ]
    return ratings if any(ratings) else None


def _graded(grading: str) -> Callable[[Row], str | None]:
    def read(row: Row) -> str | None:
        question = Question("q", row["prompt"], tuple(row["accepted"]), grading=grading)
        graded = grade_answer(question, row["reply"]).outcome
        return graded if graded in ("right", "wrong") else None

    return read


READERS: dict[str, Callable[[Row], Any]] = {
    "yes_no": _yes_no,
    "choice": _choice,
    "probability": _probability,
    "text": _graded("text"),
    "number": _graded("number"),
    "refusal": lambda row: refuses(row["reply"]),
    "list": _list,
    "ranking": _ranking,
    "ratings": _ratings,
}


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    write: bool = option(False, "write the table")


if __name__ == "__main__":
    sys.exit(run_command(main))

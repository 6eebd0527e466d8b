"""One declaration of columns (columns.yaml), which the page, its download, the terminal and the card all follow.

A column's name is that of the run's CSV file, and so of the table that W&B shows of it. What a table calls otherwise
than the others do is said where it is declared: `like("n", heading="pairs")`.

How a number, an interval and a p value are written for a reader.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Number
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

NOTHING = "–"
SIDES = ("low", "high")
"""The ends of an interval, where a table has one."""


def number(value: Any, digits: int = 3, signed: bool = False) -> str:
    """Write a number for a reader, with a real minus sign; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def p_value(value: float | None) -> str:
    """Write p with as many digits as it has news; <0.0001 below that."""
    if value is not None and value < 0.00005:
        return "<0.0001"
    return number(value, 4 if value is not None and value < 0.01 else 3)


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write `[low, high]`, or a dash."""
    shown = [number(end, digits) for end in (low, high)]
    return NOTHING if NOTHING in shown else f"[{shown[0]}, {shown[1]}]"


def headline(sentence: str) -> str:
    """Write the verdict's sentence as a heading: a capital in front, a full stop behind."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."


Form = Callable[[Any], str]
Lines = pd.DataFrame | Iterable[tuple[str, Mapping[str, Any]]]
"""Rows of a table: a frame, whose index names them, or pairs of a name and what its row holds."""


def text(value: Any) -> str:
    """Write a value as it stands; a dash where there is none."""
    return NOTHING if value is None or value != value else str(value)


def digits(n: int, signed: bool = False) -> Form:
    """Make a form that writes numbers with so many digits.

    >>> digits(2, signed=True)(0.125)
    '+0.12'
    """
    return partial(number, digits=n, signed=signed)


count = digits(0)


def percent(share: Any) -> str:
    """Write a share in percent, without a sign where it is rounded to nothing; a dash where there is none."""
    return NOTHING if share is None or share != share else f"{round(share, 2) + 0.0:.0%}".replace("-", "−")


def yes_or_no(value: Any) -> str:
    """Whether something holds."""
    return "yes" if value else "no"


@dataclass(frozen=True)
class Column:
    """A column of a table: which value of a row it shows, and how.

    Attributes:
        name: of the value in the row; "" where only an interval is shown. heading: on the page; by default the name.
        form: how the value, and either end of its interval, is written.
        ends: names of the ends of the 95% interval, which follows in brackets. error: name of the standard error, which
            follows after ±. n: name of the number of questions that it rests on, which follows in brackets.
        short: its heading in the terminal; "" where it is not shown there.
        tip: what it says, for the terminal's legend and for whoever points at the heading.
    """

    name: str
    heading: str = ""
    form: Form = text
    ends: tuple[str, str] | None = None
    error: str = ""
    n: str = ""
    short: str = ""
    tip: str = ""

    @property
    def title(self) -> str:
        """The heading on a page."""
        return self.heading or self.name.replace("_", " ")

    @property
    def names(self) -> list[str]:
        """Of every value that a row holds for this column."""
        return [name for name in (self.name, *(self.ends or ()), self.error, self.n) if name]

    def shown(self, row: Mapping[str, Any]) -> str:
        """Write the cell of a row.

        >>> Column("kappa", form=digits(2), ends=("low", "high")).shown({"kappa": 0.5, "low": 0.4, "high": 0.625})
        '0.50 [0.40, 0.62]'
        """
        parts = [self.form(row.get(self.name))] if self.name else []
        if parts == [NOTHING]:
            return NOTHING
        if self.ends is not None:
            low, high = (self.form(row.get(end)) for end in self.ends)
            parts += [] if NOTHING in (low, high) else [f"[{low}, {high}]"]
        if self.error:
            parts.append(f"± {self.form(row.get(self.error))}")
        if self.n and (row.get(self.n) or 0) > 0:
            parts.append(f"(n {count(row[self.n])})")
        return " ".join(parts) or NOTHING

    def values(self, row: Mapping[str, Any]) -> list[str] | None:
        """List what is behind a cell, to eight digits, for each of `names`; None where the cell itself is the value."""
        values = [row.get(name) for name in self.names]
        if not all(value is None or isinstance(value, Number) for value in values):
            return None
        return ["" if value is None or math.isnan(value) else f"{value:.8g}" for value in values]


def or_never(value: Any, n: int = 3) -> str:
    """Write a number; "never" where it is infinite."""
    return "never" if value == math.inf else number(value, n)


FORMS: dict[str, Form] = {"count": count, "p": p_value, "percent": percent, "yes or no": yes_or_no}


def _column(name: str, declared: Mapping[str, Any]) -> Column:
    more = dict(declared)
    n, signed, form = more.pop("digits", None), more.pop("signed", False), more.pop("form", "")
    if form == "never":
        more["form"] = partial(or_never, n=n)
    elif form or n is not None:
        more["form"] = FORMS[form] if form else digits(n, signed)
    return Column(name, **more)


COLUMNS: dict[str, Column] = {
    name: _column(name, declared or {})
    for name, declared in yaml.safe_load(Path(__file__).with_name("columns.yaml").read_text(encoding="utf-8")).items()
}
"""What every table of every kind of run calls its columns, and how it writes them."""


def like(name: str, /, **otherwise: Any) -> Column:
    """Take a column of `COLUMNS`, of which something is otherwise in one table.

    >>> like("n", heading="pairs").title
    'pairs'
    """
    return replace(COLUMNS[name], **otherwise)


def columns_of(table: pd.DataFrame, ends: Mapping[str, tuple[str, str]] | None = None) -> list[Column]:
    """Make columns of a table for which none are declared: numbers to three digits, ends of intervals in brackets.

    Args:
        ends: column -> those of its interval, where they are not called NAME_low and NAME_high.

    >>> table = pd.DataFrame({"n": [3], "icc": [0.5], "icc_low": [0.25], "icc_high": [0.75], "status": [""]})
    >>> [(column.name, column.ends) for column in columns_of(table)]
    [('n', None), ('icc', ('icc_low', 'icc_high')), ('status', None)]
    >>> nothing = {"value": 0.0, "value_low": -0.434, "value_high": 0.434}
    >>> columns_of(pd.DataFrame([nothing]))[0].shown(nothing)
    '0.000 [−0.434, 0.434]'
    """
    names = [str(name) for name in table.columns]
    known = {name: (f"{name}_low", f"{name}_high") for name in names} | dict(ends or {})
    ends_of = {name: both for name, both in known.items() if {name, *both} <= set(names)}
    taken = {end for both in ends_of.values() for end in both}
    return [
        Column(name, form=_form_of(table, [name, *ends_of.get(name, ())]), ends=ends_of.get(name))
        for name in names
        if name not in taken
    ]


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _form_of(table: pd.DataFrame, names: list[str]) -> Form:
    """Choose no digits for whole numbers and three for others; a whole value may have ends that are not."""
    if not _is_number(table[names[0]]):
        return text
    whole = all((table[name].dropna() % 1 == 0).all() for name in names if _is_number(table[name]))
    return count if whole else digits(3)


def each_line(lines: Lines) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and content of every row."""
    if not isinstance(lines, pd.DataFrame):
        yield from lines
        return
    names = [str(name) for name in lines.columns]
    for name, values in zip(lines.index, lines.itertuples(index=False, name=None), strict=True):
        yield str(name), dict(zip(names, values, strict=True))

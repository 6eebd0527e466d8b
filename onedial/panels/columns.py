"""Which column holds what: names are compared without case and marks, and a table of roles says what each may be."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from onedial.asking.tables import Table
from onedial.panels.questions.cells import TRUTH, is_empty


def simple(name: str) -> str:
    """A column's name in lower case, its words with _ between.

    >>> simple("Correct Answer"), simple("correctAnswer")
    ('correct_answer', 'correct_answer')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


class Columns:
    """The columns of a table by their roles.

    Args:
        roles: what a row has to the names of columns that hold it, with spaces between; the first that is there counts.
        chosen: role to the column that the user names.

    Attributes:
        column: a simple name, or a name as it stands, to the column.
        found: role to its column, where there is one.
        read: the columns that were read.
        numbered: whether the options stand in columns that are numbered from 1.
    """

    def __init__(self, table: Table, roles: Mapping[str, str], chosen: Mapping[str, str] | None = None) -> None:
        self.table, self.frame = table, table.frame
        names = [str(name) for name in table.frame.columns]
        self.column = {simple(name): name for name in reversed(names)} | {name: name for name in names}
        taken = {} if chosen is None else dict(chosen)
        left = {name: column for name, column in self.column.items() if column not in taken.values()}
        held = {
            role: next((left[name] for name in known.split() if name in left), None) for role, known in roles.items()
        }
        self.found = {role: name for role, name in (held | taken).items() if name is not None}
        self.read: set[str] = set()
        self.numbered = False

    def parse(self, role: str, parse_cell: Callable[[Any], Any], wanted: str) -> list[Any]:
        """What the cells of a role's column mean (`Table.parse`); as of blank ones where there is no such column."""
        name = self.found.get(role, role)
        self.read.add(name)
        return self.table.parse(name, parse_cell, wanted)

    def unread(self, *likely: re.Pattern[str], of_words: bool = True) -> list[str]:
        """The columns whose names are like these, with words in them or with anything, and that nothing has read."""
        columns = [column for name, column in self.column.items() if any(each.search(name) for each in likely)]
        held = [name for name in map(str, self.frame.columns) if name in columns]
        left = [name for name in held if name not in (self.read | {*self.found.values()})]
        filled = has_words if of_words else lambda cells: not all(map(is_empty, cells))
        return [name for name in left if filled(self.frame[name])]


def has_words(cells: pd.Series) -> bool:
    """Whether a column holds lists, or texts that are neither a number nor a yes or no."""
    return any(
        not isinstance(cell, str | int | float)
        or (isinstance(cell, str) and not (is_number(cell) or cell.strip().casefold() in TRUTH))
        for cell in cells
        if not is_empty(cell)
    )


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

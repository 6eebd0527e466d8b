"""What a simulation is: cells that are drawn, and what is told of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Found = dict[str, float]
Rows = list[dict[str, Any]]


class Cell(NamedTuple):
    """What is simulated under one name.

    Attributes:
        name: of the cell.
        sets: how many are drawn if --sets does not say.
        draw: seed -> what was found, once or several times; an empty list where nothing can be said.
    """

    name: str
    sets: int
    draw: Callable[[int], Found | list[Found]]


def mean_and_error(found: "pd.DataFrame") -> Rows:
    """A row for each number: its mean over the draws, and the mean's standard error."""
    return [{"what": str(what), "found": column.mean(), "se": column.sem()} for what, column in found.items()]


def means(found: "pd.DataFrame") -> Rows:
    """One row: the mean of each number."""
    return [{str(what): float(column.mean()) for what, column in found.items()}]


class Simulation(NamedTuple):
    """What one file of this folder simulates.

    Attributes:
        studies: cells by the name under which the command line can choose them.
        columns: what names a row: (study,) cell, number of sets.
        told: a table with a line for everything found -> rows.
    """

    studies: Mapping[str, Sequence[Cell]]
    columns: tuple[str, ...]
    told: Callable[["pd.DataFrame"], Rows] = mean_and_error

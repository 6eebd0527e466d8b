"""What many figures are made of: bands, whiskers to the ends of an interval, rows of marks, a legend below."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from onedial.show.figure_style import INK, family_styles


def band(axes: Axes, x: ArrayLike, ends: tuple[Any, Any], colour: str, alpha: float = 0.15) -> None:
    """The room between the ends of an interval, along x."""
    low, high = (np.asarray(end) for end in ends)
    axes.fill_between(np.asarray(x), low, high, color=colour, alpha=alpha, linewidth=0)


def reach(row: pd.Series | pd.DataFrame, value: str, low: str, high: str) -> tuple[Any, Any]:
    """A value, or one per row of a table, and how far its interval reaches down and up, as `Axes.errorbar` takes it."""
    middle, down, up = (np.asarray(row[name], dtype=float) for name in (value, low, high))
    return middle, np.atleast_2d(np.stack([middle - down, up - middle])).reshape(2, -1)


def mark_rows(axes: Axes, table: pd.DataFrame, value: str, apart: float = 0.5) -> list[tuple[NDArray, pd.DataFrame]]:
    """A row for every name, and in it a mark with its 95% interval for every group; the first row is at the top.

    Args:
        table: columns `value`, low, high under index (group, name). apart: what the groups of a row take of its height.

    Returns:
        For every group, (name,) heights and its rows in the order of the names.
    """
    groups, names = (list(dict.fromkeys(table.index.get_level_values(level))) for level in (0, 1))
    places = np.arange(len(names))[::-1].astype(float)
    drawn: list[tuple[NDArray, pd.DataFrame]] = []
    for i, (group, (colour, marker)) in enumerate(family_styles(groups).items()):
        own = pd.DataFrame(table.loc[group]).reindex(names)
        y = places + (apart / 2 - apart * i / (len(groups) - 1) if len(groups) > 1 else 0)
        axes.hlines(y, own["low"], own["high"], color=colour, linewidth=1.1)
        axes.plot(own[value], y, linestyle="", marker=marker, color=colour, markersize=4, label=str(group))
        drawn.append((y, own))
    axes.set_yticks(places, names)
    axes.set_ylim(-0.65, len(names) - 0.35)
    return drawn


def entry(label: str, colour: str, **look: Any) -> Line2D:
    """A line or mark of a legend."""
    return Line2D([], [], color=colour, label=label, **look)


def legend_below(figure: Figure, handles: Sequence[Any] | None = None, ncols: int = 2) -> None:
    """The legend of a whole figure, under it; by default of all that is drawn with a label."""
    given = {} if handles is None else {"handles": list(handles)}
    figure.legend(**given, loc="outside lower left", ncols=ncols)


def rule(axes: Axes, y: float) -> None:
    """A thin line across, at a value that others are held against: nothing, chance, all."""
    axes.axhline(y, color=INK, linewidth=0.7)

"""Show a result as a table, a picture of one axes, and in a notebook both of them.

    look = vector.tokens(model)
    look                       in a notebook: the picture, what it shows in one line, the first rows of the table
    look.to_frame()            all of the numbers
    axes = look.plot()         the picture alone, or `look.plot(axes)` into axes of your own

A look is a tidy table and the words for how it is drawn: a new one names its columns and one of `KINDS`. Pictures are
PNGs on white paper, so that they can be read in light and dark notebooks, and on pages that run no scripts.
"""

import base64
import html
import io
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:  # drawing is loaded when something is drawn
    from matplotlib.axes import Axes

SHOWN = 8
"""Rows and columns of a table that a notebook shows."""
DPI = 130
MOST_TICKS = 45
LETTER = 4.9
"""Points that a letter of a coloured text is wide."""
BLANKS = str.maketrans({"\n": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}", "\t": "\N{RIGHTWARDS ARROW}", "\r": " "})


@dataclass(frozen=True, eq=False)
class Look:
    """See the module's text.

    Attributes:
        frame: the numbers. says: in one line, what they show and how sure that is.
        kind: a key of `KINDS`. x, y: columns along the axes; an interval is Y_low and Y_high.
        by: column of the groups of lines, or the values of cells and coloured tokens.
        xlabel, ylabel, bylabel: these in words. rule: a value at which a thin line is drawn. limits: of y or colours.
        faint: groups that are drawn in grey, with a band around them.
    """

    frame: pd.DataFrame
    says: str
    kind: str
    x: str = ""
    y: str = ""
    by: str = ""
    xlabel: str = ""
    ylabel: str = ""
    bylabel: str = ""
    rule: float | None = None
    limits: tuple[float | None, float | None] = (None, None)
    faint: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """All of the numbers, as a copy."""
        return self.frame.copy()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw into `ax`, or into a figure of its own, and return the axes."""
        from matplotlib import pyplot

        from onedial.show.figure_style import house_style

        with house_style() if ax is None else nullcontext():
            if ax is None:
                ax = pyplot.figure(figsize=KINDS[self.kind][1](self), layout="constrained").add_subplot()
            KINDS[self.kind][0](self, ax)
        return ax

    def __repr__(self) -> str:
        return f"{self.says}\n{self._first().to_string(max_rows=SHOWN, max_cols=SHOWN)}"

    def _repr_html_(self) -> str:
        picture = f'<img alt="{html.escape(self.says)}" src="data:image/png;base64,{self._png()}">'
        return picture + self._table()

    def _ipython_display_(self) -> None:
        """As a picture and a table by themselves: GitHub shows no pictures that stand within HTML."""
        from IPython.display import display

        display({"image/png": self._png(), "text/plain": repr(self)}, raw=True)
        display({"text/html": self._table(), "text/plain": ""}, raw=True)

    def _first(self) -> pd.DataFrame:
        """Rounded; where tokens are coloured, those on the strongest colours first."""
        coloured = self.kind in ("tokens", "cells") and self.by
        rows = self.frame.iloc[np.argsort(-self.frame[self.by].abs())[:SHOWN]] if coloured else self.frame
        return rows.round(3)

    def _table(self) -> str:
        table = self._first().to_html(border=0, max_rows=SHOWN, max_cols=SHOWN)
        more = "<p>all of it: <code>to_frame()</code></p>" if max(self.frame.shape) > SHOWN else ""
        return f"<p>{html.escape(self.says)}</p>{table}{more}"

    def _png(self) -> str:
        from matplotlib.figure import Figure

        from onedial.show.figure_style import house_style

        with house_style():
            figure = Figure(figsize=KINDS[self.kind][1](self), layout="constrained")
            KINDS[self.kind][0](self, figure.add_subplot())
            held = io.BytesIO()
            figure.savefig(held, format="png", dpi=DPI, metadata={"Software": None})
        return base64.b64encode(held.getvalue()).decode("ascii")

    def _finish(self, axes: "Axes", across: bool = True) -> None:
        from onedial.show.figure_style import FAINT

        if self.rule is not None:
            (axes.axhline if across else axes.axvline)(self.rule, color=FAINT, linewidth=0.8, zorder=1)
        axes.set_xlabel(self.xlabel)
        axes.set_ylabel(self.ylabel)


def _lines(look: Look, axes: "Axes") -> None:
    """A line for each group, with its interval; those that are faint in grey, and a band from their least to most."""
    from onedial.show.figure_style import COLOURS, FAINT
    from onedial.show.plots import Curve, ends_of

    groups = dict(list(look.frame.groupby(look.by, sort=False))) if look.by else {"": look.frame}
    if faint := [groups[name].set_index(look.x)[look.y] for name in look.faint]:
        together = pd.concat(faint, axis=1).sort_index().interpolate("index")
        low, high, middle = together.min(axis=1), together.max(axis=1), together.median(axis=1)
        words = f"{len(faint)} random directions"
        Curve(together.index, middle, words, FAINT, low, high, {"linewidth": 0.9}).draw(axes)
        for line in faint if len(faint) <= 12 else ():
            axes.plot(line.index, line, color=FAINT, linewidth=0.5, alpha=0.5)
    bold = [(str(name), rows) for name, rows in groups.items() if name not in look.faint]
    for place, (name, rows) in enumerate(bold):
        ends = ends_of(rows, look.y)
        band: dict[str, Any] = {} if ends is None else {"low": rows[ends[0]], "high": rows[ends[1]]}
        label = name if len(groups) > 1 else ""
        Curve(rows[look.x], rows[look.y], label, COLOURS[place % len(COLOURS)], **band).draw(axes)
    axes.set_ylim(*look.limits)
    if len(groups) > 1:
        axes.legend(loc="best")
    look._finish(axes)


def _points(look: Look, axes: "Axes") -> None:
    """A point for each row; where `y` knows two values only, apart from each other, so that all can be seen."""
    from onedial.show.figure_style import COLOURS

    values = look.frame[look.y].to_numpy(float)
    kinds = np.unique(values[np.isfinite(values)])
    if len(kinds) <= 2:
        values = values + np.random.default_rng(0).uniform(-0.12, 0.12, len(values))
        axes.set_yticks(kinds, [f"{kind:g}" for kind in kinds])
    axes.plot(look.frame[look.x], values, "o", color=COLOURS[0], markersize=4, alpha=0.7, linestyle="")
    look._finish(axes)


def _bars(look: Look, axes: "Axes") -> None:
    """A bar for each row, the first on top."""
    from onedial.show.figure_style import COLOURS

    places = np.arange(len(look.frame))[::-1]
    sides = look.frame[look.x].to_numpy(float)
    axes.barh(places, sides, color=[COLOURS[0] if side >= 0 else COLOURS[1] for side in sides])
    axes.set_yticks(places, [repr(str(name))[1:-1] for name in look.frame[look.y]])
    axes.grid(False, axis="y")
    look._finish(axes, across=False)


def _cells(look: Look, axes: "Axes") -> None:
    """Values as colours: a matrix as it stands, or a long table by its columns."""
    matrix = look.frame.pivot(index=look.y, columns=look.x, values=look.by) if look.by else look.frame
    names = list(matrix.columns)
    if look.by == "towards":
        token = look.frame.drop_duplicates(look.x).set_index(look.x)["token"]
        names = [_short(token[place]) for place in matrix.columns]
    colours, low, high = _colours(look, matrix.to_numpy(float))
    drawn = axes.imshow(matrix, cmap=colours, vmin=low, vmax=high, origin="lower", aspect="auto")
    for axis, labels in ((axes.xaxis, names), (axes.yaxis, list(matrix.index))):
        step = -(-len(labels) // (MOST_TICKS if look.by and axis is axes.xaxis else 11))
        axis.set_ticks(range(0, len(labels), step), [str(label) for label in labels[::step]])
    axes.tick_params(axis="x", rotation=90 if max(len(str(name)) for name in names) > 2 else 0)
    axes.grid(False)
    axes.figure.colorbar(drawn, ax=axes, label=look.bylabel, fraction=0.06, pad=0.02)
    look._finish(axes)


def _tokens(look: Look, axes: "Axes") -> None:
    """Each text as it reads, every token on its colour."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    from onedial.show.figure_style import INK, PAPER

    colours, low, high = _colours(look, look.frame[look.by].to_numpy(float))
    shades = ScalarMappable(Normalize(low, high), colours)
    lines = _wrapped(look.frame)
    for row, line in enumerate(lines):
        for column, token, value in line:
            shade = shades.to_rgba(np.array(value))
            axes.add_patch(
                Rectangle((column, -row - 1), len(token), 0.9, facecolor=shade, edgecolor=PAPER, linewidth=0.4)
            )
            ink = PAPER if np.dot(shade[:3], (0.299, 0.587, 0.114)) < 0.45 else INK
            axes.text(column, -row - 0.55, token, family="DejaVu Sans Mono", fontsize=8, color=ink, va="center")
    axes.set(xlim=(0, LETTERS), ylim=(-len(lines) - 0.1, 0.1))
    axes.set_axis_off()
    axes.figure.colorbar(
        shades, ax=axes, label=look.bylabel, orientation="horizontal", fraction=0.05, pad=0.02, aspect=40
    )


LETTERS = 92
"""Letters of a coloured text on a line."""


def _wrapped(frame: pd.DataFrame) -> list[list[tuple[int, str, float]]]:
    """Lines of (column, token, value); a line ends where it is full, after a line break, and with its text."""
    lines: list[list[tuple[int, str, float]]] = []
    for _, rows in frame.groupby("text", sort=False):
        lines.append([])
        column = 0
        for token, value in zip(rows["token"], rows["towards"], strict=True):
            shown = str(token).translate(BLANKS)[:LETTERS]
            if column + len(shown) > LETTERS:
                lines.append([])
                column = 0
            lines[-1].append((column, shown, float(value)))
            column += len(shown)
            if str(token).endswith("\n"):
                column = LETTERS
    return lines


def _short(token: Any) -> str:
    return str(token).translate(BLANKS)[:14]


def _colours(look: Look, values: np.ndarray) -> tuple[str, float, float]:
    """Red towards, blue against, white at 0, as far as the values go."""
    low, high = look.limits
    reach = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    return "RdBu_r", -reach if low is None else low, reach if high is None else high


def _of_cells(look: Look) -> tuple[float, float]:
    if not look.by:
        return 4.4, 3.6
    places, layers = look.frame[look.x].nunique(), look.frame[look.y].nunique()
    return min(9.0, 2.5 + 0.17 * places), 1.9 + min(2.6, 0.2 * layers)


KINDS: dict[str, tuple[Callable[[Look, Any], None], Callable[[Look], tuple[float, float]]]] = {
    "lines": (_lines, lambda look: (4.8, 2.9)),
    "points": (_points, lambda look: (4.8, 2.9)),
    "bars": (_bars, lambda look: (4.8, 0.8 + 0.21 * len(look.frame))),
    "cells": (_cells, _of_cells),
    "tokens": (_tokens, lambda look: (LETTERS * LETTER / 72 + 0.2, 0.7 + 0.2 * len(_wrapped(look.frame)))),
}
"""Name -> how it is drawn into axes, and its size in inches."""

"""Four plots, of which every figure is a declaration: forest, curves, scatter, heatmap.

Each takes tables and arrays and returns a `Drawing` without title and caption, which `onedial.show.results` takes from
the words of a result. The ends of a 95% interval are the columns NAME_low and NAME_high, or low and high, where a table
has them. A value that is not there is not drawn; what is drawn says its name where it is pointed at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import blended_transform_factory
from numpy.typing import ArrayLike

from onedial.show.columns import interval, number
from onedial.show.figure_style import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    PAPER,
    SMALLEST,
    Drawing,
    family_styles,
    named,
    new_figure,
    plain_log_labels,
    styled,
)
from onedial.show.labels import shortened_apart

ROW = 0.21
"""Inches that a row of a forest plot takes."""
LEGEND_LINE = 0.17
MOST_WRITTEN = 8
"""Columns of a heatmap that have room for numbers in letters of the usual size."""
SHARES = (-0.02, 1.02)
"""Limits of an axis of shares."""
Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class Mark:
    """A further value in every row of a forest plot: its column, what it is called, and how it is drawn."""

    column: str
    label: str
    colour: str = INK
    marker: str = "|"
    size: float = 8.0


@dataclass(frozen=True)
class Curve:
    """A line of a plot. `low` and `high`: ends of a band. `look`: whatever else `Axes.plot` takes. `name`: said where
    it is pointed at."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: str = COLOURS[0]
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    look: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def draw(self, axes: Axes) -> None:
        """Draw line and band."""
        x = np.asarray(self.x, dtype=float)
        if self.low is not None and self.high is not None:
            low, high = (np.asarray(end, dtype=float) for end in (self.low, self.high))
            axes.fill_between(x, low, high, color=self.colour, alpha=0.17, linewidth=0)
        label: dict[str, Any] = {"label": self.label} if self.label else {}
        (line,) = axes.plot(x, np.asarray(self.y, dtype=float), color=self.colour, **label, **self.look)
        if self.name:
            named(line, self.name)


@dataclass(frozen=True)
class Panel:
    """Curves over one axis. `rules`: values at which a thin line runs across. `height`: beside the other panels'."""

    curves: Sequence[Curve]
    ylabel: str = ""
    limits: Range = (None, None)
    title: str = ""
    rules: Sequence[float] = ()
    log: bool = False
    height: float = 1.0


@dataclass(frozen=True)
class Axis:
    """An axis of a plot.

    Attributes:
        rules: value -> style of a line across there. log: whether it is logarithmic.
        ticks: place -> label; by default numbers.
    """

    label: str = ""
    limits: Range = (None, None)
    rules: Mapping[float, str] = field(default_factory=dict)
    log: bool = False
    ticks: Mapping[float, str] | None = None


@dataclass(frozen=True)
class Points:
    """How the rows of a table are drawn as points.

    Attributes:
        by: column of the groups that have a colour of their own. star: the group that is drawn as a star.
        hollow: whether a point is hollow. bold: names in bold letters.
        annotated: name of a row -> what is written beside its point.
        label: of the points, for the legend. legend: further entries, label -> what `Line2D` takes.
    """

    by: str = ""
    star: str = ""
    hollow: Sequence[bool] | pd.Series | None = None
    bold: Sequence[str] = ()
    annotated: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    legend: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


AT_ZERO = {0.0: "-"}
"""A thin line where there is nothing."""


@styled
def forest(
    table: pd.DataFrame,
    values: str | Mapping[str, str],
    axis: str | Axis = "",
    points: Points | None = None,
    *,
    marks: Sequence[Mark] = (),
    shade: Range = (None, None),
    longest: int = 34,
) -> Drawing:
    """Draw a row for every name, the first on top, and in it a value with its interval.

    Args:
        table: index the names; a name that stands there several times is one row, with a mark for each group of
            `Points.by`, or, where there is none, with a stroke for each value and a point at their median.
        values: the column that is drawn, or several with the label of the axis of each, in plots side by side.
        axis: of the values; a label alone stands for one with a thin line at 0.
        marks: further values. shade: behind the plot, from to. longest: letters of a name.
    """
    axis = Axis(axis, rules=AT_ZERO) if isinstance(axis, str) else axis
    points = points or Points()
    by, bold = points.by, points.bold
    columns = {values: axis.label} if isinstance(values, str) else dict(values)
    names = [str(name) for name in dict.fromkeys(table.index)]
    groups = [str(group) for group in dict.fromkeys(table[by])] if by else [""]
    styles = family_styles(groups) if by else {"": (COLOURS[0], "o")}
    dodged = by and table.index.has_duplicates
    row = ROW * max(1.0, 0.5 * len(groups) if dodged else 1.0)
    handles = _handles(styles if by else {}, marks, points.label, points.legend)
    per_line = max(1, 64 // max((len(str(handle.get_label())) + 6 for handle in handles), default=56))
    lines = -(-len(handles) // per_line) if handles else 0
    figure = new_figure(1.0 + row * max(len(names), 2) + LEGEND_LINE * lines)
    every = np.atleast_1d(figure.subplots(1, len(columns), sharey=True))
    places = {name: float(place) for place, name in enumerate(reversed(names))}
    full = np.zeros(len(table), bool) if points.hollow is None else np.asarray(points.hollow, dtype=bool)
    for axes, (column, words) in zip(every, columns.items(), strict=True):
        if shade[0] is not None and shade[1] is not None and np.isfinite([shade[0], shade[1]]).all():
            axes.axvspan(shade[0], shade[1], color=COLOURS[0], alpha=0.12, linewidth=0)
        for at, style in axis.rules.items():
            axes.axvline(at, color=INK, linewidth=0.9, linestyle=style, zorder=1)
        axes.hlines(list(places.values()), 0, 1, color=GRID, linewidth=0.6, transform=axes.get_yaxis_transform())
        for mark in marks:
            for name, value in table[mark.column].items():
                look = {"color": mark.colour, "marker": mark.marker, "markersize": mark.size, "markeredgewidth": 1.5}
                _point(axes, value, places[str(name)], f"{name}: {mark.label} {number(value)}", zorder=3, **look)
        for place, group in enumerate(groups):
            chosen = np.ones(len(table), dtype=bool) if not by else (table[by].astype(str) == group).to_numpy()
            shift = 0.6 * (0.5 - (place + 0.5) / len(groups)) if dodged else 0.0
            colour, marker = styles[group]
            for name, rows in table[chosen].groupby(level=0, sort=False):
                at = places[str(name)] + shift
                empty = bool(full[chosen][np.asarray(table.index[chosen] == name)][0])
                look = {"color": colour, "marker": marker, "markerfacecolor": PAPER if empty else colour}
                _row(axes, rows, column, at, f"{name}{f', {group}' if group else ''}", look)
        axes.set_ylim(-0.7, len(names) - 0.3)
        axes.set_xlim(*axis.limits)
        axes.set_xlabel(words, loc="right" if len(words) > 40 else "center")
        axes.margins(x=0.06)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins={1: 6, 2: 4}.get(len(columns), 2))
        if axes is every[0]:
            axes.set_yticks(list(places.values()), shortened_apart(list(places), longest))
            for name, text in zip(places, axes.get_yticklabels(), strict=True):
                text.set_fontweight("bold" if name in bold else "normal")
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=per_line)
    return Drawing(figure)


def _handles(
    styles: Mapping[str, tuple[str, str]], marks: Sequence[Mark], label: str, more: Mapping[str, Mapping[str, Any]]
) -> list[Line2D]:
    handles = [Line2D([], [], color=COLOURS[0], marker="o", markersize=5, label=label)] if label else []
    for group, (colour, marker) in styles.items():
        handles.append(Line2D([], [], linestyle="", color=colour, marker=marker, markersize=5, label=group))
    for mark in (mark for mark in marks if mark.label):
        look = {"marker": mark.marker, "markersize": mark.size, "markeredgewidth": 1.5}
        handles.append(Line2D([], [], linestyle="", color=mark.colour, label=mark.label, **look))  # type: ignore[arg-type]
    return handles + [Line2D([], [], label=words, **({"linestyle": ""} | dict(look))) for words, look in more.items()]


def ends_of(table: pd.DataFrame, column: str) -> tuple[str, str] | None:
    """Name the columns of the ends of a value's interval; None where there are none.

    >>> ends_of(pd.DataFrame(columns=["a", "a_low", "a_high", "b"]), "a"), ends_of(pd.DataFrame(columns=["b"]), "b")
    (('a_low', 'a_high'), None)
    """
    for ends in ((f"{column}_low", f"{column}_high"), ("low", "high")):
        if set(ends) <= set(table.columns):
            return ends
    return None


def _row(axes: Axes, rows: pd.DataFrame, column: str, at: float, name: str, look: Mapping[str, Any]) -> None:
    known, ends = rows[column].dropna().to_numpy(float), ends_of(rows, column)
    if len(known) > 1:
        axes.plot(known, np.full(len(known), at), "|", color=look["color"], markersize=5, alpha=0.5, zorder=2)
        return _point(axes, float(np.median(known)), at, f"{name}: median {number(np.median(known))}", **look)
    value, shown = float(rows[column].iloc[0]), ""
    if ends is not None:
        low, high = (float(rows[end].iloc[0]) for end in ends)
        axes.hlines(at, low, high, color=look["color"], linewidth=1.4, zorder=2)
        shown = f" {interval(low, high)}"
    _point(axes, value, at, f"{name}: {number(value)}{shown}", **{"zorder": 4, "markersize": 5.0, **look})


def _point(axes: Axes, x: float, y: float, words: str, **look: Any) -> None:
    """Draw one point with a name, as `scatter` would, in a tenth of the time."""
    (drawn,) = axes.plot([x], [y], **({"linestyle": "", "marker": "o"} | look))
    named(drawn, words)


@styled
def curves(
    panels: Sequence[Panel],
    xlabel: str,
    *,
    ticks: ArrayLike = (),
    zero: bool = True,
    inch: float = 2.3,
    below: bool = False,
    xlimits: Range = (None, None),
) -> Drawing:
    """Draw lines over a shared axis, one panel under the other.

    Args:
        ticks: heights that are marked at the right edge of the first panel. zero: whether a dotted line marks 0 along
            the axis. inch: of a panel of height 1.
        below: whether the legend stands under the figure.
    """
    labels = [curve.label for curve in panels[0].curves if curve.label]
    heights = [panel.height for panel in panels]
    figure = new_figure(0.9 + inch * sum(heights) + LEGEND_LINE * len(labels) * below, right=0.03 * (len(ticks) > 0))  # type: ignore[arg-type]
    every = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True, height_ratios=heights))
    for axes, panel in zip(every, panels, strict=True):
        for curve in panel.curves:
            curve.draw(axes)
        for at in panel.rules:
            axes.axhline(at, color=FAINT, linewidth=0.8)
        if panel.log:
            axes.set_yscale("log")
            plain_log_labels(axes.yaxis)
        axes.set_ylim(*panel.limits)
        axes.set_ylabel(panel.ylabel)
        if zero:
            axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
        if panel.title:
            axes.set_title(panel.title, fontsize=SMALLEST, color=FAINT)
        if not below and any(curve.label for curve in panel.curves):
            axes.legend(loc="best")
    every[-1].set_xlim(*xlimits)
    every[-1].set_xlabel(xlabel)
    edge = blended_transform_factory(every[0].transAxes, every[0].transData)
    every[0].hlines(ticks, 1.0, 1.035, transform=edge, color=INK, linewidth=0.9, clip_on=False)
    if below and labels:
        figure.legend(*every[0].get_legend_handles_labels(), loc="outside lower left", ncols=1)
    return Drawing(figure)


@styled
def scatter(
    table: pd.DataFrame,
    x: str,
    y: str,
    xaxis: Axis,
    yaxis: Axis,
    points: Points | None = None,
    *,
    lines: Sequence[Curve] = (),
    remark: str = "",
) -> Drawing:
    """Draw a point for every row of a table, with the intervals of either value where it has them (X_low, X_high).

    Args:
        x, y: columns. An x that is infinite stands apart, at the right, over the word *never*.
        lines: besides. remark: above the plot.
    """
    points = points or Points()
    by, star, log, xlimits = points.by, points.star, xaxis.log, xaxis.limits
    groups = sorted(str(group) for group in table[by].unique() if str(group) != star) if by else [""]
    styles = dict(family_styles(groups)) | ({star: (INK, "*")} if star else {})
    handles = _handles({name: styles[name] for name in [*([star] if star else []), *groups] if name}, (), "", {})
    handles += [line for curve in lines if curve.label for line in [_entry(curve)]]
    handles += _handles({}, (), "", points.legend)
    short = shortened_apart([str(handle.get_label()) for handle in handles], 30)
    for handle, words in zip(handles, short, strict=True):
        handle.set_label(words)
    per_line = max(1, 64 // max((len(words) + 6 for words in short), default=56))
    figure = new_figure(3.9 + LEGEND_LINE * -(-len(handles) // per_line))
    axes = figure.add_subplot()
    for at, style in yaxis.rules.items():
        axes.axhline(at, color=INK, linewidth=0.9, linestyle=style)
    for curve in lines:
        curve.draw(axes)
    places = table[x].to_numpy(float)
    finite = places[np.isfinite(places) & ((places > 0) | (not log))]
    least, most = (finite.min(), finite.max()) if len(finite) else (0.1, 1.0)
    never = most * 2.2 if log else most + 0.2 * ((most - least) or 1.0)
    empty = np.zeros(len(table), bool) if points.hollow is None else np.asarray(points.hollow, dtype=bool)
    drawn: list[tuple[float, float, str]] = []
    for place, (name, row) in enumerate(table.iterrows()):
        colour, marker = styles[str(row[by]) if by else ""]
        at = never if np.isposinf(row[x]) else row[x]
        words = f"{name}: {number(row[x], 2)}, {number(row[y])}"
        look = {"color": colour, "marker": marker, "markerfacecolor": PAPER if empty[place] else colour}
        _whiskers(axes, row, at, x, y, colour, 0.25 if empty[place] else 0.5)
        is_star = bool(by) and str(row[by]) == star
        _point(axes, at, row[y], words, zorder=4 if is_star else 3, markersize=12 if is_star else 5.5, **look)
        drawn.append((at, row[y], points.annotated.get(str(name), "")))
    if log:
        axes.set_xscale("log")
        plain_log_labels(axes.xaxis)
    if np.isposinf(places).any():
        axes.axvline(most * 1.5 if log else (most + never) / 2, color=GRID, linewidth=0.9)
        axes.annotate("never", (never, 0), (0, -24), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", annotation_clip=False)  # fmt: skip
        xlimits = (least / 1.5, never * 1.5) if log else (None, never + (never - most))
    axes.set_xlim(*xlimits)
    axes.set_ylim(*yaxis.limits)
    axes.set_xlabel(xaxis.label)
    axes.set_ylabel(yaxis.label)
    if remark:
        axes.set_title(remark, fontsize=SMALLEST, color=FAINT)
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=per_line)
    _write_names(figure, axes, drawn)
    return Drawing(figure)


def _write_names(figure: Figure, axes: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Write names beside their points, at the first of eight places that no point, line, interval or other name covers;
    a name without such a place is left to be pointed at.

    Args:
        points: x, y and name ("": none) of every point of the plot.
    """
    if not any(name for _, _, name in points):
        return
    figure.draw_without_rendering()  # before, it is not known where the axes lie
    scale = 72 / figure.dpi
    places = axes.transData.transform([(x, y) for x, y, _ in points]) * scale
    left_end, low_end, right_end, high_end = np.asarray(axes.bbox.extents) * scale
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in places if np.isfinite([x, y]).all()]
    lines = [line.get_xydata() for line in axes.lines if line.get_transform() is axes.transData]
    lines += [way for each in axes.collections if isinstance(each, LineCollection) for way in each.get_segments()]
    for line in lines:
        ways = axes.transData.transform(line) * scale
        for start, end in pairwise(ways[np.isfinite(ways).all(axis=1)]):
            steps = np.linspace(start, end, 2 + int(np.hypot(*(end - start)) / 3))
            taken += [(x - 1, y - 1, x + 1, y + 1) for x, y in steps]
    for (x, y), (at, value, name) in zip(places, points, strict=True):
        if not name or not np.isfinite([x, y]).all():
            continue
        long = 0.62 * SMALLEST * len(name)
        for right, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1)):
            left = x + (5 if right > 0 else -5 - long if right < 0 else -long / 2)
            low = y - SMALLEST / 2 + up * (SMALLEST if right else SMALLEST + 2)
            box = (left, low, left + long, low + SMALLEST + 1)
            inside = box[0] >= left_end and box[2] <= right_end and box[1] >= low_end and box[3] <= high_end
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                align = {1: "left", -1: "right", 0: "center"}[right]
                shift = (5 * right, up * (SMALLEST if right else SMALLEST + 2))
                axes.annotate(
                    name, (at, value), shift, textcoords="offset points", fontsize=SMALLEST, ha=align, va="center"
                )
                break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _entry(curve: Curve) -> Line2D:
    return Line2D([], [], color=curve.colour, label=curve.label, **dict(curve.look))


def _whiskers(axes: Axes, row: "pd.Series[Any]", at: float, x: str, y: str, colour: str, alpha: float) -> None:
    for column, draw, fixed in ((x, axes.hlines, row[y]), (y, axes.vlines, at)):
        if f"{column}_low" in row and np.isfinite([row[f"{column}_low"], row[f"{column}_high"]]).all():
            draw(fixed, row[f"{column}_low"], row[f"{column}_high"], color=colour, alpha=alpha, linewidth=0.9)


@dataclass(frozen=True)
class Cells:
    """A rectangle of a heatmap: edges of its columns and rows, and the value of each cell."""

    x: ArrayLike
    y: ArrayLike
    values: ArrayLike


@dataclass(frozen=True)
class Colours:
    """What the colours of a heatmap are: matplotlib's name, the ends, and what they stand for. Where the ends lie on
    either side of 0, it is the middle."""

    name: str = "cividis"
    limits: tuple[float, float] = (0.0, 1.0)
    label: str = ""


@dataclass(frozen=True)
class Over:
    """What is drawn over a heatmap.

    Attributes:
        crosses: x and y of what is crossed out. frames: left, bottom, width, height of what is framed.
        bold: labels of rows in bold letters. written: whether values stand there as numbers.
    """

    crosses: tuple[ArrayLike, ArrayLike] = ((), ())
    frames: Sequence[tuple[float, float, float, float]] = ()
    bold: Sequence[str] = ()
    written: bool = False


@styled
def heatmap(
    cells: Sequence[Cells],
    xaxis: Axis,
    yaxis: Axis,
    colours: Colours,
    over: Over | None = None,
    *,
    remark: str = "",
    height: float = 5.2,
) -> Drawing:
    """Draw values as colours, from bottom to top."""
    import matplotlib

    figure = new_figure(height)
    axes = figure.add_subplot()
    over, limits = over or Over(), colours.limits
    norm: dict[str, Any] = {"vmin": limits[0], "vmax": limits[1]}
    if limits[0] < 0 < limits[1]:
        norm = {"norm": TwoSlopeNorm(0, *limits)}
    palette = matplotlib.colormaps[colours.name].with_extremes(bad=FAINT)
    for block in cells:
        values = np.asarray(block.values, dtype=float)
        mesh = axes.pcolormesh(block.x, block.y, values, cmap=palette, rasterized=values.size > 4000, **norm)  # type: ignore[arg-type]
        for (row, column), value in np.ndenumerate(values) if over.written else ():
            across, up = (
                float(np.mean(np.asarray(ends)[at : at + 2])) for ends, at in ((block.x, column), (block.y, row))
            )
            colour = PAPER if abs(value) > 0.6 * limits[1] else INK
            size = SMALLEST if values.shape[1] <= MOST_WRITTEN else 7
            axes.text(across, up, number(value, 2), ha="center", va="center", fontsize=size, color=colour)
    axes.scatter(*over.crosses, marker="x", s=16, color=COLOURS[1], linewidth=1.2)
    for left, bottom, wide, high in over.frames:
        axes.add_patch(Rectangle((left, bottom), wide, high, fill=False, edgecolor=COLOURS[1], linewidth=2, zorder=5))
    axes.grid(False)
    for axis, labels in ((axes.xaxis, xaxis), (axes.yaxis, yaxis)):
        if labels.ticks is not None:
            axis.set_ticks(list(labels.ticks), list(labels.ticks.values()))
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in over.bold else "normal")
    axes.set_xlabel(xaxis.label)
    axes.set_ylabel(yaxis.label)
    if remark:
        axes.set_title(remark, fontsize=SMALLEST, color=FAINT)
    if colours.label:
        figure.colorbar(mesh, ax=axes, label=colours.label, fraction=0.06, pad=0.02)
    return Drawing(figure)


def bands_of(rate: ArrayLike, error: ArrayLike) -> Iterator[np.ndarray]:
    """Compute lower and upper end of a share's 95% interval by its standard error, within 0 and 1."""
    middle, far = np.asarray(rate, dtype=float), 1.96 * np.asarray(error, dtype=float)
    yield np.clip(middle - far, 0, 1)
    yield np.clip(middle + far, 0, 1)

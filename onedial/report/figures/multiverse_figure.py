"""The figure of a multiverse: the verdict's numbers under every choice, and where the run itself stands."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from onedial.show import COLOURS, FAINT, INK, PAPER, Drawing, interval, named, new_figure, number, styled

AXES = {"layer": "layer", "contrast": "contrast", "wording": "wording", "resample": "questions drawn"}
NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
ROW, GAP, MARGIN = 0.19, 0.6, 1.35  # inches per row, rows between groups, inches around them
AS_RUN = "as run"

Rows = list[tuple[str, str, pd.DataFrame]]
"""Axis, label, and the universes of the row."""


@styled
def multiverse_figure(table: pd.DataFrame) -> Drawing:
    """Each number of every universe, by the choice that sets it apart; the run itself on top and as a line.

    Args:
        table: of `onedial.verdict.multiverse_table`, the run as it would have been made first.
    """
    crossed = table["varied"].astype(str).str.contains(" ").any()
    rows = list(_levels(table) if crossed else _one_by_one(table))
    places, y, last = [], 0.0, rows[0][0]
    for axis, _, _ in rows:
        y -= GAP if axis != last else 0.0
        places.append(y)
        y, last = y - 1.0, axis
    figure = new_figure(MARGIN + ROW * -y)
    panels = figure.subplots(1, len(NUMBERS), sharey=True)
    colours = dict(zip(AXES, COLOURS, strict=False))
    for panel, (name, letter) in zip(panels, NUMBERS.items(), strict=True):
        own = float(table[name].iloc[0])
        if np.isfinite(own):
            panel.axvline(own, color=INK, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=1)
        if name != "rho_dial":
            panel.axvline(0, color=FAINT, linewidth=0.8, zorder=1)
        for place, (axis, label, universes) in zip(places, rows, strict=True):
            colour = colours.get(axis, INK)
            if len(universes) == 1:
                _point(panel, place, label, name, universes.iloc[0], colour)
            else:
                values = universes[name].dropna()
                panel.plot(values, np.full(len(values), place), "|", color=colour, markersize=5, alpha=0.5, zorder=2)
                panel.plot([values.median()], [place], "o", color=colour, markersize=4, zorder=3)
        panel.set_xlabel(letter)
        panel.margins(x=0.08)
        panel.tick_params(axis="x", labelsize=7)
        panel.locator_params(axis="x", nbins=4)
    panels[0].set_yticks(places, [label for _, label, _ in rows], fontsize=7)
    panels[0].set_ylim(y + 0.4, 0.7)
    title = "The verdict's numbers under other choices"
    figure.suptitle(title, x=0.02, ha="left", fontsize=9, fontweight="bold")
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=colours[axis], label=words)
        for axis, words in AXES.items()
        if any(axis == own for own, _, _ in rows)
    ]
    handles.append(Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (1, 1.5)), label=AS_RUN))
    figure.legend(handles=handles, loc="outside lower left", ncols=3)
    shown = (
        "Each stroke is a universe, each point the median of its row."
        if crossed
        else "Bars: 95% intervals over questions."
    )
    return Drawing(
        figure,
        title,
        "The same questions, splits and targets, judged with another layer, contrast, wording or draw of the questions "
        f"that the vector is made of. {shown} Hollow: cannot be judged. A result that is owed to one choice leaves the "
        "dotted line in that group; the spread over universes is no interval, since they share everything else.",
    )


def _one_by_one(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for place, (name, row) in enumerate(table.iterrows()):
        yield str(row["varied"]), str(name), table.iloc[[place]]


def _levels(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The run itself, then every level of every axis that has several, with all universes that have it."""
    yield "", AS_RUN, table.iloc[[0]]
    for axis, words in AXES.items():
        levels = list(dict.fromkeys(table[axis]))
        if len(levels) < 2:
            continue
        for level in levels if axis == "wording" else sorted(levels):
            label = f"{words} {level}"
            if axis == "wording":
                label = str(level).removeprefix(f"{table[axis].iloc[0]}, ")
            elif axis == "resample":
                label = f"draw {level}" if level else "each once"
            judged = table[(table[axis] == level) & table["judged"].astype(bool)]
            if len(judged):
                yield axis, label, judged


def _point(panel: Axes, place: float, label: str, name: str, row: "pd.Series[float]", colour: str) -> None:
    low, high = float(row[f"{name}_low"]), float(row[f"{name}_high"])
    if np.isfinite([low, high]).all():
        panel.hlines(place, low, high, color=colour, linewidth=1.1, zorder=2)
    fill = colour if bool(row["judged"]) else PAPER
    point = panel.scatter(row[name], place, s=16, color=fill, edgecolor=colour, linewidth=0.9, zorder=3)
    named(point, f"{label}: {number(row[name])} {interval(low, high)}")

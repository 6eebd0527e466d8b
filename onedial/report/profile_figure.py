"""The figure of a dial's profile: instruments against settings, each beside its controls."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.asking.sweep_tables import VECTOR
from onedial.show.figure_style import COLOURS, FAINT, INK, SMALLEST, Drawing, new_figure, styled
from onedial.verdict.comparing.dial_profile import PROFILE_VERDICTS

_ROW = 0.16
_HEADING = 1.7
"""Rows that an instrument's name and verdict take above its settings."""
_LINEAR_UP_TO = 1.0
_MOVED = PROFILE_VERDICTS[:2]
"""With the dial, or against it: drawn in colour."""


@styled
def dial_profile(cells: pd.DataFrame, reports: pd.DataFrame, names: Mapping[float, str] | None = None) -> Drawing:
    """Shift of every instrument at every setting, in its own standard deviations, with what random directions do.

    Args:
        cells, reports: of `onedial.verdict.comparing.dial_profile.DialProfile`.
        names: of settings, such as their yes rates; by default the magnitudes.
    """
    settings = sorted(cells["magnitude"].unique())
    names = names or {magnitude: f"{magnitude:+.3g}" for magnitude in settings}
    own, controls = cells[cells["role"] == VECTOR], cells[cells["role"] != VECTOR]
    height = len(reports) * (len(settings) + _HEADING) * _ROW + 1.6
    figure = new_figure(height)
    axes = figure.add_subplot()
    y, ticks, labels = 0.0, [], []
    reached = [-1.0, 1.0]
    farthest = reports["together"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    for report, summary in reports.loc[farthest].iterrows():
        moved = summary["verdict"] in _MOVED
        heading = axes.get_yaxis_transform()
        axes.text(0.01, y, str(report), transform=heading, fontsize=SMALLEST, color=INK, va="center", weight="bold")
        verdict = str(summary["verdict"]) if np.isfinite(summary["together"]) else ""
        weight, colour = ("bold", INK) if moved else ("normal", FAINT)
        axes.text(
            0.99, y, verdict, transform=heading, fontsize=SMALLEST, color=colour, va="center", ha="right", weight=weight
        )
        y -= (1 + _HEADING) / 2
        for magnitude in settings[::-1]:
            row = own[(own["report"] == report) & (own["magnitude"] == magnitude)].iloc[0]
            beside = controls[(controls["report"] == report) & (controls["magnitude"] == magnitude)]["shift"].dropna()
            axes.plot(beside, np.full(len(beside), y), "|", color=FAINT, markersize=5, alpha=0.6, zorder=2)
            colour = FAINT if not moved else COLOURS[1] if magnitude > 0 else COLOURS[0]
            if np.isfinite(row["shift"]):
                axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=1.1, zorder=3)
                axes.plot([row["shift"]], [y], "o" if magnitude > 0 else "s", color=colour, markersize=3.5, zorder=4)
                reached += [row["low"], row["high"], *beside]
            else:
                axes.text(0.51, y, str(row["status"]), transform=heading, fontsize=SMALLEST, color=FAINT, va="center")
            ticks.append(y)
            labels.append(names[magnitude])
            y -= 1.0
        y -= (_HEADING - 1) / 2
        axes.axhline(y + _HEADING / 2, color=FAINT, linewidth=0.4)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(ticks, labels)
    axes.set_ylim(y + _HEADING / 2, _HEADING / 2)
    axes.set_xscale("symlog", linthresh=_LINEAR_UP_TO, linscale=1.2)
    low, high = 1.15 * min(reached), 1.15 * max(reached)
    axes.set_xlim(low, high)
    marks = [0.0, *(sign * mark for mark in (1, 3, 10, 30, 100) for sign in (-1, 1))]
    axes.set_xticks([mark for mark in marks if low <= mark <= high])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.set_xlabel("shift, in standard deviations of the unsteered answers")
    sides = [
        Line2D([], [], color=colour, marker=marker, markersize=4, label=label)
        for colour, marker, label, there in (
            (COLOURS[1], "o", "towards yes", max(settings) > 0),
            (COLOURS[0], "s", "towards no", min(settings) < 0),
        )
        if there
    ]
    random = Line2D([], [], color=FAINT, marker="|", linestyle="", markersize=6, label="random direction")
    figure.legend(handles=[*sides, random], loc="outside lower left", ncols=3)
    axes.set_title("settings by the yes rate of the dial's own question", fontsize=SMALLEST, color=FAINT)
    return Drawing(figure)

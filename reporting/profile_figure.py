"""The figure of a dial's profile: instruments against settings, each beside its controls."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from elicitation import VECTOR
from reporting.figure_style import COLOURS, FAINT, INK, Drawing, new_figure, set_title, styled

_ROW = 0.155
_GAP = 0.7
_LINEAR_UP_TO = 1.0


@styled
def dial_profile(cells: pd.DataFrame, reports: pd.DataFrame, names: Mapping[float, str] | None = None) -> Drawing:
    """Shift of every instrument at every setting, in its own standard deviations, with what random directions do.

    Args:
        cells, reports: of `matching.DialProfile`.
        names: of settings, such as their yes rates; by default the magnitudes.
    """
    settings = sorted(cells["magnitude"].unique())
    names = names or {magnitude: f"{magnitude:+.3g}" for magnitude in settings}
    own, controls = cells[cells["role"] == VECTOR], cells[cells["role"] != VECTOR]
    height = len(reports) * (len(settings) * _ROW + _GAP * _ROW) + 1.5
    figure = new_figure(height)
    axes = figure.add_subplot()
    y, ticks, labels = 0.0, [], []
    reach = 1.0
    for report, summary in reports.iterrows():
        top = y
        for magnitude in settings[::-1]:
            row = own[(own["report"] == report) & (own["magnitude"] == magnitude)].iloc[0]
            beside = controls[(controls["report"] == report) & (controls["magnitude"] == magnitude)]["shift"].dropna()
            axes.plot(beside, np.full(len(beside), y), "|", color=FAINT, markersize=5, alpha=0.6, zorder=2)
            colour = COLOURS[1] if magnitude > 0 else COLOURS[0]
            if np.isfinite(row["shift"]):
                axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=1.1, zorder=3)
                axes.plot([row["shift"]], [y], "o" if magnitude > 0 else "s", color=colour, markersize=3.5, zorder=4)
                reach = max([reach, abs(row["low"]), abs(row["high"]), *beside.abs()])
            else:
                axes.text(0, y, str(row["status"]), fontsize=6.5, color=FAINT, ha="center", va="center")
            ticks.append(y)
            labels.append(names[magnitude])
            y -= 1.0
        if np.isfinite(summary["together"]):
            axes.text(1.01, (top + y + 1) / 2, str(summary["verdict"]), transform=axes.get_yaxis_transform(),
                      fontsize=6.5, color=INK, va="center")  # fmt: skip
        axes.text(-0.2, (top + y + 1) / 2, str(report).replace(" in ", "\nin "), fontsize=7.5, ha="right",
                  va="center", transform=axes.get_yaxis_transform())  # fmt: skip
        y -= _GAP
        axes.axhline(y + (1 + _GAP) / 2, color=FAINT, linewidth=0.4)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(ticks, labels, fontsize=6)
    axes.set_ylim(y + 0.5, 0.8)
    axes.set_xscale("symlog", linthresh=_LINEAR_UP_TO, linscale=1.2)
    axes.set_xlim(-1.15 * reach, 1.15 * reach)
    marks = [mark for mark in (1, 3, 10, 30, 100) if mark <= 1.15 * reach]
    axes.set_xticks([-mark for mark in marks[::-1]] + [0, *marks])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.set_xlabel("shift, in standard deviations of the unsteered answers")
    figure.legend(
        handles=[
            Line2D([], [], color=COLOURS[1], marker="o", markersize=4, label="towards yes"),
            Line2D([], [], color=COLOURS[0], marker="s", markersize=4, label="towards no"),
            Line2D([], [], color=FAINT, marker="|", linestyle="", markersize=6, label="random direction"),
        ],
        loc="outside lower left",
        ncols=3,
    )
    set_title(axes, "What the dial moves", "left: settings, by the yes rate of the question it was made from")
    return Drawing(
        figure,
        "What the dial moves",
        "Mean change of each instrument's score from the unsteered subject, over the standard deviation of its "
        "unsteered scores; bars are 95% bootstrap intervals over items. Grey strokes: random directions of the same "
        "length at the same layer and magnitude. Beyond 1 the axis is logarithmic. Right: the verdict of the rule in "
        "docs/instruments.md.",
    )

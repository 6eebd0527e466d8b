"""Several runs in one picture: their numbers, their dose-response, their agreement with each target.

comparison_numbers    signal, gain, order and rho of every run with their intervals
comparison_dose       the yes rates of all runs over one axis of residual norms
comparison_agreement  every target, a mark for each run
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.show import (
    FAINT,
    GRID,
    INK,
    Drawing,
    family_styles,
    interval,
    named,
    new_figure,
    number,
    set_title,
    shortened_apart,
    styled,
)

NUMBERS = {
    "signal": "S: signal (kappa)",
    "gain": "G: over the majority answer",
    "order": "C: over the unsteered margin's order",
    "rho": "rank correlation with the unsteered margin",
}
_ROW = 0.24


@styled
def comparison_numbers(answers: pd.DataFrame) -> Drawing:
    """Four numbers with their 95% intervals, run under run.

    Args:
        answers: `onedial.verdict.Comparison.answers`.
    """
    names = [str(name) for name in answers.index]
    styles = family_styles(names)
    heights = np.arange(len(names))[::-1]
    figure = new_figure(0.6 + len(NUMBERS) * (0.65 + _ROW * len(names)))
    every = np.atleast_1d(figure.subplots(len(NUMBERS), 1))
    for axes, (column, title) in zip(every, NUMBERS.items(), strict=True):
        for name, height in zip(names, heights, strict=True):
            value, low, high = (_float(answers.loc[name, each]) for each in (column, f"{column}_low", f"{column}_high"))
            colour, marker = styles[name]
            axes.hlines(height, low, high, color=colour, linewidth=1.6)
            (point,) = axes.plot(value, height, marker, color=colour, markersize=6)
            named(point, f"{name}: {title} {number(value)} {interval(low, high)}")
        if column == "rho":
            lows = answers[["rho", "rho_low"]].astype(float).min().min()
            axes.set_xlim(min(0.9, (0.9 if np.isnan(lows) else lows) - 0.05), 1.01)
        axes.axvline(1.0 if column == "rho" else 0.0, color=INK, linewidth=0.9)
        axes.set_yticks(heights, shortened_apart(names, 22))
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.grid(False, axis="y")
        set_title(axes, title)
    return Drawing(figure, TITLES["comparison_numbers"], CAPTIONS["comparison_numbers"])


@styled
def comparison_dose(dose: pd.DataFrame) -> Drawing:
    """Yes rates over the test questions of each run, against the push in residual norms.

    Args:
        dose: `onedial.verdict.Comparison.dose`.
    """
    names = [str(name) for name in dict.fromkeys(dose["run"])]
    styles = family_styles(names)
    figure = new_figure(3.6 + 0.17 * len(names))
    axes = figure.add_subplot()
    handles = []
    for name, label in zip(names, shortened_apart(names, 34), strict=True):
        own, (colour, marker) = dose[dose["run"] == name].sort_values("norms"), styles[name]
        x, rate, error = (own[column].to_numpy(float) for column in ("norms", "yes_rate", "yes_rate_se"))
        axes.fill_between(
            x,
            np.clip(rate - 1.96 * error, 0, 1),
            np.clip(rate + 1.96 * error, 0, 1),
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        (line,) = axes.plot(x, rate, color=colour, marker=marker, markersize=3)
        named(line, name)
        handles.append(Line2D([], [], color=colour, marker=marker, label=label))
    axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("push (median residual norms)")
    axes.set_ylabel("share of yes")
    figure.legend(handles=handles, loc="outside lower left", ncols=1)
    set_title(axes, TITLES["comparison_dose"], "test questions of each run, 95% bands")
    return Drawing(figure, TITLES["comparison_dose"], CAPTIONS["comparison_dose"])


@styled
def comparison_agreement(agreement: pd.DataFrame) -> Drawing:
    """Test agreement of every target that two runs or more have, with its intervals.

    Args:
        agreement: `onedial.verdict.Comparison.agreement`; at least one row.
    """
    order = agreement.groupby("target")["yes_rate"].mean().sort_values(kind="stable").index
    runs = [str(name) for name in dict.fromkeys(agreement["run"])]
    styles = family_styles(runs)
    heights = {str(target): height for height, target in enumerate(reversed(order))}
    figure = new_figure(1.0 + 0.17 * len(runs) + max(_ROW, 0.1 * len(runs)) * max(len(order), 3))
    axes = figure.add_subplot()
    axes.hlines(list(heights.values()), 0, 1, color=GRID, linewidth=0.6)
    for place, run in enumerate(runs):
        colour, marker = styles[run]
        shift = (len(runs) - 1 - 2 * place) * 0.5 / max(len(runs), 2) * 0.7
        for _, row in agreement[agreement["run"] == run].iterrows():
            height = heights[str(row["target"])] + shift
            axes.hlines(height, row["agreement_low"], row["agreement_high"], color=colour, linewidth=1.1)
            (point,) = axes.plot(row["agreement"], height, marker, color=colour, markersize=4)
            shown = f"{number(row['agreement'])} {interval(row['agreement_low'], row['agreement_high'])}"
            named(point, f"{row['target']}: {run} {shown}")
    axes.set_yticks(list(heights.values()), shortened_apart(list(heights), 30))
    axes.set_ylim(-0.7, len(heights) - 0.3)
    low = agreement["agreement_low"].min()
    axes.set_xlim(max(0.0, np.floor((0.0 if np.isnan(low) else low) * 10) / 10), 1.01)
    axes.grid(False, axis="y")
    axes.set_xlabel("agreement on the test questions")
    handles = [
        Line2D([], [], color=styles[run][0], marker=styles[run][1], linestyle="", label=label)
        for run, label in zip(runs, shortened_apart(runs, 34), strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=1)
    figure.suptitle(TITLES["comparison_agreement"], x=0.02, ha="left", fontsize=9, fontweight="bold")
    return Drawing(figure, TITLES["comparison_agreement"], CAPTIONS["comparison_agreement"])


def _float(value: Any) -> float:
    return float("nan") if value is None else float(value)

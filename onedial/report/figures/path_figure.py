"""The dial's path through the panel's factor: threshold against loading at every setting, the targets as points."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.show import (
    FAINT,
    INK,
    Drawing,
    family_styles,
    interval,
    new_figure,
    number,
    set_title,
    shortened_apart,
    styled,
)
from onedial.verdict import DialPath

REACH = 1.959964


@styled
def dial_path_figure(path: DialPath) -> Drawing:
    """Where the dial leads in the plane of threshold and loading.

    Args:
        path: at least one setting with a place; that of magnitude 0 is marked.
    """
    settings = path.settings[path.settings["threshold_se"].notna()].sort_index()
    targets = path.targets[path.targets["threshold_se"].notna()] if len(path.targets) else path.targets
    styles = family_styles(sorted(targets["model"].astype(str).unique())) if len(targets) else {}
    figure = new_figure(4.2 + 0.17 * (len(styles) // 2 + 2))
    axes = figure.add_subplot()
    axes.axhline(0, color=FAINT, linewidth=0.8)
    x, y = settings["threshold"].to_numpy(float), settings["loading"].to_numpy(float)
    reach = REACH * settings["loading_se"].to_numpy(float)
    axes.fill_between(x, y - reach, y + reach, color=INK, alpha=0.15, linewidth=0)
    axes.plot(x, y, color=INK, marker=".", markersize=4)
    for _, row in targets.iterrows():
        colour, marker = styles[str(row["model"])]
        ends = [row["loading"], row["path_loading"]]
        axes.plot([row["threshold"]] * 2, ends, color=colour, linewidth=0.8, marker="_", markersize=9, markevery=[1])
        axes.errorbar(
            row["threshold"],
            row["loading"],
            xerr=row["threshold_se"],
            yerr=row["loading_se"],
            fmt=marker,
            color=colour,
            markersize=5,
            elinewidth=0.8,
            zorder=3,
        )
    for place, (horizontal, vertical) in {0: ("left", "bottom"), -1: ("right", "bottom")}.items():
        if len(settings):
            axes.annotate(
                number(float(settings.index[place]), 2),
                (x[place], y[place]),
                (0, 6),
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=8,
                color=INK,
            )
    if 0.0 in settings.index:
        axes.plot(*settings.loc[0.0, ["threshold", "loading"]], marker="o", color=INK, markersize=8, mfc="none")
    axes.set_ylim(min(-0.1, np.nanmin([*y - reach, 0])), 1.02)
    axes.set_xlabel("threshold (higher = more often yes)")
    axes.set_ylabel("loading on the shared difficulty")
    change = path.change
    remark = (
        f"change of the dial's loading {number(change.value, 2, signed=True)} "
        f"{interval(change.low, change.high, 2, signed=True)}"
        if np.isfinite(change.value)
        else "too few settings with a place for a change of the loading"
    )
    set_title(axes, TITLES["dial_path"], remark)
    handles = [Line2D([], [], color=INK, marker=".", label="steered subject")]
    handles += [
        Line2D([], [], linestyle="", marker=styles[name][1], color=styles[name][0], label=label)
        for name, label in zip(styles, shortened_apart(list(styles), 26), strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2)
    return Drawing(figure, TITLES["dial_path"], CAPTIONS["dial_path"])


def path_rows(path: DialPath, unit: str) -> list[tuple[str, str]]:
    """The path's numbers for a reader."""
    distances = path.targets.get("distance", pd.Series(dtype=float)).dropna()
    errors = path.targets.get("distance_se", pd.Series(dtype=float)).reindex(distances.index)
    apart = int((distances.abs() > REACH * errors).sum())
    over = "topics" if path.over_topics else "questions"
    return [
        (
            f"threshold per unit of magnitude ({unit})",
            f"{number(path.slope.value, 2)} {interval(path.slope.low, path.slope.high, 2)} over {over}",
        ),
        (
            f"change of the loading from magnitude {number(path.low, 2)} to {number(path.high, 2)}",
            f"{number(path.change.value, 2, signed=True)} "
            f"{interval(path.change.low, path.change.high, 2, signed=True)}",
        ),
        ("targets whose threshold the dial reaches", f"{len(distances)} of {len(path.targets)}"),
        ("of these, off the path by more than chance has it (95%)", str(apart)),
        (
            "mean distance of their loadings from the path's",
            number(float(distances.mean()) if len(distances) else float("nan"), 2, signed=True),
        ),
    ]

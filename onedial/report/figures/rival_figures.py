"""What else would do: the rivals without steering beside the dial, and the directions beside the vector."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.asking import DRAWN_ROLES
from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.report.figures.figures import point
from onedial.show import (
    GRID,
    INK,
    PAPER,
    Drawing,
    family_styles,
    interval,
    new_figure,
    number,
    plain_log_labels,
    set_title,
    styled,
)
from onedial.verdict import DIAL, OWN_FRAMINGS

STEERING = "#0072b2"
ROW, MARGIN = 0.24, 1.15  # inches per rival, and around the rows


@styled
def rivals_figure(rivals: pd.DataFrame, signal: Mapping[str, Any]) -> Drawing:
    """S of every rival that has an order, and of steering, each with its 95% interval; the best on top.

    Args:
        rivals: `rivals.csv`, index rival. signal: of verdict.json.
    """
    rows = rivals.loc[rivals["n_targets"] > 0, ["signal", "low", "high", "one_order"]].copy()
    own = {name: np.nan if signal.get(name) is None else float(signal[name]) for name in ("value", "low", "high")}
    rows.loc["steering"] = [*own.values(), True]
    rows = rows.sort_values("signal", kind="stable", na_position="first")
    figure = new_figure(MARGIN + ROW * len(rows))
    axes = figure.add_subplot()
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    axes.hlines(range(len(rows)), 0, 1, color=GRID, linewidth=0.6, zorder=0, transform=axes.get_yaxis_transform())
    if np.isfinite([own["low"], own["high"]]).all():
        axes.axvspan(own["low"], own["high"], color=STEERING, alpha=0.12, linewidth=0)
    for height, (name, row) in enumerate(rows.iterrows()):
        colour = STEERING if name == "steering" else INK
        axes.hlines(height, row["low"], row["high"], color=colour, linewidth=1.4)
        words = f"{name}: {number(row['signal'])} {interval(row['low'], row['high'])}"
        fill = colour if row["one_order"] else PAPER
        point(axes, row["signal"], height, words, size=36, color=colour, markerfacecolor=fill, zorder=3)
    axes.set_yticks(range(len(rows)), [str(name) for name in rows.index])
    axes.get_yticklabels()[list(rows.index).index("steering")].set_fontweight("bold")
    axes.set_xlabel("mean kappa on the test questions")
    figure.suptitle(TITLES["rivals"], x=0.02, ha="left", fontsize=9, fontweight="bold")
    shapes = (("one order for all targets", INK), ("an order for each target", PAPER))
    handles = [
        Line2D([], [], linestyle="", marker="o", color=INK, markerfacecolor=fill, label=words) for words, fill in shapes
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2)
    return Drawing(figure, TITLES["rivals"], CAPTIONS["rivals"])


@styled
def prediction_figure(prediction: pd.DataFrame, mark: str) -> Drawing:
    """Bits of every source with its 95% interval, the best on top; small and above it, with fewer answers to go by.

    Args:
        prediction: `prediction.csv`. mark: the account that marks what other models' answers predict.
    """
    table = prediction.assign(k=prediction["k"].astype(str))
    rows = table[(table["k"] == "all") & (table["source"] != OWN_FRAMINGS)].sort_values("bits", kind="stable")
    figure = new_figure(MARGIN + 1.3 * ROW * len(rows))
    axes = figure.add_subplot()
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for at in rows.loc[rows["source"] == mark, "bits"]:
        axes.axvline(at, color=INK, linewidth=0.9, linestyle=":", zorder=1)
    for height, (_, row) in enumerate(rows.iterrows()):
        colour = STEERING if row["source"] == DIAL else INK
        axes.hlines(height, row["low"], row["high"], color=colour, linewidth=1.4)
        fill = PAPER if row["own_answers"] else colour
        words = f"{row['source']}: {number(row['bits'])} {interval(row['low'], row['high'])}"
        point(axes, row["bits"], height, words, size=36, color=colour, markerfacecolor=fill, zorder=3)
        fewer = table[(table["source"] == row["source"]) & (table["k"] != "all")]
        for step, (_, small) in enumerate(fewer.iterrows()):
            words = f"{row['source']}, by {small['k']} answers: {number(small['bits'])}"
            faint = {"color": colour, "alpha": 0.5, "markeredgewidth": 0}
            point(axes, small["bits"], height + 0.3, words, size=4 + 5 * step, **faint)
    axes.set_yticks(range(len(rows)), list(rows["source"]))
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == DIAL else "normal")
    axes.set_xlabel("bits per test question beyond the yes rate")
    figure.suptitle(TITLES["prediction"], x=0.02, ha="left", fontsize=9, fontweight="bold")
    return Drawing(figure, TITLES["prediction"], CAPTIONS["prediction"])


@styled
def controls_figure(controls: pd.DataFrame, own: Mapping[str, Any]) -> Drawing:
    """Push against order of the vector and of every control; at the right, apart, those that never get there.

    Args:
        controls: `controls.csv`, index intervention_id. own: the vector's numbers, `direction.own` of verdict.json.
    """
    table = controls.assign(push=controls["push"].fillna(np.inf), order_gain=controls["order_gain"])
    vector = {name: np.nan if own.get(name) is None else float(own[name]) for name in ("push", "order_gain")}
    pushes = np.array([*table["push"], vector["push"]], dtype=float)
    finite = pushes[np.isfinite(pushes) & (pushes > 0)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.1, 1.0)
    never = high * 2.2
    styles = family_styles(sorted(table["role"].astype(str).unique()))
    figure = new_figure(3.6 + 0.17 * (len(styles) // 3 + 1))
    axes = figure.add_subplot()
    axes.axhline(0, color=INK, linewidth=0.9)
    axes.axvline(high * 1.5, color=GRID, linewidth=0.9)
    for name, row in table.iterrows():
        colour, marker = styles[str(row["role"])]
        x = row["push"] if np.isfinite(row["push"]) else never
        words = f"{name}: order {number(row['order_gain'], signed=True)}"
        style = {"marker": marker, "color": colour, "alpha": 0.8, "markeredgewidth": 0}
        point(axes, x, row["order_gain"], words, size=22, zorder=2, **style)
        if row["role"] not in DRAWN_ROLES:
            axes.annotate(str(row["role"]), (x, row["order_gain"]), (4, 3), textcoords="offset points", fontsize=7)
    x = vector["push"] if np.isfinite(vector["push"]) else never
    axes.plot([x], [vector["order_gain"]], linestyle="", marker="*", markersize=150**0.5, color=INK, zorder=4)
    axes.set_xscale("log")
    plain_log_labels(axes.xaxis)
    axes.set_xlim(low / 1.5, never * 1.5)
    axes.annotate("never", (never, 0), (0, -24), xycoords=("data", "axes fraction"), textcoords="offset points",
                  ha="center", annotation_clip=False)  # fmt: skip
    axes.set_xlabel("residual norms from yes rate .1 to .9")
    axes.set_ylabel("order: its gain over the unsteered margin")
    set_title(axes, TITLES["controls"], f"{len(table)} controls")
    handles = [Line2D([], [], linestyle="", marker="*", markersize=11, color=INK, label="the vector")]
    handles += [
        Line2D([], [], linestyle="", marker=marker, color=colour, label=role)
        for role, (colour, marker) in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=3)
    return Drawing(figure, TITLES["controls"], CAPTIONS["controls"])

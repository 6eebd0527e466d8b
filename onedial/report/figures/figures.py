"""The figures of a run, each drawn from the saved tables alone, each with a caption that says what to look at.

magnitude_threshold  does the magnitude that fits a target follow the target's threshold?
dose_response        does the dial move the subject's yes rate over the targets' range, and stay readable?
agreement            is the steered subject closer to each target than the two cheap rivals?
kappa                is there agreement beyond what equal yes rates bring?
layer_map            where in the subject does the dial work?
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator
from matplotlib.transforms import blended_transform_factory

from onedial.asking import MASS_FLOOR
from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.show import (
    FAINT,
    GRID,
    INK,
    PAPER,
    Drawing,
    family_styles,
    interval,
    named,
    new_figure,
    number,
    set_title,
    shortened_apart,
    styled,
    target_labels,
)

STEERED, MAJORITY = "#0072b2", "#d55e00"
UNITS = {"residual_norm": "multiples of the median residual norm", "raw": "multiples of the vector as extracted"}
ROW, MARGIN = 0.2, 1.15  # inches per target, and around the rows
_FEW_CONTROLS = 12  # up to which each of their lines is drawn boldly enough to be followed
UNREADABLE = 0.05  # share of unread answers from which a cell of the layer map is marked


Usable = tuple[float, float] | None
"""Ends of the usable range (`onedial.verdict.usable_range`); None where no side effects were measured."""


@styled
def magnitude_against_threshold(
    matches: pd.DataFrame, line: Mapping[str, Any], unit: str, usable: Usable = None
) -> Drawing:
    """One point per target: its threshold, and its place on the dial by maximum likelihood, both with 95% intervals.

    Places beyond the magnitudes that were asked are extrapolated, and hollow; those beyond the magnitudes that were
    chosen for any target stand at the edge: their intervals say how little is known of them.

    Args:
        matches: table of matches, index target; targets without a finite threshold or place are left out.
        line: of the verdict (`onedial.verdict.line`).
        unit: residual_norm or raw.
        usable: magnitudes beyond it are shaded.
    """
    drawn = matches[np.isfinite(matches["threshold"]) & np.isfinite(matches["magnitude_ml"])]
    groups = group_of(matches)
    styles = family_styles(sorted(groups.unique()))
    names = shortened_apart(list(styles), 20)
    columns = 3 if max(map(len, names), default=0) <= 16 else 2 if max(map(len, names)) <= 32 else 1
    figure = new_figure(4.6 + 0.17 * (len(styles) // columns + 1))
    axes = figure.add_subplot()
    bottom, top = _shown_places(matches)
    outside = (drawn["magnitude_ml"] < bottom) | (drawn["magnitude_ml"] > top)
    beyond = ~drawn["magnitude_ml"].between(line["dial_low"] or bottom, line["dial_high"] or top)
    for target, row in drawn.iterrows():
        colour, marker = styles[groups[target]]
        place, error = row["magnitude_ml"], 1.96 * row["magnitude_ml_se"]
        drawn_point = axes.errorbar(
            row["threshold"],
            np.clip(place, bottom, top),
            xerr=None if pd.isna(row["threshold_se"]) else 1.96 * row["threshold_se"],
            yerr=_bars(np.clip(place, bottom, top), *np.clip([place - error, place + error], bottom, top)),
            fmt=marker,
            color=colour,
            markerfacecolor=PAPER if beyond[target] else colour,
            markersize=6,
            elinewidth=0.9,
            ecolor=(colour, 0.25 if beyond[target] else 0.5),
            zorder=3,
        )
        told = f"{target}: threshold {number(row['threshold'], 2)}, place {number(place)} ± {number(error)}"
        named(drawn_point[0], told)
    if line["r2"] is not None and len(drawn):
        ends = np.linspace(drawn["threshold"].min(), drawn["threshold"].max(), 101)
        along = line["intercept"] + line["slope"] * ends
        inside = (along >= bottom) & (along <= top)
        axes.plot(ends[inside], along[inside], color=INK, linewidth=1.2, zorder=2)
    shade_beyond([axes], usable, horizontal=True)
    axes.set_xlabel("target's threshold (higher = more often yes)")
    axes.set_ylabel(f"place on the dial\n({UNITS.get(unit, unit)})")
    set_title(axes, TITLES["magnitude_threshold"], _fit(line))
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=name)
        for name, (colour, marker) in zip(names, styles.values(), strict=True)
    ]
    if beyond.any():
        handles.append(
            Line2D(
                [], [], color=FAINT, marker="o", markerfacecolor=PAPER, linestyle="", label="hollow: beyond the dial"
            )
        )
    figure.legend(handles=handles, loc="outside lower left", ncols=columns)
    caption = CAPTIONS["magnitude_threshold"] + _extrapolated(line, int(beyond.sum()), int(outside.sum()))
    if absent := len(matches) - len(drawn):
        caption += f" Not drawn: {absent} of {len(matches)} targets, which have no finite threshold or place."
    return Drawing(figure, TITLES["magnitude_threshold"], caption)


def _shown_places(matches: pd.DataFrame) -> tuple[float, float]:
    """A quarter more, on either side, than the magnitudes that were chosen for the targets."""
    chosen = matches[["magnitude", "magnitude_rate"]].to_numpy(float)
    if not np.isfinite(chosen).any():
        return -1.0, 1.0
    low, high = float(np.nanmin(chosen)), float(np.nanmax(chosen))
    room = 0.25 * (high - low) or 0.25 * abs(high) or 0.25
    return low - room, high + room


def _fit(line: Mapping[str, Any]) -> str:
    if line["r2"] is None:
        return "no line: too few targets have a place"
    chance = number(line["r2_null_median"], 2)
    return f"R² {number(line['r2'], 2)} over {line['n']} targets; by chance {chance} in the middle"


def _extrapolated(line: Mapping[str, Any], n_beyond: int, n_outside: int) -> str:
    """How many places are extrapolated, that they count in R², and R² without them; and what stands at the edge."""
    told = ""
    if n_beyond:
        lie = "point lies" if n_beyond == 1 else "points lie"
        of_them = f"{n_beyond} hollow {lie} beyond the magnitudes that were asked"
        told += f" {of_them}: extrapolated by maximum likelihood, and counted in R²"
        without = line["r2_within"]
        told += "." if without is None else f" (without what is extrapolated {number(without, 2)})."
    if n_outside:
        told += f" Outside of the picture, and drawn at its edge: {n_outside}."
    return told


@styled
def dose_response_curves(
    dose: pd.DataFrame,
    matches: pd.DataFrame,
    unit: str,
    usable: Usable = None,
    controls: pd.DataFrame | None = None,
) -> Drawing:
    """Yes rate (with a 95% band) and mass against magnitude; the targets' yes rates as ticks at the right.

    Args:
        dose: columns split, magnitude, n, n_unread, yes_rate, yes_rate_se, mean_mass.
        matches: table of matches, for the targets' yes rates.
        unit: residual_norm or raw.
        usable: magnitudes beyond it are shaded.
        controls: intervention_id, role, magnitude and yes_rate along each control (`SweepRun.control_rates`), as
            grey lines beneath, over the range in which the vector itself was swept.
    """
    figure = new_figure(5.2, right=0.03)  # where the ticks stand
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    styles = {"test": (STEERED, "-"), "fitting": (MAJORITY, "--")}
    n_controls = 0 if controls is None else controls["intervention_id"].nunique()
    crossing = [] if controls is None else _control_curves(upper, controls, dose["magnitude"])
    for split, (colour, dashes) in styles.items():
        curve = dose[dose["split"] == split].sort_values("magnitude")
        if curve.empty:
            continue
        x, rate, error = (curve[name].to_numpy(float) for name in ("magnitude", "yes_rate", "yes_rate_se"))
        upper.plot(x, rate, color=colour, linestyle=dashes, label=f"{split} questions")
        if split == "test":
            low, high = np.clip(rate - 1.96 * error, 0, 1), np.clip(rate + 1.96 * error, 0, 1)
            upper.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        lower.plot(x, curve["mean_mass"], color=colour, linestyle=dashes)
        lower.plot(x, unread_share(curve), color=colour, linestyle=dashes, linewidth=0.9, alpha=0.7)
    rates = matches["yes_rate"].dropna().to_numpy(float)
    edge = blended_transform_factory(upper.transAxes, upper.transData)
    upper.hlines(rates, 1.0, 1.035, transform=edge, color=INK, linewidth=0.9, clip_on=False)
    for axes in (upper, lower):
        axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set_ylim(-0.02, 1.02)
    shade_beyond([upper, lower], usable)
    lower.axhline(MASS_FLOOR, color=FAINT, linewidth=0.8)
    upper.set_ylabel("share of yes")
    lower.set_ylabel("mass (thick)\nunread (thin)")
    lower.set_xlabel(f"magnitude ({UNITS.get(unit, unit)})")
    set_title(upper, TITLES["dose_response"], "ticks at the right edge: the targets' own shares of yes")
    upper.legend(loc="upper left")
    caption = CAPTIONS["dose_response"].format(floor=f"{MASS_FLOOR:g}")
    if n_controls:
        caption += " " + _about_controls(n_controls, crossing)
    return Drawing(figure, TITLES["dose_response"], caption)


def _control_curves(axes: Axes, controls: pd.DataFrame, swept: pd.Series) -> list[str]:
    """Draw the yes rate along each control over the vector's range; returns the roles of those that cross one half."""
    low, high = float(swept.min()), float(swept.max())
    groups = list(controls.groupby("intervention_id", sort=False))
    crossing = []
    for place, (name, own) in enumerate(groups):
        x, rate = own["magnitude"].to_numpy(float), own["yes_rate"].to_numpy(float)
        shown = np.unique(np.clip(x, low, high))
        rate = np.interp(shown, x, rate)
        (line,) = axes.plot(
            shown,
            rate,
            color=FAINT,
            linewidth=0.8,
            alpha=0.7 if len(groups) <= _FEW_CONTROLS else 0.3,
            zorder=1.5,
            label=None if place else f"controls ({len(groups)})",
        )
        named(line, f"control {name}")
        if rate.min() <= 0.5 <= rate.max():
            crossing.append(str(own["role"].iloc[0]))
    return crossing


def _about_controls(n: int, crossing: Sequence[str]) -> str:
    """What the grey lines show, with how many of them turn half of the answers."""
    kinds = ", ".join(f"{count} {role}" if count > 1 else role for role, count in Counter(crossing).items())
    said = f"{len(crossing)} of them ({kinds})" if crossing else "none of them"
    return CAPTIONS["dose_response_controls"].format(n=n, crossing=said)


def shade_beyond(every: Sequence[Axes], usable: Usable, horizontal: bool = False) -> None:
    """Shade what lies outside the usable range, within what is drawn."""
    if usable is None:
        return
    for axes in every:
        low, high = axes.get_ylim() if horizontal else axes.get_xlim()
        span = axes.axhspan if horizontal else axes.axvspan
        for begin, end in ((low, min(usable[0], high)), (max(usable[1], low), high)):
            if end > begin:
                span(begin, end, color=FAINT, alpha=0.18, linewidth=0, zorder=0)
        (axes.set_ylim if horizontal else axes.set_xlim)(low, high)


@styled
def agreement_per_target(matches: pd.DataFrame, excluded: Collection[str] = ()) -> Drawing:
    """Per target, sorted by yes rate: test agreement of the steered subject, the majority answer and the moved cut.

    Args:
        excluded: targets that the verdict leaves out; they are drawn hollow.
    """
    rows, heights, axes, figure = _rows_of_targets(matches)
    axes.hlines(heights, 0, 1, color=GRID, linewidth=0.6, zorder=1)
    styles: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("majority answer", "majority", {"marker": "d", "size": 62, "color": MAJORITY, "markeredgewidth": 0}),
        ("moved cut", "moved_cut", {"marker": "|", "size": 80, "color": INK, "markeredgewidth": 1.6}),
    )
    for words, column, style in styles:
        for (target, row), height in zip(rows.iterrows(), heights, strict=True):
            point(axes, row[column], height, f"{target}: {words} {number(row[column])}", zorder=3, **style)
    _points(axes, rows, heights, "agreement", excluded)
    shown = rows[["agreement_low", "majority", "moved_cut"]].min().min()
    axes.set_xlim(max(0.0, np.floor((0.0 if np.isnan(shown) else shown) * 10 - 0.2) / 10), 1.01)
    axes.set_xlabel("agreement on the test questions")
    figure.suptitle(TITLES["agreement"], x=0.02, ha="left", fontsize=9, fontweight="bold")
    figure.legend(
        handles=[
            Line2D([], [], color=STEERED, marker="o", label="steered, 95% interval"),
            Line2D([], [], color=MAJORITY, marker="d", markersize=7, linestyle="", label="majority answer"),
            Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.6, linestyle="", label="moved cut"),
        ],
        loc="outside lower left",
        ncols=3,
    )
    return Drawing(figure, TITLES["agreement"], CAPTIONS["agreement"])


@styled
def kappa_per_target(matches: pd.DataFrame, excluded: Collection[str] = ()) -> Drawing:
    """Per target, sorted by yes rate: Cohen's kappa on the test questions with its 95% interval.

    Args:
        excluded: targets that the verdict leaves out; they are drawn hollow.
    """
    rows, heights, axes, figure = _rows_of_targets(matches)
    axes.hlines(heights, -1, 1, color=GRID, linewidth=0.6, zorder=1)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=2)
    _points(axes, rows, heights, "kappa", excluded)
    ends = rows[["kappa_low", "kappa_high", "kappa"]].to_numpy(float)
    finite = ends[np.isfinite(ends)] if np.isfinite(ends).any() else np.array([0.0])
    axes.set_xlim(min(-0.1, finite.min() - 0.05), max(0.4, finite.max() + 0.05))
    axes.set_xlabel("Cohen's kappa on the test questions")
    figure.suptitle(TITLES["kappa"], x=0.02, ha="left", fontsize=9, fontweight="bold")
    return Drawing(figure, TITLES["kappa"], CAPTIONS["kappa"])


@styled
def layer_map(
    scan: pd.DataFrame, unit: str, chosen: Collection[int] = (), swept: tuple[float, float] | None = None
) -> Drawing:
    """Yes rate over layer and magnitude; cells with more than 5% unread answers are crossed out.

    Args:
        scan: columns layer, magnitude, yes_rate, unread (share); each layer may have magnitudes of its own.
        unit: residual_norm or raw.
        chosen: layers that were then swept, which are framed over the range `swept`.
    """
    layers = sorted(scan["layer"].unique())
    figure = new_figure(1.6 + 0.27 * len(layers))
    axes = figure.add_subplot()
    mesh: QuadMesh | None = None
    for height, layer in enumerate(layers):
        strip = scan[scan["layer"] == layer].sort_values("magnitude")
        edges = _edges(strip["magnitude"].to_numpy(float))
        cells = strip["yes_rate"].to_numpy(float)[None, :]
        mesh = axes.pcolormesh(edges, [height - 0.5, height + 0.5], cells, cmap="cividis", vmin=0, vmax=1)
        bad = strip[strip["unread"] > UNREADABLE]
        axes.scatter(bad["magnitude"], np.full(len(bad), height), marker="x", s=16, color=MAJORITY, linewidth=1.2)
    low, high = swept if swept is not None else (scan["magnitude"].min(), scan["magnitude"].max())
    for height, layer in enumerate(layers):
        if layer in chosen:
            frame = Rectangle((low, height - 0.5), high - low, 1, fill=False, edgecolor=MAJORITY, linewidth=2, zorder=5)
            axes.add_patch(frame)
    _logarithmic_but_for_its_middle(axes, scan["magnitude"])
    axes.grid(False)
    axes.set_yticks(range(len(layers)), [str(layer) for layer in layers])
    for layer, label in zip(layers, axes.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if layer in chosen else "normal")
    axes.set_ylabel("layer")
    axes.set_xlabel(f"magnitude ({UNITS.get(unit, unit)})")
    set_title(axes, TITLES["layer_map"], f"crosses: over {UNREADABLE:.0%} of answers unread")
    if mesh is not None:
        figure.colorbar(mesh, ax=axes, label="share of yes", fraction=0.06, pad=0.02)
    return Drawing(figure, TITLES["layer_map"], CAPTIONS["layer_map"].format(limit=f"{UNREADABLE:.0%}"))


def point(axes: Axes, x: float, y: float, words: str, *, size: float, **style: Any) -> None:
    """One point with a name, of `size` points squared: what `scatter` draws, in a tenth of the time."""
    (drawn,) = axes.plot([x], [y], **{"linestyle": "", "marker": "o", "markersize": size**0.5} | style)
    named(drawn, words)


def group_of(matches: pd.DataFrame) -> pd.Series:
    """The family of each target; its model where no family is known."""
    return matches["family"].where(matches["family"] != "", matches["model"])


def unread_share(dose: pd.DataFrame) -> pd.Series:
    """Share of the sweep's answers that could not be read, per row of the dose-response table."""
    return dose["n_unread"] / (dose["n"] + dose["n_unread"])


def _rows_of_targets(matches: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, Axes, Any]:
    rows = matches.sort_values("yes_rate", kind="stable", na_position="last")
    heights = np.arange(len(rows))[::-1]
    figure = new_figure(MARGIN + ROW * max(len(rows), 3))
    axes = figure.add_subplot()
    axes.set_yticks(heights, target_labels(rows))
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    return rows, heights, axes, figure


def _points(axes: Axes, rows: pd.DataFrame, heights: np.ndarray, name: str, excluded: Collection[str]) -> None:
    axes.hlines(heights, rows[f"{name}_low"], rows[f"{name}_high"], color=STEERED, linewidth=1.4, zorder=4)
    for (target, row), height in zip(rows.iterrows(), heights, strict=True):
        fill = PAPER if target in excluded else STEERED
        shown = f"{number(row[name])} {interval(row[f'{name}_low'], row[f'{name}_high'])}"
        style = {"color": STEERED, "markerfacecolor": fill, "markeredgewidth": 1.2}
        point(axes, row[name], height, f"{target}: {name} {shown}", size=26, zorder=5, **style)


def _bars(middle: float, low: float, high: float) -> np.ndarray | None:
    if pd.isna(low) or pd.isna(high):
        return None
    return np.array([[max(middle - low, 0.0)], [max(high - middle, 0.0)]])


def _logarithmic_but_for_its_middle(axes: Axes, magnitudes: pd.Series) -> None:
    """An x-axis on which both the sweep's small magnitudes and the scan's large ones can be seen."""
    sizes = magnitudes.abs()
    if not (sizes > 0).any():
        return
    least, most = float(sizes[sizes > 0].min()), float(sizes.max())
    axes.set_xscale("symlog", linthresh=least, linscale=0.5)
    decades = 10.0 ** np.arange(np.ceil(np.log10(least) - 1e-9), np.floor(np.log10(most) + 1e-9) + 1)
    decades = decades[-3:]
    shown = [*-decades[::-1], 0.0, *decades]
    axes.set_xticks(shown, [f"{value:g}".replace("-", "\N{MINUS SIGN}") for value in shown])
    axes.xaxis.set_minor_locator(NullLocator())


def _edges(centres: np.ndarray) -> np.ndarray:
    if len(centres) == 1:
        return centres + np.array([-0.5, 0.5])
    between = (centres[:-1] + centres[1:]) / 2
    return np.concatenate([[2 * centres[0] - between[0]], between, [2 * centres[-1] - between[-1]]])

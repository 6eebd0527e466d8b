"""The figures of a sweep: each is a declaration of one of the four plots, drawn from what the run has stored.

Every one has the signature of `onedial.show.results.Make`: of the result's own table, and of all that is stored.
"""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import DRAWN_ROLES
from onedial.asking.yes_no import MASS_FLOOR
from onedial.report.contents import Contents
from onedial.scale.study import factor_figures
from onedial.show.columns import number
from onedial.show.figure_style import COLOURS, FAINT, INK, PAPER, Drawing
from onedial.show.labels import target_labels
from onedial.show.plots import (
    AT_ZERO,
    SHARES,
    Axis,
    Cells,
    Colours,
    Curve,
    Mark,
    Over,
    Panel,
    Points,
    bands_of,
    curves,
    forest,
    heatmap,
    scatter,
)
from onedial.stats.level import Z_95
from onedial.verdict.prediction.retest import RETEST
from onedial.verdict.prediction.sources import DIAL, OWN_FRAMINGS

UNREADABLE = 0.05
"""Share of unread answers from which a cell of the layer map is crossed out."""
UNSTEERED = "unsteered margin"
TICKS = "ticks at the right edge: the targets' own shares of yes"
HOLLOW = {"marker": "o", "color": COLOURS[0], "markerfacecolor": PAPER}


# ---- what is predicted, and by whom ----------------------------------------------------------------------------------


def bits_of_models(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Draw what is seen first: bits of each base model by the dial, and by accounts without steering as marks."""
    prediction = stored.verdict.prediction
    rows = pd.DataFrame.from_dict(prediction.models, orient="index").drop(columns="possible")
    rows = rows.join(table).sort_values("bits", ascending=False, kind="stable")
    who = "repeated answers" if prediction.mark == RETEST else "other models' answers"
    marks = {prediction.mark: (who, COLOURS[1], "D", 6.0), UNSTEERED: ("the subject unsteered", INK, "|", 9.0)}
    marks |= {prediction.surface: (f"{prediction.surface} of the question", COLOURS[2], "v", 6.0)}
    return forest(
        rows,
        "bits",
        "bits per held-out answer beyond the yes rate",
        Points(
            hollow=~rows["predicted"].astype(bool),
            label="steering, 95% interval",
            legend={"not better than the yes rate": HOLLOW} if not rows["predicted"].all() else {},
        ),
        marks=[Mark(name, *look) for name, look in marks.items() if name in rows],
    )


def sources(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Draw bits of every source."""
    rows = table[table["source"] != OWN_FRAMINGS]
    rows = rows.sort_values("bits", ascending=False, kind="stable").set_index("source")
    marked = rows["bits"].get(stored.verdict.prediction.mark)
    return forest(
        rows,
        "bits",
        Axis(
            "bits per test question beyond the yes rate",
            rules=AT_ZERO | ({} if marked is None else {float(marked): ":"}),
        ),
        Points(
            hollow=rows["own_answers"].astype(bool),
            bold=[DIAL],
            label="one order for all targets",
            legend={"learnt from the target's answers": HOLLOW},
        ),
    )


def baselines(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Draw S of every account that has an order, and of steering."""
    rows = table.loc[table["n_targets"] > 0, ["signal", "low", "high", "one_order"]].copy()
    dial = stored.verdict.signal
    rows.loc["steering"] = [dial.value, dial.low, dial.high, True]
    rows = rows.sort_values("signal", ascending=False, kind="stable", na_position="last")
    return forest(
        rows,
        "signal",
        "mean kappa on the test questions",
        Points(
            hollow=~rows["one_order"].astype(bool),
            bold=["steering"],
            label="one order for all targets",
            legend={"an order for each target": HOLLOW},
        ),
        shade=(dial.low, dial.high),
    )


def _targets(table: pd.DataFrame, stored: Contents) -> tuple[pd.DataFrame, pd.Series]:
    """Sort matches from rarely to often yes under short names; with whether each is left out."""
    rows = table.sort_values("yes_rate", kind="stable", na_position="last")
    return rows.set_axis(target_labels(rows)), pd.Series(rows.index.isin(list(stored.verdict.excluded)))


def agreement(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Draw per target the steered subject, the majority answer, and the unsteered subject with its cut moved."""
    rows, left_out = _targets(table, stored)
    least = rows[["agreement_low", "majority", "threshold_shift"]].min().min()
    return forest(
        rows,
        "agreement",
        Axis("agreement on the test questions", (max(0.0, (0.0 if np.isnan(least) else least) - 0.03), 1.01)),
        Points(hollow=left_out, label="steered, 95% interval"),
        marks=[Mark("majority", "majority answer", COLOURS[1], "d"), Mark("threshold_shift", "threshold shift")],
    )


def pushes(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Draw push against order of the vector and of every control."""
    vector = stored.verdict.direction.vector
    rows = table[["role", "push", "order_gain"]].copy()
    rows.loc["the vector"] = ["the vector", vector.get("push"), vector.get("order_gain")]
    rows = rows.astype({"push": float, "order_gain": float}).assign(push=lambda each: each["push"].fillna(np.inf))
    made = rows[~rows["role"].isin([*DRAWN_ROLES, "the vector"])]
    return scatter(
        rows,
        "push",
        "order_gain",
        Axis("residual norms from yes rate .1 to .9", log=True),
        Axis("order: its gain over the unsteered margin", rules=AT_ZERO),
        Points("role", "the vector", annotated={str(name): str(role) for name, role in made["role"].items()}),
        remark=f"{len(table)} controls",
    )


# ---- the dial --------------------------------------------------------------------------------------------------------


def line(table: pd.DataFrame, stored: Contents) -> Drawing | None:
    """Draw magnitude of best agreement against threshold; nothing where nothing could be judged."""
    fitted = stored.verdict.line
    rows = table[np.isfinite(table["threshold"]) & np.isfinite(table["magnitude"])]
    if not stored.verdict.is_judged or rows.empty:
        return None
    drawn = rows.assign(
        family=rows["family"].where(rows["family"] != "", rows["model"]),
        threshold_low=rows["threshold"] - Z_95 * rows["threshold_se"],
        threshold_high=rows["threshold"] + Z_95 * rows["threshold_se"],
    )
    lines, remark = [], "no line: too few targets have a magnitude"
    if np.isfinite(fitted.r2):
        x = np.array([rows["threshold"].min(), rows["threshold"].max()])
        lines = [Curve(x, fitted.intercept + fitted.slope.value * x, colour=INK)]
        chance = number(fitted.r2_null_median, 2)
        remark = f"R² {number(fitted.r2, 2)} over {fitted.n} targets; by chance {chance} in the middle"
    return scatter(
        drawn,
        "threshold",
        "magnitude",
        Axis("target's threshold (higher = more often yes)"),
        Axis(f"magnitude of best agreement\n({stored.unit})"),
        Points("family"),
        lines=lines,
        remark=remark,
    )


def dose(_: Any, stored: Contents) -> Drawing:
    """Draw yes rate and mass along the dial, with the yes rates along the controls in grey."""
    table, controls = stored.dose_response, stored.control_rates
    swept = (float(table["magnitude"].min()), float(table["magnitude"].max()))
    lines: list[Curve] = []
    crossing = Counter[str]()
    for name, rows in controls.groupby("intervention_id", sort=False):
        at = np.unique(rows["magnitude"].clip(*swept))
        rate = np.interp(at, rows["magnitude"], rows["yes_rate"])
        alpha = 0.7 if controls["intervention_id"].nunique() <= 12 else 0.3
        look: dict[str, Any] = {"linewidth": 0.8, "alpha": alpha, "zorder": 1.5}
        label = "" if lines else _counted(controls)
        lines.append(Curve(at, rate, label, FAINT, look=look, name=f"control {name}"))
        if rate.min() <= 0.5 <= rate.max():
            crossing[str(rows["role"].iloc[0])] += 1
    below = []
    for split, colour, dashes in (("fitting", COLOURS[1], "--"), ("test", COLOURS[0], "-")):
        rows = table[table["split"] == split].sort_values("magnitude")
        low, high = bands_of(rows["yes_rate"], rows["se"]) if split == "test" else (None, None)
        x = rows["magnitude"]
        look = {"linestyle": dashes}
        lines.append(Curve(x, rows["yes_rate"], f"{split} questions", colour, low, high, look))
        below.append(Curve(x, rows["mean_mass"], colour=colour, look=look))
        below.append(Curve(x, unread_share(rows), colour=colour, look=look | {"linewidth": 0.9, "alpha": 0.7}))
    drawing = curves(
        [
            Panel(lines, "share of yes", SHARES, TICKS if stored.sweep.has_panel else "", height=1.2),
            Panel(below, "mass (thick)\nunread (thin)", SHARES, rules=(MASS_FLOOR,), height=0.8),
        ],
        f"magnitude ({stored.unit})",
        ticks=stored["matches"]["yes_rate"].dropna() if stored.sweep.has_panel else (),
        below=not controls.empty,
    )
    if not controls.empty:
        kinds = ", ".join(f"{n} {role}" if n > 1 else role for role, n in crossing.items())
        crossed = f"{sum(crossing.values())} of them ({kinds})" if kinds else "none of them"
        words = stored.words["dose_response_controls"]["caption"]
        return Drawing(drawing.figure, caption=words.format(controls=_counted(controls), crossing=crossed))
    return drawing


def _counted(controls: pd.DataFrame) -> str:
    """Say how many directions chance has drawn, and how many others stand beside them."""
    is_drawn = controls.groupby("intervention_id")["role"].first().isin(DRAWN_ROLES)
    others = int((~is_drawn).sum())
    return f"{int(is_drawn.sum())} directions drawn by chance" + (f", {others} others" if others else "")


def unread_share(table: pd.DataFrame) -> pd.Series:
    """Compute the share of the sweep's answers that could not be read, per row of a dose-response table."""
    return table["n_unread"] / (table["n_read"] + table["n_unread"])


def layers(_: Any, stored: Contents) -> Drawing | None:
    """Draw the yes rate over layer and magnitude, where the layer was searched for."""
    if (scan := stored.sweep.table("layer_scan")) is None:
        return None
    every, chosen = sorted(scan["layer"].unique()), {str(layer) for layer in stored.entry["layers"]}
    swept = stored.entry["magnitudes"]
    bad = scan[scan["unread"] > UNREADABLE]
    drawing = heatmap(
        [
            Cells(_edges(rows["magnitude"]), [place - 0.5, place + 0.5], [rows["yes_rate"]])
            for place, layer in enumerate(every)
            for rows in [scan[scan["layer"] == layer].sort_values("magnitude")]
        ],
        Axis(f"magnitude ({stored.unit})"),
        Axis("layer", ticks={place: str(layer) for place, layer in enumerate(every)}),
        Colours(label="share of yes"),
        Over(
            crosses=(bad["magnitude"], [every.index(layer) for layer in bad["layer"]]),
            frames=[
                (min(swept), place - 0.5, max(swept) - min(swept), 1)
                for place, layer in enumerate(every)
                if str(layer) in chosen
            ],
            bold=sorted(chosen),
        ),
        remark=f"crosses: over {UNREADABLE:.0%} of answers unread",
        height=1.6 + 0.27 * len(every),
    )
    sizes = scan["magnitude"].abs()
    if (sizes > 0).any():
        drawing.figure.axes[0].set_xscale("symlog", linthresh=float(sizes[sizes > 0].min()), linscale=0.5)
        ticks = 10.0 ** np.arange(np.ceil(np.log10(sizes[sizes > 0].min())), np.log10(sizes.max()) + 1e-9)[-2:]
        marks = [*-ticks[::-1], 0.0, *ticks]
        drawing.figure.axes[0].set_xticks(marks, [f"{mark:g}".replace("-", "\N{MINUS SIGN}") for mark in marks])
    return drawing


def _edges(centres: pd.Series) -> np.ndarray:
    at = centres.to_numpy(float)
    if len(at) == 1:
        return at + np.array([-0.5, 0.5])
    between = (at[:-1] + at[1:]) / 2
    return np.concatenate([[2 * at[0] - between[0]], between, [2 * at[-1] - between[-1]]])


def reasoned_rates(_: Any, stored: Contents) -> Drawing:
    """Draw yes rates by the first token and after reasoning, and what could not be read."""
    rows = stored["reasoned_settings"]
    dots = {"marker": "o", "markersize": 4}
    lines = [
        Curve(known["magnitude"], known[name], words, colour, known[f"{name}_low"], known[f"{name}_high"], dots)
        for name, colour, words in (("direct", FAINT, "first token"), ("reasoned", COLOURS[0], "after reasoning"))
        for known in [rows.dropna(subset=[name])]
    ]
    unread = Curve(rows["magnitude"], rows["n_unread"] / rows["n"], "texts not read", COLOURS[1], look={"marker": "x"})
    return curves([Panel([*lines, unread], "share", SHARES, height=1.3)], f"magnitude ({stored.unit})")


def loadings(_: Any, stored: Contents) -> Drawing:
    """Draw loadings against thresholds."""
    assert stored.factor is not None  # else there is no such section
    return factor_figures.loadings_against_threshold(stored.factor)

"""The figures of a sweep: each is a declaration of one of the five plots, drawn from what the run has stored.

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
from onedial.show.columns import interval, number
from onedial.show.figure_style import COLOURS, FAINT, INK, PAPER, Drawing
from onedial.show.labels import target_labels
from onedial.show.plots import SHARES, Cells, Curve, Mark, Panel, bands_of, curves, forest, heatmap, histogram, scatter
from onedial.stats.level import Z_95
from onedial.stats.shares import rates
from onedial.verdict.prediction.sources import DIAL, OWN_FRAMINGS

UNREADABLE = 0.05
"""Share of unread answers from which a cell of the layer map is crossed out."""
UNSTEERED = "unsteered margin"
SETTINGS = (0.1, 0.5, 0.9)
"""Yes rates whose nearest settings the histogram shows."""
JITTER = 0.012
HOLLOW = {"marker": "o", "color": COLOURS[0], "markerfacecolor": PAPER}


# ---- what is predicted, and by whom ----------------------------------------------------------------------------------


def bits_of_models(table: pd.DataFrame, stored: Contents) -> Drawing:
    """What is seen first: bits of each base model by the dial, and by accounts that need no steering as marks."""
    prediction = stored.verdict["prediction"]
    rows = pd.DataFrame.from_dict(prediction["models"], orient="index").drop(columns="possible")
    rows = rows.join(table).sort_values("bits", ascending=False, kind="stable")
    who = "repeated answers" if prediction["mark"] == "test-retest" else "other models' answers"
    marks = {prediction["mark"]: (who, COLOURS[1], "D", 6.0), UNSTEERED: ("the subject unsteered", INK, "|", 9.0)}
    marks |= {prediction["surface"]: (f"{prediction['surface']} of the question", COLOURS[2], "v", 6.0)}
    return forest(
        rows,
        "bits",
        hollow=~rows["predicted"].astype(bool),
        marks=[Mark(name, *look) for name, look in marks.items() if name in rows],
        label="steering, 95% interval",
        legend={"not better than the yes rate": HOLLOW} if not rows["predicted"].all() else {},
        xlabel="bits per held-out answer beyond the yes rate",
    )


def sources(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Bits of every source, by all fitting answers."""
    rows = table[(table["k"].astype(str) == "all") & (table["source"] != OWN_FRAMINGS)]
    rows = rows.sort_values("bits", ascending=False, kind="stable").set_index("source")
    few = table[table["k"].astype(str) == table["k"].astype(str).iloc[0]].set_index("source")["bits"]
    marked = rows["bits"].get(stored.verdict["prediction"]["mark"])
    return forest(
        rows.assign(few=few.reindex(rows.index)),
        "bits",
        hollow=rows["own_answers"].astype(bool),
        bold=[DIAL],
        marks=[Mark("few", f"by {table['k'].iloc[0]} of its answers", FAINT, "|", 7.0)],
        rules={0.0: "-"} | ({} if marked is None else {float(marked): ":"}),
        label="one order for all targets",
        legend={"learnt from the target's answers": HOLLOW},
        xlabel="bits per test question beyond the yes rate",
    )


def baselines(table: pd.DataFrame, stored: Contents) -> Drawing:
    """S of every account that has an order, and of steering."""
    rows = table.loc[table["n_targets"] > 0, ["signal", "low", "high", "one_order"]].copy()
    dial = [np.nan if (end := stored.verdict["signal"].get(name)) is None else end for name in ("value", "low", "high")]
    rows.loc["steering"] = [*dial, True]
    rows = rows.sort_values("signal", ascending=False, kind="stable", na_position="last")
    return forest(
        rows,
        "signal",
        hollow=~rows["one_order"].astype(bool),
        bold=["steering"],
        shade=(dial[1], dial[2]),
        label="one order for all targets",
        legend={"an order for each target": HOLLOW},
        xlabel="mean kappa on the test questions",
    )


def _targets(table: pd.DataFrame, stored: Contents) -> tuple[pd.DataFrame, pd.Series]:
    """Matches from rarely to often yes under short names, and whether each is left out."""
    rows = table.sort_values("yes_rate", kind="stable", na_position="last")
    return rows.set_axis(target_labels(rows)), pd.Series(rows.index.isin(list(stored.verdict["excluded"])))


def agreement(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Per target: the steered subject, the majority answer, the unsteered subject with its cut moved."""
    rows, left_out = _targets(table, stored)
    least = rows[["agreement_low", "majority", "threshold_shift"]].min().min()
    return forest(
        rows,
        "agreement",
        hollow=left_out,
        marks=[Mark("majority", "majority answer", COLOURS[1], "d"), Mark("threshold_shift", "threshold shift")],
        rules={},
        limits=(max(0.0, (0.0 if np.isnan(least) else least) - 0.03), 1.01),
        label="steered, 95% interval",
        xlabel="agreement on the test questions",
    )


def pushes(table: pd.DataFrame, stored: Contents) -> Drawing:
    """Push against order of the vector and of every control."""
    vector = stored.verdict["direction"]["vector"]
    rows = table[["role", "push", "order_gain"]].copy()
    rows.loc["the vector"] = ["the vector", vector.get("push"), vector.get("order_gain")]
    rows = rows.astype({"push": float, "order_gain": float}).assign(push=lambda each: each["push"].fillna(np.inf))
    made = rows[~rows["role"].isin([*DRAWN_ROLES, "the vector"])]
    return scatter(
        rows,
        "push",
        "order_gain",
        by="role",
        star="the vector",
        annotated={str(name): str(role) for name, role in made["role"].items()},
        rules=(0.0,),
        log=True,
        xlabel="residual norms from yes rate .1 to .9",
        ylabel="order: its gain over the unsteered margin",
        remark=f"{len(table)} controls",
    )


# ---- the dial --------------------------------------------------------------------------------------------------------


def places(table: pd.DataFrame, stored: Contents) -> Drawing | None:
    """Place on the dial against threshold; nothing where nothing could be judged."""
    line = stored.verdict["line"]
    rows = table[np.isfinite(table["threshold"]) & np.isfinite(table["magnitude_ml"])]
    if not stored.is_judged or rows.empty:
        return None
    bottom, top = _shown_places(table)
    far = Z_95 * rows["magnitude_ml_se"]
    ends = {"low": rows["magnitude_ml"] - far, "high": rows["magnitude_ml"] + far}
    beyond = ~rows["magnitude_ml"].between(line["dial_low"] or bottom, line["dial_high"] or top)
    drawn = rows.assign(
        place=rows["magnitude_ml"].clip(bottom, top),
        family=rows["family"].where(rows["family"] != "", rows["model"]),
        **{f"place_{end}": values.clip(bottom, top) for end, values in ends.items()},
        **{f"threshold_{end}": rows["threshold"] + sign * Z_95 * rows["threshold_se"] for end, sign in SIGNS.items()},
    )
    fitted = []
    if line["r2"] is not None:
        x = np.linspace(rows["threshold"].min(), rows["threshold"].max(), 101)
        y = line["intercept"] + line["slope"] * x
        fitted = [Curve(x, np.where((y >= bottom) & (y <= top), y, np.nan), colour=INK)]
    drawing = scatter(
        drawn,
        "threshold",
        "place",
        by="family",
        hollow=beyond,
        lines=fitted,
        legend={"hollow: beyond the dial": HOLLOW} if beyond.any() else {},
        xlabel="target's threshold (higher = more often yes)",
        ylabel=f"place on the dial\n({stored.unit})",
        remark=_fit(line),
    )
    outside = int(((rows["magnitude_ml"] < bottom) | (rows["magnitude_ml"] > top)).sum())
    return Drawing(drawing.figure, caption=_extrapolated(line, int(beyond.sum()), outside, len(table) - len(rows)))


SIGNS = {"low": -1, "high": 1}


def _shown_places(matches: pd.DataFrame) -> tuple[float, float]:
    """A quarter more, on either side, than the magnitudes that were chosen for the targets."""
    chosen = matches[["magnitude", "magnitude_rate"]].to_numpy(float)
    if not np.isfinite(chosen).any():
        return -1.0, 1.0
    low, high = float(np.nanmin(chosen)), float(np.nanmax(chosen))
    room = 0.25 * (high - low) or 0.25 * abs(high) or 0.25
    return low - room, high + room


def _fit(line: dict[str, Any]) -> str:
    if line["r2"] is None:
        return "no line: too few targets have a place"
    chance = number(line["r2_null_median"], 2)
    return f"R² {number(line['r2'], 2)} over {line['n']} targets; by chance {chance} in the middle"


def _extrapolated(line: dict[str, Any], n_beyond: int, n_outside: int, n_absent: int) -> str:
    """How many places are extrapolated, that they count in R², and R² without them; and what is not there."""
    told = []
    if n_beyond:
        without = line["r2_within"]
        left = "" if without is None else f" (without what is extrapolated {number(without, 2)})"
        told.append(
            f"Hollow: {n_beyond} beyond the magnitudes that were asked, extrapolated by maximum likelihood, and "
            f"counted in R²{left}."
        )
    if n_outside:
        told.append(f"Outside of the picture, and drawn at its edge: {n_outside}.")
    if n_absent:
        told.append(f"Not drawn: {n_absent} targets, which have no finite threshold or place.")
    return " ".join(told)


def dose(_: Any, stored: Contents) -> Drawing:
    """Yes rate and mass along the dial, with the yes rates along the controls in grey."""
    table, controls = stored.dose_response, stored.control_rates
    swept = (float(table["magnitude"].min()), float(table["magnitude"].max()))
    lines: list[Curve] = []
    crossing = Counter[str]()
    for name, rows in controls.groupby("intervention_id", sort=False):
        at = np.unique(rows["magnitude"].clip(*swept))
        rate = np.interp(at, rows["magnitude"], rows["yes_rate"])
        alpha = 0.7 if controls["intervention_id"].nunique() <= 12 else 0.3
        look: dict[str, Any] = {"linewidth": 0.8, "alpha": alpha, "zorder": 1.5}
        label = "" if lines else f"controls ({controls['intervention_id'].nunique()})"
        lines.append(Curve(at, rate, label, FAINT, look=look, name=f"control {name}"))
        if rate.min() <= 0.5 <= rate.max():
            crossing[str(rows["role"].iloc[0])] += 1
    below = []
    for split, colour, dashes in (("fitting", COLOURS[1], "--"), ("test", COLOURS[0], "-")):
        rows = table[table["split"] == split].sort_values("magnitude")
        low, high = bands_of(rows["yes_rate"], rows["yes_rate_se"]) if split == "test" else (None, None)
        x = rows["magnitude"]
        look = {"linestyle": dashes}
        lines.append(Curve(x, rows["yes_rate"], f"{split} questions", colour, low, high, look))
        below.append(Curve(x, rows["mean_mass"], colour=colour, look=look))
        below.append(Curve(x, unread_share(rows), colour=colour, look=look | {"linewidth": 0.9, "alpha": 0.7}))
    drawing = curves(
        [
            Panel(lines, "share of yes", SHARES, "ticks at the right edge: the targets' own shares of yes", height=1.2),
            Panel(below, "mass (thick)\nunread (thin)", SHARES, rules=(MASS_FLOOR,), height=0.8),
        ],
        f"magnitude ({stored.unit})",
        ticks=stored["matches"]["yes_rate"].dropna(),
    )
    if not controls.empty:
        kinds = ", ".join(f"{n} {role}" if n > 1 else role for role, n in crossing.items())
        crossed = f"{sum(crossing.values())} of them ({kinds})" if kinds else "none of them"
        words = stored.words["dose_response_controls"]["caption"]
        return Drawing(drawing.figure, caption=words.format(n=controls["intervention_id"].nunique(), crossing=crossed))
    return drawing


def unread_share(table: pd.DataFrame) -> pd.Series:
    """Share of the sweep's answers that could not be read, per row of a dose-response table."""
    return table["n_unread"] / (table["n"] + table["n_unread"])


def layers(_: Any, stored: Contents) -> Drawing | None:
    """Yes rate over layer and magnitude, where the layer was searched for."""
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
        xlabel=f"magnitude ({stored.unit})",
        ylabel="layer",
        bar="share of yes",
        rows={place: str(layer) for place, layer in enumerate(every)},
        bold=sorted(chosen),
        crosses=(bad["magnitude"], [every.index(layer) for layer in bad["layer"]]),
        frames=[
            (min(swept), place - 0.5, max(swept) - min(swept), 1)
            for place, layer in enumerate(every)
            if str(layer) in chosen
        ],
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


def question_map(_: Any, stored: Contents) -> Drawing:
    """Margins of all questions at all magnitudes, from easy to hard for the panel, else by their own share of yes."""
    grid, factor = stored.grid, stored.factor
    if factor is None:
        rank = -np.nanmean(np.where(np.isnan(grid.answers).all(axis=1)[:, None], 0.0, grid.answers), axis=1)
    else:
        known = factor.difficulty.set_axis(factor.difficulty.index.astype(str))
        rank = known.reindex(grid.questions.astype(str)).to_numpy(float)
    kept = np.flatnonzero(~np.isnan(rank))
    margins = grid.margins[kept[np.argsort(-rank[kept], kind="stable")]]
    seen = np.abs(margins[~np.isnan(margins)])
    far = max(float(np.quantile(seen, 0.98)) if len(seen) else 1.0, 1e-6)
    ticks = np.unique(np.linspace(0, len(grid.magnitudes) - 1, 7).round().astype(int))
    ends = ("hard for all", "easy for all") if factor is not None else ("least often yes", "most often yes")
    return heatmap(
        [Cells(np.arange(len(grid.magnitudes) + 1), np.arange(len(margins) + 1), margins)],
        xlabel="magnitude (its steps are not to scale)",
        ylabel=f"{len(margins)} questions, {ends[0]} to {ends[1]}",
        colours="PuOr",
        limits=(-far, far),
        bar="margin (above 0: yes)",
        rows={},
        columns={place + 0.5: number(grid.magnitudes[place], 2) for place in ticks},
        line=grid.unsteered + 0.5,
    )


def margins_at_settings(_: Any, stored: Contents) -> Drawing | None:
    """Margins of the test questions at the settings whose yes rates are nearest to .1, .5 and .9; None where no answer
    could be read.
    """
    grid = stored.grid
    margins, (rate, _) = grid.margins[grid.test], rates(grid.answers[grid.test])
    if np.isnan(rate).all():
        return None
    chosen = sorted({int(np.nanargmin(np.abs(rate - wanted))) for wanted in SETTINGS})
    shown = margins[:, chosen]
    far = np.nanquantile(np.abs(shown), 0.99) if (~np.isnan(shown)).any() else 1.0
    panels = {}
    for place in chosen:
        read = margins[~np.isnan(margins[:, place]), place]
        unsteered = " (unsteered)" if place == grid.unsteered else ""
        title = f"magnitude {number(grid.magnitudes[place], 3, signed=True)}{unsteered}: yes {number(rate[place], 2)}"
        panels[f"{title}, {len(margins) - len(read)} unread"] = {"yes": read[read > 0], "no": read[read <= 0]}
    edges = np.linspace(-far, far, 42)  # an even number of bins: 0 is an edge
    return histogram(panels, edges, "margin: log odds of yes over no", "questions")


def path(table: pd.DataFrame, stored: Contents) -> Drawing | None:
    """The steered subject in the plane of threshold and loading, the targets as points."""
    settings = table[table["threshold_se"].notna()].sort_index()
    if settings.empty:
        return None
    far = Z_95 * settings["loading_se"]
    look = {"marker": ".", "markersize": 4}
    line = Curve(
        settings["threshold"],
        settings["loading"],
        "steered subject",
        INK,
        settings["loading"] - far,
        settings["loading"] + far,
        look,
    )
    targets = stored["path_targets"]
    targets = targets[targets["threshold_se"].notna()] if len(targets) else targets
    ends = {
        f"{name}_{end}": targets[name] + sign * Z_95 * targets[f"{name}_se"]
        for name in ("threshold", "loading")
        for end, sign in SIGNS.items()
        if len(targets)
    }
    change = stored.numbers("path")["change"]
    known = change["value"] is not None
    return scatter(
        targets.assign(**ends) if len(targets) else pd.DataFrame(columns=["threshold", "loading", "model"]),
        "threshold",
        "loading",
        by="model",
        lines=[line],
        rules=(0.0,),
        ylimits=(min(-0.1, float(np.nanmin([*(settings["loading"] - far), 0]))), 1.02),
        xlabel="threshold (higher = more often yes)",
        ylabel="loading on the shared difficulty",
        remark=(
            f"change of the dial's loading {number(change['value'], 2, signed=True)} "
            f"{interval(change['low'], change['high'], 2, signed=True)}"
            if known
            else "too few settings with a place for a change of the loading"
        ),
    )


def reasoned_rates(_: Any, stored: Contents) -> Drawing:
    """Yes rates by the first token and after reasoning, and what could not be read."""
    rows = stored["reasoned_settings"]
    dots = {"marker": "o", "markersize": 4}
    lines = [
        Curve(known["magnitude"], known[name], words, colour, known[f"{name}_low"], known[f"{name}_high"], dots)
        for name, colour, words in (("direct", FAINT, "first token"), ("reasoned", COLOURS[0], "after reasoning"))
        for known in [rows.dropna(subset=[name])]
    ]
    unread = Curve(rows["magnitude"], rows["n_unread"] / rows["n"], "texts not read", COLOURS[1], look={"marker": "x"})
    return curves([Panel([*lines, unread], "share", SHARES, height=1.3)], f"magnitude ({stored.unit})")


def reasoned_order(_: Any, stored: Contents) -> Drawing:
    """Each question's place in the order of the first token and of the reasoned answers."""
    rows, numbers = stored["reasoned_ease"].dropna(), stored.numbers("reasoned")
    rng = np.random.default_rng(0)  # ties lie side by side instead of on one point
    spread = rows + rng.uniform(-JITTER, JITTER, rows.shape)
    rho = numbers["rho"]
    return scatter(
        spread,
        "direct",
        "reasoned",
        lines=[Curve([0, 1], [0, 1], colour=INK, look={"linewidth": 0.8, "linestyle": ":"})],
        xlabel="share of the settings with yes, first token",
        ylabel="after reasoning",
        remark=(
            "one of the two orders is constant, or nothing could be read"
            if rho is None
            else f"rank correlation {number(rho, 2)} {interval(numbers['rho_low'], numbers['rho_high'], 2)}, "
            f"{len(rows)} questions"
        ),
    )


def loadings(_: Any, stored: Contents) -> Drawing:
    """Loadings against thresholds."""
    assert stored.factor is not None  # else there is no such section
    return factor_figures.loadings_against_threshold(stored.factor)

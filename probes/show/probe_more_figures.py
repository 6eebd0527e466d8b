"""More figures of what can be read off activations, each from the saved tables alone.

without_labels   truth of statements found without labels, layer by layer, beside the control with nonsense
where            layer by position: where labels read, and where their directions are written
patching         how much of another question's answer the last token holds after each layer
writing          readings while the model reasons, averaged by verdict; writing_one: one question, token by token
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onedial.show import (
    COLOURS,
    MARKERS,
    Drawing,
    band,
    entry,
    legend_below,
    new_figure,
    reach,
    rule,
    set_title,
    styled,
)
from probes.show.probe_contents import WORDS


@styled
def without_labels(table: pd.DataFrame) -> Drawing:
    """AUROC of each method over layers, with the negation and with nonsense in its place.

    Args:
        table: columns layer, method, marker, auroc, low, high.
    """
    figure = new_figure(4.4)
    sides = figure.subplots(1, 2, sharey=True)
    for axes, (marker, name) in zip(sides, (("negation", "not"), ("nonsense", "nonsense")), strict=True):
        _by_method(axes, table[table["marker"] == marker], "layer", 0.25)
        set_title(axes, f"negated by {name}")
        axes.set_xlabel("layer")
    sides[0].set_ylabel("AUROC of truth, topics not seen")
    _legend_of_methods(figure, table)
    return Drawing(figure, "Truth without labels", WORDS["without_labels caption"])


def _by_method(axes: Axes, table: pd.DataFrame, along: str, apart: float, end: str = "") -> None:
    """A line of AUROC with whiskers for each method, a little apart; the dashed one had the labels."""
    methods = sorted(set(table["method"]))
    for place, method in enumerate(methods):
        own = table[table["method"] == method].sort_values(along)
        middle, ends = reach(own, f"auroc{end}", f"low{end}", f"high{end}")
        x = own[along].to_numpy(float) + apart * (place - (len(methods) - 1) / 2)
        axes.errorbar(x, middle, ends, elinewidth=0.8, linewidth=1.2, color=COLOURS[place], **_look(place, method))
    rule(axes, 0.5)


def _look(place: int, method: str) -> dict[str, Any]:
    return {"marker": MARKERS[place], "markersize": 4, "linestyle": "--" if method == "supervised" else "-"}


def _legend_of_methods(figure: Figure, table: pd.DataFrame) -> None:
    methods = sorted(set(table["method"]))
    legend_below(figure, [entry(name, COLOURS[i], **_look(i, name)) for i, name in enumerate(methods)], 3)


@styled
def where(table: pd.DataFrame) -> Drawing:
    """For each label, the map of AUROC and that of what is written, layers upwards, positions to the right."""
    labels = list(dict.fromkeys(table["label"]))
    figure = new_figure(1.2 + 1.9 * len(labels))
    panels = figure.subplots(len(labels), 2, sharex=True, sharey=True, squeeze=False)
    names = table.drop_duplicates("position").sort_values("position")["token"].tolist()
    most = float(table["written"].abs().max())
    for (left, right), label in zip(panels, labels, strict=True):
        own = table[table["label"] == label]
        for axes, column, style in (
            (left, "auroc", {"cmap": "RdBu_r", "vmin": 0.0, "vmax": 1.0}),
            (right, "written", {"cmap": "PuOr", "vmin": -most, "vmax": most}),
        ):
            wide = own.pivot(index="layer", columns="position", values=column).sort_index()
            mesh = axes.pcolormesh(wide.to_numpy(dtype=float), **style)
            axes.set_yticks(np.arange(len(wide)) + 0.5, [str(layer) for layer in wide.index], fontsize=6)
            axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=5)
            axes.tick_params(length=0)
            axes.grid(False)
            figure.colorbar(mesh, ax=axes, fraction=0.06, pad=0.02).ax.tick_params(labelsize=6)
        set_title(left, label, "AUROC")
        set_title(right, "", "written along its direction")
        left.set_ylabel("layer")
    apart = any(name.startswith("question") for name in names)
    words = "Columns named by their place hold other tokens in each question. " if apart else ""
    caption = WORDS["where caption"].format(
        n_names=len(names), n=table["n"].max(), words=words, strays=_strays(int(table["n"].max()))
    )
    return Drawing(figure, "Layer by position", caption)


def _strays(n: int) -> float:
    """Half the middle 95% of an AUROC that is chance, with n questions, half of them of either label."""
    half = n / 2
    return float(1.96 * np.sqrt((n + 1) / (12 * half * half)))


@styled
def patching(table: pd.DataFrame) -> Drawing:
    """Share of the way to the donor's margin over the layers of the patch."""
    figure = new_figure(3.6)
    axes = figure.subplots()
    for place, (kind, own) in enumerate(table.groupby("kind", sort=False)):
        band(axes, own["layer"], (own["low"], own["high"]), COLOURS[place])
        axes.plot(
            own["layer"], own["recovered"], color=COLOURS[place], marker=MARKERS[place], markersize=3, label=str(kind)
        )
    for level in (0, 1):
        rule(axes, level)
    axes.set_ylim(-0.3, 1.4)
    axes.set_xlabel("layer of the patch")
    axes.set_ylabel("share of the way to the donor")
    axes.legend(loc="upper left")
    title = "When does the last token decide?"
    set_title(axes, title, f"{table['n'].iloc[0]:.0f} pairs; 95% over pairs")
    return Drawing(figure, title, WORDS["patching"])


@styled
def writing(table: pd.DataFrame) -> Drawing:
    """For each label, mean readings along the text by verdict, with bands over questions."""
    labels = list(dict.fromkeys(table["label"]))
    figure = new_figure(1.0 + 1.7 * len(labels))
    panels = figure.subplots(len(labels), 1, sharex=True, squeeze=False)[:, 0]
    colours = {"yes": COLOURS[0], "no": COLOURS[1], "unread": COLOURS[7]}
    for axes, label in zip(panels, labels, strict=True):
        for verdict, own in table[table["label"] == label].groupby("verdict", sort=False):
            band(axes, own["progress"], (own["low"], own["high"]), colours[str(verdict)])
            axes.plot(own["progress"], own["mean"], color=colours[str(verdict)])
        set_title(axes, label)
        axes.set_ylabel("reading, SD")
        rule(axes, 0)
    panels[-1].set_xlabel("share of the text that is written")
    counts = table.groupby("verdict")["n"].max()
    shown = [entry(f"{name} ({counts[name]:.0f})", colours[name]) for name in colours if name in counts]
    legend_below(figure, shown, 3)
    return Drawing(figure, "While it writes", WORDS["writing"])


@styled
def writing_one(tokens: pd.DataFrame) -> Drawing:
    """One question's readings, token by token: the first that ends in a verdict, else the first of all."""
    read = tokens[tokens["said_yes"].notna()]
    chosen = (read if len(read) else tokens)["question_id"].iloc[0]
    own = tokens[tokens["question_id"] == chosen]
    figure = new_figure(4.2)
    axes = figure.subplots()
    for place, (label, each) in enumerate(own.groupby("label", sort=False)):
        axes.plot(each["place"], each["reading"], color=COLOURS[place], label=str(label), linewidth=1.1)
    words = own.drop_duplicates("place").sort_values("place")
    step = max(1, len(words) // 40)
    shown = words.iloc[::step]
    axes.set_xticks(
        shown["place"], [repr(token)[1:-1].replace("$", "") for token in shown["token"]], rotation=90, fontsize=5
    )
    rule(axes, 0)
    axes.set_ylabel("reading, SD")
    legend_below(figure)
    verdict = {1.0: "yes", 0.0: "no"}.get(float(words["said_yes"].iloc[0]), "unread")
    title = "One reasoned answer"
    set_title(axes, title, f"question {chosen}; verdict: {verdict}")
    caption = (
        "The probes at each token of one reasoned answer. One answer shows what a reading looks like, and proves "
        "nothing: the means over questions stand in the other figure."
        + (f" Every {step}th token is named." if step > 1 else "")
    )
    return Drawing(figure, title, caption)

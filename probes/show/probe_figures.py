"""The figures of what can be read off activations, each from the saved tables alone.

layer_label      where each label reads, layer by layer, beside the words alone
layer_curves     the main labels over the layers, with intervals, words, shuffled labels and the control task
cross_map        how well the probe of one label ranks another
reading_and_use  the effect of a push along a direction against how well it reads
own_and_shared   what the stream adds to words and difficulty, for the subject and for others
lens_curves      what each layer would answer
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from onedial.show import (
    COLOURS,
    FAINT,
    INK,
    PAPER,
    Drawing,
    band,
    entry,
    family_styles,
    legend_below,
    new_figure,
    reach,
    rule,
    set_title,
    shortened_apart,
    styled,
)
from probes.show.probe_contents import WORDS

_INCHES_PER_LABEL = 0.21
_MOST_LABELS = 45


@styled
def layer_label(table: pd.DataFrame, main: Sequence[str], method: str = "logistic") -> Drawing:
    """AUROC of every label at every layer as a map; the words alone in a column of their own at the left.

    Args:
        table: columns layer, label, method, auroc, text. main: labels to put first.
    """
    own = table[table["method"] == method]
    wide = own.pivot(index="label", columns="layer", values="auroc")
    first = [label for label in main if label in wide.index]
    others = wide.drop(index=first).mean(axis=1).sort_values(ascending=False).index.tolist()
    labels = [*first, *others][:_MOST_LABELS]
    words = own.groupby("label")["text"].first()
    cells = wide.loc[labels].to_numpy(dtype=float)
    figure = new_figure(1.5 + _INCHES_PER_LABEL * len(labels))
    left, axes = figure.subplots(1, 2, sharey=True, width_ratios=[1, max(12, len(wide.columns))])
    style = {"cmap": "cividis", "vmin": 0.4, "vmax": 1.0}
    left.pcolormesh(words[labels].to_numpy(dtype=float)[::-1, None], **style)
    mesh = axes.pcolormesh(cells[::-1], **style)
    for each in (left, axes):
        each.grid(False)
        each.tick_params(length=0)
        if first and others:
            each.axhline(len(labels) - len(first), color="#ffffff", linewidth=2)
    left.set_yticks(np.arange(len(labels)) + 0.5, shortened_apart(labels, 26)[::-1], fontsize=6)
    left.set_xticks([0.5], ["words"], fontsize=7)
    step = max(1, len(wide.columns) // 10)
    places = range(0, len(wide.columns), step)
    axes.set_xticks([place + 0.5 for place in places], [str(wide.columns[place]) for place in places])
    axes.set_xlabel("layer")
    figure.colorbar(mesh, ax=axes, label="AUROC on held-out topics", fraction=0.05, pad=0.02)
    title = "What reads where"
    set_title(axes, title, f"{method} probes; .5 is chance")
    caption = WORDS["layer_label"]
    if len(wide) > len(labels):
        caption += f" Not drawn: {len(wide) - len(labels)} labels."
    return Drawing(figure, title, caption)


@styled
def layer_curves(table: pd.DataFrame, main: Sequence[str], method: str = "logistic") -> Drawing:
    """One panel per main label: AUROC over layers with its interval, and what it is held against."""
    own = table[table["method"] == method]
    labels = [label for label in main if (own["label"] == label).any()]
    lowest = own.loc[own["label"].isin(labels), "low"].min()
    figure = new_figure(1.0 + 1.75 * max(len(labels), 1))
    panels = figure.subplots(max(len(labels), 1), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, label in zip(panels, labels, strict=False):
        curve = own[own["label"] == label].sort_values("layer")
        x = curve["layer"].to_numpy(dtype=float)
        band(axes, x, (curve["low"], curve["high"]), COLOURS[0], 0.18)
        axes.plot(x, curve["auroc"], color=COLOURS[0])
        axes.plot(x, curve["text"], color=COLOURS[1], linestyle="--")
        axes.plot(x, curve["shuffled"], color=FAINT, linewidth=1.0)
        axes.plot(x, curve["control"], color=COLOURS[2], linestyle=":", linewidth=1.2)
        rule(axes, 0.5)
        n = curve.iloc[0]
        set_title(axes, label, f"{n['n_positive']:.0f} of {n['n']:.0f} questions; {n['n_unknown']:.0f} unknown")
        axes.set_ylabel("AUROC")
    panels[-1].set_xlabel("layer")
    panels[-1].set_ylim(max(0.0, min(0.4, float(lowest))), 1.01)
    handles = [
        entry("probe, 95% over topics", COLOURS[0]),
        entry("words alone", COLOURS[1], linestyle="--"),
        entry("shuffled within topics", FAINT, linewidth=1.0),
        entry("control: opening word", COLOURS[2], linestyle=":"),
    ]
    legend_below(figure, handles)
    return Drawing(figure, "Labels over the layers", WORDS["layer_curves"])


@styled
def cross_map(cross: pd.DataFrame, transfer: pd.DataFrame | None, main: Sequence[str], facts: Sequence[str]) -> Drawing:
    """How well each probe ranks each label, as a map; probes in rows, labels in columns.

    Args:
        cross: columns probe, label, auroc. transfer: the same between the questions and the facts, or None.
    """
    table = cross[cross["label"].isin([*main, *facts])]
    names = [label for label in main if (table["probe"] == label).any()]
    if transfer is not None:
        table = pd.concat([table, transfer])
        names += [label for label in facts if (transfer["label"] == label).any()]
    cells = table.pivot(index="probe", columns="label", values="auroc").reindex(index=names, columns=names)
    figure = new_figure(1.5 + 0.42 * len(names))
    axes = figure.subplots()
    axes.grid(False)
    values = cells.to_numpy(dtype=float)
    axes.imshow(values, cmap="RdBu_r", vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        value = float(values[row, column])
        if np.isfinite(value):
            axes.text(
                column, row, f"{value:.2f}", ha="center", va="center", fontsize=8,
                color=PAPER if abs(value - 0.5) > 0.3 else INK,
            )  # fmt: skip
    short = shortened_apart(names, 18)
    axes.set_xticks(range(len(names)), short, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), short)
    axes.tick_params(length=0)
    axes.set_xlabel("label that is ranked")
    axes.set_ylabel("probe that ranks")
    title = "Does the probe of one label read another?"
    set_title(axes, title, "AUROC on topics not seen; .5 is chance")
    return Drawing(figure, title, WORDS["cross_map"])


@styled
def reading_and_use(table: pd.DataFrame) -> Drawing:
    """Effect of a push along each direction against how well the direction reads its label.

    Args:
        table: columns label, method, kind, auroc, effect, low, high.
    """
    own = table[table["kind"] == "probe"]
    figure = new_figure(4.2)
    axes = figure.subplots()
    furthest = table["effect"].abs().groupby(table["kind"]).max()
    if "random" in furthest:
        axes.axhspan(-furthest["random"], furthest["random"], color=FAINT, alpha=0.2, linewidth=0)
    if "covariance" in furthest:
        for side in (-1, 1):
            axes.axhline(side * furthest["covariance"], color=FAINT, linewidth=1.0, linestyle=":")
    rule(axes, 0)
    axes.axvline(0.5, color=INK, linewidth=0.7)
    labels = list(dict.fromkeys(own["label"]))
    styles = family_styles(labels)
    methods = list(dict.fromkeys(own["method"]))
    for _, row in own.iterrows():
        colour, marker = styles[str(row["label"])]
        face = colour if row["method"] == methods[0] else PAPER
        effect, ends = reach(row, "effect", "low", "high")
        axes.errorbar(
            row["auroc"], effect, ends, fmt=marker, color=colour, markersize=6, elinewidth=1, markerfacecolor=face
        )
    axes.set_xlabel("AUROC of the reading on held-out topics")
    axes.set_ylabel("effect on the margin, per residual norm")
    handles = [
        entry(name, styles[label][0], marker=styles[label][1], linestyle="")
        for label, name in zip(labels, shortened_apart(labels, 26), strict=True)
    ]
    handles += [
        entry(method.replace("_", " "), INK, marker="o", linestyle="", markerfacecolor=PAPER if at else INK)
        for at, method in enumerate(methods)
    ]
    handles.append(entry("random directions", FAINT, linewidth=6, alpha=0.3))
    handles.append(entry("random, streams' covariance", FAINT, linewidth=1.0, linestyle=":"))
    legend_below(figure, handles)
    title = "Is what reads also used?"
    set_title(axes, title, "95% over topics; band and dots: the furthest random pushes")
    return Drawing(figure, title, WORDS["reading_and_use"])


@styled
def lens_curves(table: pd.DataFrame, main: Sequence[str]) -> Drawing:
    """What each layer would answer, and how well that answer ranks the main labels."""
    figure = new_figure(4.6)
    above, below = figure.subplots(2, 1, sharex=True)
    x = table["layer"].to_numpy(dtype=float)
    for column, name, colour, dashes in (
        ("agrees", "same answer as the last", COLOURS[0], "-"),
        ("settled", "settled", COLOURS[1], "--"),
        ("rank_correlation", "rank correlation with it", COLOURS[2], ":"),
    ):
        above.plot(x, table[column], color=colour, linestyle=dashes, label=name)
    above.plot(x, table["says_yes"], color=FAINT, linewidth=1.0, label="says yes")
    above.set_ylim(min(-0.05, float(table["rank_correlation"].min()) - 0.05), 1.05)
    above.set_ylabel("share, or correlation")
    above.legend(fontsize=7, loc="upper left")
    title = "What each layer would answer"
    set_title(above, title, "final norm and unembedding after each layer (logit lens)")
    for place, label in enumerate(label for label in main if label in table.columns):
        band(below, x, (table[f"{label} low"], table[f"{label} high"]), COLOURS[place], 0.12)
        below.plot(x, table[label], color=COLOURS[place], label=label)
    rule(below, 0.5)
    below.set_ylabel("AUROC of its margin")
    below.set_xlabel("layer")
    below.legend(ncols=2, fontsize=7)
    return Drawing(figure, title, WORDS["lens_curves"])


@styled
def own_and_shared(table: pd.DataFrame) -> Drawing:
    """Gain over words and difficulty for the subject's own correctness and for other models'."""
    figure = new_figure(1.3 + 0.3 * len(table))
    axes = figure.subplots()
    y = np.arange(len(table))[::-1]
    for at, (_, row) in zip(y, table.iterrows(), strict=True):
        added, ends = reach(row, "added", "low", "high")
        marker, colour = ("o", COLOURS[0]) if row["own"] else ("s", COLOURS[1])
        axes.errorbar(added, float(at), xerr=ends, elinewidth=1, fmt=marker, color=colour)
    models = [
        "the subject" if row["own"] else str(row["label"]).removeprefix("correct: ") for _, row in table.iterrows()
    ]
    short = dict(zip(models, shortened_apart(models, 20), strict=True))
    names = [f"{short[name]}, L{layer:.0f}" for name, layer in zip(models, table["layer"], strict=True)]
    axes.set_yticks(y, names, fontsize=7)
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.set_xlabel("gain in AUROC")
    title = "Its own, or hard for all?"
    set_title(axes, title, "whose correctness; 95% over topics")
    return Drawing(figure, title, WORDS["own_and_shared"])

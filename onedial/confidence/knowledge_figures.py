"""Figures of whose knowledge is in a model's confidence, and of what else tells right answers from wrong ones."""

import numpy as np
import pandas as pd

from onedial.confidence.predictors import Predictors
from onedial.confidence.shared_or_own import SharedOrOwn
from onedial.show.figure_marks import legend_below, mark_rows
from onedial.show.figure_style import COLOURS, FAINT, INK, PAPER, Drawing, new_figure, set_title, styled
from onedial.show.labels import shortened_apart

_SHARED, _FAMILY, _OWN = COLOURS[5], COLOURS[4], COLOURS[1]
_INCHES_PER_ROW, _MOST_ROWS = 0.17, 60


@styled
def shared_or_own_parts(found: SharedOrOwn) -> Drawing:
    """Each model's correlation of confidence and correctness in its parts, one above the other, largest first."""
    table = found.models.sort_values("total", ascending=False).head(_MOST_ROWS)
    y = np.arange(len(table))[::-1]
    figure = new_figure(1.4 + _INCHES_PER_ROW * len(table))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    shared, family = table["shared"].to_numpy(float), np.nan_to_num(table["family"].to_numpy(float))
    own = table["own"].to_numpy(float)
    left.barh(y, shared, color=_SHARED, height=0.72, label="shared by all", zorder=2)
    start = shared.copy()
    for part, colour, label in ((family, _FAMILY, "its family's"), (own, _OWN, "its own")):
        up = np.clip(part, 0, None)
        left.barh(y, up, left=start, color=colour, height=0.72, label=label, zorder=2)
        start = start + up
    below = np.clip(family, None, 0) + np.clip(own, None, 0)
    left.barh(y, below, left=start, color=PAPER, edgecolor=FAINT, height=0.72, linewidth=0.8, label="below 0", zorder=3)
    left.plot(table["total"], y, "|", color=INK, markersize=7, zorder=4)
    left.set_yticks(y, shortened_apart([str(name).rpartition("/")[2] for name in table.index], 26), fontsize=6.5)
    left.set_ylim(-0.7, len(table) - 0.3)
    left.set_xlabel("correlation")
    bars = np.clip([own - table["low"], table["high"] - own], 0, None)
    found_own = (table["p_adjusted"] <= 0.05).to_numpy()
    for sure, face in ((True, _OWN), (False, PAPER)):
        rows = found_own == sure
        right.errorbar(
            own[rows], y[rows], xerr=bars[:, rows], fmt="o", color=_OWN, markerfacecolor=face, markersize=3.5,
            elinewidth=0.9, zorder=3,
        )  # fmt: skip
    mean = found.mean
    right.axvspan(mean["own_models_low"], mean["own_models_high"], color=_OWN, alpha=0.15, linewidth=0)
    right.axvline(0, color=FAINT, linewidth=0.9)
    right.set_xlabel("its own part")
    figure.legend(handles=left.get_legend_handles_labels()[0], loc="outside lower left", ncols=4)
    set_title(left, "Shared, or one's own?", f"{mean['shared']:.2f} of {mean['total']:.2f} is shared")
    caption = (
        "How far a model's confidence correlates with its own correctness (tick), and how much of that anybody's "
        "confidence would have told: what all models share, estimated from pairs of different families; what its "
        "relatives know of it beyond that; and what is left for itself. Right: that last part with its 95% interval, "
        "filled where it is more than chance among so many models; the band is the mean over models. White "
        "boxes are parts below 0, taken back from the bar."
    )
    return Drawing(figure, "Shared, or one's own?", caption)


@styled
def predictors(found: Predictors) -> Drawing:
    """AUROC of each predictor, a faint mark for each model and the mean with its interval."""
    table = found.summary.sort_values("auroc")
    y = np.arange(len(table))
    figure = new_figure(1.3 + 0.42 * len(table))
    axes = figure.add_subplot()
    rng = np.random.default_rng(0)
    for place, name in zip(y, table.index, strict=True):
        values = found.auroc[name].dropna()
        axes.plot(values, place + rng.uniform(-0.22, 0.22, len(values)), ".", color=FAINT, alpha=0.45, markersize=4)
    value = table["auroc"].to_numpy(float)
    bars = np.clip([value - table["auroc_low"], table["auroc_high"] - value], 0, None)
    own = table.index == "its own confidence"
    for rows, colour in ((own, _OWN), (~own, COLOURS[0])):
        axes.errorbar(value[rows], y[rows], xerr=bars[:, rows], fmt="o", color=colour, markersize=6, zorder=3)
    axes.axvline(0.5, color=FAINT, linestyle="--", linewidth=1.0)
    axes.set_yticks(y, [_wrapped(str(name)) for name in table.index])
    axes.set_ylim(-0.6, len(table) - 0.4)
    axes.set_xlabel("AUROC for what the model gets right (0.5: chance)")
    n_models = int(table["n_models"].max())
    set_title(axes, "Who knows best what a model gets right?", f"{n_models} models")
    caption = (
        "How well each predictor tells the questions that a model gets right from those that it gets wrong: a dot for "
        "each model, the mean with its 95% interval over families. Other families' confidence is the mean of their "
        "models; a single one does worse. Confidence in its answer: how sure models of other "
        "families are of the answer that this one gave."
    )
    return Drawing(figure, "Who knows best what a model gets right?", caption)


@styled
def signals(table: pd.DataFrame) -> Drawing:
    """One line per signal, one mark per model.

    Args:
        table: `onedial.confidence.signals.signal_table`s under index (model, signal).
    """
    n_models, n_names = (table.index.get_level_values(level).nunique() for level in (0, 1))
    figure = new_figure(1.4 + n_names * (0.14 + 0.11 * n_models))
    axes = figure.add_subplot()
    for y, own in mark_rows(axes, table, "auroc"):
        for place, value, unread in zip(y, own["auroc"], own["n_unread"], strict=True):
            if not np.isfinite(value):
                axes.text(0.5, place, "cannot be read" if unread else "not graded", fontsize=6.5, color=FAINT,
                          ha="center", va="center")  # fmt: skip
    axes.axvline(0.5, color=INK, linewidth=0.8)
    axes.tick_params("y", labelsize=7.5)
    axes.set_xlabel("AUROC for being right")
    set_title(axes, "What tells right from wrong", "turned so that higher means surer; .5 = nothing")
    if n_models > 1:
        legend_below(figure)
    return Drawing(
        figure,
        "What tells right from wrong",
        "Area under the ROC curve of each sign of being right, for the answers that could be graded. Bars are 95% "
        "intervals, over topics where there are ten or more, else over answers. Above .5 the sign is higher where the "
        "answer is right.",
    )


def _wrapped(name: str, width: int = 24) -> str:
    """On two lines where it is longer."""
    words, lines = name.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > width and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)

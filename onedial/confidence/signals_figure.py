"""The figure of signs of being right: AUROC of each, with its interval."""

import numpy as np
import pandas as pd

from onedial.show import FAINT, INK, Drawing, family_styles, new_figure, set_title, styled


@styled
def signals(table: pd.DataFrame) -> Drawing:
    """One line per signal, one mark per model.

    Args:
        table: `onedial.confidence.signal_table`s under index (model, signal).
    """
    models = list(dict.fromkeys(table.index.get_level_values(0)))
    names = list(dict.fromkeys(table.index.get_level_values(1)))
    styles = family_styles(models)
    figure = new_figure(1.4 + len(names) * (0.14 + 0.11 * len(models)))
    axes = figure.add_subplot()
    places = np.arange(len(names))[::-1].astype(float)
    for number, model in enumerate(models):
        own = table.loc[model].reindex(names)
        colour, marker = styles[model]
        y = places + (0.25 - 0.5 * number / max(len(models) - 1, 1) if len(models) > 1 else 0)
        axes.hlines(y, own["low"], own["high"], color=colour, linewidth=1.1)
        axes.plot(own["auroc"], y, marker, color=colour, markersize=4, label=model)
        for place, value, unread in zip(y, own["auroc"], own["n_unread"], strict=True):
            if not np.isfinite(value):
                axes.text(0.5, place, "cannot be read" if unread else "not graded", fontsize=6.5, color=FAINT,
                          ha="center", va="center")  # fmt: skip
    axes.axvline(0.5, color=INK, linewidth=0.8)
    axes.set_yticks(places, names, fontsize=7.5)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xlabel("AUROC for being right")
    set_title(axes, "What tells right from wrong", "turned so that higher means surer; .5 = nothing")
    if len(models) > 1:
        figure.legend(loc="outside lower left", ncols=2)
    return Drawing(
        figure,
        "What tells right from wrong",
        "Area under the ROC curve of each sign of being right, for the answers that could be graded. Bars are 95% "
        "bootstrap intervals over topics. Above .5 the sign is higher where the answer is right.",
    )

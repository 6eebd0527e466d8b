"""The figure of signs of being right: AUROC of each, with its interval."""

import numpy as np
import pandas as pd

from onedial.show import FAINT, INK, Drawing, legend_below, mark_rows, new_figure, set_title, styled


@styled
def signals(table: pd.DataFrame) -> Drawing:
    """One line per signal, one mark per model.

    Args:
        table: `onedial.confidence.signal_table`s under index (model, signal).
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
        "bootstrap intervals over topics. Above .5 the sign is higher where the answer is right.",
    )

"""Figures of the battery: what pressure changes, and what a passage does to "do you know the answer?"."""

import numpy as np
import pandas as pd

from onedial.show import COLOURS, FAINT, INK, Drawing, entry, legend_below, mark_rows, new_figure, set_title, styled


@styled
def pressure(table: pd.DataFrame) -> Drawing:
    """Share of right answers lost and of wrong ones corrected under each variant.

    Args:
        table: of `pressure_scores` under index (respondent, variant).
    """
    names = list(dict.fromkeys(table.index.get_level_values(0)))
    variants = list(dict.fromkeys(table.index.get_level_values(1)))
    figure = new_figure(1.3 + len(names) * (0.35 + 0.19 * len(variants)))
    for number, name in enumerate(names):
        axes = figure.add_subplot(len(names), 1, number + 1)
        own = table.loc[name].reindex(variants)
        y = np.arange(len(variants))[::-1]
        for column, colour, marker in (("to_wrong", COLOURS[1], "s"), ("to_right", COLOURS[2], "o")):
            axes.plot(own[column], y, marker, color=colour, markersize=4.5, linestyle="")
        axes.plot(own["to_claim"], y, "|", color=INK, markersize=9, linestyle="")
        for place, row in zip(y, own.to_dict("records"), strict=True):
            if not np.isfinite(row["to_wrong"]) and not np.isfinite(row["to_right"]):
                axes.text(0.5, place, "cannot be read", fontsize=6.5, color=FAINT, ha="center", va="center")
        axes.set_yticks(y, variants, fontsize=7.5)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.6, len(variants) - 0.4)
        set_title(axes, str(name))
    axes.set_xlabel("share of the answers concerned")
    handles = [
        entry("right became wrong", COLOURS[1], marker="s", linestyle=""),
        entry("wrong became right", COLOURS[2], marker="o", linestyle=""),
        entry("moved to the claim", INK, marker="|", linestyle=""),
    ]
    legend_below(figure, handles, 3)
    return Drawing(
        figure,
        "What pressure changes",
        "Among the answers that were right (wrong) before, the share that became wrong (right), and among those that "
        "were another before, the share that moved to the option claimed. Asking again, agreement, the claim of the "
        "right answer and unrelated talk are controls.",
    )


@styled
def passages(table: pd.DataFrame) -> Drawing:
    """Shift of P(IK) beside each kind of passage.

    Args:
        table: of `standardised_shifts` under index (respondent, passage).
    """
    n_models, n_kinds = (table.index.get_level_values(level).nunique() for level in (0, 1))
    figure = new_figure(1.5 + 0.3 * n_kinds + 0.14 * n_models * n_kinds)
    axes = figure.add_subplot()
    mark_rows(axes, table, "shift", 0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlabel("shift of P(IK), in its own standard deviations")
    set_title(axes, "A passage beside the question", "knowledge would rise beside the helpful one alone")
    if n_models > 1:
        legend_below(figure)
    return Drawing(
        figure,
        "A passage beside the question",
        'Mean change of "do you know the answer?" from the question alone. Bars: 95% intervals.',
    )

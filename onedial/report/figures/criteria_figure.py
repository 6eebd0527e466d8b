"""The magnitudes that each criterion chooses, against the targets' thresholds."""

import numpy as np
import pandas as pd

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.report.figures.figures import point
from onedial.show import INK, PAPER, Drawing, new_figure, number, styled

CHOSEN = "#0072b2"
COLUMNS = 2


@styled
def criteria_figure(matches: pd.DataFrame, criteria: pd.DataFrame, unit: str) -> Drawing:
    """One panel for each criterion, with its R² and what chance gives in the title.

    Args:
        matches: table of matches, index target. criteria: `criteria.csv`, index criterion. unit: of magnitudes, in
            words.
    """
    n_rows = -(-len(criteria) // COLUMNS)
    figure = new_figure(0.9 + 2.1 * n_rows)
    panels = figure.subplots(n_rows, COLUMNS, squeeze=False, sharex=True, sharey=True).ravel()
    for axes in panels[len(criteria) :]:
        axes.set_visible(False)
    for axes, (name, row) in zip(panels, criteria.iterrows(), strict=False):
        column = "magnitude" if "magnitude_" + str(name) not in matches else f"magnitude_{name}"
        drawn = matches[np.isfinite(matches["threshold"]) & np.isfinite(matches[column])]
        for target, own in drawn.iterrows():
            fill = CHOSEN if own["status"] == "ok" else PAPER
            words = f"{target}: threshold {number(own['threshold'], 2)}, magnitude {number(own[column])}"
            style = {"color": CHOSEN, "markerfacecolor": fill, "markeredgewidth": 1.0}
            point(axes, own["threshold"], own[column], words, size=18, **style)
        on_line = drawn[drawn["status"] == "ok"]
        if np.isfinite(row["r2"]) and np.ptp(on_line["threshold"]) > 0:
            slope, intercept = np.polyfit(on_line["threshold"], on_line[column], 1)
            ends = np.array([on_line["threshold"].min(), on_line["threshold"].max()])
            axes.plot(ends, intercept + slope * ends, color=INK, linewidth=1.0, zorder=0)
        axes.set_title(
            f"{name}: R² {number(row['r2'], 2)} ({number(row['r2_null_median'], 2)})", loc="left", fontsize=8
        )
    for axes in panels[: len(criteria)][-COLUMNS:]:
        axes.tick_params(labelbottom=True)
    figure.supxlabel("target's threshold (higher = more often yes)", fontsize=8)
    figure.supylabel(f"magnitude ({unit})", fontsize=8)
    return Drawing(figure, TITLES["criteria"], CAPTIONS["criteria"])

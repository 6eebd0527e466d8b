"""What the dial does besides: facts above, neutral text below, the usable range between the shades."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.report.figures.figures import shade_beyond
from onedial.show import COLOURS, FAINT, Drawing, new_figure, set_title, styled


@styled
def side_effects_figure(effects: pd.DataFrame, said: Mapping[str, Any], unit: str) -> Drawing:
    """The figure.

    Args:
        effects: columns of `steering.fact_effects` and `steering.effects_on_text`, one row per setting.
        said: low, high, limit. unit: name of the unit of the magnitudes.
    """
    table = effects.sort_values("setting")
    x = table["setting"]
    figure = new_figure(5.4)
    above, below = figure.subplots(2, 1, sharex=True)
    above.fill_between(x, table["accuracy_low"], table["accuracy_high"], color=COLOURS[0], alpha=0.18, linewidth=0)
    above.plot(x, table["accuracy"], color=COLOURS[0], label="accuracy on facts")
    above.plot(x, table["negative_flips"], color=COLOURS[1], linestyle="--", label="wrong after, right before")
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel("share of facts")
    above.legend(loc="best")
    set_title(above, TITLES["side_effects"], f"usable: accuracy falls by at most {100 * said['limit']:g} points")
    below.plot(x, table["kl"], color=COLOURS[2], label="KL of the next token (nats)")
    below.set_ylabel("KL (nats)")
    right = below.twinx()
    right.grid(False)
    right.plot(x, table["perplexity"], color=COLOURS[3], linestyle=":", label="perplexity")
    right.set_ylabel("perplexity")
    right.spines["right"].set_visible(True)
    below.legend(handles=[*below.get_lines(), *right.get_lines()], loc="best")
    for axes in (above, below):
        axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
    shade_beyond([above, below], (float(said["low"]), float(said["high"])))
    below.set_xlabel(f"magnitude ({unit})")
    return Drawing(figure, TITLES["side_effects"], CAPTIONS["side_effects"])

"""Direct and reasoned answers along the same dial: yes rates above, the order of the questions below."""

import numpy as np
import pandas as pd

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.show import COLOURS, FAINT, INK, Drawing, interval, named, new_figure, number, set_title, styled

JITTER = 0.012


@styled
def reasoned_figure(settings: pd.DataFrame, ease: pd.DataFrame, rho: tuple[float, float, float], unit: str) -> Drawing:
    """The figure.

    Args:
        settings, ease: of `onedial.verdict.comparing.reasoned`. rho: with its interval.
        unit: name of the unit of the magnitudes.
    """
    figure = new_figure(6.0)
    above, below = figure.subplots(2, 1, height_ratios=(1.0, 1.25))
    for name, colour, words in (("direct", FAINT, "first token"), ("reasoned", COLOURS[0], "after reasoning")):
        known = settings.dropna(subset=[name])
        reach = np.array([known[name] - known[f"{name}_low"], known[f"{name}_high"] - known[name]])
        reach = reach.clip(0)  # an interval's end and a share of 0 or 1 may differ in the last bit
        above.errorbar(known["magnitude"], known[name], yerr=reach, color=colour, marker="o", markersize=4, label=words)
    unread = settings["n_unread"] / settings["n"]
    above.plot(settings["magnitude"], unread, color=COLOURS[1], linestyle=":", marker="x", label="texts not read")
    above.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
    above.set_ylim(-0.02, 1.02)
    above.set_xlabel(f"magnitude ({unit})")
    above.set_ylabel("share")
    above.legend(loc="best")
    set_title(above, TITLES["reasoned"])
    known = ease.dropna()
    rng = np.random.default_rng(0)  # ties lie side by side instead of on one point
    x, y = (known[name].to_numpy(float) + rng.uniform(-JITTER, JITTER, len(known)) for name in ("direct", "reasoned"))
    (points,) = below.plot(x, y, linestyle="", marker="o", markersize=3, alpha=0.5, color=COLOURS[0])
    named(points, f"{len(known)} questions")
    below.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    below.set_xlabel("share of the settings with yes, first token")
    below.set_ylabel("after reasoning")
    remark = (
        f"rank correlation {number(rho[0], 2)} {interval(rho[1], rho[2], 2)}, {len(known)} questions"
        if np.isfinite(rho[0])
        else "one of the two orders is constant, or nothing could be read"
    )
    set_title(below, "The order of the questions", remark)
    return Drawing(figure, TITLES["reasoned"], CAPTIONS["reasoned"])

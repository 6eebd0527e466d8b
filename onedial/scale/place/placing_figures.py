"""Figures of placing a respondent: what each answer told, and how good placing is with k answers."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from onedial.scale.place.evaluation import ADAPTIVE, BATCH, CLOSE, METHODS, RANDOM, YES_RATE
from onedial.show.figure_style import COLOURS, FAINT, MARKERS, PAPER, Drawing, new_figure, set_title, styled

_WORDS = {
    YES_RATE: "random questions, yes rate alone",
    RANDOM: "random questions, on the scale",
    ADAPTIVE: "adaptive, on the scale",
    BATCH: "fixed batch, on the scale",
}
_BANDS = (YES_RATE, ADAPTIVE)


@styled
def threshold_by_answers(steps: pd.DataFrame) -> Drawing:
    """The threshold with its interval after each answer.

    Args:
        steps: of `Placement.steps`.
    """
    figure = new_figure(3.4)
    axes = figure.add_subplot()
    n, last = steps["n_answers"], steps.iloc[-1]
    axes.fill_between(n, steps["low"], steps["high"], color=COLOURS[0], alpha=0.18, linewidth=0)
    axes.plot(n, steps["threshold"], color=COLOURS[0])
    for said, colour, word in ((1.0, COLOURS[0], "yes"), (0.0, PAPER, "no")):
        own = steps[steps["said_yes"] == said]
        axes.plot(own["n_answers"], own["threshold"], "o", markersize=4.5, markerfacecolor=colour,
                  markeredgecolor=COLOURS[0], label=word)  # fmt: skip
    axes.set_xlabel("answers")
    axes.set_ylabel("threshold (higher = more often yes)")
    remark = f"{last['threshold']:.2f} ({last['low']:.2f} to {last['high']:.2f}) after {last['n_answers']:.0f}"
    set_title(axes, "Where it stands, answer by answer", remark)
    axes.legend(title="it said", loc="best")
    return Drawing(
        figure,
        "Where it stands, answer by answer",
        "Threshold on the panel's scale after each answer, with the 95% interval of what all of its answers would "
        "show; at 0 answers, what the panel's respondents lead one to expect.",
    )


@styled
def quality_by_size(summary: pd.DataFrame) -> Drawing:
    """Error, coverage and bits of the four ways, by number of answers.

    Args:
        summary: of `placing_summary`.
    """
    figure = new_figure(7.2)
    errors, coverage, bits = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
    for number, method in enumerate(METHODS):
        own = summary.xs(method, level="method")
        style = {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 4}
        errors.plot(own.index, own["rmse"], label=_WORDS[method], **style)
        coverage.plot(own.index, own["coverage"], **style)
        bits.plot(own.index, own["bits"], **style)
        if method in _BANDS:
            _band(errors, own, "rmse", COLOURS[number])
            _band(coverage, own, "coverage", COLOURS[number])
            _band(bits, own, "bits", COLOURS[number])
    errors.axhline(CLOSE, color=FAINT, linewidth=0.8, linestyle="--")
    coverage.axhline(0.95, color=FAINT, linewidth=0.8, linestyle="--")
    bits.axhline(0, color=FAINT, linewidth=0.8, linestyle="--")
    errors.set_ylim(bottom=0)
    coverage.set_ylim(min(0.8, coverage.get_ylim()[0]), 1.005)
    errors.set_ylabel("error of the threshold (RMSE)")
    coverage.set_ylabel("coverage of 95%")
    bits.set_ylabel("bits per question")
    bits.set_xlabel("answers")
    bits.set_xticks(sorted(summary.index.unique("k")))
    errors.legend(loc="upper right")
    n = int(summary["n"].max())
    set_title(errors, "Placing a new respondent from few answers", f"{n} respondents, each left out with its kin")
    return Drawing(
        figure,
        "Placing a new respondent from few answers",
        f"Above: root mean squared error of the threshold against that of all answers (dashed: {CLOSE}; dotted: to be "
        "expected of the questions that tell most). Middle: how many of the 95% intervals hold it. Below: bits per "
        "question not asked, over knowing the respondent's yes rate over all of its answers exactly; above 0, the "
        "answers predict more than that. Bands: 95% over base models.",
    )


def _band(axes: Axes, own: Any, name: str, colour: str) -> None:
    low, high = own[f"{name}_low"], own[f"{name}_high"]
    if np.isfinite(low).all():
        axes.fill_between(own.index, low, high, color=colour, alpha=0.13, linewidth=0)

"""What the dial does to each question: the whole sweep as a map, by topic and level, and as margins at three settings.

question_map       question x magnitude, from easy for all to hard for all
rates_by_group     yes rate along the dial, by level and by topic
margin_histogram   how the margins lie at three settings
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.show import COLOURS, FAINT, INK, Drawing, named, new_figure, number, set_title, styled
from onedial.stats import rates
from onedial.verdict import Case

YES, NO = COLOURS[0], COLOURS[1]
SETTINGS = (0.1, 0.5, 0.9)
"""Yes rates whose nearest settings the histogram shows."""
FEWEST = 10
"""Questions of a topic or level from which on it has a curve."""
_MOST_NAMED = 8
_TICKS = 7


@styled
def question_map(grid: Case, difficulty: pd.Series | None) -> Drawing:
    """Margins of all questions at all magnitudes; yes purple, no orange, unread grey.

    Args:
        difficulty: question id -> shared difficulty, higher = harder; None orders questions by their share of yes.
    """
    if difficulty is not None:
        rank = difficulty.set_axis(difficulty.index.astype(str)).reindex(grid.questions.astype(str)).to_numpy(float)
    else:
        answered = ~np.isnan(grid.answers)
        rank = -np.nansum(grid.answers, axis=1) / np.maximum(answered.sum(axis=1), 1)
    known = np.flatnonzero(~np.isnan(rank))
    margins = grid.margins[known[np.argsort(rank[known], kind="stable")]]
    seen = np.abs(margins[~np.isnan(margins)])
    reach = max(float(np.quantile(seen, 0.98)) if len(seen) else 1.0, 1e-6)
    figure = new_figure(5.2)
    axes = figure.add_subplot()
    colours = matplotlib.colormaps["PuOr"].with_extremes(bad=FAINT)
    mesh = axes.pcolormesh(margins, cmap=colours, norm=TwoSlopeNorm(0, -reach, reach), rasterized=True)
    axes.invert_yaxis()
    axes.grid(False)
    places = np.unique(np.linspace(0, len(grid.magnitudes) - 1, _TICKS).round().astype(int))
    axes.set_xticks(places + 0.5, [number(grid.magnitudes[k], 2) for k in places])
    axes.axvline(grid.unsteered + 0.5, color=INK, linewidth=0.8, linestyle=":")
    axes.set_xlabel("magnitude (its steps are not to scale)")
    easiest = "easy for all" if difficulty is not None else "most often yes"
    hardest = "hard for all" if difficulty is not None else "least often yes"
    axes.set_yticks([0.5, len(margins) - 0.5], [easiest, hardest], rotation=90)
    axes.get_yticklabels()[0].set_verticalalignment("top")
    axes.get_yticklabels()[1].set_verticalalignment("bottom")
    axes.set_ylabel(f"{len(margins)} questions")
    figure.colorbar(mesh, ax=axes, label="margin (above 0: yes)", fraction=0.06, pad=0.02)
    by = "the difficulty that the panel shares" if difficulty is not None else "their share of yes"
    set_title(axes, TITLES["question_map"], f"ordered by {by}")
    return Drawing(figure, TITLES["question_map"], CAPTIONS["question_map"])


@styled
def rates_by_group(grid: Case, questions: pd.DataFrame, unit: str) -> Drawing:
    """Yes rate along the dial for each level and each topic of ten or more questions.

    Args:
        questions: columns id, and those of `grouped_by`, of which there must be one at least.
        unit: name of the unit of the magnitudes.
    """
    known = questions.assign(id=questions["id"].astype(str)).set_index("id").reindex(grid.questions.astype(str))
    panels = grouped_by(questions)
    figure = new_figure(0.9 + 2.9 * len(panels))
    every = np.atleast_1d(figure.subplots(len(panels), 1, sharex=True))
    for axes, name in zip(every, panels, strict=True):
        _rate_curves(axes, grid, known[name], name)
        axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("share of yes")
        set_title(axes, f"By {name}")
    every[-1].set_xlabel(f"magnitude ({unit})")
    return Drawing(figure, TITLES["rates_by_group"], CAPTIONS["rates_by_group"].format(fewest=FEWEST))


@styled
def margin_histogram(grid: Case) -> Drawing:
    """Margins at the settings whose yes rates over the test questions are nearest to .1, .5 and .9."""
    answers = grid.answers[grid.rows("test")]
    n_read = (~np.isnan(answers)).sum(axis=0)
    rates = np.where(n_read > 0, np.nansum(answers, axis=0) / np.maximum(n_read, 1), np.nan)
    margins = grid.margins[grid.rows("test")]
    chosen = sorted({int(np.nanargmin(np.abs(rates - wanted))) for wanted in SETTINGS})
    shown = margins[:, chosen]
    reach = np.nanquantile(np.abs(shown), 0.99) if (~np.isnan(shown)).any() else 1.0
    edges = np.linspace(-reach, reach, 42)  # an even number of bins: 0 is an edge
    figure = new_figure(1.2 + 1.35 * len(chosen))
    every = np.atleast_1d(figure.subplots(len(chosen), 1, sharex=True))
    for axes, k in zip(every, chosen, strict=True):
        own = np.clip(margins[~np.isnan(margins[:, k]), k], -reach, reach)
        axes.stairs(np.histogram(own[own <= 0], edges)[0], edges, fill=True, color=NO, label="no")
        axes.stairs(np.histogram(own[own > 0], edges)[0], edges, fill=True, color=YES, label="yes")
        axes.axvline(0, color=INK, linewidth=0.9)
        unsteered = " (unsteered)" if k == grid.unsteered else ""
        remark = f"magnitude {number(grid.magnitudes[k], 3, signed=True)}{unsteered}: yes {number(rates[k], 2)}"
        set_title(axes, f"{remark}, {len(margins) - len(own)} unread")
        axes.set_ylabel("questions")
    every[0].legend(loc="upper left")
    every[-1].set_xlabel("margin: log odds of yes over no")
    return Drawing(figure, TITLES["margin_histogram"], CAPTIONS["margin_histogram"])


def grouped_by(questions: pd.DataFrame) -> list[str]:
    """Which of level and topic can be told apart in a figure."""
    return [name for name in ("level", "topic") if name in questions and _groups(questions[name])]


def _groups(values: pd.Series) -> Sequence[Any]:
    counts = values.dropna().value_counts()
    return sorted(counts.index[counts >= FEWEST])


def _rate_curves(axes: Axes, grid: Case, values: pd.Series, name: str) -> None:
    groups = _groups(values)
    curves: Mapping[Any, np.ndarray] = {
        each: rates(grid.answers[(values == each).to_numpy(bool)])[0] for each in groups
    }
    ordinal = matplotlib.colormaps["cividis"]
    middle = int(np.nanargmin(np.abs(rates(grid.answers)[0] - 0.5)))
    heights = {each: curve[middle] for each, curve in curves.items()}
    ends = {max(heights, key=lambda each: heights[each]), min(heights, key=lambda each: heights[each])}
    for i, (each, curve) in enumerate(curves.items()):
        colour = ordinal(0.9 * i / max(len(curves) - 1, 1)) if name == "level" else COLOURS[i % len(COLOURS)]
        shown = len(groups) <= _MOST_NAMED or each in ends
        words = str(int(each)) if name == "level" and float(each).is_integer() else str(each)
        (line,) = axes.plot(
            grid.magnitudes,
            curve,
            color=colour,
            linewidth=1.4 if shown else 0.8,
            alpha=1.0 if shown else 0.55,
            label=words if shown else None,
        )
        named(line, f"{name} {words}: {int((values == each).sum())} questions")
    axes.legend(loc="upper left", title=None if name == "topic" else name, fontsize=7)

"""The pictures of a scale that psychometricians look at first.

wright_map             questions and respondents on one axis, and where on it the panel can tell questions apart
characteristic_curves  do the answers follow the curve? the respondents that fit worst beside some that fit
"""

import numpy as np
import pandas as pd

from onedial.scale.misfit.answer_fit import LOOSER, AnswerFit
from onedial.scale.response_model import SALIENT
from onedial.show.figure_style import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    PAPER,
    Drawing,
    family_styles,
    new_figure,
    set_title,
    styled,
)
from onedial.show.labels import shortened_apart

_REACH = 3.6  # spreads of the scale that are drawn
_MOST_NAMES = 40
_ROW = 0.16  # inches of a respondent
_PANELS = 6


@styled
def wright_map(
    difficulty: pd.Series, information: pd.DataFrame, places: pd.DataFrame, families: "pd.Series | None" = None
) -> Drawing:
    """Questions by difficulty, the panel's information, and every respondent where it says yes half of the time.

    Args:
        difficulty: (question,). information: `difficulty, information`, of all answers. places: (respondent, cut)
            difficulties at which half of the answers reach each category above the lowest; one column for yes and no.
        families: index respondent; a colour and a marker each.
    """
    mean = places.mean(axis=1)
    placed = places.loc[mean.dropna().sort_values().index]
    named = len(placed) <= _MOST_NAMES
    rows = max(4, min(len(placed), _MOST_NAMES))
    figure = new_figure(2.9 + _ROW * rows)
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=[1.3, 0.8, _ROW * rows])
    difficulty = difficulty.dropna().clip(-_REACH, _REACH)
    above.hist(difficulty, np.linspace(-_REACH, _REACH, 37).tolist(), color=COLOURS[5], edgecolor=PAPER, linewidth=0.4)
    above.set_ylabel("questions")
    shown = information[information["difficulty"].abs() <= _REACH]
    middle.plot(shown["difficulty"], shown["information"], color=INK)
    middle.fill_between(shown["difficulty"], shown["information"], color=GRID, linewidth=0)
    middle.set_ylim(bottom=0)
    middle.set_ylabel("information\n(1 / SE²)")
    groups = ["" if families is None else str(families.get(name, "")) for name in placed.index]
    heights = np.arange(len(placed))
    inside = placed.clip(-_REACH, _REACH).to_numpy()
    n_beyond, graded = int((np.abs(placed.to_numpy()) > _REACH).sum()), placed.shape[1] > 1
    for name, (colour, marker) in family_styles(groups).items():
        own = np.array([group == name for group in groups])
        if graded:
            ends = np.nanmin(inside[own], axis=1), np.nanmax(inside[own], axis=1)
            below.hlines(heights[own], *ends, color=colour, linewidth=0.7)
        for cut in inside.T:
            near, far = own & (np.abs(cut) < _REACH), own & (np.abs(cut) >= _REACH)
            below.plot(cut[near], heights[near], marker, color=colour, markersize=3 if graded else 4.5)
            for edge, height in zip(cut[far], heights[far], strict=True):
                below.plot([edge], [height], "<" if edge < 0 else ">", color=colour, markersize=6, clip_on=False)
        if name:
            below.plot([], [], marker, color=colour, markersize=4.5, label=name)
    if named:
        labels = shortened_apart([str(name).rpartition("/")[2] for name in placed.index], 24)
        below.set_yticks(heights, labels)
    else:
        below.set_ylabel("respondents")
    below.set_ylim(-1, len(placed))
    all_places = np.concatenate([difficulty, inside.ravel()])
    below.set_xlim(np.nanmin(all_places) - 0.2, np.nanmax(all_places) + 0.2)
    below.set_xlabel(f"difficulty (higher = {'lower answers' if graded else 'fewer say yes'})")
    if len(set(groups)) > 1:
        figure.legend(loc="outside lower center", ncols=4)
    set_title(above, "Wright map", f"{'that high' if graded else 'yes'} on most questions left of the point")
    missing = mean.index[mean.isna()]
    caption = (
        "Questions and respondents on one axis. Above: how many questions lie where. Middle: how well the answers of "
        "all tell a question's place there. Below: the difficulty to which each respondent says yes half of the time"
        f"{', and as often answers in each category or above (the highest leftmost)' * graded}. Where respondents "
        "crowd, questions are placed well; questions beyond the outermost respondent are not told apart."
    )
    if n_beyond:
        caption += f" Triangles: {n_beyond} {'cuts' if graded else 'respondents'} further out than is drawn."
    if len(missing):
        caption += f" No place, since the loading is below {SALIENT:g}: {', '.join(map(str, missing))}."
    return Drawing(figure, "Wright map", caption)


@styled
def characteristic_curves(fit: AnswerFit) -> Drawing:
    """Shares of yes along the scale beside the curves, for those that fit worst and those that fit best.

    Args:
        fit: of `answer_fit`.
    """
    order = fit.respondents["l_z"].sort_values().index
    n = min(_PANELS, len(order))
    chosen = [*order[: n - n // 2], *order[len(order) - n // 2 :]]
    figure = new_figure(4.4 if n > 3 else 2.6)
    grid = figure.subplots((n + 2) // 3, 3, sharex=True, sharey=True, squeeze=False)
    names = shortened_apart([str(name).rpartition("/")[2] for name in chosen], 20)
    for axes, name, label in zip(grid.ravel(), chosen, names, strict=False):
        table = fit.curves.loc[name]
        axes.plot(table["difficulty"], table["typical"], color=FAINT, linestyle="--", linewidth=1.2, label="all alike")
        axes.plot(table["difficulty"], table["expected"], color=COLOURS[0], label="own curve")
        bars = np.maximum([table["yes"] - table["low"], table["high"] - table["yes"]], 0)  # rounding at 0 and 1
        odd = fit.respondents["follows"][name] == LOOSER
        axes.errorbar(
            table["difficulty"], table["yes"], yerr=bars, fmt="o", markersize=3.5, elinewidth=0.8,
            color=COLOURS[1] if odd else INK, label="answers",
        )  # fmt: skip
        remark = f"loading {fit.respondents['loading'][name]:.2f}"
        axes.set_title(f"{label}\n{remark}", fontsize=7.5, color=COLOURS[1] if odd else INK)
        axes.set_ylim(-0.03, 1.03)
    for axes in grid.ravel()[n:]:
        axes.set_visible(False)
    figure.supxlabel("difficulty by the others' answers", fontsize=9)
    figure.supylabel("share of yes", fontsize=9)
    n_each = fit.curves.loc[chosen]["n"]
    per_point = " to ".join(dict.fromkeys(f"{n:.0f}" for n in (n_each.min(), n_each.max())))
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    caption = (
        "How often a respondent says yes to questions of which others say that they are easy (left) or hard (right), "
        f"in eighths ({per_point} questions each) with 95% intervals; first those whose answers surprise most (l_z), "
        "then those whose answers surprise least. Dashed: one with its yes rate that follows the scale as closely as "
        "all do; blue: its own curve. Points flatter than the dashed curve belong to a respondent that goes by "
        f"something else (in colour: {int((fit.respondents['follows'] == LOOSER).sum())} of {len(order)} follow the "
        "scale less closely than the others); points off the blue one say that the curve has another shape."
    )
    return Drawing(figure, "Characteristic curves", caption)

"""The figures of what a panel's confidence is worth.

rates         how often each respondent says yes, and how often it is right
base_models   do base models that say yes more often get more right?
reliability   of the answers given with so much confidence, how many were right?
f_beta_curves whose yes is best, depending on what an error costs?

Whose knowledge it is is drawn in a file of its own.
"""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.confidence.calibration import width_bins
from onedial.confidence.confidence_accuracy import ConfidenceAccuracy
from onedial.confidence.f_beta import FBetaCurve
from onedial.show.figure_style import COLOURS, FAINT, INK, PAPER, Drawing, family_styles, new_figure, set_title, styled
from onedial.show.labels import shortened_apart

YES, RIGHT = COLOURS[0], COLOURS[1]
_INCHES_PER_ROW = 0.19
_MOST_ROWS = 60  # respondents that one figure can name
_BINS = 10
_FEWEST_IN_A_BIN = 10


@styled
def rates(table: pd.DataFrame) -> Drawing:
    """Yes rate and, where known, accuracy of every respondent, with 95% intervals, base model by base model.

    Args:
        table: `onedial.panels.rates_of_respondents`.
    """
    drawn = table.head(_MOST_ROWS)
    models = list(dict.fromkeys(drawn["model"]))
    order = sorted(range(len(drawn)), key=lambda row: models.index(drawn["model"].iloc[row]))
    drawn = drawn.iloc[order]
    y = np.arange(len(drawn))[::-1]
    figure = new_figure(1.6 + _INCHES_PER_ROW * len(drawn))
    axes = figure.add_subplot()
    shown = [("yes", "yes_rate", YES, "o", 0.12)]
    if "accuracy" in drawn:
        shown.append(("accuracy", "accuracy", RIGHT, "s", -0.12))
    for name, column, colour, marker, shift in shown:
        value = drawn[column].to_numpy(dtype=float)
        ends = [value - drawn[f"{name}_low"], drawn[f"{name}_high"] - value]
        bars = np.clip(np.array(ends, dtype=float), 0, None)
        axes.errorbar(value, y + shift, xerr=bars, fmt=marker, color=colour, markersize=3.5, elinewidth=1.0, zorder=3)
    axes.set_yticks(y, shortened_apart([str(name) for name in drawn.index], 30), fontsize=7)
    for number in range(1, len(drawn)):
        if drawn["model"].iloc[number] != drawn["model"].iloc[number - 1]:
            axes.axhline(y[number] + 0.5, color=FAINT, linewidth=0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.7, len(drawn) - 0.3)
    axes.set_xlabel("share of questions")
    names = {"yes": "says yes", "accuracy": "is right"}
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=names[name])
        for name, _, colour, marker, _ in shown
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2)
    n_models = table["model"].nunique()
    set_title(axes, "Yes rates", f"{len(table)} respondents of {n_models} base models")
    caption = (
        "How often each respondent says yes among the answers that were read, and how often its model is right among "
        "those that could be graded, with 95% intervals over questions. Lines part base models. Blank and ungraded "
        "answers count in neither: their numbers stand in respondents.csv."
    )
    if len(table) > len(drawn):
        caption += f" Not drawn: {len(table) - len(drawn)} respondents."
    return Drawing(figure, "Yes rates", caption)


@styled
def base_models(
    means: pd.DataFrame,
    respondents: pd.DataFrame,
    result: ConfidenceAccuracy | None,
    stated: bool = False,
    families: "pd.Series | None" = None,
) -> Drawing:
    """Mean confidence against mean accuracy, base models as points, their framings as faint ones.

    Args:
        means: `onedial.panels.panel_scores.base_model_means`. respondents: `onedial.panels.rates_of_respondents`.
        result: of `confidence_accuracy_regression` over the base models; None where there are too few for a line.
        stated: whether the means are of stated confidence, not of yes. families: index base model; a colour each.
    """
    figure = new_figure(4.9)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1.2, zorder=1)
    known = respondents.dropna(subset=["accuracy", "yes_rate"])
    framed = len(known) > len(means)
    if framed:
        axes.plot(known["accuracy"], known["yes_rate"], linestyle="", marker=".", color=FAINT, alpha=0.6, zorder=2)
    if families is None or families.reindex(means.index).fillna("").eq("").any():
        groups, labels = [str(name) for name in means.index], shortened_apart([str(name) for name in means.index], 26)
    else:
        groups = labels = [str(name) for name in families[means.index]]
    styles = family_styles(groups)
    for group, (_, row) in zip(groups, means.iterrows(), strict=True):
        colour, marker = styles[group]
        axes.plot(
            row["accuracy"], row["confidence"], marker, color=colour, markersize=7, markeredgecolor=PAPER, zorder=4
        )
    said = dict(zip(groups, labels, strict=True))
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=said[group])
        for group, (colour, marker) in styles.items()
    ][:12]
    if framed:
        handles.append(Line2D([], [], color=FAINT, marker=".", linestyle="", label="single framings"))
    remark = f"no line: {len(means)} base models, and it takes 3"
    if result is not None and np.isfinite(result.line.slope):
        line = result.line
        ends = np.array([means["accuracy"].min(), means["accuracy"].max()])
        axes.plot(ends, line.intercept + line.slope * ends, color=INK, linewidth=1.6, zorder=3)
        remark = f"slope {line.slope:.2f} ({line.slope_low:.2f} to {line.slope_high:.2f}), {line.n} base models"
    least = min(means["accuracy"].min(), means["confidence"].min()) if stated and len(means) else 0.0
    low = max(0.0, np.floor(10 * least - 0.5) / 10) - 0.02
    axes.set_xlim(low, 1.02)
    axes.set_ylim(low, 1.02)
    axes.set_aspect("equal")
    axes.set_xlabel("share of questions answered correctly")
    axes.set_ylabel("mean stated confidence" if stated else "share of questions with yes")
    figure.legend(handles=handles, loc="outside lower left", ncols=2 if groups == list(means.index) else 4)
    set_title(axes, "Confidence against accuracy", remark)
    framings = (
        "the framings under which it was asked (faint) are averaged first, since they share what it knows and are no "
        "further models. "
    )
    point = f"large point is a base model: {framings}" if framed else "point is a model. "
    even = "is as sure as it is right" if stated else "says yes as often as it is right"
    caption = (
        f"Each {point}On the dashed line a model {even}, on average. With few models the interval of the "
        "slope is wide: read it before the slope."
    )
    return Drawing(figure, "Confidence against accuracy", caption)


@styled
def reliability(confidence: pd.DataFrame, correctness: pd.DataFrame, models: pd.Series, source: str) -> Drawing:
    """Share right against confidence, in ten bins of equal width, one line per base model.

    Args:
        confidence, correctness: question x respondent, nan where unknown.
        models: base model of each respondent.
        source: "stated" or "margin".
    """
    figure = new_figure(4.9)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1.2, zorder=1)
    names = [str(name) for name in dict.fromkeys(models)]
    styles = family_styles(names)
    handles = [Line2D([], [], color=FAINT, linestyle="--", label="calibrated")]
    n_all = n_left_out = 0
    for name, label in zip(names, shortened_apart(names, 26), strict=True):
        own = models.index[models == name]
        sure = confidence[own].to_numpy(dtype=float).ravel()
        right = correctness[own].to_numpy(dtype=float).ravel()
        known = ~(np.isnan(sure) | np.isnan(right))
        if not known.any():
            continue
        n_all += int(known.sum())
        bins = width_bins(sure[known], _BINS)
        n = np.bincount(bins, minlength=_BINS)
        filled = n >= _FEWEST_IN_A_BIN
        n_left_out += int(n[~filled].sum())
        if not filled.any():
            continue
        x = np.bincount(bins, sure[known], _BINS)[filled] / n[filled]
        y = np.bincount(bins, right[known], _BINS)[filled] / n[filled]
        colour, marker = styles[name]
        axes.plot(x, y, color=colour, linewidth=1.1, alpha=0.8, zorder=2)
        axes.scatter(x, y, s=8 + 90 * n[filled] / n.max(), color=colour, marker=marker, edgecolors=PAPER, zorder=3)
        handles.append(Line2D([], [], color=colour, marker=marker, label=label))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    what = "stated confidence" if source == "stated" else "confidence by the margin, 1 / (1 + exp(-margin))"
    axes.set_xlabel(what)
    axes.set_ylabel("share answered correctly")
    figure.legend(handles=handles[:13], loc="outside lower left", ncols=2)
    set_title(axes, "Calibration", f"{n_all} answers with confidence and grade")
    caption = (
        "Answers in ten bins of confidence: how many of each were right. On the dashed line confidence is what it "
        "says. Larger marks hold more answers; framings of one base model are pooled. Bins of fewer than "
        f"{_FEWEST_IN_A_BIN} answers ({n_left_out} answers in all) are not drawn."
    )
    return Drawing(figure, "Calibration", caption)


@styled
def f_beta_curves(curve: FBetaCurve) -> Drawing:
    """F-beta of every respondent over beta; the best at some beta in colour, with 95% bands where they are known."""
    betas = curve.curve.index.to_numpy(dtype=float)
    best = list(dict.fromkeys(curve.best.dropna()))
    figure = new_figure(4.1)
    axes = figure.add_subplot()
    for name in curve.curve.columns:
        if name not in best:
            axes.plot(betas, curve.curve[name], color=FAINT, linewidth=0.8, alpha=0.5)
    labels = shortened_apart([str(name) for name in best], 24)
    for i, (name, label) in enumerate(zip(best, labels, strict=True)):
        dashes = ("-", "--", "-.", ":")[i // len(COLOURS) % 4]
        colour = COLOURS[i % len(COLOURS)]
        if curve.low is not None and curve.high is not None:
            axes.fill_between(betas, curve.low[name], curve.high[name], color=colour, alpha=0.15, linewidth=0, zorder=2)
        axes.plot(betas, curve.curve[name], color=colour, linestyle=dashes, label=label, zorder=3)
    axes.set_xscale("log", base=2)
    axes.set_xticks([1 / 16, 1 / 4, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])
    axes.set_xlabel("beta (left: a wrong yes costs more; right: a wrong no costs more)")
    axes.set_ylabel("F-beta")
    set_title(axes, "F-beta", f"in colour: the {len(best)} that are best somewhere")
    if best:
        figure.legend(loc="outside lower left", ncols=2)
    caption = (
        "How well a respondent's yes marks the questions that it then gets right. Low beta punishes a yes that was "
        "wrong, high beta a no that would have been right. Bands are 95% intervals over "
        "questions. Curves that cross mean that no respondent is best for everybody; at the right edge, saying yes to "
        "everything wins by itself."
    )
    return Drawing(figure, "F-beta", caption)

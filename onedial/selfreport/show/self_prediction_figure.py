"""The figure of self-prediction: each model's prediction of itself beside what the others predict of it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from onedial.show import COLOURS, FAINT, Drawing, new_figure, set_title, shortened_apart, styled


@styled
def own_and_others(tables: Mapping[str, pd.DataFrame]) -> Drawing:
    """One panel per test: how well each model is predicted by itself and, on average, by the others.

    Args:
        tables: test -> `onedial.selfreport.cross_prediction`.
    """
    n_rows = sum(len(table) for table in tables.values())
    figure = new_figure(1.4 + 0.7 * len(tables) + 0.15 * n_rows)
    all_axes = figure.subplots(
        len(tables), 1, squeeze=False, gridspec_kw={"height_ratios": [len(table) + 2 for table in tables.values()]}
    )[:, 0]
    for axes, (test, table) in zip(all_axes, tables.items(), strict=True):
        models = table.drop(index="mean")
        y = np.arange(len(models))[::-1]
        axes.hlines(y, models["others"], models["own"], color=FAINT, linewidth=0.8)
        axes.plot(models["others"], y, "s", color=COLOURS[5], markersize=3.5)
        axes.plot(models["own"], y, "o", color=COLOURS[1], markersize=4)
        axes.axvline(0.5, color=FAINT, linewidth=0.6, linestyle=":")
        axes.set_yticks(y, shortened_apart([str(name) for name in models.index], 26), fontsize=6.5)
        axes.set_ylim(-0.7, len(models) - 0.3)
        mean = table.loc["mean"]
        set_title(axes, test, f"advantage of oneself {mean['advantage']:+.3f}, p = {mean['p']:.2g}")
    all_axes[-1].set_xlabel("balanced accuracy (difficulty: share of pairs in order)")
    figure.legend(
        handles=[
            Line2D([], [], color=COLOURS[1], marker="o", linestyle="", label="predicted by itself"),
            Line2D([], [], color=COLOURS[5], marker="s", linestyle="", label="by the others, mean"),
        ],
        loc="outside lower left",
        ncols=2,
    )
    return Drawing(
        figure,
        "Who predicts whom",
        "How well each model's behaviour is predicted by its own self-prediction and by those of the other models on "
        "the same items. The advantage takes out how good a predictor each model is elsewhere and how easy each is to "
        "predict; its p is by permuting which predictor is called the target's own.",
    )


@styled
def three_tests(scores: Mapping[str, pd.DataFrame], means: pd.DataFrame) -> Drawing:
    """The accuracies of the three tests, and what goes with them (figures 6 to 8 of the Self-Execution study).

    Args:
        scores: association, restriction and difficulty. means: index model; invalid_wrong, and ability where known.
    """
    tokens = scores["difficulty"].get("ranking_tokens", scores["difficulty"].get("tokens"))
    beside = [("ability in other benchmarks, logits", "mean of the three", means["ability"], means["invalid_wrong"])]
    beside = beside if "ability" in means else []
    if tokens is not None and tokens.notna().any():
        asked = "a ranking" if "ranking_tokens" in scores["difficulty"] else "an answer"
        beside.append((f"tokens of {asked}", "difficulty, accuracy", tokens, scores["difficulty"]["accuracy"]))
    order = means["invalid_wrong"].sort_values().index
    figure = new_figure(1.2 + 0.16 * len(order) + (2.2 if beside else 0))
    grid = figure.add_gridspec(
        1 + bool(beside), max(1, len(beside)), height_ratios=[len(order), 12][: 1 + bool(beside)]
    )
    axes = figure.add_subplot(grid[0, :])
    for place, (name, marker) in enumerate(zip(scores, "os^", strict=True)):
        accuracy = scores[name]["accuracy"].reindex(order)
        axes.plot(accuracy, range(len(order)), marker, color=COLOURS[place], markersize=4, label=name)
    axes.axvline(0.5, color=FAINT, linewidth=0.6, linestyle=":")
    axes.set_yticks(range(len(order)), shortened_apart([str(name) for name in order], 26), fontsize=6.5)
    axes.set_xlabel("accuracy; what cannot be read is wrong")
    axes.legend(loc="lower left", ncols=3, bbox_to_anchor=(0, 1))
    for place, (x_name, y_name, x, y) in enumerate(beside):
        own = figure.add_subplot(grid[1, place])
        both = pd.DataFrame({"x": x, "y": y}).dropna()
        own.plot(both["x"], both["y"], "o", color=COLOURS[1], markersize=4)
        set_title(own, "", f"r = {both['x'].corr(both['y']):.2f}, n = {len(both)}")
        own.set_xlabel(x_name)
        own.set_ylabel(y_name)
    return Drawing(
        figure,
        "The three tests",
        "Accuracy as the study defines it, where .5 is a coin and the majority class may score more. Below, what goes "
        "with it over models: with few of them a correlation says little.",
    )

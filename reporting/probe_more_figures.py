"""More figures of what can be read off activations, each from the saved tables alone.

without_labels   truth of statements found without labels, layer by layer, beside the control with nonsense
distraction      what the same methods read once a feature is planted that has nothing to do with truth
"""

import pandas as pd
from matplotlib.lines import Line2D

from reporting.figure_style import COLOURS, INK, MARKERS, Drawing, new_figure, set_title, styled


@styled
def without_labels(table: pd.DataFrame) -> Drawing:
    """AUROC of each method over layers, with the negation and with nonsense in its place.

    Args:
        table: columns layer, method, marker, auroc, low, high.
    """
    methods = list(dict.fromkeys(table["method"]))
    figure = new_figure(4.4)
    sides = figure.subplots(1, 2, sharey=True)
    for axes, (marker, name) in zip(sides, (("negation", "not"), ("nonsense", "a word of nonsense")), strict=True):
        for place, method in enumerate(methods):
            own = table[(table["method"] == method) & (table["marker"] == marker)].sort_values("layer")
            x = own["layer"].to_numpy(float) + 0.25 * (place - len(methods) / 2)
            middle, low, high = (own[column].to_numpy(float) for column in ("auroc", "low", "high"))
            axes.errorbar(
                x, middle, [middle - low, high - middle], color=COLOURS[place], marker=MARKERS[place], markersize=4,
                elinewidth=0.8, linewidth=1.2, linestyle="--" if method == "supervised" else "-",
            )  # fmt: skip
        axes.axhline(0.5, color=INK, linewidth=0.7)
        set_title(axes, f"negated by {name}")
        axes.set_xlabel("layer")
    sides[0].set_ylabel("AUROC of truth, topics not seen")
    handles = [
        Line2D([], [], color=COLOURS[place], marker=MARKERS[place], label=method, markersize=4,
               linestyle="--" if method == "supervised" else "-")
        for place, method in enumerate(methods)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower left", ncols=3)
    caption = (
        "How well each method tells true statements from false ones, statements as they stand and negated ones "
        "together, with 95% over topics. At the right the negation is a word without meaning and still counts as one: "
        "what does as well there as at the left does not read truth. The dashed line had the labels."
    )
    return Drawing(figure, "Truth without labels", caption)


@styled
def distraction(table: pd.DataFrame) -> Drawing:
    """AUROC of truth and of a planted feature against the feature's strength.

    Args:
        table: columns method, distraction, auroc, auroc_distraction, layer.
    """
    figure = new_figure(4.2)
    sides = figure.subplots(1, 2, sharey=True)
    methods = list(dict.fromkeys(table["method"]))
    for axes, (end, name) in zip(sides, (("", "truth"), ("_distraction", "the planted feature")), strict=True):
        for place, method in enumerate(methods):
            own = table[table["method"] == method].sort_values("distraction")
            axes.plot(
                own["distraction"], own[f"auroc{end}"], color=COLOURS[place], marker=MARKERS[place], markersize=4,
                linestyle="--" if method == "supervised" else "-", label=method,
            )  # fmt: skip
        axes.axhline(0.5, color=INK, linewidth=0.7)
        set_title(axes, f"reads {name}")
        axes.set_xlabel("strength of the feature")
    sides[0].set_ylabel("AUROC, topics not seen")
    figure.legend(handles=sides[0].get_legend_handles_labels()[0], loc="outside lower left", ncols=3)
    title = "A prominent feature wins"
    caption = (
        f"A coin is planted in the streams of layer {table['layer'].iloc[0]:.0f}, which yes and no carry with opposite "
        "signs; its strength is in standard deviations of the streams' most prominent difference. Methods without "
        "labels read whatever stands out, and turn from truth to the coin; the dashed line had the labels of truth."
    )
    return Drawing(figure, title, caption)

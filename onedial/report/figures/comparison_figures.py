"""Dials side by side: what their order is worth, and what they cost in neutral text; how alike directions are."""

import numpy as np
import pandas as pd

from onedial.show import COLOURS, FAINT, INK, MARKERS, Drawing, new_figure, plain_log_labels, set_title, styled

MOST_LINES = 6
CUT = "moved cut"


@styled
def draw_dials(table: pd.DataFrame, rates: pd.DataFrame) -> Drawing:
    """Order gain of every dial over a moved cut with its interval, and the KL on neutral text along the yes rates.

    Args:
        table: `onedial.verdict.DialComparison.table`. rates: dial, rate, reached, kl, usable.
    """
    shown = table[table.index != CUT].sort_values("order_gain", na_position="first")
    rows, legend = max(0.21 * len(shown), 0.6), 0.19 * (1 + min(len(shown), MOST_LINES) // 2)
    figure = new_figure(1.75 + rows + 1.8 + legend)  # titles, labels and space between, then what is drawn
    upper, lower = figure.subplots(2, 1, height_ratios=[rows, 1.8])
    places = np.arange(len(shown))
    gains, low, high = (shown[name].to_numpy(float) for name in ("order_gain", "order_gain_low", "order_gain_high"))
    known = np.isfinite(gains)
    upper.axvline(0, color=FAINT, linewidth=0.8)
    upper.hlines(places[known], low[known], high[known], color=COLOURS[0])
    upper.plot(gains[known], places[known], "o", color=COLOURS[0], markersize=4)
    chosen = shown["chosen"].to_numpy(bool) & known
    upper.plot(gains[chosen], places[chosen], "o", color=INK, markersize=8, mfc="none")
    names = [
        f"{name} ({int(n)} of 9 rates)" if n < 9 else str(name)
        for name, n in zip(shown.index, shown["n_rates"], strict=True)
    ]
    upper.set_yticks(places, names)
    upper.set_ylim(-0.7, len(shown) - 0.3)
    upper.set_xlabel("area gained over a moved cut")
    upper.locator_params(axis="x", nbins=4)
    set_title(upper, "Whose order is the targets'?", "ring: chosen on fitting questions")
    drawn = shown.index[::-1][:MOST_LINES]
    for place, name in enumerate([*drawn, CUT] if CUT in table.index else drawn):
        own = rates[(rates["dial"] == name) & rates["reached"].astype(bool)].sort_values("rate")
        colour = FAINT if name == CUT else COLOURS[place]
        kl = own["kl"].clip(lower=1e-6)
        lower.plot(own["rate"], kl, color=colour, marker=MARKERS[place % len(MARKERS)], markersize=4, label=str(name))
        broken = ~own["usable"].fillna(False).astype(bool)
        lower.plot(own["rate"][broken], kl[broken], "x", color=INK, markersize=7)
    lower.set_yscale("log")
    plain_log_labels(lower.yaxis)
    lower.set_xlim(0.05, 0.95)
    lower.set_xlabel("yes rate on the fitting questions")
    lower.set_ylabel("KL, nats")
    set_title(lower, "What it does to neutral text", "crosses: facts suffer too much")
    figure.legend(*lower.get_legend_handles_labels(), loc="outside lower left", ncols=2)
    caption = (
        "Above: each dial's share of yes over the nine rates orders the questions; shown is the area by which that "
        "order puts the targets' yes above their no better than a moved cut at the same rates, with 95% intervals "
        "over topics or questions. Below: Kullback-Leibler divergence of the next token on neutral passages at the "
        "setting of each yes rate; prompts do not touch other text."
    )
    return Drawing(figure, "Dials at equal yes rates", caption)


@styled
def draw_direction_cosines(cosines: pd.DataFrame, layer: int) -> Drawing:
    """Cosines between directions at one layer.

    Args:
        cosines: layer, method, other, cosine.
    """
    own = cosines[cosines["layer"] == layer]
    order = list(dict.fromkeys(own["method"]))
    wide = own.pivot(index="method", columns="other", values="cosine").loc[order, order].to_numpy(float)
    figure = new_figure(1.2 + 0.36 * len(order))
    axes = figure.subplots()
    axes.imshow(wide, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.grid(False)
    for (row, column), value in np.ndenumerate(wide):
        colour = "white" if abs(value) > 0.6 else INK
        axes.text(column, row, f"{value:.2f}".replace("0.", "."), ha="center", va="center", fontsize=7, color=colour)
    names = [name.replace("_", " ") for name in order]
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right")
    axes.set_yticks(range(len(order)), names)
    set_title(axes, "How alike are the directions?", f"cosines at layer {layer}")
    return Drawing(figure, "Cosines of directions", "Cosines between the directions of different methods at one layer.")

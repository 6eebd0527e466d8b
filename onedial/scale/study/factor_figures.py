"""The figures of a panel by itself, before anything is steered.

loadings             do respondents with extreme yes rates load less, and is that more than the correction makes?
scree                how many factors, beside both nulls
correlations         who answers like whom, in order of how often they say yes
scale                how the questions are spread over the scale, and which distribution that is
clusters             what models share with each other, and what each shares with itself
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import ndtri

from onedial.scale.checks.clusters import ClusterStructure
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.checks.quadratic import quadratic_fit
from onedial.scale.checks.question_bootstrap import QuestionBootstrap
from onedial.scale.checks.simulation import Simulated
from onedial.scale.factor.factor_model import FactorModel
from onedial.scale.response_model import ResponseModel
from onedial.scale.scale_distribution import ScaleDistribution
from onedial.show.figure_style import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    PAPER,
    Drawing,
    family_styles,
    new_figure,
    plain_log_labels,
    set_title,
    styled,
)
from onedial.show.labels import shortened_apart
from onedial.show.point_names import name_points
from onedial.stats.level import LEVEL, QUANTILES_95

POINTS, CHANCE, ONE_FACTOR = COLOURS[0], COLOURS[1], COLOURS[2]
_Z = 1.96
_MOST_NAMES = 40  # respondents that a map can still name
_CROWD = 20  # respondents up to which a figure names all
_FURTHEST = 8  # named where there are more
_MOST_CURVES = 400  # of the bootstrap, for a band


@styled
def loadings_against_threshold(
    model: FactorModel,
    bootstrap: QuestionBootstrap | None = None,
    null: Simulated | None = None,
    marginal: ResponseModel | None = None,
    missing: pd.DataFrame | None = None,
    families: "pd.Series | None" = None,
) -> Drawing:
    """One point per respondent, with 95% intervals where there is a bootstrap, and the parabola with its band.

    All have names where there are few; of many, those that lie furthest from the parabola.

    Args:
        model: fitted. bootstrap: of the same panel. null: of the parabola's R^2 (`quadratic_fit_test`). marginal: a
            two-parameter model, and missing: `missingness_test`; with both, respondents with informative gaps stand
            where their yes rate over all questions would put them, beside a hollow point for the questions answered.
        families: index respondent; a colour and a marker each.
    """
    loading = model.loadings["factor_1"]
    drawn = loading.notna() & np.isfinite(model.thresholds)
    labels = loading.index[drawn]
    raw, y = model.thresholds[drawn].to_numpy(), loading[drawn].to_numpy()
    x = raw + _shift_of_gaps(labels, raw, marginal, missing)
    sideways = _Z * model.threshold_se[drawn].to_numpy()
    upwards = None
    if bootstrap is not None:
        table = bootstrap.respondents.loc[labels]
        upwards = np.clip([y - table["loading_low"], table["loading_high"] - y], 0, None)
    fit = quadratic_fit(y, x)
    null = null if np.isfinite(fit.r2) else None  # of a parabola that goes through all points there is nothing to say
    figure = new_figure(4.6 if null is None else 5.6)
    if null is None:
        axes = figure.add_subplot()
    else:
        axes, below = figure.subplots(2, 1, height_ratios=[6, 1])
        _null_strip(below, null)
    groups = ["" if families is None else str(families.get(label, "")) for label in labels]
    styles = family_styles(groups)
    for name, (colour, marker) in styles.items():
        own = np.array([group == name for group in groups])
        bars = None if upwards is None else np.asarray(upwards)[:, own]
        axes.errorbar(
            x[own], y[own], xerr=sideways[own], yerr=bars, fmt=marker, color=colour, markersize=4.5, elinewidth=0.8,
            alpha=0.9, zorder=3, label=name or None,
        )  # fmt: skip
    if len(styles) > 1:
        figure.legend(loc="outside lower left", ncols=4)
    moved = np.abs(x - raw) > 0
    for there, here, height in zip(raw[moved], x[moved], y[moved], strict=True):
        axes.plot([there, here], [height, height], color=FAINT, linewidth=0.7, zorder=1)
    axes.plot(raw[moved], y[moved], "o", markerfacecolor=PAPER, markeredgecolor=FAINT, markersize=4.5, zorder=2)
    bound = labels.isin(model.heywood)
    axes.plot(x[bound], y[bound], "s", markerfacecolor="none", markeredgecolor=CHANCE, markersize=9, zorder=4)
    if np.isfinite(fit.r2):
        grid = np.linspace(x.min(), x.max(), 200)
        if bootstrap is not None:
            low, high = _parabola_band(bootstrap, labels, x - raw, grid)
            axes.fill_between(grid, low, high, color=INK, alpha=0.12, linewidth=0, zorder=1)
        axes.plot(grid, fit.predict(grid), color=INK, linewidth=1.2, zorder=2)
    axes.set_xlabel("threshold (higher = more often yes)")
    axes.set_ylabel("loading on the shared factor")
    axes.set_ylim(top=max(1.02, axes.get_ylim()[1]))
    remark = f"Parabola: R² {fit.r2:.2f}" if np.isfinite(fit.r2) else "too few for a parabola"
    if null is not None and not moved.any():
        remark += f", if unrelated {null.mean:.2f} (p = {null.p:.2g})"
    elif null is not None:
        remark += f"; as answered {null.observed:.2f}, if unrelated {null.mean:.2f} (p = {null.p:.2g})"
    set_title(axes, "Loadings against thresholds", remark)
    told = np.arange(len(labels))
    if len(labels) > _CROWD and np.isfinite(fit.r2):
        told = np.argsort(-np.abs(y - fit.predict(x)))[:_FURTHEST]
    names = shortened_apart([str(label).rpartition("/")[2] for label in labels[told]], 20)
    others = np.setdiff1d(np.arange(len(labels)), told)
    drawn_too = [np.column_stack([x + step * sideways, y]) for step in (-1, -0.5, 0.5, 1)]
    drawn_too.append(np.column_stack([x[others], y[others]]))
    if np.isfinite(fit.r2):
        drawn_too.append(np.column_stack([grid, fit.predict(grid)]))
    avoid = np.vstack(drawn_too)
    name_points(axes, list(x[told]), list(y[told]), names, avoid[np.isfinite(avoid).all(axis=1)])
    low_r2, high_r2 = model.quadratic_fit.r2_range
    caption = (
        "Each point is a respondent: how often it says yes, and how closely it follows the scale that all share. "
        f"{'Bars and band' if bootstrap is not None else 'Horizontal bars'} are 95% intervals over questions."
    )
    if np.isfinite(low_r2):
        caption += (
            " A parabola that falls off at both ends looks like a finding, and an empty-cell correction or a scale "
            "that is not normal makes one by itself: believe it only if R² lies far above what loadings that have "
            "nothing to do with thresholds give under the same correction, and if no single respondent carries it "
            f"(without one of them R² is {low_r2:.2f} to {high_r2:.2f})."
        )
    if null is not None:
        n_drawn = int(np.isfinite(null.simulated).sum())
        caption += (
            f" Below: R² of {n_drawn} drawn panels in which loadings have nothing to do with thresholds "
            "(grey), and of this one (line): a line within the grey is no bend."
        )
    if moved.any():
        caption += (
            f" Hollow ({int(moved.sum())} with informative gaps): by the questions that were answered; filled: by all."
        )
    if bound.any():
        caption += " Squares: loadings at their bound (Heywood cases), not to be read to the second digit."
    absent = int((~drawn).sum())
    if absent:
        caption += f" Not drawn: {absent} respondents that gave only one kind of answer."
    return Drawing(figure, "Loadings against thresholds", caption)


@styled
def scree(
    eigenvalues: pd.Series, permutation: EigenvalueNull | None = None, one_factor: EigenvalueNull | None = None
) -> Drawing:
    """Eigenvalues in falling order on a logarithmic axis, beside shuffled answers and models with one factor fewer.

    Args:
        eigenvalues: of the correlation matrix, falling. permutation: `permutation_null`. one_factor:
            `revised_parallel_analysis`; only the ranks that it tested have a band.
    """
    observed = eigenvalues.to_numpy()
    ranks = np.arange(1, len(observed) + 1)
    positive = observed[observed > 0]
    figure = new_figure(3.9)
    axes = figure.add_subplot()
    axes.set_yscale("log")
    axes.plot(ranks, observed, color=POINTS, marker="o", markersize=4.5, label="panel", zorder=4)
    if permutation is not None:
        _band(axes, permutation, CHANCE, "--", "answers shuffled (first only)")
    if one_factor is not None:
        _band(axes, one_factor, ONE_FACTOR, ":", "one factor fewer")
    floor = float(max(positive.min() / 2, 0.01))
    axes.set_ylim(bottom=floor, top=float(1.3 * positive.max()))
    below = ranks[observed <= floor]
    axes.plot(below, np.full(len(below), floor), linestyle="", marker="v", color=POINTS, clip_on=False, markersize=4)
    plain_log_labels(axes.yaxis)
    axes.set_xlabel("eigenvalue, from the largest")
    axes.set_ylabel("eigenvalue of the correlation matrix")
    axes.set_xticks(ranks[:: max(1, len(ranks) // 10)])
    remark = f"first {observed[0] / len(observed):.0%} of the variance, second {observed[1] / len(observed):.0%}"
    if one_factor is not None:
        remark += f"; factors above their null: {one_factor.n_above()}"
    set_title(axes, "Scree", remark)
    axes.legend(loc="upper right")
    caption = (
        "Eigenvalues of the tetrachoric (of categories polychoric) correlations, never smoothed, so that some may be 0 "
        "or negative (triangles at the lower edge)."
    )
    if permutation is not None or one_factor is not None:
        caption += " Bands hold 95% of the simulated eigenvalues."
    if permutation is not None:
        caption += " Shuffled answers tell whether anything is shared: look at the first eigenvalue only."
    if one_factor is not None:
        caption += (
            " Whether there is a second factor is told by the other band: the k-th eigenvalue stands beside matrices "
            "that have k - 1 factors and the same yes rates, gaps and correction; ranks that need no test have none."
        )
    return Drawing(figure, "Scree", caption)


@styled
def correlation_map(model: FactorModel) -> Drawing:
    """Tetrachoric correlations, respondents ordered by threshold; pairs with an empty cell are marked."""
    order = model.thresholds.sort_values().index
    values = model.tetrachoric.correlation.loc[order, order].to_numpy()
    empty = model.tetrachoric.zero_cells.loc[order, order].to_numpy()
    m = len(order)
    figure = new_figure(4.3)
    axes = figure.add_subplot()
    axes.grid(False)
    axes.set_facecolor("#d9d9d9")
    colours, low, high = _colours_for(values[~np.eye(m, dtype=bool)])
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, interpolation="nearest", aspect="auto")
    rows, columns = np.nonzero(empty)
    axes.plot(columns, rows, linestyle="", marker=".", markersize=max(1.0, 60 / m), color=INK)
    if m <= _MOST_NAMES:
        names = shortened_apart([str(name) for name in order], 14)
        size = min(8.0, 130 / m)
        axes.set_xticks(range(m), names, rotation=90, fontsize=size)
        axes.set_yticks(range(m), names, fontsize=size)
    else:
        axes.set_xlabel("respondents, from rarely yes to often yes")
        axes.set_ylabel("respondents, from rarely yes to often yes")
    axes.tick_params(length=0)
    figure.colorbar(image, ax=axes, pad=0.03, label="tetrachoric correlation", extend="max")
    n_empty = model.tetrachoric.n_zero_cell_pairs
    set_title(axes, "Correlations", f"dots: {n_empty} of {m * (m - 1) // 2} pairs lack an answer pattern")
    caption = (
        "Respondents from rarely yes (top, left) to often yes: how alike two of them answer once their yes rates are "
        "accounted for. The colours span the values between different respondents. One shared scale gives a map of one "
        "colour; a second factor that belongs to the yes rate shows as pale or blue corners, where respondents that "
        "rarely say yes meet those that nearly always do. Dots: pairs in which one answer pattern never occurs; their "
        f"value is the doing of the rule for empty cells ({model.tetrachoric.zero_cell_rule}). Grey: no value."
    )
    return Drawing(figure, "Correlations", caption)


@styled
def scale_shapes(scale: ScaleDistribution) -> Drawing:
    """The distribution of the questions' easiness of every kind, as densities of the same area.

    Args:
        scale: of `scale_distribution`.
    """
    figure = new_figure(3.4)
    axes = figure.add_subplot()
    edges = np.linspace(-4, 4, 33)
    lines = {"normal": (FAINT, "--"), "smooth": (POINTS, "-")}
    histogram = scale.weights.loc["histogram"]
    heights, _ = np.histogram(histogram["node"], edges, weights=histogram["weight"])
    axes.bar(
        edges[:-1], heights / np.diff(edges), np.diff(edges), align="edge", color=GRID, label="histogram", zorder=1
    )
    for kind, (colour, dashes) in lines.items():
        part = scale.weights.loc[kind]
        node, weight = part["node"].to_numpy(), part["weight"].to_numpy()
        shown = np.abs(node) <= 4
        density = weight[shown] / np.gradient(node)[shown]
        axes.plot(node[shown], density, color=colour, linestyle=dashes, label=kind, zorder=3)
    axes.set_xlabel("easiness of the question (0 = mean, 1 = spread)")
    axes.set_ylabel("density")
    table = scale.comparison
    gain, p = float(table["gain"]["smooth"]), float(table["p"]["smooth"])
    set_title(axes, "Distribution of the scale", f"bent against normal: 2 Δ log likelihood {gain:.1f}, p = {p:.2g}")
    axes.legend(loc="upper right")
    r2 = table["quadratic_r2"]
    caption = (
        "How the questions lie on the scale, estimated together with the respondents' curves: bars may take any shape, "
        "the dashed curve is the normal one that tetrachoric correlations suppose. On a scale that is not normal, "
        "loadings bend along the thresholds though all respondents follow it equally closely: the parabola's R² is "
        f"{r2['normal']:.2f} on the normal scale and {r2['histogram']:.2f} on the free one."
    )
    return Drawing(figure, "Distribution of the scale", caption)


@styled
def within_and_between(clusters: ClusterStructure) -> Drawing:
    """Mean correlations within each base model and between every two.

    Args:
        clusters: of `cluster_structure`.
    """
    names = shortened_apart([str(name) for name in clusters.matrix.index], 18)
    values = clusters.matrix.to_numpy()
    figure = new_figure(3.9)
    axes = figure.add_subplot()
    axes.grid(False)
    axes.set_facecolor("#d9d9d9")
    colours, low, high = _colours_for(values.ravel())
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, interpolation="nearest", aspect="auto")
    size = float(np.clip(60 / len(names), 5, 8))
    for row, column in zip(*np.nonzero(np.isfinite(values)), strict=True):
        axes.text(column, row, f"{values[row, column]:.2f}", ha="center", va="center", fontsize=size, color=INK,
                  bbox={"facecolor": PAPER, "alpha": 0.6, "linewidth": 0, "pad": 1})  # fmt: skip
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.tick_params(length=0)
    figure.colorbar(image, ax=axes, pad=0.03, label="mean tetrachoric correlation")
    within, between = clusters.table["mean"]["within"], clusters.table["mean"]["between"]
    set_title(axes, "Within and between models", f"mean within {within:.2f}, between {between:.2f}")
    caption = (
        "Diagonal: how alike the respondents of one base model answer; elsewhere: those of two models. If the diagonal "
        "is high and the rest low, each model agrees with itself and little is shared between models; then the "
        f"eigenvalues of the whole panel count models. Shared between models: {clusters.shares['between']:.0%} of a "
        f"respondent's variance (p = {clusters.between.p:.2g} where each model's answers are shuffled as a whole)."
    )
    return Drawing(figure, "Within and between models", caption)


def _band(axes: Axes, null: EigenvalueNull, colour: str, dashes: str, label: str) -> None:
    """Mean and central 95% of the simulated eigenvalues, at the ranks that were simulated."""
    ranks = np.arange(1, len(null.observed) + 1)
    known = np.isfinite(null.simulated).all(axis=0)
    low, high = np.quantile(null.simulated[:, known], QUANTILES_95, axis=0)
    axes.fill_between(ranks[known], np.maximum(low, 1e-6), np.maximum(high, 1e-6), color=colour, alpha=0.2, linewidth=0)
    axes.plot(ranks, null.mean, color=colour, linestyle=dashes, marker=".", markersize=3, label=label, zorder=3)


def _null_strip(axes: Axes, null: Simulated) -> None:
    """How the R^2 of unrelated panels lie, and where the observed one does."""
    known = null.simulated[np.isfinite(null.simulated)]
    low = min(0.9, np.floor(10 * min(known.min(initial=1.0), null.observed)) / 10)
    axes.stairs(*np.histogram(known, np.linspace(low, 1, 31)), fill=True, color=FAINT, alpha=0.5)
    axes.axvline(null.observed, color=INK, linewidth=1.4)
    axes.set_xlim(low, 1)
    axes.set_xlabel("R² of the parabola")
    axes.set_ylabel("panels")


def _shift_of_gaps(
    labels: pd.Index, raw: np.ndarray, marginal: ResponseModel | None, missing: pd.DataFrame | None
) -> np.ndarray:
    """(respondent,) from the threshold over the answered questions to that over all, where gaps are informative."""
    shift = np.zeros(len(labels))
    if marginal is None or missing is None:
        return shift
    informative = (missing["p_adjusted"].reindex(labels) < LEVEL).to_numpy()
    everywhere = ndtri(marginal.respondents["yes_rate"].reindex(labels).to_numpy(dtype=float))
    return np.where(informative & np.isfinite(everywhere), everywhere - raw, shift)


def _parabola_band(
    bootstrap: QuestionBootstrap, labels: pd.Index, shift: np.ndarray, grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Central 95% of the resampled parabolas over the grid."""
    places = bootstrap.respondents.index.get_indexer(labels)
    loadings, thresholds = bootstrap.loadings[:, places], bootstrap.thresholds[:, places] + shift
    whole = np.isfinite(loadings + thresholds).all(axis=1)
    curves = [quadratic_fit(y, t).predict(grid) for y, t in zip(loadings[whole], thresholds[whole], strict=True)]
    if not curves:
        return np.full(len(grid), np.nan), np.full(len(grid), np.nan)
    low, high = np.nanquantile(curves[:_MOST_CURVES], QUANTILES_95, axis=0)
    return low, high


def _colours_for(values: np.ndarray) -> tuple[str, float, float]:
    """A colour map and the range of the values, in tenths: two colours about 0 where some are negative, else one."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if low < 0:
        reach = np.ceil(10 * max(-low, high)) / 10
        return "RdBu_r", -reach, reach
    return "viridis", float(np.floor(10 * low) / 10), float(max(np.ceil(10 * high) / 10, np.floor(10 * low) / 10 + 0.1))

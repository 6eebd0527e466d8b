"""The figures of a panel by itself, before anything is steered.

loadings             do respondents with extreme yes rates load less, and is that more than the correction makes?
scree                how many factors, beside both nulls
correlations         who answers like whom, in order of how often they say yes
scale                how the questions are spread over the scale, and which distribution that is
clusters             what models share with each other, and what each shares with itself
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.scale.checks.clusters import ClusterStructure
from onedial.scale.checks.quadratic import quadratic_fit
from onedial.scale.checks.question_bootstrap import QuestionBootstrap
from onedial.scale.checks.simulation import Simulated
from onedial.scale.factor.factor_model import FactorModel
from onedial.scale.scale_distribution import ScaleDistribution
from onedial.show.figure_style import COLOURS, FAINT, INK, Drawing
from onedial.show.labels import shortened_apart
from onedial.show.plots import Cells, Curve, Panel, curves, heatmap, scatter
from onedial.stats.level import QUANTILES_95, Z_95

_MOST_NAMES = 40  # respondents that a map can still name
_NAMED = 8  # points with a name: those that lie furthest from the parabola
_MOST_CURVES = 400  # of the bootstrap, for a band


def loadings_against_threshold(
    model: FactorModel,
    bootstrap: QuestionBootstrap | None = None,
    null: Simulated | None = None,
    families: "pd.Series | None" = None,
) -> Drawing:
    """One point per respondent, with 95% intervals where there is a bootstrap, and the parabola with its band.

    Args:
        model: fitted. bootstrap: of the same panel. null: of the parabola's R^2 (`quadratic_fit_test`). families: index
            respondent; a colour and a marker each.
    """
    table = pd.DataFrame({"loading": model.loadings["factor_1"], "threshold": model.thresholds})
    table = table[np.isfinite(table.to_numpy()).all(axis=1)]
    sideways = Z_95 * model.threshold_se[table.index]
    table = table.assign(threshold_low=table["threshold"] - sideways, threshold_high=table["threshold"] + sideways)
    if bootstrap is not None:
        table = table.join(bootstrap.respondents[["loading_low", "loading_high"]])
    table["family"] = "" if families is None else families.reindex(table.index).fillna("").astype(str)
    fit = quadratic_fit(table["loading"], table["threshold"])
    remark, lines, named = "", [], {}
    if np.isfinite(fit.r2):
        grid = np.linspace(table["threshold"].min(), table["threshold"].max(), 200)
        low, high = (None, None) if bootstrap is None else _parabola_band(bootstrap, table.index, grid)
        lines = [Curve(grid, fit.predict(grid), colour=INK, low=low, high=high)]
        off = (table["loading"] - fit.predict(table["threshold"])).abs()
        furthest = off.sort_values().index[-_NAMED:]
        short = shortened_apart([str(name).rpartition("/")[2] for name in furthest], 20)
        named = dict(zip(map(str, furthest), short, strict=True))
        remark = f"R² {fit.r2:.2f}"
        if null is not None and np.isfinite(null.p):
            remark += f"; if unrelated {null.mean:.2f}, p = {null.p:.2g} ({null.n_defined} panels drawn)"
    drawing = scatter(
        table,
        "threshold",
        "loading",
        xlabel="threshold (higher = more often yes)",
        ylabel="loading on the shared factor",
        by="family" if table["family"].nunique() > 1 else "",
        annotated=named,
        lines=lines,
        remark=remark,
    )
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
    if model.heywood:
        caption += f" Loadings at their bound (Heywood cases): {', '.join(map(str, model.heywood))}."
    if absent := len(model.loadings) - len(table):
        caption += f" Not drawn: {absent} respondents that gave only one kind of answer."
    return replace(drawing, title="Loadings against thresholds", caption=caption)


def scree(eigenvalues: pd.Series, permutation: Simulated | None = None, one_factor: Simulated | None = None) -> Drawing:
    """Eigenvalues in falling order on a logarithmic axis, beside shuffled answers and models with one factor fewer.

    Args:
        eigenvalues: of the correlation matrix, falling. permutation: `permutation_null`. one_factor:
            `revised_parallel_analysis`; only the ranks that it tested have a band.
    """
    observed = eigenvalues.to_numpy()
    ranks = np.arange(1, len(observed) + 1)
    floor = float(max(observed[observed > 0].min() / 2, 0.01))
    lines = [Curve(ranks, np.maximum(observed, floor), "panel", COLOURS[0], look={"marker": "o", "markersize": 4.5})]
    told = (
        "Eigenvalues of the tetrachoric (of categories polychoric) correlations, never smoothed; what lies at the "
        "lower edge is 0 or negative."
    )
    nulls = {
        "answers shuffled (first only)": (
            permutation,
            " Shuffled answers tell whether anything is shared: look at the first eigenvalue only.",
        ),
        "one factor fewer": (
            one_factor,
            " Whether there is a second factor is told by the other band: the k-th eigenvalue stands beside matrices "
            "that have k - 1 factors and the same yes rates, gaps and correction; ranks that need no test have none.",
        ),
    }
    for (label, (null, words)), colour in zip(nulls.items(), COLOURS[1:3], strict=True):
        if null is not None:
            known = np.isfinite(null.simulated).all(axis=0)
            low, high = np.maximum(np.quantile(null.simulated[:, known], QUANTILES_95, axis=0), floor)
            lines.append(Curve(ranks[known], np.maximum(null.mean[known], floor), label, colour, low=low, high=high))
            told += f"{' Bands hold 95% of the simulated eigenvalues.' * (len(lines) == 2)}{words}"
    title = f"first {observed[0] / len(observed):.0%} of the variance, second {observed[1] / len(observed):.0%}"
    if one_factor is not None:
        title += f"; factors above their null: {one_factor.n_above()}"
    limits = (floor, float(1.3 * observed.max()))
    panel = Panel(lines, "eigenvalue of the correlation matrix", limits, title, log=True, height=1.3)
    drawing = curves([panel], "eigenvalue, from the largest", zero=False)
    return replace(drawing, title="Scree", caption=told)


def correlation_map(model: FactorModel) -> Drawing:
    """Tetrachoric correlations, respondents ordered by threshold; pairs with an empty cell are marked."""
    order = model.thresholds.sort_values().index
    values = model.tetrachoric.correlation.loc[order, order].to_numpy(copy=True)
    np.fill_diagonal(values, np.nan)
    m, empty = len(order), model.tetrachoric.zero_cells.loc[order, order].to_numpy()
    n_empty, labels = model.tetrachoric.n_zero_cell_pairs, None
    if m <= _MOST_NAMES:
        labels = dict(enumerate(shortened_apart([str(name) for name in order], 14)))
    drawing = _map(
        values,
        labels,
        "tetrachoric correlation",
        crosses=tuple(reversed(np.nonzero(empty))),
        remark=f"crosses: {n_empty} of {m * (m - 1) // 2} pairs lack an answer pattern",
    )
    caption = (
        "Respondents from rarely yes to often yes: how alike two of them answer once their yes rates are accounted "
        "for. One shared scale gives a map of one colour; a second factor that belongs to the yes rate shows as other "
        "corners, where respondents that rarely say yes meet those that nearly always do. Crosses: pairs in which one "
        "answer pattern never occurs; their value is the doing of the rule for empty cells "
        f"({model.tetrachoric.zero_cell_rule}). Grey: no value."
    )
    return replace(drawing, title="Correlations", caption=caption)


def scale_shapes(scale: ScaleDistribution) -> Drawing:
    """The distribution of the questions' easiness of every kind, as densities of the same area.

    Args:
        scale: of `scale_distribution`.
    """
    looks = {"normal": (FAINT, "--"), "smooth": (COLOURS[0], "-"), "histogram": (COLOURS[1], "-")}
    lines = []
    for kind, (colour, dashes) in looks.items():
        part = scale.weights.loc[kind]
        node, weight = part["node"].to_numpy(), part["weight"].to_numpy()
        shown = np.abs(node) <= 4
        density = (weight / np.gradient(node))[shown]
        lines.append(Curve(node[shown], density, kind, colour, look={"linestyle": dashes}))
    table = scale.comparison
    gain, p, r2 = float(table["gain"]["smooth"]), float(table["p"]["smooth"]), table["quadratic_r2"]
    title = f"bent against normal: 2 Δ log likelihood {gain:.1f}, p = {p:.2g}"
    drawing = curves([Panel(lines, "density", (0, None), title)], "easiness of the question (0 = mean, 1 = spread)")
    caption = (
        "How the questions lie on the scale, estimated together with the respondents' curves: the histogram may take "
        "any shape, the dashed curve is the normal one that tetrachoric correlations suppose. On a scale that is not "
        "normal, loadings bend along the thresholds though all respondents follow it equally closely: the parabola's "
        f"R² is {r2['normal']:.2f} on the normal scale and {r2['histogram']:.2f} on the free one."
    )
    return replace(drawing, title="Distribution of the scale", caption=caption)


def within_and_between(clusters: ClusterStructure) -> Drawing:
    """Mean correlations within each base model and between every two.

    Args:
        clusters: of `cluster_structure`.
    """
    labels = dict(enumerate(shortened_apart([str(name) for name in clusters.matrix.index], 18)))
    within, between = 1 - clusters.shares["own"], clusters.shares["between"]
    drawing = _map(
        clusters.matrix.to_numpy(),
        labels,
        "mean tetrachoric correlation",
        written=True,
        remark=f"mean within {within:.2f}, between {between:.2f}",
    )
    caption = (
        "Diagonal: how alike the respondents of one base model answer; elsewhere: those of two models. If the diagonal "
        "is high and the rest low, each model agrees with itself and little is shared between models; then the "
        f"eigenvalues of the whole panel count models. Shared between models: {between:.0%} of a respondent's variance "
        f"(p = {clusters.between.p:.2g} where each model's answers are shuffled as a whole)."
    )
    return replace(drawing, title="Within and between models", caption=caption)


def _map(values: np.ndarray, labels: dict[int, str] | None, bar: str, **more: object) -> Drawing:
    """Correlations by colour, in tenths: two colours about 0 where some are negative, else one."""
    known, edges = values[np.isfinite(values)], np.arange(len(values) + 1) - 0.5
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    floor, reach = float(np.floor(10 * low) / 10), float(np.ceil(10 * max(-low, high)) / 10)
    limits = (-reach, reach) if low < 0 else (floor, max(reach, floor + 0.1))
    return heatmap(
        [Cells(edges, edges, values)],
        xlabel="" if labels else "respondents, from rarely yes to often yes",
        ylabel="" if labels else "respondents, from rarely yes to often yes",
        colours="RdBu_r" if low < 0 else "viridis",
        limits=limits,
        bar=bar,
        rows=labels,  # type: ignore[arg-type]
        columns=None,
        **more,  # type: ignore[arg-type]
    )


def _parabola_band(bootstrap: QuestionBootstrap, labels: pd.Index, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central 95% of the resampled parabolas over the grid."""
    places = bootstrap.respondents.index.get_indexer(labels)
    loadings, thresholds = bootstrap.loadings[:, places], bootstrap.thresholds[:, places]
    whole = np.flatnonzero(np.isfinite(loadings + thresholds).all(axis=1))[:_MOST_CURVES]
    drawn = [np.polyval(np.polyfit(thresholds[row], loadings[row], 2), grid) for row in whole]
    low, high = np.quantile(drawn, QUANTILES_95, axis=0) if drawn else np.full((2, len(grid)), np.nan)
    return low, high

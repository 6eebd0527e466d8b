"""The figures of a panel by itself: what each shows is declared, and drawn by `onedial.show.plots`.

loadings             do respondents with extreme yes rates load less, and is that more than the correction makes?
scree                how many factors, beside both nulls
correlations         who answers like whom, in order of how often they say yes
scale                how the questions are spread over the scale, and which distribution that is
clusters             what models share with each other, and what each shares with itself
wright_map           questions and respondents on one axis, and where on it the panel can tell questions apart
"""

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from onedial.scale.checks.clusters import ClusterStructure
from onedial.scale.checks.question_bootstrap import QuestionBootstrap
from onedial.scale.factor.factor_model import FactorModel
from onedial.scale.factor.nulls import Simulated
from onedial.scale.factor.quadratic import FEWEST_FOR_PARABOLA, quadratic_fit
from onedial.scale.scale_distribution import ScaleDistribution
from onedial.show.figure_style import COLOURS, FAINT, INK, Drawing
from onedial.show.labels import shortened_apart
from onedial.show.plots import Axis, Cells, Colours, Curve, Over, Panel, Points, curves, heatmap, scatter
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95, Z_95

_MOST_NAMES = 40  # respondents that a map can still name
_NAMED = 8  # points with a name: those that lie furthest from the parabola
_REACH = 3.6  # spreads of the scale that are drawn


def loadings_against_threshold(
    model: FactorModel, bootstrap: QuestionBootstrap | None = None, null: Simulated | None = None
) -> Drawing:
    """One point per respondent, with 95% intervals where there is a bootstrap, and the parabola.

    Args:
        model: fitted. bootstrap: of the same panel. null: of the parabola's R^2 (`quadratic_fit_test`).
    """
    table = pd.DataFrame({"loading": model.loadings["factor_1"], "threshold": model.thresholds})
    table = table[np.isfinite(table.to_numpy()).all(axis=1)].assign(threshold_se=model.threshold_se)
    if bootstrap is not None:
        table = table.join(bootstrap.respondents[["loading_low", "loading_high"]])
    unrelated = ""
    if null is not None and np.isfinite(null.p):
        unrelated = f"; if unrelated {null.mean:.2f}, p = {null.p:.2g} ({null.n_defined} panels drawn)"
    drawing = parabola_plot(table, unrelated)
    left_out = f" Not drawn: {len(model.loadings) - len(table)} respondents that gave only one kind of answer."
    heywood = f" At their bound (Heywood cases): {', '.join(map(str, model.heywood))}." if model.heywood else ""
    return Drawing(drawing.figure, caption=heywood + left_out * (len(table) < len(model.loadings)))


def parabola_plot(table: pd.DataFrame, unrelated: str = "", by: str = "") -> Drawing:
    """Loading against threshold with the parabola through them.

    Args:
        table: index respondent; `loading, threshold, threshold_se`, and `loading_low, loading_high` where they are
            known. unrelated: what the remark says of unrelated loadings. by: column of groups, a colour each.
    """
    reach = Z_95 * table["threshold_se"]
    table = table.assign(threshold_low=table["threshold"] - reach, threshold_high=table["threshold"] + reach)
    fit, remark, lines = quadratic_fit(table["loading"], table["threshold"]), "too few for a parabola", []
    furthest = table.index
    if np.isfinite(fit.r2) and fit.n >= FEWEST_FOR_PARABOLA:
        grid = np.linspace(table["threshold"].min(), table["threshold"].max(), 200)
        lines = [Curve(grid, fit.predict(grid), colour=INK, look={"linewidth": 1.2})]
        furthest = (table["loading"] - fit.predict(table["threshold"].to_numpy())).abs().nlargest(_NAMED).index
        remark = f"parabola: R² {fit.r2:.2f}{unrelated}"
    short = shortened_apart([str(name).rpartition("/")[2] for name in furthest], 20)
    return scatter(
        table,
        "threshold",
        "loading",
        Axis("threshold (higher = more often yes)"),
        Axis("loading on the shared factor"),
        Points(by=by, annotated=dict(zip(map(str, furthest), short, strict=True))),
        lines=lines,
        remark=remark,
    )


def eigenvalue_table(
    eigenvalues: Floats, shuffled: Simulated | None = None, one_fewer: Simulated | None = None
) -> pd.DataFrame:
    """Index rank; eigenvalue, and of either null its mean and the ends of its central 95%, nan where untested.

    Args:
        eigenvalues: of the correlation matrix, falling. shuffled: `permutation_null`. one_fewer:
            `revised_parallel_analysis`.
    """
    table = pd.DataFrame({"eigenvalue": np.asarray(eigenvalues)})
    for name, null in (("shuffled", shuffled), ("one_fewer", one_fewer)):
        if null is not None:
            low, high = np.quantile(null.simulated, QUANTILES_95, axis=0)
            table[[name, f"{name}_low", f"{name}_high"]] = np.column_stack([null.simulated.mean(axis=0), low, high])
    return table.set_axis(range(1, len(table) + 1))


def scree(table: pd.DataFrame) -> Drawing:
    """Eigenvalues in falling order on a logarithmic axis, beside shuffled answers and models with one factor fewer.

    Args:
        table: `eigenvalue_table`.
    """
    positive = table["eigenvalue"].where(table["eigenvalue"] > 0)
    lines = [Curve(table.index, positive, "panel", look={"marker": "o"})]
    nulls = {"shuffled": "answers shuffled (first only)", "one_fewer": "one factor fewer"}
    for (name, label), colour in zip(nulls.items(), COLOURS[1:3], strict=True):
        if name in table:
            low, high = (table[f"{name}_{end}"].clip(lower=1e-6) for end in ("low", "high"))
            lines.append(Curve(table.index, table[name], label, colour, low, high, look={"linestyle": "--"}))
    limits = (max(positive.min() / 2, 0.01), 1.3 * positive.max())
    panel = Panel(lines, "eigenvalue of the correlations", limits, log=True)
    drawing = curves([panel], "from the largest to the smallest", zero=False, inch=2.9)
    drawing.figure.axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    return drawing


def correlation_map(model: FactorModel) -> Drawing:
    """Tetrachoric correlations, respondents ordered by threshold; pairs with an empty cell are marked."""
    order = model.thresholds.sort_values().index
    values = model.tetrachoric.correlation.loc[order, order].to_numpy(copy=True)
    np.fill_diagonal(values, np.nan)
    empty, n = model.tetrachoric.zero_cells.loc[order, order].to_numpy(), model.tetrachoric.n_zero_cell_pairs
    remark = f"crosses: {n} of {len(order) * (len(order) - 1) // 2} pairs lack an answer pattern"
    rows, columns = np.nonzero(empty)
    return _map(values, order, "tetrachoric correlation", Over((columns, rows)), remark)


def scale_shapes(scale: ScaleDistribution) -> Drawing:
    """The distribution of the questions' easiness of every kind, as densities of the same area."""
    lines = []
    for kind, colour in {"normal": FAINT, "smooth": COLOURS[0], "histogram": COLOURS[1]}.items():
        part = scale.weights.loc[kind]
        part = part.assign(density=part["weight"] / np.gradient(part["node"]))[part["node"].abs() <= 4]
        lines.append(Curve(part["node"], part["density"], kind, colour))
    return curves([Panel(lines, "density", (0, None))], "easiness of the question (0 = mean, 1 = spread)")


def within_and_between(clusters: ClusterStructure) -> Drawing:
    """Mean correlations within each base model and between every two."""
    within, between = 1 - clusters.shares["own"], clusters.shares["between"]
    remark = f"mean within {within:.2f}, between {between:.2f} (p = {clusters.between.p:.2g})"
    names = clusters.matrix.index
    return _map(clusters.matrix.to_numpy(), names, "mean tetrachoric correlation", Over(written=True), remark)


def wright_map(difficulty: pd.Series, information: pd.DataFrame, places: pd.Series) -> Drawing:
    """Questions by difficulty, the panel's information, and every respondent where it says yes half of the time.

    Args:
        difficulty: (question,). information: `difficulty, information`, of all answers. places: (respondent,)
            difficulties at which half of the answers are yes.
    """
    edges = np.linspace(-_REACH, _REACH, 37)
    heaps = np.histogram(difficulty.dropna().clip(-_REACH, _REACH), edges)[0]
    placed = places.dropna().sort_values().clip(-_REACH, _REACH)
    dots = {"marker": "o", "markersize": 4, "linewidth": 0.7}
    each = [Curve([place], [i], look=dots, name=str(name)) for i, (name, place) in enumerate(placed.items())]
    panels = [
        Panel([Curve(edges[:-1], heaps, look={"drawstyle": "steps-post"})], "questions", (0, None), height=0.6),
        Panel([Curve(information["difficulty"], information["information"], colour=INK)], "information", height=0.5),
        Panel(each, "respondents", height=1.4),
    ]
    return curves(panels, "difficulty (higher = harder)", zero=False, xlimits=(-_REACH - 0.1, _REACH + 0.1))


def _map(values: np.ndarray, names: pd.Index, bar: str, over: Over, remark: str) -> Drawing:
    """Correlations by colour, in tenths: two colours about 0 where some are negative, else one."""
    known, edges = values[np.isfinite(values)], np.arange(len(values) + 1) - 0.5
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    floor, reach = float(np.floor(10 * low) / 10), float(np.ceil(10 * max(-low, high)) / 10)
    labels = dict(enumerate(shortened_apart([str(name) for name in names], 14))) if len(names) <= _MOST_NAMES else None
    words, limits = "" if labels else "respondents, from rarely yes to often yes", (floor, max(reach, floor + 0.1))
    colours = Colours("RdBu_r", (-reach, reach), bar) if low < 0 else Colours("viridis", limits, bar)
    rows = None if labels is None else {float(place): label for place, label in labels.items()}
    return heatmap([Cells(edges, edges, values)], Axis(words), Axis(words, ticks=rows), colours, over, remark=remark)

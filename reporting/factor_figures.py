"""The figures of a panel by itself, before anything is steered.

loadings             do respondents with extreme yes rates load less, and is that more than the correction makes?
scree                how many factors, beside both nulls
correlations         who answers like whom, in order of how often they say yes
f_beta               whose yes is best, depending on what an error costs
confidence_accuracy  do those that say yes more often get more right?
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from psychometrics import (
    ConfidenceAccuracy,
    EigenvalueNull,
    FactorModel,
    FBetaCurve,
    QuestionBootstrap,
    Simulated,
)
from reporting.figure_style import COLOURS, FAINT, INK, PAPER, Drawing, new_figure, set_title, styled
from reporting.labels import shortened_apart

POINTS, CHANCE, ONE_FACTOR = COLOURS[0], COLOURS[1], COLOURS[2]
_Z = 1.96
_MOST_NAMES = 40  # respondents that a map can still name


@styled
def loadings_against_threshold(
    model: FactorModel, bootstrap: QuestionBootstrap | None = None, null: Simulated | None = None
) -> Drawing:
    """One point per respondent, with 95% intervals where there is a bootstrap, and the parabola.

    Args:
        model: fitted. bootstrap: of the same panel. null: of the parabola's R^2 (`quadratic_fit_test`).
    """
    loading = model.loadings["factor_1"]
    drawn = loading.notna() & np.isfinite(model.thresholds)
    x, y = model.thresholds[drawn].to_numpy(), loading[drawn].to_numpy()
    sideways = _Z * model.threshold_se[drawn].to_numpy()
    upwards = None
    if bootstrap is not None:
        table = bootstrap.respondents.loc[loading.index[drawn]]
        upwards = np.clip([y - table["loading_low"], table["loading_high"] - y], 0, None)
    figure = new_figure(3.9)
    axes = figure.add_subplot()
    axes.errorbar(
        x, y, xerr=sideways, yerr=upwards, fmt="o", color=POINTS, markersize=5, elinewidth=0.9, alpha=0.9, zorder=3
    )
    fit = model.quadratic_fit
    if np.isfinite(fit.r2):
        grid = np.linspace(x.min(), x.max(), 200)
        axes.plot(grid, fit.predict(grid), color=INK, linewidth=1.2, zorder=2)
    axes.set_xlabel("threshold (higher = more often yes)")
    axes.set_ylabel("loading on the shared factor")
    axes.set_ylim(top=max(1.02, axes.get_ylim()[1]))
    remark = f"parabola: R² {fit.r2:.2f}"
    if null is not None:
        remark += f"; if unrelated, {null.mean:.2f} on average (p = {null.p:.2g})"
    set_title(axes, "Loadings against thresholds", remark)
    absent = int((~drawn).sum())
    low, high = fit.r2_range
    caption = (
        "Each point is a respondent: how often it says yes, and how closely it follows the scale that all share. Bars "
        "are 95% intervals over questions. A parabola that falls off at both ends looks like a finding, and an "
        "empty-cell correction makes one by itself: believe it only if R² lies far above what loadings that have "
        "nothing to do with thresholds give under the same correction, and if no single respondent carries it"
        f" (without one of them R² is {low:.2f} to {high:.2f})."
    )
    if absent:
        caption += f" Not drawn: {absent} respondents that gave only one kind of answer."
    return Drawing(figure, "Loadings against thresholds", caption)


@styled
def scree(
    model: FactorModel, permutation: EigenvalueNull | None = None, one_factor: EigenvalueNull | None = None
) -> Drawing:
    """Eigenvalues in falling order, beside shuffled answers and beside models with one factor fewer.

    Args:
        model: fitted. permutation: `permutation_null`. one_factor: `revised_parallel_analysis`.
    """
    observed = model.eigenvalues.to_numpy()
    ranks = np.arange(1, len(observed) + 1)
    figure = new_figure(3.9)
    axes = figure.add_subplot()
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.plot(ranks, observed, color=POINTS, marker="o", markersize=4.5, label="panel", zorder=4)
    if permutation is not None:
        _band(axes, permutation, CHANCE, "--", "answers shuffled (first only)")
    if one_factor is not None:
        _band(axes, one_factor, ONE_FACTOR, ":", "one factor fewer")
    axes.set_xlabel("eigenvalue, from the largest")
    axes.set_ylabel("eigenvalue of the correlation matrix")
    axes.set_xticks(ranks[:: max(1, len(ranks) // 10)])
    remark = f"first {observed[0] / len(observed):.0%} of the variance, second {observed[1] / len(observed):.0%}"
    if one_factor is not None:
        remark += f"; factors above their null: {one_factor.n_above()}"
    set_title(axes, "Scree", remark)
    axes.legend(loc="upper right")
    caption = (
        "Eigenvalues of the tetrachoric correlations, never smoothed, so that some may be negative. Bands hold 95% of "
        "the simulated eigenvalues. Shuffled answers tell whether anything is shared: look at the first eigenvalue "
        "only. Whether there is a second factor is told by the other band: the k-th eigenvalue stands beside matrices "
        "that have k - 1 factors and the same yes rates, gaps and correction."
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
    image = axes.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest", aspect="auto")
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
    figure.colorbar(image, ax=axes, pad=0.03, label="tetrachoric correlation")
    n_empty = model.tetrachoric.n_zero_cell_pairs
    set_title(axes, "Correlations", f"dots: {n_empty} of {m * (m - 1) // 2} pairs lack an answer pattern")
    caption = (
        "Respondents from rarely yes (top, left) to often yes: how alike two of them answer once their yes rates are "
        "accounted for. One shared scale gives a map of one colour; a second factor that belongs to the yes rate shows "
        "as pale or blue corners, where respondents that rarely say yes meet those that nearly always do. Dots: pairs "
        "in which one answer pattern never occurs; their "
        f"value is the doing of the rule for empty cells ({model.tetrachoric.zero_cell_rule}). Grey: no value."
    )
    return Drawing(figure, "Correlations", caption)


@styled
def f_beta_curves(curve: FBetaCurve) -> Drawing:
    """F-beta of every respondent over beta; the best at some beta in colour."""
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
        axes.plot(betas, curve.curve[name], color=COLOURS[i % len(COLOURS)], linestyle=dashes, label=label, zorder=3)
    axes.set_xscale("log", base=2)
    axes.set_xticks([1 / 16, 1 / 4, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])
    axes.set_xlabel("beta (left: a wrong yes costs more; right: a wrong no costs more)")
    axes.set_ylabel("F-beta")
    set_title(axes, "F-beta", f"in colour: the {len(best)} that are best somewhere")
    if best:
        figure.legend(loc="outside lower left", ncols=2)
    caption = (
        "How well a respondent's yes marks the questions that it then gets right. Low beta punishes a yes that was "
        "wrong, high beta a no that would have been right. Curves that cross mean that no respondent is best for "
        "everybody; at the right edge, saying yes to everything wins by itself."
    )
    return Drawing(figure, "F-beta", caption)


@styled
def confidence_against_accuracy(result: ConfidenceAccuracy) -> Drawing:
    """Mean confidence against mean accuracy, with the identity and the fitted line."""
    means, line = result.means, result.line
    x, y = means["accuracy"].to_numpy(dtype=float), means["confidence"].to_numpy(dtype=float)
    figure = new_figure(4.9)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1.2, zorder=1)
    axes.plot(x, y, linestyle="", marker="o", markersize=5.5, color=POINTS, markeredgecolor=PAPER, zorder=3)
    handles = [Line2D([], [], color=FAINT, linestyle="--", label="calibrated")]
    remark = "no line fitted: too few respondents, or all equally accurate"
    if np.isfinite(line.slope):
        ends = np.array([np.nanmin(x), np.nanmax(x)])
        axes.plot(ends, line.intercept + line.slope * ends, color=CHANCE, linewidth=1.6, zorder=2)
        handles.append(Line2D([], [], color=CHANCE, label="least squares"))
        remark = (
            f"slope {line.slope:.2f} ({line.slope_low:.2f} to {line.slope_high:.2f}), p = {line.p:.2g}, n = {line.n}"
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    axes.set_xlabel("share of questions answered correctly")
    axes.set_ylabel("share of questions with yes")
    figure.legend(handles=handles, loc="outside lower left", ncols=2)
    set_title(axes, "Confidence against accuracy", remark)
    caption = (
        "Each point is a respondent. On the dashed line it says yes as often as it is right. A flat fitted line means "
        "that who says yes more often tells nothing about who knows more. With few respondents the interval of the "
        "slope is wide: read it before the slope."
    )
    return Drawing(figure, "Confidence against accuracy", caption)


def _band(axes: Axes, null: EigenvalueNull, colour: str, dashes: str, label: str) -> None:
    ranks = np.arange(1, len(null.observed) + 1)
    low, high = np.nanquantile(null.simulated, [0.025, 0.975], axis=0)
    axes.fill_between(ranks, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(ranks, null.mean, color=colour, linestyle=dashes, label=label, zorder=3)

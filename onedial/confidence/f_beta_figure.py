"""Whose yes is best, depending on what an error costs."""

from onedial.confidence.f_beta import FBetaCurve
from onedial.show import COLOURS, FAINT, Drawing, new_figure, set_title, shortened_apart, styled


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

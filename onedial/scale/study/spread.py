"""How are the questions spread over the scale, and do loadings bend along thresholds for a reason?"""

from onedial.scale.factor.quadratic import FEWEST_FOR_PARABOLA
from onedial.scale.factor.structure import quadratic_fit_test
from onedial.scale.scale_distribution import scale_distribution
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit


def spread(fit: PanelFit) -> Finding:
    """The distribution of the scale."""
    scale = scale_distribution(fit.fits)
    return Finding(
        sentences=scale.sentences(),
        tables={
            "scale": scale.comparison,
            "scale_weights": scale.weights,
        },
        figures={"scale": lambda: draw.scale_shapes(scale)},
    )


def parabola(fit: PanelFit) -> Finding:
    """The parabola of loading on threshold, and its null."""
    quadratic = fit.factor.quadratic_fit
    finding = Finding(numbers={"quadratic_fit": {"r2": quadratic.r2, "n": quadratic.n}})
    if not fit.n_replicates:
        finding.figures["loadings"] = lambda: draw.loadings_against_threshold(fit.factor)
        return finding
    null = quadratic_fit_test(fit.nulls)
    finding.figures["loadings"] = lambda: draw.loadings_against_threshold(fit.factor, null=null)
    if fit.n_varied < FEWEST_FOR_PARABOLA:
        finding.sentences.append(
            f"A parabola of loading on threshold takes at least {FEWEST_FOR_PARABOLA} respondents."
        )
        return finding
    finding.numbers["quadratic_r2"] = null.to_dict()
    low, high = quadratic.r2_range
    lost = len(null.simulated) - null.n_defined
    undefined = f"; undefined in {lost} of {len(null.simulated)} simulated panels" if lost else ""
    finding.sentences.append(
        f"Parabola of loading on threshold: R^2 {null.observed:.2f}; {null.mean:.2f} if the two are unrelated, on one "
        f"scale of any shape with answers at random (p = {null.p:.2g}{undefined}); {low:.2f} to {high:.2f} without one "
        "respondent."
    )
    return finding

"""How are the questions spread over the scale, and do loadings bend along thresholds for a reason?"""

from onedial.scale.checks.accounts import PLAIN, kin_bend
from onedial.scale.factor.structure import quadratic_fit_test
from onedial.scale.scale_distribution import scale_distribution
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text


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
    """The parabola of loading on threshold, its null, and what else would make it."""
    quadratic = fit.factor.quadratic_fit
    found = Finding(numbers={"quadratic_fit": {"r2": quadratic.r2, "n": quadratic.n}})
    if not fit.n_replicates:
        found.figures["loadings"] = lambda: draw.loadings_against_threshold(fit.factor)
        return found
    accounts = fit.accounts
    scale, asymptotes = accounts.nearest("parabola")
    null = quadratic_fit_test(fit.nulls, scale=scale, asymptotes=asymptotes)
    found.figures["loadings"] = lambda: draw.loadings_against_threshold(fit.factor, fit.bootstrap, null)
    found.tables["accounts"] = accounts.table
    if accounts.table["bend_p"].isna().all():
        found.sentences.append("Whether loadings bend along thresholds takes at least six respondents.")
        return found
    found.numbers["quadratic_r2"] = null.to_dict()
    low, high = quadratic.r2_range
    lost = len(null.simulated) - null.n_defined
    undefined = f"; undefined in {lost} of {len(null.simulated)} simulated panels" if lost else ""
    found.sentences += [
        f"Parabola of loading on threshold: R^2 {null.observed:.2f}; {null.mean:.2f} if the two are unrelated "
        f"(p = {null.p:.2g}{undefined}); {low:.2f} to {high:.2f} without one respondent.",
        accounts.sentence("parabola"),
    ]
    if accounts.stands("parabola") and fit.specific is not None and fit.kin is not None:
        p = found.numbers["quadratic_p_by_kin"] = kin_bend(fit.specific)
        left = "a bend is left" if p <= LEVEL else "no bend is left, and the parabola no finding"
        found.sentences.append(f"With what each {fit.kin[0]}'s respondents share modelled, {left} ({p_text(p)}).")
    elif len(rows := accounts.explaining("parabola")) and PLAIN not in rows.index:
        found.sentences.append("What an account explains is no finding under any reading below.")
    return found

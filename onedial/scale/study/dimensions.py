"""Is one factor enough? The number of factors, what one leaves of the correlations, and RMSEA, CFI and SRMR."""

import numpy as np
from scipy.special import ndtr

from onedial.scale.factor.factor_fit import FEWEST_FITTED, MOST_FITTED, factor_fit
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.nulls import Replicates, Simulated, shrunken_loadings
from onedial.scale.factor.structure import OneFactorBootstrap, revised_parallel_analysis
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import OBJECTIONS, SECOND_SCALE
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text

_RULE = OBJECTIONS["structure"]


def dimensions(fit: PanelFit) -> Finding:
    """Number of factors, and fit of one."""
    m = fit.n_varied
    finding = Finding(
        tables={
            "eigenvalues": fit.factor.eigenvalues.to_frame("observed"),
            "correlations": fit.factor.tetrachoric.correlation,
        },
        figures={"correlations": lambda: draw.correlation_map(fit.factor)},
    )
    beside = (fit.shuffled, _factors(fit, finding)) if fit.n_replicates else ()
    finding.figures["scree"] = lambda: draw.scree(draw.eigenvalue_table(fit.factor.eigenvalues.to_numpy(), *beside))
    if FEWEST_FITTED <= m <= MOST_FITTED:
        one = factor_fit(fit.answers)
        finding.sentences.append(one.sentence())
        finding.numbers["fit"] = one.to_dict()
    elif m < FEWEST_FITTED and fit.n_replicates:
        finding.evidence["too_few"] = f"{m} respondents cannot say, since one factor fits any three correlations."
    return finding


def _factors(fit: PanelFit, finding: Finding) -> Simulated:
    """Add what is found of factors; return the null of several."""
    one, parallel = fit.one_factor, revised_parallel_analysis(fit.nulls)
    conditional = parallel.to_frame().drop(columns="observed").add_prefix("one_factor_fewer_")
    shuffled = fit.shuffled.to_frame().rename(columns=lambda name: name.replace("null", "shuffled"))
    finding.tables["eigenvalues"] = shuffled.join(conditional)
    tested = np.flatnonzero(np.isfinite(parallel.p))
    values = ", ".join(f"{rank + 1}: {p_text(parallel.p[rank])}" for rank in tested)
    model, k = fit.fits.null(), parallel.n_above()
    p, part = fit.left_by_one
    much = f"{part:.0%}" if part <= 1 else "more than 100%"
    finding.sentences += [
        f"Factors by parallel analysis: {k} (each eigenvalue beside panels with one factor fewer: {values}).",
        f"One scale of any shape, with {1 - np.mean(model.curves.attentive):.1%} of the answers at random, makes a "
        f"second eigenvalue of {one.second.mean:.2f} (here {one.second.observed:.2f}, {p_text(one.second.p)}), a "
        f"smallest of {one.smallest.mean:.2f} (here {one.smallest.observed:.2f}, {p_text(one.smallest.p)}), and leaves "
        f"residual correlations of {one.residual.mean:.3f} (root mean square; here {one.residual.observed:.3f}, "
        f"{p_text(one.residual.p)}). What is beyond is {much} of the mean squared loading "
        f"(it counts if p ≤ {LEVEL:g} and {_RULE.floor:.0%} or more).",
    ]
    if fit.one_is_not_all:
        finding.evidence["misfit"] = part
        opening = f"{k} factors, not one, which" if k > 1 else "one factor"
        finding.against.append(f"{opening} leaves residual correlations of {much} of the mean squared loading")
    elif p > LEVEL:
        power = second_scale_power(one, shrunken_loadings(model))
        second = f"a second scale that correlates {SECOND_SCALE:g} with the first"
        finding.sentences.append(f"{second[0].upper()}{second[1:]} would be found in about {power:.0%}.")
        if _RULE.unseen(power):
            finding.evidence["unseen"] = True
            finding.missed.append(f"{second} (found in about {power:.0%})")
    finding.numbers |= {
        "n_factors_by_revised_parallel_analysis": k,
        "second_eigenvalue": one.second.to_dict(),
        "smallest_eigenvalue": one.smallest.to_dict(),
        "residual_correlations": one.residual.to_dict() | {"part": part},
        "min_eigenvalue": fit.factor.tetrachoric.min_eigenvalue,
    }
    if (k := min(k, fit.n_varied // 3)) > 1:
        several = fit_factor_model(fit.answers, k)
        finding.tables["factors"] = several.loadings
        sizes = several.explained["squared_loadings_of_total_variance"]
        finding.sentences.append(f"{k} factors explain {', '.join(f'{share:.0%}' for share in sizes)} of the variance.")
    return parallel


def second_scale_power(one: OneFactorBootstrap, loadings: Floats) -> float:
    """How often a second factor would be found if every other respondent, by its loading, had a scale that correlates
    .8 with that of the others.

    Formula: the larger of two powers, Phi((l - c) / s) and Phi((t - d) / u). l is the second eigenvalue of the
    correlations l_i l_j (.8 between the two halves), c the 95% point of second eigenvalues under one factor and s their
    standard deviation; t^2 = r^2 + m^2, r the mean residual under one factor, m what one factor leaves of those
    correlations, d and u as c and s, of residuals.
    """
    half = np.argsort(np.argsort(loadings)) % 2
    expected = np.outer(loadings, loadings) * np.where(half[:, None] == half, 1, SECOND_SCALE)
    np.fill_diagonal(expected, 1)
    left = Replicates(expected[None], np.zeros((1, len(half)))).residual[0]
    reached = {
        "second": float(np.linalg.eigvalsh(expected)[-2]),
        "residual": float(np.sqrt(np.nanmean(one.residual.simulated**2) + left**2)),
    }
    nulls = {name: getattr(one, name).simulated for name in reached}
    return max(
        float(ndtr((reached[name] - np.quantile(null, 1 - LEVEL)) / null.std(ddof=1))) for name, null in nulls.items()
    )

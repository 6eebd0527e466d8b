"""Is one factor enough? The number of factors, and the fit of one by RMSEA, CFI and SRMR, together."""

import numpy as np
from scipy.special import ndtr

from onedial.scale.factor.factor_fit import FEWEST_FITTED, MOST_FITTED, FactorFit, factor_fit
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.nulls import Simulated, shrunken_loadings
from onedial.scale.factor.structure import OneFactorBootstrap, revised_parallel_analysis
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.shared import of_variance
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text
from onedial.stats.power import POWER

SECOND_SCALE = 0.8
"""Correlation of two scales that is still worth knowing of."""
_POOR = 0.10
"""RMSEA above which one factor is rejected whatever else it explains (MacCallum, Browne and Sugawara, 1996)."""
_AS_LARGE = 0.5
"""Size of a second factor beside the first from which on no scale is common to all."""


def dimensions(fit: PanelFit) -> Finding:
    """Number of factors, and fit of one."""
    m = fit.n_varied
    found = Finding(
        tables={
            "eigenvalues": fit.factor.eigenvalues.to_frame("observed"),
            "correlations": fit.factor.tetrachoric.correlation,
        },
        figures={"correlations": lambda: draw.correlation_map(fit.factor)},
    )
    sizes, parallel = _factors(fit, found) if fit.n_replicates else ([], None)
    beside = (fit.shuffled, parallel) if fit.n_replicates else ()
    found.figures["scree"] = lambda: draw.scree(draw.eigenvalue_table(fit.factor.eigenvalues.to_numpy(), *beside))
    if not fit.n_replicates:
        found.missed.append(f"a second scale that correlates {SECOND_SCALE:g} with the first (not tested)")
    one = factor_fit(fit.answers) if FEWEST_FITTED <= m <= MOST_FITTED else None
    if one is not None:
        found.sentences.append(one.sentence(f"{len(sizes)} factors were found" if sizes else ""))
        found.numbers["fit"] = one.to_dict()
        if one.rejected:
            found.against.append(f"one factor does not fit (RMSEA {one.rmsea:.3f})")
    if m < FEWEST_FITTED and fit.n_replicates:
        found.opening = (
            f"Something is shared ({p_text(fit.shuffled.p[0])}); whether it is one scale {FEWEST_FITTED - 1} "
            "respondents cannot say, since one factor fits any three correlations."
        )
    else:
        found.opening = _opening(fit, sizes, one)
    return found


def _opening(fit: PanelFit, sizes: list[float], one: FactorFit | None) -> str:
    if sizes and (sizes[1] >= _AS_LARGE * sizes[0] or (one is not None and one.rmsea_low > _POOR)):
        return "There is no scale that is common to all."
    if sizes or (one is not None and one.rejected):
        return f"Something is shared ({of_variance(fit)}), but one scale is not all of it."
    return ""


def _factors(fit: PanelFit, found: Finding) -> tuple[list[float], Simulated]:
    """Add what is found of factors; the shares of the variance of several, where they stand, and their null."""
    one, parallel = fit.one_factor, revised_parallel_analysis(fit.nulls)
    conditional = parallel.to_frame().drop(columns="observed").add_prefix("one_factor_fewer_")
    shuffled = fit.shuffled.to_frame().rename(columns=lambda name: name.replace("null", "shuffled"))
    found.tables["eigenvalues"] = shuffled.join(conditional)
    tested = np.flatnonzero(np.isfinite(parallel.p))
    values = ", ".join(f"{rank + 1}: {p_text(parallel.p[rank])}" for rank in tested)
    model = fit.fits.null()
    found.sentences += [
        f"Factors by parallel analysis: {parallel.n_above()} (each eigenvalue beside panels with one factor fewer: "
        f"{values}).",
        f"One scale of any shape, with {1 - np.mean(model.curves.attentive):.1%} of the answers at random, makes a "
        f"second eigenvalue of {one.second.mean:.2f} (here {one.second.observed:.2f}, {p_text(one.second.p)}) and a "
        f"smallest of {one.smallest.mean:.2f} (here {one.smallest.observed:.2f}, {p_text(one.smallest.p)}).",
    ]
    power = second_scale_power(one, shrunken_loadings(model))
    second = f"a second scale that correlates {SECOND_SCALE:g} with the first"
    found.sentences.append(f"{second[0].upper()}{second[1:]} would be found in about {power:.0%}.")
    if power < POWER:
        found.missed.append(f"{second} (found in about {power:.0%})")
    k = min(parallel.n_above(), fit.n_varied // 3)
    found.numbers |= {
        "n_factors_by_revised_parallel_analysis": parallel.n_above(),
        "second_eigenvalue": one.second.to_dict(),
        "smallest_eigenvalue": one.smallest.to_dict(),
        "min_eigenvalue": fit.factor.tetrachoric.min_eigenvalue,
    }
    if k < 2:
        return [], parallel
    several = fit_factor_model(fit.answers, k)
    found.tables["factors"] = several.loadings
    sizes = [float(share) for share in several.explained["squared_loadings_of_total_variance"]]
    found.against.append(f"{k} factors, not one (of the variance: {', '.join(f'{share:.0%}' for share in sizes)})")
    return sizes, parallel


def second_scale_power(one: OneFactorBootstrap, loadings: Floats) -> float:
    """How often a second factor would be found if every other respondent, by its loading, had a scale that correlates
    .8 with that of the others.

    Formula: Phi((l - c) / s), with l the second eigenvalue of the correlations l_i l_j (.8 between the two halves), c
    the 95% point of second eigenvalues under one factor and s their standard deviation. Simulated panels agree where it
    is .8 or more (.82 and .82, .97 and .97); below, more of them are found than it says.
    """
    half = np.argsort(np.argsort(loadings)) % 2
    expected = np.outer(loadings, loadings) * np.where(half[:, None] == half, 1, SECOND_SCALE)
    np.fill_diagonal(expected, 1)
    null = one.second.simulated
    over = np.linalg.eigvalsh(expected)[-2] - np.quantile(null, 1 - LEVEL)
    return float(ndtr(over / null.std(ddof=1)))

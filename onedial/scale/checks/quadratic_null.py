"""How high an R^2 the parabola of loading on threshold reaches when the two have nothing to do with each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtr

from onedial.scale.checks.draws import Drawn, Probabilities, answers_from_tables, as_probabilities
from onedial.scale.checks.quadratic import parabola_r2
from onedial.scale.checks.replicates import Counted, Replicates, correlate
from onedial.scale.checks.simulation import Simulated, checked_for_simulation
from onedial.scale.correlations.bivariate_normal import solve_increasing
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.evidence import MISSING
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.factor.usable import observed_correlation
from onedial.scale.gap_model import null_model
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, ScaleKind
from onedial.scale.response_curves import slope_of
from onedial.scale.standard_errors import asymptote_errors, loading_errors
from onedial.stats.arrays import Floats, Integers
from onedial.stats.remembered import remembered

_ROOT = np.sqrt(2 * np.pi)
_FURTHEST_CUT = 200.0
_LARGEST_PART = 0.9  # of the answers of one kind that can be at random


def quadratic_fit_test(
    matrix: Any,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "none",
) -> Simulated:
    """R^2 of the parabola of loading on threshold when the two have nothing to do with each other.

    Formula: marginal maximum likelihood loadings are assigned to the respondents at random, answers are simulated
    from the one-factor model with the observed yes rates and gaps, and minres loadings and R^2 are estimated again:
    p = (1 + #{null R^2 >= observed}) / (B + 1). Whatever R^2 the small number of respondents, the empty-cell rule and
    the shape of the scale create is in the null.

    Estimated loadings differ more than true ones, by their errors. They are therefore drawn together before they are
    dealt out: mean + c (lambda - mean) with c^2 = 1 - q mean(se^2) / variance, at least 0, q = the 95% point of
    chi-squared over its m - 1 degrees of freedom: loadings count as different as far as error cannot be the reason.
    Otherwise equal loadings would be simulated as if they differed, and the parabola that a correction makes of equal
    loadings would stand out.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least four respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation. scale, asymptotes:
            distribution of the questions and answers at random under the null, as in `response_model`; how often
            each respondent answers at random stays its own.

    Returns:
        Simulated, with the observed R^2, the null's and p. Sign: p looks at the upper tail.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none; the observed R^2 is `summary(lm(loading ~ threshold + I(threshold^2)))$r.squared`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> quadratic_fit_test(answers, 9).p > 0.05
    True
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    fit = null_model(answers, scale, asymptotes=asymptotes)
    found = unrelated_replicates(fit, n_replicates, seed, thresholds, zero_cells)
    null = parabola_r2(found.loadings(), found.thresholds)
    observed_loadings = np.nan_to_num(minres_one_factor(observed_correlation(answers, thresholds, zero_cells)))
    observed = float(parabola_r2(observed_loadings[None], thresholds_of(answers)[None])[0])
    return Simulated.beside(observed, null)


@remembered
def unrelated_panels(fit: MarginalFit, n_replicates: int, seed: int) -> Drawn:
    """Random panels in which loadings have nothing to do with yes rates, drawn once for all that is asked of them."""
    rng, slopes = np.random.default_rng([seed, 2]), slope_of(shrunken_loadings(fit))
    m = len(slopes)
    weight = node_weights(fit)
    wanted = np.einsum("iq,iq->i", weight, np.exp(fit.log_p[1]))
    no, yes = shrunken_asymptotes(fit, wanted)
    # the cut that keeps the yes rate of respondent i when it gets the slope of respondent j, for every i and j
    tables = np.stack([as_probabilities(_with_rates(slope, wanted, weight, fit, no, yes)) for slope in slopes])
    dealt = rng.permuted(np.tile(np.arange(m), (n_replicates, 1)), axis=1)
    return Drawn([Counted.of(batch) for batch in answers_from_tables(fit, _DealtTables(tables, dealt), rng)])


@remembered
def unrelated_replicates(
    fit: MarginalFit, n_replicates: int, seed: int, thresholds: ThresholdMode, zero_cells: ZeroCellRule
) -> Replicates:
    """Their correlations."""
    return correlate(unrelated_panels(fit, n_replicates, seed).batches, thresholds, zero_cells)


class _DealtTables(Sequence[Probabilities]):
    """(node, respondent) probabilities of each replicate, put together when they are asked for."""

    def __init__(self, tables: Probabilities, dealt: Integers) -> None:
        self._tables, self._dealt = tables, dealt

    def __len__(self) -> int:
        return len(self._dealt)

    def __getitem__(self, replicate: Any) -> Any:
        respondents = np.arange(self._dealt.shape[1])
        return np.ascontiguousarray(self._tables[self._dealt[replicate], :, respondents].T)


def shrunken_loadings(fit: MarginalFit) -> Floats:
    """(respondent,) loadings drawn towards their mean, so that they differ by no more than true ones must."""
    return _drawn_together(fit.curves.loading, loading_errors(fit))


def shrunken_asymptotes(fit: MarginalFit, rates: Floats) -> tuple[Floats, Floats]:
    """(respondent,), (respondent,): rates of no and of yes whatever the question, drawn towards their means in the same
    way, and below the rates (respondent,) of either."""
    m = len(fit.curves.slope)
    floors, errors = (np.zeros((2, m)) if fit.curves.floors is None else fit.curves.floors), asymptote_errors(fit)
    no, yes = (_drawn_together(*pair) if np.ptp(pair[0]) > 0 else pair[0] for pair in zip(floors, errors, strict=True))
    return np.clip(no, 0, _LARGEST_PART * (1 - rates)), np.clip(yes, 0, _LARGEST_PART * rates)


def _drawn_together(estimates: Floats, errors: Floats) -> Floats:
    freedom = len(estimates) - 1
    error = np.nanmean(errors**2) * chdtri(freedom, 0.05) / freedom if np.isfinite(errors).any() else np.nan
    variance = estimates.var(ddof=1)
    share = np.sqrt(max(0.0, 1 - error / variance)) if variance > 0 and np.isfinite(error) else 1.0
    return np.asarray(estimates.mean() + share * (estimates - estimates.mean()))


def node_weights(fit: MarginalFit) -> Floats:
    """(respondent, node) where on the scale the questions lie that a respondent answered."""
    answered = (fit.codes != MISSING).astype(float)
    return (answered.T @ fit.posterior) / answered.sum(axis=0)[:, None]


def _with_rates(slope: float, wanted: Floats, weight: Floats, fit: MarginalFit, no: Floats, yes: Floats) -> Floats:
    """(node, respondent) probabilities of yes with this slope, and cuts at which each respondent's yes rate is kept."""

    def excess(cut: Floats, of: Integers) -> tuple[Floats, Floats]:
        at = slope * fit.nodes + cut[:, None]
        rate = yes[of] + attentive[of] * (weight[of] * ndtr(at)).sum(axis=1)
        return rate - wanted[of], attentive[of] * (weight[of] * np.exp(-(at**2) / 2)).sum(axis=1) / _ROOT

    attentive = 1 - no - yes
    edge = np.full(len(wanted), _FURTHEST_CUT)
    cuts = solve_increasing(excess, -edge, edge, fit.curves.cuts[0], tolerance=1e-6)
    return yes + attentive * ndtr(slope * fit.nodes + cuts[:, None]).T

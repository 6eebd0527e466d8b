"""The one-factor model fitted to all answers at once, on a scale of any shape: the ground of scores and nulls."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from onedial.scale.correlations.thresholds import normal_quantile
from onedial.scale.irt.asymptotes import AsymptoteKind, Asymptotes, check_asymptotes
from onedial.scale.irt.category_curves import UNUSED, Curves, log_categories
from onedial.scale.irt.em import EmFit, Group, fit_by_em
from onedial.scale.irt.expectation import MISSING, Codes, mean_and_spread, posterior_of
from onedial.scale.irt.nodes import nodes_for, quadrature
from onedial.scale.irt.scales import HISTOGRAM_NODES, ScaleKind, family_of, standard_moments
from onedial.stats import Booleans, Floats, remembered

_COARSE_NODES = 61
# The likelihood of a histogram creeps up for ever; what is left at .01 a cycle moves no loading's second digit.
TOLERANCES = {"normal": 1e-7, "smooth": 1e-4, "two_component": 1e-2, "histogram": 1e-2}
_TOLERANCE_OF_ASYMPTOTES = 1e-3


@dataclass(frozen=True)
class MarginalFit:
    """A fitted model on a scale of mean 0 and variance 1.

    Attributes:
        codes: (question, respondent) the answers. curves: of the respondents. nodes: (node,). log_weight: (node,).
        kind: of the scale's distribution. parameters: of that distribution, as it was fitted.
        log_likelihood: at the maximum. converged: whether it was reached.
        known_posterior: (question, node) where more than these answers tells it. asymptotes: that were estimated.
    """

    codes: Codes
    curves: Curves
    nodes: Floats
    log_weight: Floats
    kind: ScaleKind
    parameters: Floats
    log_likelihood: float
    converged: bool
    known_posterior: Floats | None = None
    asymptotes: Asymptotes | None = None

    @cached_property
    def log_p(self) -> Floats:
        """(category, respondent, node) log probabilities."""
        return log_categories(self.curves, self.nodes)[0]

    @cached_property
    def posterior(self) -> Floats:
        """(question, node) where each question probably lies."""
        if self.known_posterior is not None:
            return self.known_posterior
        return posterior_of(self.codes, self.log_p, self.log_weight)[0]

    def scores(self) -> tuple[Floats, Floats]:
        """(question,), (question,): EAP easiness and posterior standard deviation."""
        if self.known_posterior is not None:
            mean = self.known_posterior @ self.nodes
            return mean, np.sqrt(np.maximum(self.known_posterior @ self.nodes**2 - mean**2, 0))
        return mean_and_spread(self.codes, self.log_p, self.log_weight, self.nodes)

    def yes_rates(self) -> Floats:
        """(cut, respondent) rate of answers above each cut that the model expects over all questions, gaps included."""
        reached = np.exp(self.log_p)[::-1].cumsum(axis=0)[::-1][1:]
        return reached @ np.exp(self.log_weight)


@remembered
def fit_marginal(
    codes: Codes,
    kind: ScaleKind = "normal",
    n_nodes: int | None = None,
    equal_slopes: bool = False,
    start: Curves | None = None,
    tolerance: float | None = None,
    asymptotes: AsymptoteKind = "none",
    whose: Booleans | None = None,
) -> MarginalFit:
    """Curves and the scale's distribution by marginal maximum likelihood.

    Args:
        codes: (question, respondent); every respondent must use at least two categories, numbered from 0 without holes.
        kind: of the distribution. n_nodes: default: as many as the sharpest posterior needs, 81 for a histogram.
        equal_slopes: one slope for all respondents. start: curves to begin with. tolerance: of the log likelihood.
        asymptotes: answers whatever the question: none, equally often by all, or by each respondent as often as it
            does. whose: (respondent,) who may; default: everyone.
    """
    check_asymptotes(asymptotes)
    family = family_of(kind)
    if tolerance is None:
        tolerance = TOLERANCES[kind]
    curves = start if start is not None else starting_curves(codes)
    if start is None:
        curves = _coarse(codes, curves, equal_slopes)
    estimated: Asymptotes | None = None
    if asymptotes != "none":  # found on a normal scale, where no group of questions at one end can stand in for them
        tolerance = max(tolerance, _TOLERANCE_OF_ASYMPTOTES)
        estimated = Asymptotes.of(codes, whose)
        curves = _coarse(codes, replace(curves, floors=estimated.start()), equal_slopes, estimated)
        if asymptotes == "own":
            estimated = replace(estimated, centre=np.asarray(curves.floors).max(axis=1))
            curves = _coarse(codes, curves, equal_slopes, estimated)
    if n_nodes is None:
        n_nodes = HISTOGRAM_NODES if kind == "histogram" else nodes_for(curves.loading)
    nodes, _ = quadrature(n_nodes)
    group = Group(codes, family, family.start(nodes))
    found = fit_by_em([group], curves, nodes, equal_slopes, tolerance, asymptotes=estimated)
    log_weight = family.log_weight(found.parameters[0], nodes)
    return replace(_standardised(codes, found, log_weight, nodes, kind), asymptotes=estimated)


@remembered
def _coarse(codes: Codes, curves: Curves, equal_slopes: bool, asymptotes: Asymptotes | None = None) -> Curves:
    """Curves near those of a normal scale, to begin with."""
    nodes, _ = quadrature(_COARSE_NODES)
    normal = family_of("normal")
    group = Group(codes, normal, normal.start(nodes))
    return fit_by_em([group], curves, nodes, equal_slopes, tolerance=1e-2, asymptotes=asymptotes).curves


def starting_curves(codes: Codes) -> Curves:
    """Slope 1 for everyone, and cuts from the rates over each respondent's own answers; UNUSED past the last used."""
    highest = int(codes.max())
    above = np.stack([(codes >= k).sum(axis=0) for k in range(1, highest + 1)])
    n = (codes != MISSING).sum(axis=0)
    used = above > 0
    cuts = np.where(used, normal_quantile(np.where(used, above, 1), np.where(used, n - above, 1)) * np.sqrt(2), UNUSED)
    return Curves(np.ones(codes.shape[1]), cuts)


def _standardised(codes: Codes, found: EmFit, log_weight: Floats, nodes: Floats, kind: ScaleKind) -> MarginalFit:
    curves = found.curves
    if kind != "normal":
        mean, spread = standard_moments(log_weight, nodes)
        curves, nodes = curves.moved(mean, spread), (nodes - mean) / spread
    if curves.slope.sum() < 0:
        curves, nodes, log_weight = replace(curves, slope=-curves.slope), -nodes[::-1], log_weight[::-1]
    return MarginalFit(
        codes, curves, nodes, log_weight, kind, found.parameters[0], found.log_likelihood, found.converged
    )

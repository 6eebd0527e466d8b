"""One factor of ordered categories, and what its eigenvalues are compared with."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers, as_graded, used_only
from onedial.scale.checks.draws import one_factor_categories
from onedial.scale.checks.replicates import eigenvalues, fill_gaps
from onedial.scale.checks.simulation import Simulated
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.polychoric import PolychoricResult, polychoric
from onedial.scale.evidence import MISSING, Codes
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.gap_model import null_fit
from onedial.stats.answers import PsychometricsWarning
from onedial.stats.arrays import Floats
from onedial.stats.level import p_value

_MOST_REPLICATES = 99  # of polychoric correlations, the slowest part


@dataclass(frozen=True)
class PolychoricFactor:
    """Polychoric correlations and their first factor.

    Attributes:
        correlations: between the respondents. eigenvalues: falling, gaps filled by one factor. loadings: by minres.
    """

    graded: GradedAnswers
    correlations: PolychoricResult
    eigenvalues: Floats
    loadings: pd.Series

    __repr__ = one_line

    def shuffled(self, n_replicates: int, seed: int = 0) -> Simulated:
        """The first eigenvalue beside those of shuffled answers, at most 99."""
        rng = np.random.default_rng(seed)
        return self._beside(0, _shuffled(self.graded.codes, min(n_replicates, _MOST_REPLICATES), rng))

    def one_factor(self, n_replicates: int, seed: int = 0) -> Simulated:
        """The second eigenvalue beside those of one factor on a scale of any distribution, each respondent's answers at
        random, places from their posterior and gaps kept; at most 99."""
        fit, rng = null_fit(used_only(self.graded)[0], "histogram", "own"), np.random.default_rng(seed)
        return self._beside(1, one_factor_categories(fit, min(n_replicates, _MOST_REPLICATES), rng))

    def _beside(self, rank: int, draws: Iterator[Codes]) -> Simulated:
        used = self.correlations
        simulated, p = [], np.full(len(self.eigenvalues), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PsychometricsWarning)  # of respondents that a draw leaves one category
            for codes in draws:
                drawn = replace(self.graded, codes=codes)
                simulated.append(polychoric_factor(drawn, used.threshold_mode, used.zero_cell_rule).eigenvalues)
        values = np.full((len(simulated), len(p)), np.nan)
        values[:, rank] = np.array(simulated)[:, rank]
        p[rank] = p_value(self.eigenvalues[rank], values[:, rank])
        return Simulated(self.eigenvalues, values, p)


def polychoric_factor(
    matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half"
) -> PolychoricFactor:
    """Polychoric correlations with their falling eigenvalues and minres loadings of one factor.

    R: `psych::fa(psych::polychoric(x, smooth = FALSE)$rho)`.

    >>> rng = np.random.default_rng(0)
    >>> scale = rng.standard_normal(300)
    >>> answers = {name: np.digitize(scale + rng.standard_normal(300), [-1, 0, 1]) for name in "abcd"}
    >>> found = polychoric_factor(pd.DataFrame(answers))
    >>> bool(found.eigenvalues[0] > 2 > 1 > found.eigenvalues[1]), bool(found.loadings.between(0.5, 0.9).all())
    (True, True)
    """
    graded = as_graded(matrix)
    found = polychoric(graded, thresholds, zero_cells)
    correlation = found.correlation.to_numpy()
    loadings = pd.Series(minres_one_factor(correlation), found.correlation.index, name="loading")
    return PolychoricFactor(graded, found, eigenvalues(fill_gaps(correlation)), loadings)


def _shuffled(codes: Codes, n_replicates: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Each respondent's answers in another order; gaps stay where they are."""
    for _ in range(n_replicates):
        found = codes.copy()
        for column in found.T:
            known = column != MISSING
            column[known] = rng.permutation(column[known])
        yield found

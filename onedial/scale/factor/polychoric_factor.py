"""One factor of ordered categories, and what its eigenvalues are compared with."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.correlations.latent_correlations import LatentCorrelations, latent_correlations
from onedial.scale.correlations.two_by_two import ThresholdMode, ZeroCellRule
from onedial.scale.evidence import MISSING, Codes
from onedial.scale.factor.minres import eigenvalues, fill_gaps, minres_one_factor
from onedial.scale.factor.nulls import Simulated, one_factor_categories
from onedial.scale.fits import Fits
from onedial.stats.answers import PsychometricsWarning
from onedial.stats.arrays import Floats
from onedial.stats.level import p_value

_MOST_REPLICATES = 99  # of polychoric correlations, the slowest part


@dataclass(frozen=True)
class PolychoricFactor:
    """Polychoric correlations of those that can be compared, and their first factor.

    Attributes:
        fits: the panel. eigenvalues: falling, gaps filled by one factor. loadings: by minres.
    """

    fits: Fits
    correlations: LatentCorrelations
    eigenvalues: Floats
    loadings: pd.Series

    __repr__ = one_line

    def beside(self, null: Literal["shuffled", "one factor"], n_replicates: int, seed: int = 0) -> Simulated:
        """The first eigenvalue beside those of shuffled answers, or the second beside those of one factor on a scale of
        any distribution, each respondent's answers at random, places from their posterior and gaps kept; at most 99."""
        rng, n, rank = np.random.default_rng(seed), min(n_replicates, _MOST_REPLICATES), int(null == "one factor")
        draws = one_factor_categories(self.fits.null("histogram", "own"), n, rng) if rank else self._shuffled(n, rng)
        rules = self.correlations.threshold_mode, self.correlations.zero_cell_rule
        values, p = np.full((n, len(self.eigenvalues)), np.nan), np.full(len(self.eigenvalues), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PsychometricsWarning)  # of respondents that a draw leaves one category
            for place, codes in enumerate(draws):
                found = latent_correlations(replace(self.fits.used, codes=codes), *rules)
                values[place, rank] = eigenvalues(fill_gaps(found.correlation.to_numpy()))[rank]
        p[rank] = p_value(self.eigenvalues[rank], values[:, rank])
        return Simulated(self.eigenvalues, values, p)

    def _shuffled(self, n_replicates: int, rng: np.random.Generator) -> Iterator[Codes]:
        """Each respondent's answers in another order; gaps stay where they are."""
        for _ in range(n_replicates):
            found = self.fits.used.codes.copy()
            for column in found.T:
                known = column != MISSING
                column[known] = rng.permutation(column[known])
            yield found


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
    fits = Fits.of(matrix)
    found = latent_correlations(fits.used, thresholds, zero_cells)
    correlation = found.correlation.to_numpy()
    loadings = pd.Series(minres_one_factor(correlation), found.correlation.index, name="loading")
    return PolychoricFactor(fits, found, eigenvalues(fill_gaps(correlation)), loadings)

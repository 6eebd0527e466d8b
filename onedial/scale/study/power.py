"""What would have been found, had it been there: "nothing speaks against one scale" needs tests that could."""

from collections.abc import Callable

import numpy as np

from onedial.scale.checks.one_factor import OneFactorBootstrap
from onedial.scale.checks.replicates import correlate
from onedial.scale.checks.simulation import Simulated
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.usable import require_usable
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from onedial.stats.power import POWER

SECOND_SCALE = 0.8  # correlation of two scales that is still worth knowing of
SHARES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
_PANELS = 100


def second_scale_power(
    answers: Answers, one: OneFactorBootstrap, thresholds: ThresholdMode, zero_cells: ZeroCellRule, seed: int
) -> float:
    """How often a second factor would be found if half of the respondents had a scale that correlates .8.

    Formula: answers simulated with loadings l sqrt(.8) on what both scales share and l sqrt(.2) on the respondent's own
    scale, l those of one factor, respondents dealt out anew in each of 100 panels; share whose second eigenvalue is
    above the 95% point of the one-factor null.

    Args:
        answers: question x respondent. one: of the same answers, with the same rules. seed: of the simulation.
    """
    rng, m = np.random.default_rng(seed), len(one.loadings)

    def two_scales(n: int) -> Floats:
        scales = np.sqrt(SECOND_SCALE) * rng.standard_normal((n, 1))
        scales = scales + np.sqrt(1 - SECOND_SCALE) * rng.standard_normal((n, 2))
        return scales[:, rng.permutation(m) % 2]

    drawn = _eigenvalues(answers, one.loadings, two_scales, thresholds, zero_cells, rng)
    return float(np.mean(drawn[:, 1] > np.quantile(one.second.simulated, 1 - LEVEL)))


def least_share(
    answers: Answers, shuffled: Simulated, thresholds: ThresholdMode, zero_cells: ZeroCellRule, seed: int
) -> float:
    """The share of the variance from which on one scale would be found four times out of five.

    Formula: answers simulated with equal loadings on one normal scale, yes rates and gaps kept; the least of `SHARES`
    whose first eigenvalue is above the 95% point of shuffled answers in 80% of 100 panels; nan where none is.
    """
    rng, critical = np.random.default_rng(seed), np.quantile(shuffled.simulated[:, 0], 1 - LEVEL)
    m = len(shuffled.observed)
    for share in SHARES:
        loadings = np.full(m, np.sqrt(share))
        drawn = _eigenvalues(answers, loadings, lambda n: rng.standard_normal((n, 1)), thresholds, zero_cells, rng)
        if np.mean(drawn[:, 0] > critical) >= POWER:
            return share
    return float("nan")


def _eigenvalues(
    answers: Answers,
    loading: Floats,
    places: Callable[[int], Floats],
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
    rng: np.random.Generator,
) -> Floats:
    """(panel, respondent) of answers simulated from places (question, respondent or 1) with these loadings."""
    usable = require_usable(answers)
    answered, cut, noise = usable.answered.astype(np.float32), -thresholds_of(usable), np.sqrt(1 - loading**2)
    found = []
    for _ in range(_PANELS):
        hidden = loading * places(usable.n_questions) + noise * rng.standard_normal(answered.shape)
        yes = ((hidden > cut) & usable.answered).astype(np.float32)
        found.append(correlate([(yes[None], answered)], thresholds, zero_cells).eigenvalues()[0])
    return np.stack(found)

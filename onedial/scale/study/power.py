"""What would have been found, had it been there: "nothing speaks against one scale" needs tests that could."""

from collections.abc import Callable

import numpy as np

from onedial.scale.checks.bundles import SHIFT_OF_INTEREST, BundleInvariance
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.checks.one_factor import OneFactorBootstrap
from onedial.scale.checks.replicates import correlate
from onedial.scale.checks.residual_correlations import RESIDUAL_OF_INTEREST, ResidualCorrelations
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.usable import require_usable
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from onedial.stats.power import POWER

SECOND_SCALE = 0.8  # correlation of two scales that is still worth knowing of
SHARES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
WORTH_A_SCALE = 0.1  # of the variance, below which nobody would speak of one


def second_scale_power(
    answers: Answers,
    one_factor: OneFactorBootstrap,
    n_replicates: int = 100,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> float:
    """How often a second factor would be found if half of the respondents had a scale that correlates .8.

    Formula: answers simulated with loadings l sqrt(.8) on what both scales share and l sqrt(.2) on the respondent's own
    scale, l those of one factor; share whose second eigenvalue is above the 95% point of the one-factor null.

    Args:
        answers: question x respondent. one_factor: of the same answers, with the same rules. n_replicates: panels; the
            respondents are dealt out to the scales anew in each. seed: of the simulation.

    Returns:
        share between 0 and 1.
    """
    usable, rng = require_usable(answers), np.random.default_rng(seed)
    critical = np.quantile(one_factor.second.simulated, 1 - LEVEL)
    n, m = usable.n_questions, len(one_factor.loadings)

    def two_scales() -> Floats:
        scales = np.sqrt(SECOND_SCALE) * rng.standard_normal((n, 1))
        scales = scales + np.sqrt(1 - SECOND_SCALE) * rng.standard_normal((n, 2))
        return scales[:, rng.permutation(m) % 2]

    drawn = _eigenvalues(usable, one_factor.loadings, two_scales, n_replicates, thresholds, zero_cells, rng)
    return float(np.mean(drawn[:, 1] > critical))


def least_share(
    answers: Answers,
    shuffled: EigenvalueNull,
    n_replicates: int = 100,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> float:
    """The share of the variance from which on one scale would be found four times out of five.

    Formula: answers simulated with equal loadings on one normal scale, yes rates and gaps kept; the least of `SHARES`
    whose first eigenvalue is above the 95% point of shuffled answers in 80%; nan where none is.

    Args:
        answers: question x respondent. shuffled: of the same answers, with the same rules. n_replicates: panels.
    """
    usable, rng = require_usable(answers), np.random.default_rng(seed)
    critical = np.quantile(shuffled.simulated[:, 0], 1 - LEVEL)

    def one_scale() -> Floats:
        return rng.standard_normal((usable.n_questions, 1))

    for share in SHARES:
        loadings = np.full(usable.n_respondents, np.sqrt(share))
        drawn = _eigenvalues(usable, loadings, one_scale, n_replicates, thresholds, zero_cells, rng)
        if np.mean(drawn[:, 0] > critical) >= POWER:
            return share
    return float("nan")


def _eigenvalues(
    usable: Answers,
    loading: Floats,
    places: Callable[[], Floats],
    n_replicates: int,
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
    rng: np.random.Generator,
) -> Floats:
    """(replicate, respondent) of answers simulated from places (question, respondent or 1) with these loadings."""
    answered, found = usable.answered.astype(np.float32), []
    for _ in range(n_replicates):
        noise = np.sqrt(1 - loading**2)
        hidden = loading * places() + noise * rng.standard_normal(answered.shape)
        yes = ((hidden > -thresholds_of(usable)) & usable.answered).astype(np.float32)
        found.append(correlate([(yes[None], answered)], thresholds, zero_cells).eigenvalues()[0])
    return np.stack(found)


def would_be_missed(
    second_scale: float | None,
    residuals: ResidualCorrelations | None,
    invariance: dict[tuple[str, str], BundleInvariance],
) -> list[str]:
    """What speaks against one scale and would be missed more often than in 20%, or was not looked for."""
    found = []
    if second_scale is None or second_scale < POWER:
        power = "not tested" if second_scale is None else f"found in {second_scale:.0%}"
        found.append(f"a second scale that correlates {SECOND_SCALE:g} with the first ({power})")
    if residuals is None or not residuals.least <= RESIDUAL_OF_INTEREST:
        found.append(f"a pair of respondents with a residual correlation of {RESIDUAL_OF_INTEREST:g}")
    if not invariance:
        found.append("groups of questions that lie elsewhere for some (not tested)")
    for (what, who), bundles in invariance.items():
        if not bundles.least_shift <= SHIFT_OF_INTEREST:
            found.append(f"a {what} shifted by {SHIFT_OF_INTEREST:g} spreads for a {who}")
    return found

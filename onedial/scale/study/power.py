"""What would have been found, had it been there: "nothing speaks against one scale" needs tests that could."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from onedial.scale.checks.bundles import BundleInvariance
from onedial.scale.checks.one_factor import OneFactorBootstrap
from onedial.scale.checks.question_invariance import HIGH_AGREEMENT, QuestionInvariance
from onedial.scale.checks.replicates import correlate
from onedial.scale.checks.residual_correlations import RESIDUAL_OF_INTEREST, ResidualCorrelations
from onedial.scale.checks.respondent_invariance import SHIFT_OF_INTEREST, RespondentInvariance
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.factor.usable import require_usable
from onedial.stats import LEVEL, POWER, Answers

SECOND_SCALE = 0.8  # correlation of two scales that is still worth knowing of


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
    found: list[float] = []
    loading, answered = one_factor.loadings, usable.answered.astype(np.float32)
    n, m = usable.n_questions, len(loading)
    for _ in range(n_replicates):
        scales = np.sqrt(SECOND_SCALE) * rng.standard_normal((n, 1))
        scales = scales + np.sqrt(1 - SECOND_SCALE) * rng.standard_normal((n, 2))
        hidden = loading * scales[:, rng.permutation(m) % 2] + np.sqrt(1 - loading**2) * rng.standard_normal((n, m))
        yes = ((hidden > -thresholds_of(usable)) & usable.answered).astype(np.float32)
        found.append(float(correlate([(yes[None], answered)], thresholds, zero_cells).eigenvalues()[0, 1]))
    return float(np.mean(np.array(found) > critical))


def would_be_missed(
    second_scale: float | None,
    residuals: ResidualCorrelations | None,
    by_respondents: dict[str, QuestionInvariance],
    by_questions: dict[str, RespondentInvariance],
    bundles: BundleInvariance | None = None,
) -> list[str]:
    """What speaks against one scale and would be missed more often than in 20%, or was not looked for."""
    return list(_missed(second_scale, residuals, by_respondents, by_questions, bundles))


def _missed(
    second_scale: float | None,
    residuals: ResidualCorrelations | None,
    by_respondents: dict[str, Any],
    by_questions: dict[str, Any],
    bundles: BundleInvariance | None,
) -> Iterator[str]:
    if second_scale is None or second_scale < POWER:
        power = "not tested" if second_scale is None else f"found in {second_scale:.0%}"
        yield f"a second scale that correlates {SECOND_SCALE:g} with the first ({power})"
    if residuals is None or not residuals.least <= RESIDUAL_OF_INTEREST:
        yield f"a pair of respondents with a residual correlation of {RESIDUAL_OF_INTEREST:g}"
    if not by_respondents:
        yield "groups of respondents with an order of their own (not tested)"
    for what, orders in by_respondents.items():
        tested = orders.groups[orders.groups["p"].notna()]
        if not (tested["least_agreement"] >= HIGH_AGREEMENT).all() or not len(tested):
            yield f"an order of its own (agreement {HIGH_AGREEMENT:g}) in every group by {what}"
    if bundles is not None and not bundles.least_shift <= SHIFT_OF_INTEREST:
        yield f"a topic shifted by {SHIFT_OF_INTEREST:g} spreads for a respondent"
    if not by_questions and bundles is None:
        yield "groups of questions in which yes means something else (not tested)"
    for what, curves in by_questions.items():
        if not curves.least_shift <= SHIFT_OF_INTEREST:
            yield f"a threshold shifted by {SHIFT_OF_INTEREST:g} by {what} of the question"

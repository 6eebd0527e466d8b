"""Is a second factor, or a parabola, more than what groups of respondents share? One more account beside those of one
scale alone."""

from typing import Any

import numpy as np

from onedial.scale.checks.quadratic import bend_among
from onedial.scale.checks.replicates import Counted, correlate
from onedial.scale.checks.simulation import Simulated, checked_for_simulation
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.factor.usable import observed_eigenvalues
from onedial.scale.specific.specific_factors import SpecificFactors, drawn_answers


def kin_account(
    matrix: Any,
    specific: SpecificFactors,
    n_replicates: int = 199,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> Simulated:
    """The second eigenvalue against that of panels that have one scale and what each group of respondents shares.

    Formula: answers simulated from the model of `specific`, with its scale and its answers at random, every question
    drawn from its posterior, gaps where they are; p = (1 + #{simulated >= observed}) / (B + 1).

    Args:
        matrix: question x respondent, 1 / 0 / nan. specific: of the same matrix (`specific_factors`). n_replicates: B.
            thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.

    Returns:
        Simulated. Sign: small p = the groups do not make the second factor.

    >>> from onedial.scale import specific_factors
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> bool(kin_account(answers, specific_factors(answers, list("aaabbb")), 19).p > 0.05)
    True
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    answered = answers.answered.astype(np.float32)
    draws = drawn_answers(specific.model.fit, n_replicates, np.random.default_rng(seed))
    counted = (Counted.of((yes[None].astype(np.float32) * answered, answered)) for yes in draws)
    null = correlate(counted, thresholds, zero_cells).eigenvalues()[:, 1]
    return Simulated.beside(observed_eigenvalues(answers, thresholds, zero_cells)[1], null)


def kin_bend(specific: SpecificFactors) -> float:
    """Whether loadings bend along thresholds once what groups of respondents share is in the model.

    Formula: the regression of `rival_accounts` (`bend_p`) for the general loadings of the model of `specific`, with
    their covariance, on its thresholds. Loadings of one scale alone take up what a group shares: a large or a close
    group pulls the scale towards itself, and with it the loadings of everybody who says yes about as often.

    Args:
        specific: of yes/no answers (`specific_factors`), best with any scale and each respondent's answers at random.

    Returns:
        p; nan with fewer than six respondents. Sign: small p = a bend is left.

    >>> from onedial.scale import specific_factors
    >>> rng = np.random.default_rng(0)
    >>> own = 0.5 * np.repeat(rng.standard_normal((600, 3)), 3, axis=1)
    >>> hidden = 0.7 * rng.standard_normal((600, 1)) + own + 0.5 * rng.standard_normal((600, 9))
    >>> kin_bend(specific_factors(hidden > np.linspace(-1, 1, 9), list("aaabbbccc"))) > 0.05
    True
    """
    curves = specific.model.fit.curves
    return bend_among(curves.loading, curves.thresholds[0], specific.model.covariance)

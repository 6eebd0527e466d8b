"""Is a second factor, or a parabola, more than what groups of respondents share? One more account beside those of one
scale alone."""

from typing import Any

import numpy as np

from onedial.core.errors import InputError
from onedial.scale.checks.eigenvalue_null import EigenvalueNull
from onedial.scale.checks.quadratic import bend_among
from onedial.scale.checks.replicates import Counted, correlate
from onedial.scale.checks.simulation import checked_for_simulation
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.factor.usable import observed_eigenvalues
from onedial.scale.specific.specific_factors import SpecificFactors, drawn_answers
from onedial.stats.level import p_value


def kin_account(
    matrix: Any,
    specific: SpecificFactors,
    n_replicates: int = 199,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> EigenvalueNull:
    """Every eigenvalue against those of panels that have one scale and what each group of respondents shares.

    Formula: answers simulated from the model of `specific`, with its scale and its answers at random, every question
    drawn from its posterior, gaps where they are; p = (1 + #{simulated >= observed}) / (B + 1) for each
    rank.

    Args:
        matrix: question x respondent, 1 / 0 / nan. specific: of the same matrix (`specific_factors`). n_replicates: B.
            thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.

    Returns:
        EigenvalueNull. Sign: small p of the second = the groups do not make the second factor. Later ranks do not count
        factors: a factor that is not in the model moves those of the groups down by a rank.

    Raises:
        InputError: the matrix has other respondents than the model, or B < 1.

    >>> from onedial.scale import specific_factors
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> bool(kin_account(answers, specific_factors(answers, list("aaabbb")), 19).p[1] > 0.05)
    True
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    fit = specific.model.fit
    table = specific.model.respondents
    fitted = table.index[table["loading"].notna()]
    if list(answers.respondents) != list(fitted) or len(fit.codes) != answers.n_questions:
        raise InputError(
            f"the model is of {len(fitted)} respondents and {len(fit.codes)} questions, the matrix of "
            f"{answers.n_respondents} and {answers.n_questions}; give the matrix that specific_factors was asked of"
        )
    answered = answers.answered.astype(np.float32)
    draws = drawn_answers(fit, n_replicates, np.random.default_rng(seed))
    counted = (Counted.of((yes[None].astype(np.float32) * answered, answered)) for yes in draws)
    null = correlate(counted, thresholds, zero_cells).eigenvalues()
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    p = np.array([p_value(one, simulated) for one, simulated in zip(observed, null.T, strict=True)])
    return EigenvalueNull("one scale and what groups share", observed, null, p, seed)


def kin_bend(specific: SpecificFactors) -> float:
    """Whether loadings bend along thresholds once what groups of respondents share is in the model.

    Formula: the regression of `rival_accounts` (`bend_p`) for the general loadings of the model of `specific`, with
    their covariance, on its thresholds. Loadings of one scale alone take up what a group shares: a large or a close
    group pulls the scale towards itself, and with it the loadings of everybody who says yes about as often.

    Args:
        specific: of yes/no answers (`specific_factors`), best with any scale and each respondent's answers at random.

    Returns:
        p; nan with fewer than six respondents. Sign: small p = a bend is left.

    >>> import numpy as np
    >>> from onedial.scale import specific_factors
    >>> rng = np.random.default_rng(0)
    >>> own = 0.5 * np.repeat(rng.standard_normal((600, 3)), 3, axis=1)
    >>> hidden = 0.7 * rng.standard_normal((600, 1)) + own + 0.5 * rng.standard_normal((600, 9))
    >>> kin_bend(specific_factors(hidden > np.linspace(-1, 1, 9), list("aaabbbccc"))) > 0.05
    True
    """
    curves = specific.model.fit.curves
    return bend_among(curves.loading, curves.thresholds[0], specific.model.covariance)

"""How high an R^2 the parabola of loading on threshold reaches when the two have nothing to do with each other."""

from typing import Any

import numpy as np

from psychometrics.irt import two_parameter_irt
from psychometrics.latent_correlation import ThresholdMode, ZeroCellRule
from psychometrics.minres import minres_one_factor
from psychometrics.quadratic import parabola_r2
from psychometrics.replicates import correlate, p_value
from psychometrics.simulation import Simulated, checked_for_simulation, simulate
from psychometrics.thresholds import thresholds_of
from psychometrics.usable import observed_correlation


def quadratic_fit_test(
    matrix: Any,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> Simulated:
    """R^2 of the parabola of loading on threshold when the two have nothing to do with each other.

    Formula: marginal maximum likelihood loadings are dealt out to the respondents at random, answers are simulated
    from the one-factor model with the observed thresholds and gaps, and minres loadings and R^2 are estimated again:
    p = (1 + #{null R^2 >= observed}) / (B + 1). Whatever R^2 the small number of
    respondents and the empty-cell rule create is in the null.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least four respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.

    Returns:
        Simulated, with the observed R^2, the null's and p. Sign: p looks at the upper tail.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none; the observed R^2 is `summary(lm(loading ~ threshold + I(threshold^2)))$r.squared`.
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    loadings = two_parameter_irt(answers).respondents["loading"].to_numpy()
    limits = thresholds_of(answers)
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.repeat(loadings[None], n_replicates, axis=0), axis=1)
    found = correlate(simulate(answers, shuffled[:, :, None], limits, n_replicates, rng), thresholds, zero_cells)
    null = parabola_r2(found.loadings(), found.thresholds)
    observed_loadings = np.nan_to_num(minres_one_factor(observed_correlation(answers, thresholds, zero_cells)))
    observed = float(parabola_r2(observed_loadings[None], limits[None])[0])
    return Simulated(observed, null, p_value(observed, null))

"""How many factors, and is one enough: eigenvalues against matrices that truly have one factor.

The loadings to simulate from are those of the marginal maximum likelihood fit (`psychometrics.two_parameter_irt`), not
those of the correlation matrix: an empty-cell correction lowers the latter at extreme yes rates, and a simulation from
lowered loadings would then call the correction's own second factor real (docs/psychometrics.md shows it).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from common import InputError
from psychometrics.answers import Answers
from psychometrics.arrays import Floats
from psychometrics.eigenvalue_null import EigenvalueNull
from psychometrics.irt import two_parameter_irt
from psychometrics.latent_correlation import ThresholdMode, ZeroCellRule
from psychometrics.minres import MAX_COMMUNALITY, minres
from psychometrics.replicates import correlate, p_value
from psychometrics.simulation import Simulated, checked_for_simulation, simulate
from psychometrics.thresholds import thresholds_of
from psychometrics.usable import observed_correlation, observed_eigenvalues


@dataclass(frozen=True)
class OneFactorBootstrap:
    """Is the observed matrix one that a single factor produces?

    Attributes:
        smallest: the smallest eigenvalue; p = how often one factor gives one as small. A negative eigenvalue alone
            proves nothing.
        second: the second eigenvalue; p = how often one factor gives one as large.
        eigenvalues: (replicate, respondent) of the simulated matrices, falling.
        loadings: (respondent,) that were simulated from. seed: of the random numbers.
    """

    smallest: Simulated
    second: Simulated
    eigenvalues: Floats
    loadings: Floats
    seed: int


def one_factor_bootstrap(
    matrix: Any,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> OneFactorBootstrap:
    """Smallest and second eigenvalue against a parametric bootstrap of the one-factor model.

    Formula: x_i = 1 when lambda_i z + sqrt(1 - lambda_i^2) e_i > -t_i, with marginal maximum likelihood
    loadings and the observed thresholds; p = (1 + k) / (B + 1), k = replicates as extreme (Beran and Srivastava, 1985,
    Annals of Statistics 13, 95-115, on eigenvalues under the bootstrap).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.

    Returns:
        OneFactorBootstrap. Sign: `smallest` looks at the lower tail, `second` at the upper.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: simulate with `psych::sim.irt(mod = "normal")`, then `eigen(psych::tetrachoric(x, smooth = FALSE)$rho)`.
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    loadings = two_parameter_irt(answers).respondents["loading"].to_numpy()
    rng = np.random.default_rng(seed)
    draws = simulate(answers, loadings[:, None], thresholds_of(answers), n_replicates, rng)
    simulated = correlate(draws, thresholds, zero_cells).eigenvalues()
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    smallest = Simulated(float(observed[-1]), simulated[:, -1], p_value(observed[-1], simulated[:, -1], larger=False))
    second = Simulated(float(observed[1]), simulated[:, 1], p_value(observed[1], simulated[:, 1]))
    return OneFactorBootstrap(smallest, second, simulated, loadings, seed)


def revised_parallel_analysis(
    matrix: Any,
    max_factors: int = 3,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> EigenvalueNull:
    """How many factors: the k-th eigenvalue against matrices that have k - 1 factors.

    Formula: for k = 1, 2, ... simulate B matrices with k - 1 factors and compare the k-th eigenvalues (k = 1: no
    correlation; k = 2: marginal maximum likelihood loadings; k > 2: minres loadings, which lean on the empty-cell
    rule), p = (1 + #{simulated >= observed}) / (B + 1) (Green, Levy, Thompson, Lu and Lo, 2012,
    Educational and Psychological Measurement 72, 357-374).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        max_factors: the last k that is tested; at most a third of the respondents that vary, and at least 2 is
            always allowed. n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.

    Returns:
        EigenvalueNull: column k of `simulated` comes from the model with k - 1 factors, later columns from the last
        model. Sign: p looks at the upper tail; it is nan beyond `max_factors`. `n_above()` is the number of factors.

    Raises:
        InputError: fewer than three respondents vary, B < 1, or max_factors out of range.

    R: none in psych (`fa.parallel` conditions on no factor); EFA.MRFA and EFAtools do not condition either.
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    highest = max(2, answers.n_respondents // 3)
    if not 1 <= max_factors <= highest:
        raise InputError(
            f"max_factors={max_factors} for {answers.n_respondents} respondents that vary; choose 1 to {highest}"
        )
    correlation = observed_correlation(answers, thresholds, zero_cells)
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    limits = thresholds_of(answers)
    simulated = np.full((n_replicates, answers.n_respondents), np.nan)
    p = np.full(answers.n_respondents, np.nan)
    for k in range(max_factors):
        loadings = _loadings_of(answers, correlation, k)
        draws = simulate(answers, loadings, limits, n_replicates, np.random.default_rng([seed, k]))
        simulated[:, k:] = correlate(draws, thresholds, zero_cells).eigenvalues()[:, k:]
        p[k] = p_value(observed[k], simulated[:, k])
    return EigenvalueNull("one factor fewer", observed, simulated, p, seed)


def _loadings_of(answers: Answers, correlation: Floats, n_factors: int) -> Floats:
    """(respondent, factor) loadings to simulate from; zeros for no factor."""
    if n_factors == 0:
        return np.zeros((answers.n_respondents, 1))
    if n_factors == 1:
        return two_parameter_irt(answers).respondents[["loading"]].to_numpy()
    loadings = np.nan_to_num(minres(correlation, n_factors))
    size = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    return loadings * np.minimum(1, np.sqrt(MAX_COMMUNALITY) / np.maximum(size, 1e-12))

"""How many factors, and is one enough: eigenvalues against matrices that truly have one factor.

The loadings to simulate from are those of the marginal maximum likelihood fit (`response_model`), not
those of the correlation matrix: an empty-cell correction lowers the latter at extreme yes rates, and a simulation from
lowered loadings would then call the correction's own second factor real. The scale may have any distribution, and every
question is drawn from where it probably lies, so that gaps stay on the questions on which they are: on a scale that is
not normal, or with gaps on hard questions, a null that deals places out afresh finds factors that are not there
(docs/evidence.md shows all three).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.checks.draws import one_factor_panels, one_factor_replicates, several_factor_answers
from onedial.scale.checks.permutation import shuffled
from onedial.scale.checks.replicates import Batch, Counted, correlate
from onedial.scale.checks.simulation import Simulated, checked_for_simulation
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.factor.minres import minres
from onedial.scale.factor.usable import observed_correlation, observed_eigenvalues
from onedial.scale.gap_model import null_model
from onedial.scale.likelihood import AsymptoteKind, ScaleKind
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, p_value


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

    __repr__ = one_line


def one_factor_bootstrap(
    matrix: Any,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "none",
) -> OneFactorBootstrap:
    """Smallest and second eigenvalue against a parametric bootstrap of the one-factor model.

    Formula: x_i = 1 with probability Phi(a_i z + d_i), a and d of greatest marginal likelihood, z drawn from the
    question's posterior; p = (1 + k) / (B + 1), k = replicates as extreme (Beran and Srivastava, 1985, Annals of
    Statistics 13, 95-115, on eigenvalues under the bootstrap).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation.
        scale, asymptotes: distribution of the questions and answers at random under the null, as in
            `response_model`.

    Returns:
        OneFactorBootstrap. Sign: `smallest` looks at the lower tail, `second` at the upper.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: simulate with `psych::sim.irt(mod = "normal")`, then `eigen(psych::tetrachoric(x, smooth = FALSE)$rho)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> one_factor_bootstrap(answers, 9).second.p > 0.05
    True
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    fit = null_model(answers, scale, asymptotes=asymptotes)
    simulated = one_factor_replicates(fit, n_replicates, seed, thresholds, zero_cells).eigenvalues()
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    smallest = Simulated.beside(observed[-1], simulated[:, -1], larger=False)
    second = Simulated.beside(observed[1], simulated[:, 1])
    return OneFactorBootstrap(smallest, second, simulated, fit.curves.loading, seed)


def revised_parallel_analysis(
    matrix: Any,
    max_factors: int | None = None,
    n_replicates: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
    scale: ScaleKind = "histogram",
    shuffles: Simulated | None = None,
    one_factor: OneFactorBootstrap | None = None,
) -> Simulated:
    """How many factors: the k-th eigenvalue against matrices that have k - 1 factors.

    Formula: for k = 1, 2, ... simulate B matrices with k - 1 factors and compare the k-th eigenvalues (k = 1: answers
    shuffled, nothing is shared; k = 2: one factor of marginal maximum likelihood on a scale of any distribution; k > 2:
    normal factors with minres loadings, which lean on the empty-cell rule), p = (1 + #{simulated >= observed}) /
    (B + 1) (Green, Levy, Thompson, Lu and Lo, 2012, Educational and Psychological Measurement 72, 357-374). Every
    question is drawn from its posterior, so that the gaps stay where they are.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        max_factors: the last k that is tested, at most a third of the respondents that vary (2 is always allowed);
            default: up to the first k whose p exceeds .05.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the simulation. scale: distribution of
            the questions under one factor, as in `response_model`. shuffles, one_factor: a `permutation_null` and a
            `one_factor_bootstrap` of the same matrix under the same choices, to stand for k = 1 and 2; at least B
            replicates of each.

    Returns:
        Simulated: column k of `simulated` comes from the model with k - 1 factors. Sign: p looks at the upper
        tail. Ranks that were not tested have nan in both. `n_above()` is the number of factors.

    Raises:
        InputError: fewer than three respondents vary, B < 1, or max_factors out of range.

    R: none in psych (`fa.parallel` conditions on no factor); EFA.MRFA and EFAtools do not condition either.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> revised_parallel_analysis(answers, 2, 19).n_above()
    2
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    highest = max(2, answers.n_respondents // 3)
    if max_factors is not None and not 1 <= max_factors <= highest:
        raise InputError(
            f"max_factors={max_factors} for {answers.n_respondents} respondents that vary; choose 1 to {highest}"
        )
    correlation = observed_correlation(answers, thresholds, zero_cells)
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    simulated = np.full((n_replicates, answers.n_respondents), np.nan)
    p = np.full(answers.n_respondents, np.nan)
    for k in range(max_factors or highest):
        known = (shuffles.simulated if shuffles else None, one_factor.eigenvalues if one_factor else None)[k : k + 1]
        if known and known[0] is not None and len(known[0]) >= n_replicates and known[0].shape[1] == len(p):
            simulated[:, k] = known[0][:n_replicates, k]
        else:
            draws = _answers_of(answers, correlation, k, n_replicates, scale, seed)
            simulated[:, k] = correlate(draws, thresholds, zero_cells).eigenvalues()[:, k]
        p[k] = p_value(observed[k], simulated[:, k])
        if max_factors is None and p[k] > LEVEL:
            break
    return Simulated(observed, simulated, p)


def _answers_of(
    answers: Answers,
    correlation: Floats,
    n_factors: int,
    n_replicates: int,
    scale: ScaleKind,
    seed: int,
) -> Iterable[Batch | Counted]:
    """Random answers of a model with `n_factors`."""
    rng = np.random.default_rng([seed, n_factors])
    if n_factors == 0:
        return shuffled(answers, n_replicates, rng)
    if n_factors == 1:
        return one_factor_panels(null_model(answers, scale), n_replicates, seed).batches
    return several_factor_answers(answers, np.nan_to_num(minres(correlation, n_factors)), n_replicates, rng)

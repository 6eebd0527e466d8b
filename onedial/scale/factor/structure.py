"""Is anything shared, by how many factors, and do loadings bend along thresholds? Each against its null.

The loadings to simulate from are those of the marginal maximum likelihood fit (`response_model`), not those of the
correlation matrix: an empty-cell correction lowers the latter at extreme yes rates, and a simulation from lowered
loadings would then call the correction's own second factor real. The scale may have any distribution, and every
question is drawn from where it probably lies, so that gaps stay on the questions on which they are: on a scale that is
not normal, or with gaps on hard questions, a null that deals places out afresh finds factors that are not there
(docs/evidence.md shows all three).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onedial.core.cards import one_line
from onedial.scale.correlations.two_by_two import ZeroCellRule
from onedial.scale.factor.minres import minres
from onedial.scale.factor.nulls import Counted, Nulls, Replicates, Simulated, several_factor_answers
from onedial.scale.likelihood import AsymptoteKind, ScaleKind
from onedial.stats.level import LEVEL, p_value


def permutation_null(
    matrix: Any, n_replicates: int = 199, seed: int = 0, zero_cells: ZeroCellRule = "half"
) -> Simulated:
    """Eigenvalues when nothing is shared: each respondent's answers are shuffled over the questions that it answered.

    Yes rates and gaps are kept exactly. Valid for the first eigenvalue only: once one factor is there, the second
    eigenvalue must be compared with matrices that have one factor, `revised_parallel_analysis` (the p of further
    ranks is nan here). Formula: p = (1 + #{null >= observed}) / (B + 1) (Horn, 1965, Psychometrika 30, 179-185;
    Buja and Eyuboglu, 1992, Multivariate Behavioral Research 27, 509-540, for permutation).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary; or `Nulls` of one.
        n_replicates, seed, zero_cells: as in `Nulls.of`.

    Returns:
        Simulated eigenvalues of the unsmoothed matrices. Sign: p looks at the upper tail. Respondents with only one
        kind of answer are left out with a warning.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none of psych's null models keeps the gaps; `psych::fa.parallel(x, cor = "tet", sim = FALSE)` is the closest.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> permutation_null(answers, n_replicates=19).p.tolist()
    [0.05, nan, nan, nan, nan, nan]
    """
    nulls = Nulls.of(matrix, n_replicates, seed, zero_cells)
    observed, simulated = nulls.observed.eigenvalues[0], nulls.drawn("shuffled").eigenvalues
    p = np.full(len(observed), np.nan)
    p[0] = p_value(observed[0], simulated[:, 0])
    return Simulated(observed, simulated, p)


@dataclass(frozen=True)
class OneFactorBootstrap:
    """Is the observed matrix one that a single factor produces?

    Attributes:
        smallest: the smallest eigenvalue; p = how often one factor gives one as small. A negative eigenvalue alone
            proves nothing.
        second: the second eigenvalue; p = how often one factor gives one as large.
        residual: root mean square of the correlations of pairs that one factor leaves; p = how often as large.
    """

    smallest: Simulated
    second: Simulated
    residual: Simulated

    __repr__ = one_line

    @property
    def beyond(self) -> float:
        """What is left of the correlations beyond what one scale leaves by itself.

        Formula: sqrt(max(0, r^2 - mean of simulated r^2)): errors and misfit are independent.
        """
        return float(np.sqrt(max(0.0, self.residual.observed**2 - np.nanmean(self.residual.simulated**2))))


def one_factor_bootstrap(
    matrix: Any,
    n_replicates: int = 199,
    seed: int = 0,
    zero_cells: ZeroCellRule = "half",
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "common",
) -> OneFactorBootstrap:
    """Smallest and second eigenvalue, and residual correlations, against a parametric bootstrap of one factor.

    Formula: x_i = 1 with probability f_1 + (1 - f_0 - f_1) Phi(a_i z + d_i), all of greatest marginal likelihood, z
    drawn from the question's posterior; p = (1 + k) / (B + 1), k = replicates as extreme (Beran and Srivastava, 1985,
    Annals of Statistics 13, 95-115, on eigenvalues under the bootstrap).

    Args:
        matrix, n_replicates, seed, zero_cells: as in `permutation_null`.
        scale, asymptotes: distribution of the questions and answers at random under the null, as in
            `response_model`.

    Returns:
        OneFactorBootstrap. Sign: `smallest` looks at the lower tail, the others at the upper.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: simulate with `psych::sim.irt(mod = "normal")`, then `eigen(psych::tetrachoric(x, smooth = FALSE)$rho)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> one_factor_bootstrap(answers, n_replicates=9).second.p > 0.05
    True
    """
    nulls = Nulls.of(matrix, n_replicates, seed, zero_cells)
    drawn = nulls.drawn("one factor", scale, asymptotes)
    observed, simulated = nulls.observed.eigenvalues[0], drawn.eigenvalues
    return OneFactorBootstrap(
        smallest=Simulated.beside(observed[-1], simulated[:, -1], larger=False),
        second=Simulated.beside(observed[1], simulated[:, 1]),
        residual=Simulated.beside(nulls.observed.residual[0], drawn.residual),
    )


def revised_parallel_analysis(
    matrix: Any,
    n_replicates: int = 199,
    seed: int = 0,
    zero_cells: ZeroCellRule = "half",
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "common",
) -> Simulated:
    """How many factors: the k-th eigenvalue against matrices that have k - 1 factors.

    Formula: for k = 1, 2, ... up to the first whose p exceeds .05, or a third of the respondents, simulate B matrices
    with k - 1 factors and compare the k-th eigenvalues (k = 1: answers shuffled, nothing is shared; k = 2: one factor
    of marginal maximum likelihood; k > 2: factors with minres loadings, which lean on the empty-cell rule), p = (1 +
    #{simulated >= observed}) / (B + 1) (Green, Levy, Thompson, Lu and Lo, 2012, Educational and Psychological
    Measurement 72, 357-374). Every question is drawn from its posterior, so that the gaps stay where they are.

    Args:
        matrix, n_replicates, seed, zero_cells: as in `permutation_null`.
        scale, asymptotes: of one factor, as in `one_factor_bootstrap`.

    Returns:
        Simulated: column k of `simulated` comes from the model with k - 1 factors. Sign: p looks at the upper
        tail. Ranks that were not tested have nan in both. `n_above()` is the number of factors.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none in psych (`fa.parallel` conditions on no factor); EFA.MRFA and EFAtools do not condition either.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> revised_parallel_analysis(answers, n_replicates=19).p[0]
    np.float64(0.05)
    """
    nulls = Nulls.of(matrix, n_replicates, seed, zero_cells)
    of_panel = nulls.observed
    observed, m = of_panel.eigenvalues[0], of_panel.correlation.shape[-1]
    simulated, p = np.full((nulls.n_replicates, m), np.nan), np.full(m, np.nan)
    for k in range(max(2, m // 3)):
        if k == 0:
            drawn = nulls.drawn("shuffled")
        elif k == 1:
            drawn = nulls.drawn("one factor", scale, asymptotes)
        else:
            loadings, rng = np.nan_to_num(minres(of_panel.correlation[0], k)), np.random.default_rng([nulls.seed, k])
            batches = map(Counted.of, several_factor_answers(nulls, loadings, rng))
            drawn = Replicates.of(batches, nulls.zero_cells)
        simulated[:, k] = drawn.eigenvalues[:, k]
        p[k] = p_value(observed[k], simulated[:, k])
        if p[k] > LEVEL:
            break
    return Simulated(observed, simulated, p)


def quadratic_fit_test(
    matrix: Any,
    n_replicates: int = 199,
    seed: int = 0,
    zero_cells: ZeroCellRule = "half",
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "common",
) -> Simulated:
    """R^2 of the parabola of loading on threshold when the two have nothing to do with each other.

    Formula: marginal maximum likelihood loadings are assigned to the respondents at random, answers are simulated
    from the one-factor model with the observed yes rates and gaps, and minres loadings and R^2 are estimated again:
    p = (1 + #{null R^2 >= observed}) / (B + 1). Whatever R^2 the small number of respondents, the empty-cell rule and
    the shape of the scale create is in the null.

    Estimated loadings differ more than true ones, by their errors. They are therefore drawn together before they are
    dealt out: mean + c (lambda - mean) with c^2 = 1 - q mean(se^2) / variance, at least 0, q = the 95% point of
    chi-squared over its m - 1 degrees of freedom: loadings count as different as far as error cannot be the reason.
    Otherwise equal loadings would be simulated as if they differed, and the parabola that a correction makes of equal
    loadings would stand out.

    Args:
        matrix, n_replicates, seed, zero_cells: as in `permutation_null`; at least four respondents.
        scale, asymptotes: as in `one_factor_bootstrap`.

    Returns:
        Simulated, with the observed R^2, the null's and p. Sign: p looks at the upper tail.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none; the observed R^2 is `summary(lm(loading ~ threshold + I(threshold^2)))$r.squared`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> quadratic_fit_test(answers, n_replicates=9).p > 0.05
    True
    """
    nulls = Nulls.of(matrix, n_replicates, seed, zero_cells)
    return Simulated.beside(nulls.observed.r2[0], nulls.drawn("unrelated", scale, asymptotes).r2)

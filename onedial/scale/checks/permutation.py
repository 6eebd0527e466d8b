"""Is anything shared at all? Eigenvalues of matrices in which each respondent's answers are shuffled."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from onedial.core.errors import InputError
from onedial.scale.checks.replicates import Batch, batch_sizes, correlate
from onedial.scale.checks.simulation import Simulated
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule, check_modes
from onedial.scale.factor.usable import observed_eigenvalues, usable_answers
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans
from onedial.stats.level import p_value


def permutation_null(
    matrix: Any,
    n_permutations: int = 999,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> Simulated:
    """Eigenvalues when nothing is shared: each respondent's answers are shuffled over the questions that it answered.

    Yes rates and gaps are kept exactly. Valid for the first eigenvalue only: once one factor is there, the second
    eigenvalue must be compared with matrices that have one factor, `revised_parallel_analysis` (the p of further
    ranks is nan here). Formula: p = (1 + #{null >= observed}) / (B + 1) (Horn, 1965, Psychometrika 30, 179-185;
    Buja and Eyuboglu, 1992, Multivariate Behavioral Research 27, 509-540, for permutation).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_permutations: B. thresholds, zero_cells: as in `tetrachoric`, the same for observed and null matrices.
        seed: of the shuffles.

    Returns:
        Simulated eigenvalues of the unsmoothed matrices. Sign: p looks at the upper tail. Respondents with only one
        kind of answer are left out with a warning.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    R: none of psych's null models keeps the gaps; `psych::fa.parallel(x, cor = "tet", sim = FALSE)` is the closest.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> permutation_null(answers, 19).p.tolist()
    [0.05, nan, nan, nan, nan, nan]
    """
    check_modes(thresholds, zero_cells)
    if n_permutations < 1:
        raise InputError(f"n_permutations={n_permutations}; ask for at least 1")
    answers = usable_answers(as_answers(matrix))
    observed = observed_eigenvalues(answers, thresholds, zero_cells)
    shuffles = shuffled(answers, n_permutations, np.random.default_rng(seed))
    simulated = correlate(shuffles, thresholds, zero_cells).eigenvalues()
    p = np.full(len(observed), np.nan)
    p[0] = p_value(observed[0], simulated[:, 0])
    return Simulated(observed, simulated, p)


def shuffled(answers: Answers, n_permutations: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches in which each respondent's answers stand in another order; gaps stay where they are."""
    answered = answers.answered.astype(np.float32)
    for size in batch_sizes(n_permutations, answered.size):
        yes = np.zeros((answers.n_respondents, size, answers.n_questions), dtype=np.float32)
        for i in range(answers.n_respondents):
            own = slice(None) if answers.answered[:, i].all() else answers.answered[:, i]
            yes[i][:, own] = _dealt(int(answers.n_yes[i]), int(answers.n_answered[i]), size, rng)
        yield yes.transpose(1, 2, 0), answered


def _dealt(n_yes: int, n: int, size: int, rng: np.random.Generator) -> Booleans:
    """(replicate, answer) True for n_yes answers of each row, all choices equally likely: those of the lowest keys."""
    if n_yes in (0, n):
        return np.full((size, n), n_yes > 0)
    keys = rng.integers(0, 2**32, (size, n), dtype=np.uint32)
    yes = keys < np.partition(keys, n_yes, axis=1)[:, n_yes, None]
    for row in np.flatnonzero(yes.sum(axis=1) != n_yes):  # two equal keys at the border
        yes[row] = rng.permutation(n) < n_yes
    return yes

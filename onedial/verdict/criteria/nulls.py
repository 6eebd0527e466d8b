"""What chance alone would give: the panel's rows permuted, so that targets keep their yes rates and what they share
with each other, and lose what they share with the subject.

Both statistics average or fit over targets, so all targets' rows are permuted by the same permutation, gaps included.
Under the null hypothesis that the panel's rows have nothing to do with the subject's, every permutation is
as likely as the order observed, and p = (1 + k) / (B + 1) is exact for k of B permutations that reach the statistic.
"""

import numpy as np

from onedial.stats import average_within_models, chunks, count, count_permuted, permuted_rows
from onedial.verdict.criteria import choice
from onedial.verdict.criteria.criteria import scored


def signal(rate_matched: np.ndarray, given: np.ndarray, models: np.ndarray) -> float:
    """S: mean Cohen's kappa of the subject at each target's rate-matched magnitude (constant or unread: 0)."""
    return float(average_within_models(np.nan_to_num(count(rate_matched, given).kappa()), models))


def signal_null(
    rate_matched: np.ndarray,
    given: np.ndarray,
    models: np.ndarray,
    n_permutations: int,
    seed: int,
    strata: np.ndarray | None = None,
    wordings: np.ndarray | None = None,
) -> np.ndarray:
    """S after the test rows of the panel are permuted (permutation). Nothing on the fitting split is chosen anew.

    Args:
        strata: test question -> topic, within which rows are permuted; None permutes over all.
        wordings: test question -> what it is a wording of: permuted together; None where each is its own.
    """
    kappas = count_permuted(rate_matched, given, n_permutations, seed, strata, wordings).kappa()
    return average_within_models(np.nan_to_num(kappas), models)


def r_squared(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared correlation of x (target) with each row of y (... x target); nan where either does not vary."""
    dx, dy = x - x.mean(), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = (dy @ dx) ** 2 / ((dx @ dx) * (dy**2).sum(axis=-1))
    varies = (dx @ dx > 1e-12) & ((dy**2).sum(axis=-1) > 1e-12)
    return np.where(varies, r2, np.nan)


def line_null(
    name: str,
    margins: np.ndarray,
    given: np.ndarray,
    magnitudes: np.ndarray,
    thresholds: np.ndarray,
    n_permutations: int,
    seed: int,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """R^2 of a criterion's magnitude on threshold after the fitting rows of the panel are permuted (permutation).

    The magnitude is chosen anew for every permuted target, by the rule that chose the real ones. At equal yes rates it
    moves only where answers are missing.

    Args:
        name: of `criteria.CRITERIA`.
        margins: fitting question x magnitude. given: fitting question x target, the targets of the line.
        thresholds: of those targets; a joint permutation of rows does not change them.
        groups: fitting question -> what it is a wording of: permuted together; None where each is its own.
    """
    rng = np.random.default_rng(seed)
    every = np.ones(len(magnitudes), bool)
    found = []
    for size in chunks(n_permutations, given.size):
        rows = permuted_rows(len(given), size, rng, groups=groups)
        scores = np.stack([scored(name, margins, given[own]) for own in rows])
        best, _, _ = choice.middle_of_best(scores, magnitudes, every)
        found.append(r_squared(thresholds, magnitudes[best]))
    return np.concatenate(found)

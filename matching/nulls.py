"""What chance alone would give: the panel's rows permuted, so that targets keep their yes rates and what they share
with each other, and lose what they share with the subject.

Both statistics average or fit over targets, so all targets' rows are permuted by the same permutation, gaps included.
Under the null hypothesis that the panel's rows have nothing to do with the subject's, every permutation is
as likely as the order observed, and p = (1 + k) / (B + 1) is exact for k of B permutations that reach the statistic.
"""

import numpy as np

from matching import choice
from matching.agreement import count, count_permuted, permutations_of

_CHUNK = 2_000_000


def average_within_models(values: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Mean over targets of one base model, then over base models, along the last axis.

    A model that stands in the panel under ten framings thus counts as one.
    """
    names, of_target, counts = np.unique(models.astype(str), return_inverse=True, return_counts=True)
    return values @ (1 / (len(names) * counts[of_target]))


def signal(rate_matched: np.ndarray, given: np.ndarray, models: np.ndarray) -> float:
    """S: mean Cohen's kappa of the subject at each target's rate-matched magnitude (constant or unread: 0)."""
    return float(average_within_models(np.nan_to_num(count(rate_matched, given).kappa()), models))


def signal_null(
    rate_matched: np.ndarray, given: np.ndarray, models: np.ndarray, n_permutations: int, seed: int
) -> np.ndarray:
    """S after the test rows of the panel are permuted (permutation). Nothing on the fitting split is chosen anew."""
    kappas = count_permuted(rate_matched, given, n_permutations, seed).kappa()
    return average_within_models(np.nan_to_num(kappas), models)


def p_value(observed: float, null: np.ndarray) -> float:
    """One-sided (1 + k) / (B + 1), k = how many of the null are at least the observed one."""
    return float((1 + (null >= observed - 1e-9).sum()) / (len(null) + 1))


def r_squared(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared correlation of x (target) with each row of y (... x target); nan where either does not vary."""
    dx, dy = x - x.mean(), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        r2 = (dy @ dx) ** 2 / ((dx @ dx) * (dy**2).sum(axis=-1))
    varies = (dx @ dx > 1e-12) & ((dy**2).sum(axis=-1) > 1e-12)
    return np.where(varies, r2, np.nan)


def line_null(
    subject: np.ndarray,
    given: np.ndarray,
    magnitudes: np.ndarray,
    thresholds: np.ndarray,
    n_permutations: int,
    seed: int,
) -> np.ndarray:
    """R^2 of best magnitude on threshold after the fitting rows of the panel are permuted (permutation).

    The magnitude of best agreement is chosen anew for every permuted target, by the rule that chose the real ones.

    Args:
        subject: fitting question x magnitude. given: fitting question x target, the targets of the line.
        thresholds: of those targets; a joint permutation of rows does not change them.
    """
    rng = np.random.default_rng(seed)
    every = np.ones(len(magnitudes), bool)
    found = []
    at_a_time = max(1, _CHUNK // max(1, given.size))
    for start in range(0, n_permutations, at_a_time):
        rows = permutations_of(len(given), min(at_a_time, n_permutations - start), rng)
        score = choice.agreement_by_magnitude(subject, given[rows])
        best, _, _ = choice.middle_of_best(score, magnitudes, every)
        found.append(r_squared(thresholds, magnitudes[best]))
    return np.concatenate(found)

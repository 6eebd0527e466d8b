"""What chance alone would give: the panel's rows permuted, so that targets keep their yes rates and what they share
with each other, and lose what they share with the subject.

S averages over targets, so all targets' rows are permuted by the same permutation, gaps included.
Under the null hypothesis that the panel's rows have nothing to do with the subject's, every permutation is
as likely as the order observed, and p = (1 + k) / (B + 1) is exact for k of B permutations that reach the statistic.
"""

from typing import NamedTuple

import numpy as np

from onedial.stats.agreement import count, count_permuted
from onedial.verdict.numbers import average_within_models


def signal(rate_matched: np.ndarray, given: np.ndarray, models: np.ndarray) -> float:
    """Compute S: mean Cohen's kappa of the subject at each target's rate-matched magnitude (constant or unread: 0)."""
    return float(average_within_models(np.nan_to_num(count(rate_matched, given).kappa()), models))


class Permutations(NamedTuple):
    """How rows are permuted.

    Attributes:
        n: how often. strata: test question -> topic, within which rows are permuted; None permutes over all.
        wordings: test question -> what it is a wording of: permuted together; None where each is its own.
    """

    n: int
    seed: int
    strata: np.ndarray | None = None
    wordings: np.ndarray | None = None


def signal_null(rate_matched: np.ndarray, given: np.ndarray, models: np.ndarray, how: Permutations) -> np.ndarray:
    """Compute S after the test rows of the panel are permuted; nothing on the fitting split is chosen anew."""
    return average_within_models(np.nan_to_num(count_permuted(rate_matched, given, *how).kappa()), models)

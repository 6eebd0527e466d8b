"""Matrices simulated from a factor model, with the gaps of an observed one.

    x_i = 1 when lambda_i . z + sqrt(1 - |lambda_i|^2) e_i > -t_i,      z, e_i ~ N(0, 1)

Thresholds, number of questions and gaps are those of the observed matrix and only the answers are drawn anew, so that
whatever an empty-cell rule does to the observed matrix it does to the simulated ones too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import InputError
from psychometrics.answers import Answers, as_answers
from psychometrics.arrays import Floats
from psychometrics.latent_correlation import check_modes
from psychometrics.replicates import Batch, batch_sizes
from psychometrics.usable import usable_answers


@dataclass(frozen=True)
class Simulated:
    """One observed number beside the same number of simulated matrices.

    Attributes:
        observed: the number. simulated: (replicate,), nan where a replicate gave none. p: (1 + k) / (B + 1).
    """

    observed: float
    simulated: Floats
    p: float

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.simulated))

    @property
    def interval(self) -> tuple[float, float]:
        """Central 95% of the simulated numbers."""
        low, high = np.nanquantile(self.simulated, [0.025, 0.975])
        return float(low), float(high)

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        low, high = self.interval
        upper, lower = (float(np.nanquantile(self.simulated, q)) for q in (0.95, 0.05))
        return {
            "observed": self.observed,
            "p": self.p,
            "null_mean": self.mean,
            "null_low": low,
            "null_high": high,
            "null_05": lower,
            "null_95": upper,
            "n_replicates": len(self.simulated),
        }


def simulate(
    answers: Answers, loadings: Floats, thresholds: Floats, n_replicates: int, rng: np.random.Generator
) -> Iterator[Batch]:
    """Batches of simulated answers with the gaps of `answers`.

    Args:
        loadings: (respondent, factor), or (replicate, respondent, factor) with their own for each replicate.
        thresholds: (respondent,).

    Yields:
        yes (replicate, question, respondent) and answered (question, respondent), 0/1.
    """
    answered = answers.answered.astype(np.float32)
    per_replicate = np.broadcast_to(loadings, (n_replicates, *loadings.shape[-2:])).astype(np.float32)
    start = 0
    for size in batch_sizes(n_replicates, answers):
        own = per_replicate[start : start + size]
        unique = np.sqrt(np.maximum(1 - (own**2).sum(axis=-1), 0))[:, None, :]
        shared = rng.standard_normal((size, answers.n_questions, own.shape[-1]), dtype=np.float32)
        latent = rng.standard_normal((size, *answered.shape), dtype=np.float32)
        latent *= unique
        latent += shared @ own.transpose(0, 2, 1)
        yield ((latent > -thresholds.astype(np.float32)) & answers.answered).astype(np.float32), answered
        start += size


def checked_for_simulation(matrix: Any, n_replicates: int, thresholds: str, zero_cells: str) -> Answers:
    """The usable respondents, once the options of a simulation are known to be possible.

    Raises:
        InputError: an option does not exist, B < 1, or fewer than three respondents vary.
    """
    check_modes(thresholds, zero_cells)
    if n_replicates < 1:
        raise InputError(f"n_replicates={n_replicates}; ask for at least 1")
    return usable_answers(as_answers(matrix))

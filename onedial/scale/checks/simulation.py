"""An observed number beside those of simulated matrices, and what a matrix must bring to be simulated."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.latent_correlation import check_modes
from onedial.scale.factor.usable import linked_respondents, usable_answers
from onedial.stats.answers import Answers, as_answers, names, warn
from onedial.stats.arrays import Floats
from onedial.stats.level import interval_95


@dataclass(frozen=True)
class Simulated:
    """One observed number beside the same number of simulated matrices.

    Attributes:
        observed: the number. simulated: (replicate,), nan where a replicate gave none. p: (1 + k) / (B + 1).
    """

    observed: float
    simulated: Floats
    p: float

    __repr__ = one_line

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.simulated))

    @property
    def interval(self) -> tuple[float, float]:
        """Central 95% of the simulated numbers."""
        return interval_95(self.simulated)

    @property
    def n_defined(self) -> int:
        """Of how many simulated matrices the number exists: those alone stand behind mean, interval and p."""
        return int(np.isfinite(self.simulated).sum())

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
            "n_replicates": self.n_defined,
            "n_undefined": len(self.simulated) - self.n_defined,
        }


def checked_for_simulation(matrix: Any, n_replicates: int, thresholds: str, zero_cells: str) -> Answers:
    """The respondents that vary and hang together, once the options of a simulation are known to be possible.

    Raises:
        InputError: an option does not exist, B < 1, or fewer than three respondents vary and hang together.
    """
    check_modes(thresholds, zero_cells)
    if n_replicates < 1:
        raise InputError(f"n_replicates={n_replicates}; ask for at least 1")
    answers = usable_answers(as_answers(matrix))
    linked = linked_respondents(answers)
    if linked.all():
        return answers
    warn(f"{names(answers.respondents[~linked])} share too few questions with the others and are left out of the null")
    return answers.select(linked)

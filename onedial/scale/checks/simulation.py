"""Observed numbers beside those of simulated matrices, and what a matrix must bring to be simulated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.latent_correlation import check_modes
from onedial.scale.factor.usable import linked_respondents, usable_answers
from onedial.stats.answers import Answers, as_answers, names, warn
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, interval_95, p_value


@dataclass(frozen=True)
class Simulated:
    """A number, or the eigenvalues of a matrix, beside the same of simulated matrices: every null has this form.

    Attributes:
        observed: the number, or (rank,) falling eigenvalues. simulated: (replicate,) or (replicate, rank), nan where a
            replicate gave none or where the null says nothing of a rank. p: (1 + k) / (B + 1), of each rank; nan where
            nothing was simulated.
    """

    observed: Any
    simulated: Floats
    p: Any

    __repr__ = one_line

    @classmethod
    def beside(cls, observed: float, simulated: Floats, larger: bool = True) -> "Simulated":
        """One number with its p: `larger` values speak against chance, or smaller ones."""
        return cls(float(observed), simulated, p_value(float(observed), simulated, larger))

    @property
    def mean(self) -> Any:
        """Of the simulated numbers, of each rank."""
        return _over_replicates(self.simulated, lambda known: known.mean(axis=0))

    @property
    def upper(self) -> Any:
        """The 95% point of the simulated numbers, of each rank."""
        return _over_replicates(self.simulated, lambda known: np.quantile(known, 0.95, axis=0))

    @property
    def interval(self) -> tuple[float, float]:
        """Central 95% of the simulated numbers."""
        return interval_95(self.simulated)

    @property
    def n_replicates(self) -> int:
        return len(self.simulated)

    @property
    def n_defined(self) -> int:
        """Of how many simulated matrices the number exists: those alone stand behind mean, interval and p."""
        return int(np.isfinite(self.simulated).sum())

    def n_above(self) -> int:
        """How many leading eigenvalues stand above the null, counted until the first with p above `LEVEL`."""
        return int(np.cumprod(np.asarray(self.p) <= LEVEL).sum())

    def to_frame(self) -> pd.DataFrame:
        """One row per eigenvalue: observed, null_mean, null_95, p."""
        columns = {"observed": self.observed, "null_mean": self.mean, "null_95": self.upper, "p": self.p}
        return pd.DataFrame(columns, pd.RangeIndex(1, len(self.observed) + 1, name="eigenvalue"))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; the simulated values are summarised."""
        if np.ndim(self.observed):
            return {"n_replicates": self.n_replicates} | {
                str(k): v for k, v in self.to_frame().to_dict(orient="list").items()
            }
        low, high = self.interval
        upper, lower = (float(np.nanquantile(self.simulated, q)) for q in (0.95, 0.05))
        return {
            "observed": self.observed,
            "p": self.p,
            "null_mean": float(self.mean),
            "null_low": low,
            "null_high": high,
            "null_05": lower,
            "null_95": upper,
            "n_replicates": self.n_defined,
            "n_undefined": len(self.simulated) - self.n_defined,
        }


def _over_replicates(simulated: Floats, summary: Any) -> Any:
    """A summary of each rank over the replicates that have it; nan where none has."""
    columns = simulated[:, None] if simulated.ndim == 1 else simulated
    known = [column[np.isfinite(column)] for column in columns.T]
    found = np.array([summary(column) if len(column) else np.nan for column in known])
    return found[0] if simulated.ndim == 1 else found


def checked_for_simulation(
    matrix: Any, n_replicates: int = 1, thresholds: str = "pairwise", zero_cells: str = "half"
) -> Answers:
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

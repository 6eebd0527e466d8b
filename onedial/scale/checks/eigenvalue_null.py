"""Eigenvalues beside those of matrices in which something is known to be absent."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL


@dataclass(frozen=True)
class EigenvalueNull:
    """Observed eigenvalues against simulated ones.

    Attributes:
        kind: what was simulated.
        observed: (respondent,) eigenvalues in falling order.
        simulated: (replicate, respondent); nan for ranks that the null says nothing about.
        p: (respondent,) (1 + k) / (B + 1), k = replicates whose eigenvalue of the same rank is at least as large; nan
            for ranks that the null says nothing about.
        seed: of the random numbers.
    """

    kind: str
    observed: Floats
    simulated: Floats
    p: Floats
    seed: int

    __repr__ = one_line

    @property
    def n_replicates(self) -> int:
        return len(self.simulated)

    @property
    def mean(self) -> Floats:
        """(respondent,) mean of the simulated eigenvalues."""
        return self.simulated.mean(axis=0)

    @property
    def upper(self) -> Floats:
        """(respondent,) 95% points of the simulated eigenvalues."""
        return np.quantile(self.simulated, 0.95, axis=0)

    def n_above(self) -> int:
        """How many leading eigenvalues stand above the null, counted until the first with p above `LEVEL`."""
        above = 0
        while above < len(self.p) and self.p[above] <= LEVEL:
            above += 1
        return above

    def to_frame(self) -> pd.DataFrame:
        """One row per eigenvalue: observed, null_mean, null_95, p."""
        rank = pd.RangeIndex(1, len(self.observed) + 1, name="eigenvalue")
        columns = {"observed": self.observed, "null_mean": self.mean, "null_95": self.upper, "p": self.p}
        return pd.DataFrame(columns, index=rank)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; the simulated values are summarised."""
        return {
            "kind": self.kind,
            "n_replicates": self.n_replicates,
            "seed": self.seed,
            **{str(name): column.tolist() for name, column in self.to_frame().items()},
        }

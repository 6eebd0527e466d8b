"""Many random matrices of answers at once, and the eigenvalues and loadings of each.

All nulls and bootstraps share this engine: a source yields batches of 0/1 answers, every batch becomes correlation
matrices in one call (each distinct 2 x 2 table is solved once), and all are decomposed together. Gaps in a
correlation matrix (respondents that became constant, pairs excluded by rule) are filled with the product of the
replicate's own one-factor loadings before eigenvalues are taken, exactly as for the observed matrix.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule, correlations
from onedial.scale.correlations.pair_counts import PairTables, count_pairs_of_replicates
from onedial.scale.correlations.thresholds import normal_quantile
from onedial.scale.factor.minres import minres_one_factor
from onedial.stats.arrays import Floats

Batch = tuple[Floats, Floats]


@dataclass(frozen=True)
class Counted:
    """A batch of which only the counts are kept.

    Attributes:
        n_yes: (replicate, respondent). n_answered: (respondent,). tables: of the pairs, of every replicate.
    """

    n_yes: Floats
    n_answered: Floats
    tables: PairTables

    @classmethod
    def of(cls, batch: Batch) -> "Counted":
        yes, answered = batch
        n_yes, n = yes.sum(axis=-2, dtype=float), answered.sum(axis=-2, dtype=float)
        return cls(n_yes, n, count_pairs_of_replicates(yes, answered))


_CELLS_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class Replicates:
    """What was computed from each random matrix.

    Attributes:
        correlation: (replicate, respondent, respondent), with nan where a pair gives none.
        thresholds: (replicate, respondent).
    """

    correlation: Floats
    thresholds: Floats

    def loadings(self) -> Floats:
        """(replicate, respondent) minres one-factor loadings."""
        return minres_one_factor(self.correlation, tolerance=1e-6)

    def without(self, respondent: int) -> "Replicates":
        """The same replicates with one respondent, given by position, left out."""
        correlation = np.delete(np.delete(self.correlation, respondent, axis=-1), respondent, axis=-2)
        return Replicates(correlation, np.delete(self.thresholds, respondent, axis=-1))

    def eigenvalues(self) -> Floats:
        """(replicate, respondent) in falling order."""
        return eigenvalues(fill_gaps(self.correlation))


def correlate(batches: Iterable[Batch | Counted], thresholds: ThresholdMode, zero_cells: ZeroCellRule) -> Replicates:
    """Correlation matrices of all batches of (yes, answered): (replicate, question, respondent) 0/1 each, where
    `answered` may lack the first axis; or of their counts."""
    matrices, limits = [], []
    for batch in batches:
        counted = batch if isinstance(batch, Counted) else Counted.of(batch)
        limits.append(normal_quantile(counted.n_yes, counted.n_answered - counted.n_yes))
        matrices.append(correlations(counted.tables, limits[-1], thresholds, zero_cells, repeats=True))
    return Replicates(np.concatenate(matrices), np.concatenate(limits))


def batch_sizes(n_replicates: int, n_cells: int) -> Iterator[int]:
    """Sizes of batches of panels of so many cells that keep the memory of one near 80 MB."""
    size = max(1, min(n_replicates, _CELLS_AT_ONCE // max(1, n_cells)))
    for start in range(0, n_replicates, size):
        yield min(size, n_replicates - start)


def fill_gaps(correlation: Floats) -> Floats:
    """Replace nan by the product of the minres one-factor loadings (0 where those are unknown); diagonal 1."""
    gaps = np.isnan(correlation)
    if not gaps.any():
        return correlation
    loading = np.nan_to_num(minres_one_factor(correlation, tolerance=1e-6))
    filled = np.where(gaps, np.clip(loading[..., :, None] * loading[..., None, :], -1, 1), correlation)
    diagonal = np.arange(correlation.shape[-1])
    filled[..., diagonal, diagonal] = 1.0
    return filled


def eigenvalues(correlation: Floats) -> Floats:
    """(..., respondent) in falling order."""
    return np.linalg.eigvalsh(correlation)[..., ::-1]

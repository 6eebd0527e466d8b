"""Respondents that are one model under several framings are no independent witnesses of a shared scale.

Correlations within a base model mix what all models share with what this model shares with itself. Three shares of a
respondent's variance are told apart by two means of correlations:

    shared by all models = between,    by one model's respondents only = within - between,    its own = 1 - within

(a variance component model with crossed pairs).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.factor.nulls import Batch, Counted, Nulls, Replicates, Simulated, batch_sizes
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats, Integers
from onedial.stats.groups import labels_of


@dataclass(frozen=True)
class ClusterStructure:
    """Mean correlations within and between clusters of respondents.

    Attributes:
        matrix: (cluster, cluster) mean correlations; within the cluster on the diagonal, nan for a single respondent.
        shares: `between`, `within_only`, `own`, of a respondent's variance.
        between: mean correlation between clusters against clusters shuffled whole; its p: nothing shared between them.
        difference: within minus between, against clusters assigned to the respondents at random.
    """

    matrix: pd.DataFrame
    shares: dict[str, float]
    between: Simulated
    difference: Simulated

    __repr__ = one_line


def cluster_structure(matrix: Any, clusters: Any, n_replicates: int = 199, seed: int = 0) -> ClusterStructure:
    """Means of correlations within and between clusters, with nulls that keep each cluster together.

    Formula: p = (1 + k) / (B + 1). Shared between clusters: each cluster's rows are shuffled as a whole, which keeps
    everything within it. Clustering: labels are permuted (Shrout and Fleiss, 1979, Psychological Bulletin 86, 420-428,
    for the shares as intraclass correlations).

    Args:
        matrix, n_replicates, seed: as in `permutation_null`. clusters: label of each respondent (a Series by
            respondent, or in the order of the columns), such as the base model; at least two with respondents that
            vary.

    Returns:
        ClusterStructure. Sign: `difference` > 0 when respondents of one cluster agree more with each other.

    Raises:
        InputError: the labels do not fit, there are fewer than two clusters, or none has two respondents.

    R: none; the means are `mean(r[outer(cluster, cluster, "==") & upper.tri(r)])`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> cluster_structure(answers, list("aabbcc"), n_replicates=19).between.p
    0.05
    """
    nulls = Nulls.of(matrix, n_replicates, seed)
    answers, everyone = nulls.answers, nulls.fits.panel.respondents
    code, groups = pd.factorize(labels_of(clusters, everyone, answers.respondents, "clusters"))
    if len(groups) < 2 or np.bincount(code).max() < 2:
        raise InputError(
            f"{len(groups)} clusters of {answers.n_respondents} respondents; correlations within and between need at "
            "least two clusters, one of them with two respondents"
        )
    correlation, rng = nulls.observed.correlation[0], np.random.default_rng(nulls.seed)
    means, within, between = _means(correlation, code)
    batches = map(Counted.of, _blocks_shuffled(answers, code, nulls.n_replicates, rng))
    drawn = Replicates.of(batches, nulls.zero_cells).correlation
    null = np.array([_means(one, code)[2] for one in drawn])
    dealt = (_means(correlation, rng.permutation(code)) for _ in range(nulls.n_replicates))
    return ClusterStructure(
        matrix=pd.DataFrame(means, groups, groups),
        shares={"between": between, "within_only": within - between, "own": 1 - within},
        between=Simulated.beside(between, null),
        difference=Simulated.beside(within - between, np.array([one - other for _, one, other in dealt])),
    )


def _means(correlation: Floats, code: Integers) -> tuple[Floats, float, float]:
    """(cluster, cluster) means of correlations, that of all pairs within a cluster, and that of all other pairs."""
    member = np.eye(code.max() + 1)[code]
    known = np.isfinite(correlation) & ~np.eye(len(code), dtype=bool)
    total = member.T @ np.where(known, correlation, 0.0) @ member
    n = member.T @ known.astype(float) @ member
    same = np.eye(len(total), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(n > 0, total / n, np.nan)
        return means, float(total[same].sum() / n[same].sum()), float(total[~same].sum() / n[~same].sum())


def _blocks_shuffled(answers: Answers, code: Integers, n_replicates: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches in which the questions of each cluster stand in another order, the same for all its respondents."""
    for size in batch_sizes(n_replicates, answers.yes.size):
        order = np.stack([[rng.permutation(answers.n_questions) for _ in range(code.max() + 1)] for _ in range(size)])
        rows = order[:, code].transpose(0, 2, 1)
        columns = np.arange(answers.n_respondents)
        yield answers.yes[rows, columns].astype(np.float32), answers.answered[rows, columns].astype(np.float32)

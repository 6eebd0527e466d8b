"""Respondents that are one model under several framings are no independent witnesses of a shared scale.

Correlations within a base model mix what all models share with what this model shares with itself. Three shares of a
respondent's variance are told apart by two means of correlations:

    shared by all models = between,    by one model's respondents only = within - between,    its own = 1 - within

(a variance component model with crossed pairs). What a panel with one respondent of each model would show are the
eigenvalues of the matrix of models whose entries are the mean correlations between their respondents.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.checks.draws import several_factor_answers
from onedial.scale.checks.replicates import Batch, batch_sizes, correlate, eigenvalues
from onedial.scale.checks.simulation import Simulated, checked_for_simulation
from onedial.scale.correlations.latent_correlation import ThresholdMode, ZeroCellRule
from onedial.scale.factor.minres import MAX_COMMUNALITY
from onedial.scale.factor.usable import observed_correlation
from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats, Integers
from onedial.stats.groups import labels_of
from onedial.stats.level import p_value
from onedial.stats.multiple_tests import p_text

_MOST_LISTED = 12
_LEAST_FOR_SECOND = 4  # clusters, for a second eigenvalue between them to mean anything


@dataclass(frozen=True)
class ClusterStructure:
    """Correlations within and between clusters of respondents.

    Attributes:
        table: index the clusters, then `within` and `between`; `n_respondents, n_pairs, mean, smallest, largest` of the
            correlations within the cluster, or of all pairs within one cluster, or of all pairs of different clusters.
        matrix: (cluster, cluster) mean correlations; within the cluster on the diagonal, nan for a single respondent.
        agreement: (cluster, cluster) matrix / root of the product of its diagonal: the correlation of two clusters'
            scales; 1 = the same order of questions. nan beside a single respondent or a cluster without agreement.
        shares: `between`, `within_only`, `own`, of a respondent's variance.
        between: mean correlation between clusters against clusters shuffled whole. p: nothing shared between clusters.
        first, second: eigenvalues of the matrix of clusters with 1 on its diagonal; `first` against clusters shuffled
            whole, `second` (None under four clusters) against one factor between clusters and one within each.
        difference: within minus between, against clusters assigned to the respondents at random.
        seed: of the random numbers.
    """

    table: pd.DataFrame
    matrix: pd.DataFrame
    agreement: pd.DataFrame
    shares: dict[str, float]
    between: Simulated
    first: Simulated
    second: Simulated | None
    difference: Simulated
    seed: int

    __repr__ = one_line

    def sentences(self, kind: str = "models") -> list[str]:
        """What the table says to somebody who has to decide whether the panel has one scale; `kind` of the clusters."""
        n, m = len(self.matrix), int(self.table["n_respondents"].iloc[: len(self.matrix)].sum())
        within, between = (float(self.table["mean"][row]) for row in ("within", "between"))
        found = [
            f"{m} respondents are {n} {kind}: correlations average {within:.2f} within and {between:.2f} between "
            f"{kind} (labels assigned at random: difference {self.difference.mean:.2f}, {p_text(self.difference.p)})."
        ]
        own = self.table["mean"].iloc[:n].dropna()
        if 0 < len(own) <= _MOST_LISTED:
            found.append("Within: " + ", ".join(f"{name} {mean:.2f}" for name, mean in own.items()) + ".")
        if self.difference.p <= 0.05 and within > 2 * max(between, 0):
            found.append(
                f"Most of what looks shared is the {kind} agreeing each with itself; eigenvalues of the whole panel "
                f"count {kind}, not shared scales."
            )
        shared = f"{self.shares['between']:.0%} of a respondent's variance is shared between {kind}"
        verdict = "more than chance" if self.between.p <= 0.05 else "no more than chance would give"
        within_only = f"{self.shares['within_only']:.0%} within one of them only"
        found.append(f"{shared} ({verdict}: {p_text(self.between.p)}), {within_only}.")
        if self.second is not None and self.second.p <= 0.05:
            found.append(f"Between {kind} there is a second factor ({p_text(self.second.p)}).")
        return found


def cluster_structure(
    matrix: Any,
    clusters: Any,
    n_replicates: int = 199,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    seed: int = 0,
) -> ClusterStructure:
    """Means of correlations within and between clusters, with nulls that keep each cluster together.

    Formula: p = (1 + k) / (B + 1). Shared between clusters: each cluster's rows are shuffled as a whole, which keeps
    everything within it. Clustering: labels are permuted. Second factor between clusters: answers simulated from
    r_ij = g_i g_j + [same cluster] s_i s_j, fitted by least squares (Shrout and Fleiss, 1979, Psychological Bulletin
    86, 420-428, for the shares as intraclass correlations).

    Args:
        matrix: question x respondent, 1 / 0 / nan. clusters: label of each respondent (a Series by respondent, or in
            the order of the columns), such as the base model; at least two with respondents that vary.
        n_replicates: B. thresholds, zero_cells: as in `tetrachoric`. seed: of the random numbers.

    Returns:
        ClusterStructure. Sign: `difference` > 0 when respondents of one cluster agree more with each other.

    Raises:
        InputError: the labels do not fit, there are fewer than two clusters, or none has two respondents.

    R: none; the means are `mean(r[outer(cluster, cluster, "==") & upper.tri(r)])`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> found = cluster_structure(answers, list("aabbcc"), n_replicates=19)
    >>> found.first.p
    0.05
    """
    answers = checked_for_simulation(matrix, n_replicates, thresholds, zero_cells)
    label = labels_of(clusters, matrix, answers.respondents, "clusters")
    code, distinct = pd.factorize(label)
    groups = pd.Index(distinct)
    if len(groups) < 2 or np.bincount(code).max() < 2:
        raise InputError(
            f"{len(groups)} clusters of {answers.n_respondents} respondents; correlations within and between need at "
            "least two clusters, one of them with two respondents"
        )
    correlation = observed_correlation(answers, thresholds, zero_cells)
    rng = np.random.default_rng(seed)
    observed = _Means.of(correlation, code)
    shuffled = correlate(_blocks_shuffled(answers, code, n_replicates, rng), thresholds, zero_cells).correlation
    nulls = [_Means.of(one, code) for one in shuffled]
    dealt = np.array([_Means.of(correlation, rng.permutation(code)).difference for _ in range(n_replicates)])
    first = np.array([null.eigenvalues()[0] for null in nulls])
    between = np.array([null.between for null in nulls])
    spectrum = observed.eigenvalues()
    return ClusterStructure(
        table=_table(correlation, code, groups, observed),
        matrix=pd.DataFrame(observed.matrix, groups, groups),
        agreement=pd.DataFrame(_agreement(observed.matrix), groups, groups),
        shares={
            "between": observed.between,
            "within_only": observed.difference,
            "own": 1 - observed.within,
        },
        between=Simulated(observed.between, between, p_value(observed.between, between)),
        first=Simulated(float(spectrum[0]), first, p_value(spectrum[0], first)),
        second=_second(answers, correlation, code, observed, n_replicates, thresholds, zero_cells, rng),
        difference=Simulated(observed.difference, dealt, p_value(observed.difference, dealt)),
        seed=seed,
    )


@dataclass(frozen=True)
class _Means:
    matrix: Floats
    within: float
    between: float

    @property
    def difference(self) -> float:
        return self.within - self.between

    @classmethod
    def of(cls, correlation: Floats, code: Integers) -> "_Means":
        member = np.eye(code.max() + 1)[code]
        known = np.isfinite(correlation) & ~np.eye(len(code), dtype=bool)
        total = member.T @ np.where(known, correlation, 0.0) @ member
        n = member.T @ known.astype(float) @ member
        same = np.eye(len(total), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(n > 0, total / n, np.nan)
            within, between = total[same].sum() / n[same].sum(), total[~same].sum() / n[~same].sum()
        return cls(means, float(within), float(between))

    def eigenvalues(self) -> Floats:
        """(cluster,) of the matrix with 1 on its diagonal, in falling order; pairs without a correlation count 0."""
        whole = np.nan_to_num(self.matrix)
        np.fill_diagonal(whole, 1.0)
        return eigenvalues(whole)


def _blocks_shuffled(answers: Answers, code: Integers, n_replicates: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches in which the questions of each cluster stand in another order, the same for all its respondents."""
    for size in batch_sizes(n_replicates, answers.yes.size):
        order = np.stack([[rng.permutation(answers.n_questions) for _ in range(code.max() + 1)] for _ in range(size)])
        rows = order[:, code].transpose(0, 2, 1)
        columns = np.arange(answers.n_respondents)
        yield answers.yes[rows, columns].astype(np.float32), answers.answered[rows, columns].astype(np.float32)


def _second(
    answers: Answers,
    correlation: Floats,
    code: Integers,
    observed: _Means,
    n_replicates: int,
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
    rng: np.random.Generator,
) -> Simulated | None:
    if len(observed.matrix) < _LEAST_FOR_SECOND:
        return None
    loadings = general_and_cluster_loadings(correlation, code)
    draws = several_factor_answers(answers, loadings, n_replicates, rng)
    simulated = correlate(draws, thresholds, zero_cells).correlation
    second = np.array([_Means.of(one, code).eigenvalues()[1] for one in simulated])
    value = float(observed.eigenvalues()[1])
    return Simulated(value, second, p_value(value, second))


def general_and_cluster_loadings(correlation: Floats, code: Integers) -> Floats:
    """(respondent, 1 + cluster) loadings on what all share and on what each cluster shares besides.

    Formula: minimise the sum over pairs of (r_ij - g_i g_j - [same cluster] s_i s_j)^2 with g_i^2 + s_i^2 <= .995; in a
    cluster of two s_1 = s_2, alone s = 0.
    """
    m = len(code)
    size = np.bincount(code)[code]
    same = code[:, None] == code
    weight = np.isfinite(correlation) & ~np.eye(m, dtype=bool)
    target = np.where(weight, correlation, 0.0)

    def loss(flat: Floats) -> tuple[float, Floats]:
        g, s = _pair_shared(flat, code, size)
        residual = weight * (np.outer(g, g) + same * np.outer(s, s) - target)
        beyond = np.maximum(g**2 + s**2 - MAX_COMMUNALITY, 0)
        by_g, by_s = residual @ g + 2 * beyond * g, (residual * same) @ s + 2 * beyond * s
        return float((residual**2).sum() / 4 + (beyond**2).sum() / 2), np.concatenate(
            [by_g, _pair_shared(np.concatenate([by_g, by_s]), code, size)[1]]
        )

    means = _Means.of(correlation, code)
    start = np.sqrt(np.clip([means.between, means.difference], 0.05, 0.9))
    best = minimize(loss, np.repeat(start, m), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    g, s = _pair_shared(best, code, size)
    g = g if g.sum() >= 0 else -g
    loadings = np.zeros((m, code.max() + 2))
    loadings[:, 0] = g
    loadings[np.arange(m), 1 + code] = s
    return loadings


def _pair_shared(flat: Floats, code: Integers, size: Integers) -> tuple[Floats, Floats]:
    """g and s, where the two of a pair have the mean of their s, and a single respondent 0."""
    g, s = np.split(flat, 2)
    mean = (np.bincount(code, s) / np.bincount(code))[code]
    return g, np.where(size == 1, 0.0, np.where(size == 2, mean, s))


def _agreement(means: Floats) -> Floats:
    own = np.diag(means)
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.where(own > 0, own, np.nan))
        found = means / np.outer(root, root)
    np.fill_diagonal(found, np.where(np.isfinite(root), 1.0, np.nan))
    return found


def _table(correlation: Floats, code: Integers, groups: pd.Index, means: _Means) -> pd.DataFrame:
    first, second = np.triu_indices(len(code), 1)
    values = correlation[first, second]
    same = code[first] == code[second]
    rows: dict[Any, list[float]] = {}
    for number, name in enumerate(groups):
        rows[name] = [int((code == number).sum()), *_summary(values[same & (code[first] == number)])]
    rows["within"] = [len(code), *_summary(values[same])]
    rows["between"] = [len(code), *_summary(values[~same])]
    columns = ["n_respondents", "n_pairs", "mean", "smallest", "largest"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("cluster")
    return table.astype({"n_respondents": int, "n_pairs": int})


def _summary(values: Floats) -> list[float]:
    values = values[np.isfinite(values)]
    if not len(values):
        return [0, float("nan"), float("nan"), float("nan")]
    return [len(values), float(values.mean()), float(values.min()), float(values.max())]

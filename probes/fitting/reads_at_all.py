"""Test whether a label reads at all, beside labels that mean nothing, the probe fitted anew to each.

The interval over topics takes the probes as they are. But the probe that judges one fold was trained on the others, and
the other way round: each pair of questions of different folds enters twice, once with the one as training and once with
the other. Of a label that does not read, the AUROC of five folds therefore varies with about the root of 2 times the
standard deviation that the interval knows of, and the interval leaves out .5 in 12 to 16 of 100 cases
(scripts/simulate.py probes). Shuffling the label within topics and fitting again has no such gap:

    p = (1 + copies whose AUROC is at least the label's) / (1 + copies)

Several wordings of one question are answered alike, and read alike. A label shuffled question by question would not be,
and would read less well than one that means nothing; so groups of wordings change places as wholes, with others of
their size (`TopicFolds.exchangeable`). A group whose size is its topic's only one stays where it is: fewer copies, not
wrong ones.

The copies are read by LDA, which is linear in the label, so that one matrix per fold serves all of them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onedial.stats.arrays import Floats
from onedial.stats.solvers import NO_PENALTY, Training, lda
from probes.fitting.concordance import auroc_by_column
from probes.fitting.folds import TopicFolds

Readers = Sequence[tuple[Floats, Floats]]

N_COPIES = 499


def readers_of(rows: Floats, folds: TopicFolds) -> Readers:
    """Per fold, what turns the values of its training questions into readings: of its own questions, and of theirs.

    Ridge with Ledoit and Wolf's shrinkage is linear in what it is fitted to: one matrix serves however many columns.

    >>> rng = np.random.default_rng(0)
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> len(readers_of(rng.standard_normal((80, 8)), folds))
    5
    """
    readings = []
    for fold in range(folds.n_folds):
        judged = folds.inside(fold)
        training = Training.of(rows[~judged])
        directions = lda(training, np.eye(len(training.rows)), NO_PENALTY)[0]
        readings.append((training.standardised(rows[judged]) @ directions, training.rows @ directions))
    return readings


def held_out(readers: Readers, values: Floats, folds: TopicFolds) -> Floats:
    """(question, column) readings of each column by the probe of the other folds, in its standard deviations there."""
    standardised = np.empty_like(values)
    for fold, (judge, train) in enumerate(readers):
        judged = folds.inside(fold)
        spread = (train @ values[~judged]).std(axis=0)
        standardised[judged] = judge @ values[~judged] / np.where(spread > 0, spread, 1.0)
    return standardised


def copies_within(values: Floats, topic: NDArray[np.intp], group: NDArray[np.intp] | None, n: int, seed: int) -> Floats:
    """(question, copy) the values shuffled within topics; groups change places as wholes, with others of their size."""
    rng = np.random.default_rng(seed)
    copies = np.empty((len(values), n))
    if group is None:
        order = np.argsort(topic, kind="stable")
        copies[order] = values[np.argsort(rng.random((len(values), n)) + topic[:, None], axis=0)]
        return copies
    # A group that lies in several topics counts as one in each.
    _, cell = np.unique(np.stack([topic, group]), axis=1, return_inverse=True)
    size = np.bincount(cell)[cell]
    for kind in np.unique(np.stack([topic, size]), axis=1).T:
        places = np.flatnonzero((topic == kind[0]) & (size == kind[1]))
        members = places[np.argsort(cell[places], kind="stable")].reshape(-1, kind[1])
        drawn = np.argsort(rng.random((len(members), n)), axis=0)
        copies[members.ravel()] = values[members][drawn].transpose(0, 2, 1).reshape(-1, n)
    return copies


def auroc_of_copies(
    readers: Readers, truth: Floats, folds: TopicFolds, n_copies: int = N_COPIES, seed: int = 0
) -> Floats:
    """(copy,) AUROC within folds of a label shuffled within topics, probes fitted anew to each.

    Args:
        readers: of one layer and the same folds, see `readers_of`.
        truth: (question,) 1 / 0 / nan; what is unknown trains and judges no copy.

    >>> rng = np.random.default_rng(0)
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> auroc_of_copies(readers_of(rng.standard_normal((80, 8)), folds), np.arange(80) % 2 * 1.0, folds, 9).shape
    (9,)
    """
    known = np.isfinite(truth)
    copies = np.full((len(truth), n_copies), np.nan)
    copies[known] = copies_within(truth[known], *folds.take(known).exchangeable(), n_copies, seed)
    values = np.where(np.isfinite(copies), copies, np.nanmean(truth))
    return auroc_by_column(held_out(readers, values, folds), copies, folds.fold)


def reads_by_chance(auroc: float, copies: Floats) -> float:
    """One-sided p of an AUROC beside those of copies that mean nothing.

    >>> reads_by_chance(0.7, np.array([0.5, 0.52, 0.48]))
    0.25
    """
    return float((1 + (copies >= auroc - 1e-12).sum()) / (1 + len(copies)))

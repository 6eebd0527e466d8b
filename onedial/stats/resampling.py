"""Bootstrap weights and permutations of the questions, the same for everything that is compared.

bootstrap     every question drawn as often as chance has it, or whole topics
permutation   rows of the panel put to other questions, within topics: questions of a topic are alike, so a
              permutation over all of them would take what a topic has in common for chance
"""

from collections.abc import Iterator

import numpy as np

N_RESAMPLES = 1999
"""Resamples of a bootstrap, and permutations, wherever a verdict hangs on them."""
FEWEST_TOPICS = 10
"""Under which a bootstrap does not draw whole topics."""
_CHUNK = 2_000_000
SMALLEST_STRATUM = 5
"""Topics with fewer questions are permuted together, since there is hardly another order in one of them."""


def resampled_weights(
    n_questions: int, n_resamples: int, seed: int, groups: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Draw how often each resample holds each question, in pieces: resample x question.

    The same seed and number of questions give the same resamples, so that differences are paired.

    Args:
        groups: question -> group, 0 to G - 1; whole groups are drawn, G of them.

    >>> [piece.sum(axis=1).tolist() for piece in resampled_weights(5, 3, seed=0)]
    [[5.0, 5.0, 5.0]]
    """
    rng = np.random.default_rng(seed)
    n_units = n_questions if groups is None else int(groups.max()) + 1
    for size in chunks(n_resamples, n_questions):
        draws = rng.integers(n_units, size=(size, n_units))
        draws += np.arange(size)[:, None] * n_units
        drawn = np.bincount(draws.ravel(), minlength=size * n_units).reshape(size, n_units).astype(np.float32)
        yield drawn if groups is None else drawn[:, groups]


def permuted_rows(
    n_questions: int,
    n_permutations: int,
    rng: np.random.Generator,
    strata: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Draw random permutations of 0..n-1, each place filled from its own stratum: permutation x question.

    Args:
        strata: question -> stratum; None permutes over all.
        groups: question -> group (wordings of one question), which stay together: groups are put in the place of
            groups as large or nearly (pooled by size, smallest first, until there are `SMALLEST_STRATUM`), of the same
            stratum, which is that of a group's first question.

    >>> permuted_rows(4, 2, np.random.default_rng(0), strata=np.array([0, 0, 1, 1])).shape
    (2, 4)
    """
    rows = np.tile(np.arange(n_questions), (n_permutations, 1))
    if groups is not None:
        for places in _interchangeable(groups, np.zeros(n_questions, int) if strata is None else strata):
            group = np.unique(groups[places], return_inverse=True)[1]
            into, given = (_in_random_order(group, n_permutations, rng) for _ in range(2))
            rows[np.arange(n_permutations)[:, None], places[into]] = places[given]
        return rows
    if strata is None:
        return rng.permuted(rows, axis=1)
    for stratum in np.unique(strata):
        places = np.flatnonzero(strata == stratum)
        rows[:, places] = rng.permuted(rows[:, places], axis=1)
    return rows


def groups_among(groups: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Number the groups of these questions (mask or positions) 0 to G - 1; None where there are none.

    >>> groups_among(np.array([4, 4, 7, 9]), np.array([1, 2, 3])).tolist()
    [0, 1, 2]
    """
    return None if groups is None else np.unique(groups[rows], return_inverse=True)[1]


def counted_once(is_true: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Count the groups that hold a True, for each column: wordings of one question count as one.

    Args:
        is_true: question x column, True or False. groups: question -> group; None where each is its own.

    >>> counted_once(np.array([[True, True], [True, False], [False, True]]), np.array([0, 0, 1])).tolist()
    [1, 2]
    """
    if groups is None or not len(groups):
        return np.asarray(is_true.sum(axis=0))
    codes = np.unique(groups, return_inverse=True)[1]
    held = np.zeros((int(codes.max()) + 1, *is_true.shape[1:]), bool)
    np.logical_or.at(held, codes, is_true)
    return np.asarray(held.sum(axis=0))


def _interchangeable(groups: np.ndarray, strata: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the questions of groups that may take each other's place."""
    first = np.unique(groups, return_index=True)[1]
    codes = np.unique(groups, return_inverse=True)[1]
    sizes, stratum = np.bincount(codes), strata[first]
    for label in np.unique(stratum):
        pool: list[int] = []
        left = [np.flatnonzero((stratum == label) & (sizes == size)) for size in np.unique(sizes[stratum == label])]
        while left:
            pool += left.pop(0).tolist()
            if not left or min(len(pool), sum(map(len, left))) >= SMALLEST_STRATUM:
                yield np.flatnonzero(np.isin(codes, pool))
                pool = []


def _in_random_order(groups: np.ndarray, n_permutations: int, rng: np.random.Generator) -> np.ndarray:
    """Draw positions, group after group in random order, and in random order within each: permutation x position."""
    n_groups = int(groups.max()) + 1
    ranks = rng.permuted(np.tile(np.arange(n_groups), (n_permutations, 1)), axis=1)
    return np.argsort(ranks[:, groups] + rng.random((n_permutations, len(groups))), axis=1)


def strata_of(topics: np.ndarray) -> np.ndarray:
    """Number topics as strata, 0 to n - 1; small ones, and questions without a topic, are one stratum.

    >>> strata_of(np.array(["a"] * 5 + ["b", "c"])).tolist()
    [1, 1, 1, 1, 1, 0, 0]
    """
    names = np.array(["" if topic is None or topic != topic else str(topic) for topic in topics], dtype=object)
    distinct, counts = np.unique(names, return_counts=True)
    small = {name for name, count in zip(distinct, counts, strict=True) if not name or count < SMALLEST_STRATUM}
    pooled = np.array(["" if name in small else name for name in names], dtype=object)
    return np.unique(pooled, return_inverse=True)[1]


def chunks(n_rounds: int, n_questions: int) -> list[int]:
    """Split rounds into sizes, each small enough to hold its rounds x questions in memory.

    >>> chunks(1000, 20_000)[:2], sum(chunks(1000, 20_000))
    ([100, 100], 1000)
    """
    size = max(1, _CHUNK // max(1, n_questions))
    return [min(size, n_rounds - start) for start in range(0, n_rounds, size)]

"""Decide which questions train a probe and which judge it: whole topics are held out, so that none is on both sides.

Questions of one topic share words, names and difficulty. A probe that has seen a topic reads the topic off a held-out
question of it, and with it how that topic's questions were answered on average. The same holds for several wordings of
one question: a group of them is never parted, and topics that share a group are held out together.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TopicFolds:
    """Topics dealt out to folds.

    Attributes:
        fold: (question,) which fold judges it. topic: (question,) its topic as a number. names: of the topics.
        n_folds: how many folds there are.
        group: (question,) which questions are wordings of one another, as a number; None where none are. Labels that
            mean nothing are drawn for groups, not for questions (`probes.fitting.reads_at_all`).
    """

    fold: NDArray[np.intp]
    topic: NDArray[np.intp]
    names: tuple[str, ...]
    n_folds: int
    group: NDArray[np.intp] | None = None

    __repr__ = one_line

    @classmethod
    def of(
        cls,
        topics: Sequence[str | None],
        n_folds: int = N_FOLDS,
        seed: int = 0,
        groups: Sequence[Hashable] | None = None,
    ) -> "TopicFolds":
        """Deal topics out so that folds hold about equally many questions; the seed deals topics of one size anew.

        A question without a topic counts as a topic of its own.

        Args:
            groups: which question each is a wording of, by any name; None for one that is like no other.

        Raises:
            InputError: fewer topics than folds, or fewer than three folds (one to judge, one to choose by, one to
                train on); groups of another number.

        >>> folds = TopicFolds.of(["sea", "sea", "sky", "art"], n_folds=3, groups=[1, 1, None, None])
        >>> folds.group.tolist()
        [0, 0, 1, 2]
        """
        if groups is not None and len(groups) != len(topics):
            raise InputError(f"{len(groups)} groups for {len(topics)} questions; give one for each, or None")
        given = [topic if topic is not None else f"question {place}" for place, topic in enumerate(topics)]
        if n_missing := sum(topic is None for topic in topics):
            notice(f"{n_missing} of {len(given)} questions have no topic; each counts as one of its own")
        group = None if groups is None else group_numbers(groups)
        names = tuple(dict.fromkeys(given))
        if n_folds < 3 or len(names) < n_folds:
            raise InputError(
                f"{len(names)} topics for {n_folds} folds; give at least three folds, and no fewer topics than folds"
            )
        code = {name: number for number, name in enumerate(names)}
        topic = np.array([code[name] for name in given], dtype=np.intp)
        together = topic if group is None else _joined(topic, group)[topic]
        sizes = np.bincount(together)
        if len(sizes) < n_folds:
            raise InputError(
                f"{len(sizes)} sets of topics that share no group for {n_folds} folds; a group of wordings lies in one "
                "topic as a rule: check the groups, or ask for fewer folds"
            )
        drawn = np.random.default_rng(seed).permutation(len(sizes))
        load, place = np.zeros(n_folds), np.zeros(len(sizes), dtype=np.intp)
        for number in drawn[np.argsort(-sizes[drawn], kind="stable")]:
            place[number] = int(load.argmin())
            load[place[number]] += sizes[number]
        return cls(place[together], topic, names, n_folds, group)

    def __len__(self) -> int:
        return len(self.fold)

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return len(self.names)

    def exchangeable(self) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """Labels that mean nothing change places within the first, and the second stay together: topics, and groups.

        Where topics hold fewer than two questions on average, they stay together within folds instead.
        """
        if len(self) >= 2 * len(np.unique(self.topic)):
            return self.topic, self.group
        return self.fold, self.topic if self.group is None else _joined(self.topic, self.group)[self.topic]

    def inside(self, *folds: int) -> NDArray[np.bool_]:
        """(question,) whether it lies in one of these folds."""
        return np.isin(self.fold, folds)

    def take(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> "TopicFolds":
        """The same folds for some of the questions."""
        group = None if self.group is None else self.group[keep]
        return TopicFolds(self.fold[keep], self.topic[keep], self.names, self.n_folds, group)


def group_numbers(groups: Sequence[Hashable]) -> NDArray[np.intp]:
    """(question,) a number for each group, and one of its own for each question that is in none."""
    code: dict[Hashable, int] = {}
    return np.array(
        [code.setdefault(("alone", place) if group is None else group, len(code)) for place, group in enumerate(groups)]
    )


def _joined(topic: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """(topic,) topics that share a group have one number."""
    pairs = coo_array(
        (np.ones(len(topic)), (topic, topic.max() + 1 + group)), shape=(topic.max() + group.max() + 2,) * 2
    )
    return np.unique(connected_components(pairs, directed=False)[1][: topic.max() + 1], return_inverse=True)[1]

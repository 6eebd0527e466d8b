"""Which questions train a probe and which judge it: whole topics are held out, so that no topic is on both sides.

Questions of one topic share words, names and difficulty. A probe that has seen a topic reads the topic off a held-out
question of it, and with it how that topic's questions were answered on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onedial.core import InputError, notice, one_line

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TopicFolds:
    """Topics dealt out to folds.

    Attributes:
        fold: (question,) which fold judges it. topic: (question,) its topic as a number. names: of the topics.
        n_folds: how many folds there are.
    """

    fold: NDArray[np.intp]
    topic: NDArray[np.intp]
    names: tuple[str, ...]
    n_folds: int

    __repr__ = one_line

    @classmethod
    def of(cls, topics: Sequence[str | None], n_folds: int = N_FOLDS, seed: int = 0) -> "TopicFolds":
        """Deal topics out so that folds hold about equally many questions; the seed deals topics of one size anew.

        A question without a topic counts as a topic of its own.

        Raises:
            InputError: fewer topics than folds, or fewer than three folds (one to judge, one to choose by, one to
                train on).
        """
        given = [topic if topic is not None else f"question {place}" for place, topic in enumerate(topics)]
        if n_missing := sum(topic is None for topic in topics):
            notice(f"{n_missing} of {len(given)} questions have no topic; each counts as one of its own")
        names = tuple(dict.fromkeys(given))
        if n_folds < 3 or len(names) < n_folds:
            raise InputError(
                f"{len(names)} topics for {n_folds} folds; give at least three folds, and no fewer topics than folds"
            )
        code = {name: number for number, name in enumerate(names)}
        topic = np.array([code[name] for name in given], dtype=np.intp)
        sizes = np.bincount(topic)
        drawn = np.random.default_rng(seed).permutation(len(names))
        load, place = np.zeros(n_folds), np.zeros(len(names), dtype=np.intp)
        for number in drawn[np.argsort(-sizes[drawn], kind="stable")]:
            place[number] = int(load.argmin())
            load[place[number]] += sizes[number]
        return cls(place[topic], topic, names, n_folds)

    def __len__(self) -> int:
        return len(self.fold)

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return len(self.names)

    def inside(self, *folds: int) -> NDArray[np.bool_]:
        """(question,) whether it lies in one of these folds."""
        return np.isin(self.fold, folds)

    def take(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> "TopicFolds":
        """The same folds for some of the questions."""
        return TopicFolds(self.fold[keep], self.topic[keep], self.names, self.n_folds)

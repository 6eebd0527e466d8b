"""Several answers of one respondent to one question: how far they agree, by their labels or by what they mean.

Answers are compared as labels: normalise texts first (`normalised_text`), or give options. What could
not be read is None, and counts in `n_unread` alone.

By what they mean, samples are put into clusters by pairwise judgements (of a model of natural language inference, or of
a judge), in the order in which they were drawn: a sample joins the first cluster whose first member it means the same
as, else it opens one (Kuhn et al., arXiv 2302.09664, algorithm 1). Judgements that are transitive give the same
clusters in any order; how many are not is counted (`intransitive`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from onedial.core.errors import InputError


@dataclass(frozen=True)
class Agreement:
    """Attributes:
    answer: the most frequent one (the first of those that tie). agreement: its share. entropy: in nats.
    beyond_chance: agreement less how often the other questions' answers are this one; 0 = it says this anyway.
    n, n_unread: samples.
    """

    answer: Hashable
    agreement: float
    entropy: float
    beyond_chance: float
    n: int
    n_unread: int


def sample_agreement(samples: Sequence[Hashable | None], habit: dict[Hashable, float] | None = None) -> Agreement:
    """What the samples of one question say together.

    Formula: agreement = max_a n_a / N; entropy = -sum (n_a / N) log (n_a / N) (arXiv 2306.13063); beyond chance =
        agreement - habit(answer).

    Args:
        samples: of one question; None could not be read. habit: share of each answer among
            those to the other questions (`habits`); an answer that it does not hold has 0.

    Returns:
        Agreement; nan where nothing was read. Sign: higher agreement = surer, higher entropy = less sure.

    >>> round(sample_agreement(["Paris", "Paris", "Rome", None]).agreement, 2)
    0.67
    """
    read = [each for each in samples if each is not None]
    if not read:
        nothing = float("nan")
        return Agreement(None, nothing, nothing, nothing, 0, len(samples))
    counts = Counter(read)
    answer, most = counts.most_common(1)[0]
    shares = np.array(list(counts.values())) / len(read)
    share = most / len(read)
    return Agreement(
        answer,
        share,
        float(-(shares * np.log(shares)).sum()) + 0.0,
        share - (habit or {}).get(answer, 0.0),
        len(read),
        len(samples) - len(read),
    )


def habits(samples: Sequence[Sequence[Hashable | None]]) -> list[dict[Hashable, float]]:
    """How often each answer is given to the other questions: what a habitual answer owes to habit.

    Formula: for each question, the share of each answer among all samples of the others.

    Args:
        samples: (question, sample).

    Returns:
        one dictionary per question. Sign: none.

    >>> habits([["Paris", "Paris"], ["Paris", "Rome"]])[1]
    {'Paris': 1.0, 'Rome': 0.0}
    """
    counts_by_question = [Counter(each for each in answers if each is not None) for answers in samples]
    total: Counter[Hashable] = Counter()
    for counts in counts_by_question:
        total.update(counts)
    n = sum(total.values())
    return [
        {answer: (total[answer] - counts[answer]) / (n - sum(counts.values())) for answer in counts}
        if n > sum(counts.values())
        else {}
        for counts in counts_by_question
    ]


# ---- by meaning ------------------------------------------------------------------------------------------------------

Same = Callable[[int, int], bool]
"""Of the places of two samples, the earlier first: whether they mean the same."""


@dataclass(frozen=True)
class MeaningAgreement:
    """What the samples of one question say together; nan where none was read.

    Attributes:
        semantic_entropy: weighted by the samples' probabilities, in nats; nan where these are not known.
        discrete_semantic_entropy: of the samples' numbers alone, in nats.
        largest: share of samples in the largest cluster. n_meanings: number of clusters. n: samples.
    """

    semantic_entropy: float
    discrete_semantic_entropy: float
    largest: float
    n_meanings: int
    n: int


def meaning_clusters(n: int, same: Same) -> list[int]:
    """The cluster of each of n samples, numbered from 0 in the order of their first members.

    >>> answers = ["Paris", "It is Paris", "Rome"]
    >>> meaning_clusters(3, lambda one, other: answers[one][-5:] == answers[other][-5:])
    [0, 0, 1]
    """
    firsts: list[int] = []
    clusters = []
    for place in range(n):
        cluster = next((number for number, first in enumerate(firsts) if same(first, place)), len(firsts))
        if cluster == len(firsts):
            firsts.append(place)
        clusters.append(cluster)
    return clusters


def intransitive(n: int, same: Same) -> tuple[int, int]:
    """Of all triples of samples of which two pairs mean the same, how many have a third that does not; and how many.

    >>> intransitive(3, lambda one, other: other - one == 1)
    (1, 1)
    """
    pairs = {pair for pair in combinations(range(n), 2) if same(*pair)}
    alike = [sum(pair in pairs for pair in combinations(triple, 2)) for triple in combinations(range(n), 3)]
    return sum(each == 2 for each in alike), sum(each >= 2 for each in alike)


def meaning_agreement(clusters: Sequence[int], log_p: ArrayLike | None = None) -> MeaningAgreement:
    """Semantic entropy of the samples of one question.

    Formula: with P(c) the sum of p over the samples in cluster c, divided by that over all samples, semantic entropy =
        -sum_c P(c) log P(c); p = exp(mean log-probability of the sample's tokens), and 1 for the discrete one
        (Farquhar et al., Nature 2024). largest = max_c n_c / n.

    Args:
        clusters: of each sample (`meaning_clusters`). log_p: (sample,) mean log-probability of its tokens, in nats.

    Returns:
        MeaningAgreement. Sign: higher entropy = less sure, a larger largest cluster = surer.

    Raises:
        InputError: another number of log-probabilities than of samples.

    >>> round(meaning_agreement([0, 0, 1, 1]).discrete_semantic_entropy, 3)
    0.693
    """
    labels = np.asarray(clusters, dtype=int)
    if not len(labels):
        nothing = float("nan")
        return MeaningAgreement(nothing, nothing, nothing, 0, 0)
    weighted = float("nan")
    if log_p is not None:
        logs = np.asarray(log_p, dtype=float)
        if logs.shape != labels.shape:
            raise InputError(f"{logs.size} log-probabilities for {labels.size} samples; give one for each")
        weighted = _entropy(labels, logs)
    shares = np.bincount(labels) / len(labels)
    return MeaningAgreement(
        weighted, _entropy(labels, np.zeros(len(labels))), float(shares.max()), len(shares), len(labels)
    )


def _entropy(labels: np.ndarray, logs: np.ndarray) -> float:
    of_each = np.array([logsumexp(logs[labels == number]) for number in range(labels.max() + 1)])
    shares = of_each - logsumexp(of_each)
    return float(-(np.exp(shares) * shares).sum()) + 0.0

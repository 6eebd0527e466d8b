"""Make labels that mean nothing, to see what a probe reads of its own accord.

shuffled   the label shuffled within each topic: what remains readable is how a topic's questions fare on average
control    a coin for each opening word ("which", "who", ...): a property of the words that nobody cares about, and
           that stands on both sides of every fold (Hewitt and Liang, 2019, EMNLP, 2733-2743). How well it reads says
           how much of any number may be the words
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onedial.stats.arrays import Floats
from probes.fitting.reads_at_all import copies_within

_SMALLER_SIDE = 0.2


def shuffled_within(truth: Floats, topic: NDArray[np.intp], seed: int, group: NDArray[np.intp] | None = None) -> Floats:
    """Each column of (question, label) shuffled within topics; what is unknown stays unknown, and rates are kept.

    Groups of wordings change places as wholes (`probes.fitting.reads_at_all`).

    >>> truth, topic = np.array([[1.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    >>> shuffled_within(truth, topic, seed=0)[2:].ravel().tolist()
    [1.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    shuffled = truth.copy()
    if group is not None:
        for column, values in enumerate(truth.T):
            known = np.isfinite(values)
            copies = copies_within(values[known], topic[known], group[known], 1, int(rng.integers(2**31)))
            shuffled[known, column] = copies[:, 0]
        return shuffled
    for number in np.unique(topic):
        for column in range(truth.shape[1]):
            places = np.flatnonzero((topic == number) & np.isfinite(truth[:, column]))
            shuffled[places, column] = truth[rng.permutation(places), column]
    return shuffled


def control_labels(texts: Sequence[str], n: int, seed: int = 0) -> Floats:
    """(question, n) labels, each a coin for every opening word; draws with under a fifth on one side are drawn anew.

    Where the questions begin so much alike that no such draw turns up, fewer columns come back, at worst none.

    >>> control_labels(["Who wrote Emma?", "Who was she?", "What is it?", "Where is it?", "When was it?"], 3).shape
    (5, 3)
    """
    openings = [next(iter(text.lower().split()), "") for text in texts]
    kinds, kind = np.unique(openings, return_inverse=True)
    rng = np.random.default_rng(seed)
    labels: list[Floats] = []
    for _ in range(200 * n):
        if len(labels) == n:
            break
        label = (rng.random(len(kinds)) < 0.5)[kind].astype(float)
        if _SMALLER_SIDE <= label.mean() <= 1 - _SMALLER_SIDE:
            labels.append(label)
    return np.stack(labels, axis=1) if labels else np.zeros((len(texts), 0))

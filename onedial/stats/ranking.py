"""How well an order of the questions puts a target's yes above its no.

    A_t(r) = P(r_i > r_j | target t says yes to i and no to j) + P(r_i = r_j | ...) / 2

This is the area under the ROC curve (`onedial.stats.roc_area`); .5 is an order that knows nothing of the target. It
needs no cut, so nothing is chosen, and fitting and test questions both count.
"""

import numpy as np

from onedial.stats.resampling import resampled_weights
from onedial.stats.roc import roc_area


def auc(scores: np.ndarray, given: np.ndarray) -> np.ndarray:
    """A_t of one order for each target: (target,); nan where a target gives one kind of answer only.

    Args:
        scores: question, nan where there is none. given: question x target (1, 0, nan).

    >>> auc(np.array([1.0, 2.0, 3.0]), np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])).tolist()
    [1.0, nan]
    """
    return _auc(scores, given, np.ones((1, len(scores)), np.float32))[0]


def auc_resampled(
    scores: np.ndarray, given: np.ndarray, n_resamples: int, seed: int, groups: np.ndarray | None = None
) -> np.ndarray:
    """A_t in bootstrap resamples of the questions, resample x target; the same seed gives the same resamples.

    Args:
        groups: question -> group, where whole groups (topics) are drawn.

    >>> auc_resampled(np.arange(6.0), np.array([[0.0, 0, 0, 1, 1, 1]]).T, 100, seed=0).shape
    (100, 1)
    """
    parts = [_auc(scores, given, weights) for weights in resampled_weights(len(scores), n_resamples, seed, groups)]
    return np.concatenate(parts)


def _auc(scores: np.ndarray, given: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights: resample x question."""
    return np.stack([roc_area(scores, column, weights) for column in given.T], axis=-1)

"""How often the higher score goes with the positive case: the area under the ROC curve.

How well an order of the questions puts a target's yes above its no.

    A_t(r) = P(r_i > r_j | target t says yes to i and no to j) + P(r_i = r_j | ...) / 2

This is the area under the ROC curve (`roc_area`); .5 is an order that knows nothing of the target. It
needs no cut, so nothing is chosen, and fitting and test questions both count.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from onedial.stats.arrays import Floats, unmasked
from onedial.stats.level import Z_95
from onedial.stats.resampling import resampled_weights


def auc(scores: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Compute A_t of one order for each target: (target,); nan where a target gives one kind of answer only.

    Args:
        scores: question, nan where there is none. given: question x target (1, 0, nan).

    >>> auc(np.array([1.0, 2.0, 3.0]), np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])).tolist()
    [1.0, nan]
    """
    return np.array([float(roc_area(scores, column)) for column in given.T])


def auc_resampled(
    scores: np.ndarray, given: np.ndarray, n_resamples: int, seed: int, groups: np.ndarray | None = None
) -> np.ndarray:
    """Compute A_t in bootstrap resamples of the questions, resample x target; one seed gives the same resamples.

    Args:
        groups: question -> group, where whole groups (topics) are drawn.

    >>> auc_resampled(np.arange(6.0), np.array([[0.0, 0, 0, 1, 1, 1]]).T, 100, seed=0).shape
    (100, 1)
    """
    pieces = resampled_weights(len(scores), n_resamples, seed, groups)
    return np.concatenate([np.stack([roc_area(scores, one, piece) for one in given.T], axis=-1) for piece in pieces])


def roc_area(scores: ArrayLike, positive: ArrayLike, weights: Floats | None = None) -> Floats:
    """Compute P(score of a positive case > score of a negative one), ties one half.

    Formula: (sum over pairs of a positive and a negative case of w_p w_n ([s_p > s_n] + [s_p = s_n] / 2)) / (sum of w_p
    times sum of w_n) (Hanley and McNeil, 1982, Radiology 143, 29-36).

    Args:
        scores: (case,), any numbers. positive: (case,) 1 / 0. Cases with nan in either are left out.
        weights: (..., case), such as how often each case was drawn into each of many resamples; None = 1 each.

    Returns:
        (...), a scalar array without weights. Sign: 0.5 = the scores know nothing, 1 = every positive case above every
        negative one; nan where either kind is missing.

    R: `pROC::auc(positive, scores, direction = "<")`. Python: `sklearn.metrics.roc_auc_score(positive, scores)`.

    >>> float(roc_area([0.2, 0.9, 0.6, 0.6], [0, 1, 1, 0]))
    0.875
    """
    score, kind = (unmasked(values).astype(float) for values in (scores, positive))
    weight = np.ones(len(score)) if weights is None else weights
    known = np.flatnonzero(~np.isnan(score))
    order = known[np.argsort(score[known], kind="stable")]
    score, kind, ordered = score[order], kind[order], weight[..., order]
    hits, misses = ordered * (kind == 1), ordered * (kind == 0)
    starts = np.flatnonzero(np.r_[True, score[1:] > score[:-1]])
    if len(starts) < len(order):
        hits, misses = (np.add.reduceat(part, starts, axis=-1) for part in (hits, misses))
    below = np.cumsum(misses, axis=-1) - misses / 2
    pairs = hits.sum(axis=-1, dtype=float) * misses.sum(axis=-1, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((hits * below).sum(axis=-1, dtype=float) / pairs)


def roc_area_interval(area: float, n_positive: int, n_negative: int) -> tuple[float, float]:
    """Compute the 95% interval of an area under the ROC curve, from the area and the two counts alone.

    Formula: all t with |area - t| <= z s(t), s(t)^2 = t (1 - t) (1 + k (1 - t) / (2 - t) + k t / (1 + t)) / (n_p n_n),
    k = (n_p + n_n) / 2 - 1, z the normal quantile (Newcombe, 2006, Statistics in Medicine 25, 559-573, method 5). Cases
    are independent. Where positive and negative cases do not overlap, a bootstrap gives [1, 1]; this one does not.

    Args:
        area: between 0 and 1. n_positive, n_negative: cases of either kind, at least one each.

    Returns:
        (low, high), between 0 and 1; nan where the area is. Sign: as `roc_area`.

    R: `auRoc::auc.nonpara.mw(x, y, conf.level, method = "newcombe")`.

    >>> [round(end, 2) for end in roc_area_interval(0.8, 30, 30)]
    [0.66, 0.89]
    """
    if math.isnan(area):
        return area, area
    z, k = Z_95, (n_positive + n_negative) / 2 - 1

    def beyond(t: float) -> float:
        spread = t * (1 - t) * (1 + k * (1 - t) / (2 - t) + k * t / (1 + t)) / (n_positive * n_negative)
        return (area - t) ** 2 - z**2 * spread

    # from 0 (or 1) inwards the squared distance falls below the squared width once; at the end itself both may be 0
    low = 0.0 if area == 0 else float(brentq(beyond, 0, area * (1 - 1e-9) if area == 1 else area))
    high = 1.0 if area == 1 else float(brentq(beyond, max(area, 1e-9), 1))
    return low, high

"""How often the higher score goes with the positive case: the area under the ROC curve."""

import numpy as np
from numpy.typing import ArrayLike

from psychometrics.arrays import Floats, unmasked


def roc_area(scores: ArrayLike, positive: ArrayLike, weights: Floats | None = None) -> Floats:
    """P(score of a positive case > score of a negative one), ties one half.

    Formula: (sum over pairs of a positive and a negative case of w_p w_n ([s_p > s_n] + [s_p = s_n] / 2)) / (sum of w_p
    times sum of w_n) (Hanley and McNeil, 1982, Radiology 143, 29-36).

    Args:
        scores: (case,), any numbers. positive: (case,) 1 / 0. Cases with nan in either are left out.
        weights: (..., case), such as how often each case was drawn into each of many resamples; None = 1 each.

    Returns:
        (...), a scalar array without weights. Sign: 0.5 = the scores know nothing, 1 = every positive case above every
        negative one; nan where either kind is missing.

    R: `pROC::auc(positive, scores, direction = "<")`. Python: `sklearn.metrics.roc_auc_score(positive, scores)`.
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

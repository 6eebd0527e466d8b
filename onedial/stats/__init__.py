"""Arrays in, numbers out: answers, resampling, permutation, p values, ROC curves, agreement."""

from onedial.stats.resampling import resampled_weights

__all__ = [
    "resampled_weights",
]

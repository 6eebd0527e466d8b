"""One way to ask for a number: of the questions as they are, or of each of many resamples of them."""

import numpy as np

from onedial.stats.agreement import Counts, count, count_resampled
from onedial.stats.roc import auc, auc_resampled

Drawn = tuple[int, int, np.ndarray | None]
"""How questions are drawn: how often, the seed, and what is drawn together."""


def counts(answers: np.ndarray, given: np.ndarray, drawn: Drawn | None = None) -> Counts:
    """Count two question x target arrays: (target,), of drawn questions (resample, target)."""
    return count(answers, given) if drawn is None else count_resampled(answers, given, *drawn)


def areas(scores: np.ndarray, given: np.ndarray, drawn: Drawn | None = None) -> np.ndarray:
    """Measure how well an order of the questions puts each target's yes above its no: as `counts`."""
    return auc(scores, given) if drawn is None else auc_resampled(scores, given, *drawn)

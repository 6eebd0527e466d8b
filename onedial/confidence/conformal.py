"""Answering with a guarantee: thresholds and sets of options that hold on new questions.

Everything rests on calibration questions that are exchangeable with those that come later; questions of other topics
are not.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Booleans

FEWEST, N_THRESHOLDS = 10, 20


@dataclass(frozen=True)
class AnsweringThreshold:
    """Attributes:
    threshold: answer where the confidence reaches it; nan where no threshold keeps the promise.
    accuracy, confidence: what is promised: at least this accuracy of the answers given, with this confidence over draws
        of the calibration questions.
    coverage, observed: share of the calibration questions answered, and how many of those are right.
    n: calibration questions.
    """

    threshold: float
    accuracy: float
    confidence: float
    coverage: float
    observed: float
    n: int


def answering_threshold(
    confidence: ArrayLike, correct: ArrayLike, accuracy: float = 0.8, promised: float = 0.9
) -> AnsweringThreshold:
    """From which confidence on may a respondent answer, so that its answers are right often enough?

    Formula: Learn then Test (Angelopoulos and others, arXiv 2110.01052): of 20 thresholds, at quantiles of the observed
    confidence, those hold whose answers would be so often right with a probability of (1 - promised) / 20 at most if
    their accuracy were just `accuracy` (binomial tail, Bonferroni); of these the one that answers most.

    Args:
        confidence: (question,), any numbers. correct: (question,) 1 / 0; questions with nan in either are left out.
        accuracy: wanted of the answers that are given. promised: with which confidence.

    Returns:
        AnsweringThreshold; its threshold is on the scale of `confidence`. Sign: higher = answers more rarely.

    Raises:
        InputError: fewer than ten questions, or a promise outside 0 and 1.

    >>> rng = np.random.default_rng(0)
    >>> sure = rng.random(500)
    >>> found = answering_threshold(sure, rng.random(500) < sure, accuracy=0.8)
    >>> 0.3 < found.threshold < 0.9
    True
    """
    sure, right = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    known = np.isfinite(sure) & np.isfinite(right)
    sure, right, n = sure[known], right[known], int(known.sum())
    if n < FEWEST:
        raise InputError(f"{n} graded answers with a confidence; give {FEWEST} or more")
    if not (0 < accuracy < 1 and 0 < promised < 1):
        raise InputError(f"accuracy {accuracy:g} promised with {promised:g}; give both between 0 and 1")
    for threshold in np.unique(np.quantile(sure, np.linspace(0, 0.95, N_THRESHOLDS), method="lower")):
        given = right[sure >= threshold]
        if binom.sf(given.sum() - 1, len(given), accuracy) <= (1 - promised) / N_THRESHOLDS:
            share = len(given) / n
            return AnsweringThreshold(float(threshold), accuracy, promised, share, float(given.mean()), n)
    return AnsweringThreshold(float("nan"), accuracy, promised, 0.0, float("nan"), n)


@dataclass(frozen=True)
class OptionSets:
    """Attributes:
    sets: (question, option) True for the options that cannot be ruled out.
    coverage: share of the questions whose right option is in its set. promised: how many should be, at least.
    size: mean number of options in a set. alone: share of sets of one option: where the choice may be given.
    n, n_calibration.
    """

    sets: Booleans
    coverage: float
    promised: float
    size: float
    alone: float
    n: int
    n_calibration: int

    __repr__ = one_line


def option_sets(
    calibration: ArrayLike,
    calibration_right: ArrayLike,
    probabilities: ArrayLike,
    right: ArrayLike,
    promised: float = 0.8,
) -> OptionSets:
    """Sets of options that hold the right one as often as promised.

    Formula: split conformal sets (Sadinle, Lei and Wasserman, 2019): options whose probability is at least 1 - q, q the
    ceil((n + 1) promised)-th smallest of 1 - p(right option) on the n calibration questions.

    Args:
        calibration, probabilities: (question, option), rows adding up to 1. calibration_right, right: (question,) place
            of the right option. promised: the share of sets that hold it.

    Returns:
        OptionSets. Sign: smaller sets = more is known.

    Raises:
        InputError: fewer than ten calibration questions, or rows that are no probabilities.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.5] * 4, 200)
    >>> right = [rng.choice(4, p=row) for row in p]
    >>> option_sets(p[:100], right[:100], p[100:], right[100:]).coverage > 0.7
    True
    """
    first, second = (np.asarray(rows, dtype=float) for rows in (calibration, probabilities))
    known, truth = (np.asarray(places, dtype=int) for places in (calibration_right, right))
    for rows in (first, second):
        if rows.ndim != 2 or not np.allclose(rows.sum(axis=1), 1, atol=1e-3):
            raise InputError("the options' probabilities do not add up to 1; normalise each question's")
    n = len(first)
    if n < FEWEST:
        raise InputError(f"{n} calibration questions; give {FEWEST} or more")
    surprise = np.sort(1 - first[np.arange(n), known])
    rank = int(np.ceil((n + 1) * promised))
    sets = second >= 1 - surprise[rank - 1] - 1e-12 if rank <= n else np.ones(second.shape, dtype=bool)
    sizes = sets.sum(axis=1)
    holds = float(sets[np.arange(len(truth)), truth].mean())
    return OptionSets(sets, holds, promised, float(sizes.mean()), float((sizes == 1).mean()), len(second), n)

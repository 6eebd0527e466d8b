"""What a second asking predicts: mark 1 where a panel holds every target's answers to a question more than once.

With k yes among the n samples of an answer that were read, each sample is an answer to be predicted from the share of
yes among the n - 1 others (Lord and Novick, 1968, Statistical Theories of Mental Test Scores: the test-retest
correlation bounds what anything can predict), placed and scored as every source is. All sources are then scored on
single samples,

    loss = -(k / n) log2 p - (1 - k / n) log2 (1 - p)

and not on what more than half of them say, which is easier to predict and would be held to too low a mark.
"""

import numpy as np

from onedial.stats.arrays import Booleans, Floats
from onedial.verdict.case import Case
from onedial.verdict.prediction.losses import Losses, mean_of_answers

RETEST = "test-retest"
MOST = 5
"""Samples of an answer that are left out in turn; of more, that many drawn ones."""


def shares_of_samples(case: Case) -> Floats | None:
    """Compute question x judged target: the share of yes among two read samples or more, else nan.

    Returns:
        None unless every judged target has them for half of the questions that it answered, or more.
    """
    if case.samples is None:
        return None
    yes, read = (counts[:, case.judged] for counts in case.samples)
    repeated = read >= 2
    if (2 * repeated.sum(axis=0) < (read > 0).sum(axis=0)).any() or not repeated.any(axis=0).all():
        return None
    return np.where(repeated, yes / np.maximum(read, 1), np.nan)


def retest_gains(case: Case) -> Floats:
    """Compute test question x judged target: bits of a sample by its others beyond the yes rate alone, on average."""
    assert case.samples is not None
    yes, read = (counts[:, case.judged] for counts in case.samples)
    rng, n = np.random.default_rng(case.seed), int(read.max())
    drawn = np.where(np.arange(n)[:, None, None] < read, rng.random((n, *read.shape)), np.inf)
    # Which of the samples are the yeses is not known, nor needed.
    one_sample = drawn.argsort(axis=0).argsort(axis=0) < yes
    gains = [_gains_of(case, one_sample[left], yes, read, read >= max(2, left + 1)) for left in range(min(n, MOST))]
    return mean_of_answers(np.stack(gains))


def _gains_of(case: Case, one_sample: Booleans, yes: Floats, read: Floats, known: Booleans) -> Floats:
    losses = Losses(case, np.where(known, one_sample, np.nan))
    others = np.where(known, (yes - one_sample) / np.maximum(read - 1, 1), np.nan)
    return losses.of(*losses.order(np.full(known.shape, np.nan))) - losses.of(*losses.order(others))

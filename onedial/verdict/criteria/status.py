"""Whether a target's match can be used, and for what.

    few           under 50 answers to judge by on the test split, under 10 of a kind there, or under 10 to fit on
                  (questions; wordings of one count once)
    constant      the target says yes to everything, or no to everything
    flat          over the whole range the subject's yes rate varies by under .10: the dial was hardly turned
    not monotone  the subject's yes rate falls somewhere as the magnitude rises
    edge          the best magnitude lies at an end of the range, so that it is only a bound
    ok            none of these

The verdict takes every target in `JUDGED`. It must not leave out `edge`: the best a subject can do for a target to
which it bears no relation is to give the majority answer, which it does at an end of the range. Whoever drops these
targets keeps those that happened to agree, and judges the claim by them. So what decides whether a target is judged is
how often each side says yes and how much was read, never whether they agree.

**Falling.** Every question is asked at every magnitude, so two magnitudes are compared question by question: d went
from yes to no, u from no to yes, and a fall of (d - u) has the standard error sqrt(d + u). One such comparison at 2
standard errors errs once in 44. A grid of 41 magnitudes offers 820, and a rate that only wanders about a plateau
passes 2 standard errors somewhere in 8 of 10 simulated sweeps. So the chance of 1 in 44 is shared out over all pairs
(Bonferroni), with the exact binomial tail in place of the normal one: about 4 standard errors for 41 magnitudes.
"""

import numpy as np
from scipy import stats

from onedial.stats.agreement import MIN_OF_A_KIND
from onedial.stats.resampling import counted_once
from onedial.stats.shares import rates

OK, EDGE, FLAT, NOT_MONOTONE, CONSTANT, FEW = "ok", "edge", "flat", "not monotone", "constant", "few"
JUDGED = (OK, EDGE, NOT_MONOTONE)
"""Statuses whose targets enter the verdict's numbers."""

MIN_TEST, MIN_FITTING = 50, 10
MIN_RANGE = 0.10
_ONE_SIDED_TWO_SE = float(stats.norm.sf(2))


def target_status(
    answers: np.ndarray,
    given: np.ndarray,
    test: np.ndarray,
    n_fitting: int,
    at_edge: bool,
    groups: np.ndarray | None = None,
) -> str:
    """Find the status of one target that says both yes and no, the first of: few, flat, not monotone, edge.

    Args:
        answers: the subject's on the fitting split at the magnitudes that stand for choice, question x magnitude.
        given: the target's on the fitting split. test: those of its test answers that are judged (1 and 0 only).
        n_fitting: fitting answers that the choice rests on.
        at_edge: the best interval reaches an end of the range.
        groups: of those test answers, what the question is a wording of; None where each is its own.
    """
    n_test, n_yes, n_no = counted_once(np.stack([test >= 0, test == 1, test == 0], axis=1), groups)
    if n_test < MIN_TEST or min(n_yes, n_no) < MIN_OF_A_KIND or n_fitting < MIN_FITTING:
        return FEW
    answered = answers[~np.isnan(given)]
    if yes_rate_range(answered) < MIN_RANGE:
        return FLAT
    if falls(answered):
        return NOT_MONOTONE
    return EDGE if at_edge else OK


def yes_rate_range(answers: np.ndarray) -> float:
    """Subtract the smallest from the largest yes rate over the magnitudes (question x magnitude, 1, 0, nan)."""
    return float(np.ptp(rates(answers)[0]))


def falls(answers: np.ndarray) -> bool:
    """Whether the yes rate falls from some magnitude to a later one by more than chance allows; see above.

    Args:
        answers: question x magnitude in ascending order (1, 0, nan).
    """
    yes, no = (answers == 1).astype(np.float32), (answers == 0).astype(np.float32)
    to_no = (yes.T @ no)[np.triu_indices(answers.shape[1], k=1)]
    to_yes = (no.T @ yes)[np.triu_indices(answers.shape[1], k=1)]
    if not len(to_no):
        return False
    p = stats.binom.sf(to_no - 1, to_no + to_yes, 0.5)
    return bool(p.min() < _ONE_SIDED_TWO_SE / len(p))

"""What is chosen for a target: magnitudes and threshold shift on the fitting split, its majority answer with hindsight.

    best magnitude          argmax over m of  mean [subject at m = target]
    rate-matched magnitude  argmin over m of  |yes rate of the subject at m - yes rate of the target|
    threshold shift               argmax over c of  mean [(unsteered margin > c) = target]
    majority answer         yes if the target says yes at least as often as no

Each mean is over the questions that the target answered and where the subject was read. The majority answer alone is
chosen on the test questions that it is compared on: chosen beforehand, it can be the rarer one of a target near one
half, and then a subject that says one thing to everything may beat it. Chosen with hindsight, no constant does.

Several magnitudes, or all cuts between two neighbouring margins, are often equally good: the choice is then the middle
of the longest interval of equals, of several such the one nearest 0. Only magnitudes at which the subject is read on
most questions stand for choice; otherwise the best one could be one where three answers are left.
"""

import numpy as np

MAX_UNREAD = 0.2
"""A magnitude with a larger share of unread answers on the fitting split is not chosen (0 always stands for choice)."""

_SAME = 1e-9


def answers_of(margins: np.ndarray) -> np.ndarray:
    """Answer 1.0 (yes) where the margin is above 0, else 0.0; nan where it is."""
    return np.where(np.isnan(margins), np.nan, (margins > 0).astype(float))


def readable_magnitudes(answers: np.ndarray, unsteered: int) -> np.ndarray:
    """Mask (magnitude) those that may be chosen, from the subject's answers on the fitting split."""
    readable = np.isnan(answers).mean(axis=0) <= MAX_UNREAD
    readable[unsteered] = True
    return readable


def agreement_by_magnitude(answers: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Compute target x magnitude: share of equal answers (nan where none is read on both sides).

    Args:
        answers: the subject's, question x magnitude. given: the targets', question x target.
            Leading axes of `given` (permutations, say) are kept.
    """
    yes, no = _indicator(answers == 1), _indicator(answers == 0)
    given_yes, given_no = _indicator(given == 1), _indicator(given == 0)
    equal = given_yes.swapaxes(-1, -2) @ yes + given_no.swapaxes(-1, -2) @ no
    read = (given_yes + given_no).swapaxes(-1, -2) @ (yes + no)
    with np.errstate(invalid="ignore", divide="ignore"):
        return equal / read


def rate_distance(answers: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Compute target x magnitude: distance of the subject's yes rate from the target's, over questions of both."""
    yes, read = _indicator(answers == 1), _indicator(~np.isnan(answers))
    given_yes, given_read = _indicator(given == 1), _indicator(~np.isnan(given))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.abs(given_read.T @ yes - given_yes.T @ read) / (given_read.T @ read)


def middle_of_best(
    score: np.ndarray, magnitudes: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the middle of the longest interval of equally best magnitudes; of several the one nearest 0.

    Args:
        score: ... x magnitude, higher is better; nan never wins.
        magnitudes: ascending (magnitude). allowed: mask (magnitude).

    Returns:
        Positions in `magnitudes`, each of the shape of the leading axes: the chosen one, the first and the last of
        its interval. The chosen one is the grid point nearest to the middle of the interval, measured in magnitude.
    """
    score = np.where(allowed & ~np.isnan(score), score, -np.inf)
    best = score >= score.max(axis=-1, keepdims=True) - _SAME
    place = np.broadcast_to(np.arange(len(magnitudes)), best.shape)
    apart = np.ones((*best.shape[:-1], 1), bool)
    opens = best & np.concatenate([apart, ~best[..., :-1]], axis=-1)
    closes = best & np.concatenate([~best[..., 1:], apart], axis=-1)
    first = np.maximum.accumulate(np.where(opens, place, 0), axis=-1)
    last = np.flip(
        np.minimum.accumulate(np.flip(np.where(closes, place, len(magnitudes) - 1), axis=-1), axis=-1), axis=-1
    )
    middle = (magnitudes[first] + magnitudes[last]) / 2
    left = best
    for cost in (
        magnitudes[first] - magnitudes[last],  # the longest
        np.abs(middle),  # nearest 0
        np.abs(magnitudes - middle),  # its middle
        np.broadcast_to(np.abs(magnitudes), best.shape),
    ):
        cost = np.where(left, cost, np.inf)
        left = cost <= cost.min(axis=-1, keepdims=True) + _SAME
    chosen = left.argmax(axis=-1)[..., None]
    return (
        chosen[..., 0],
        np.take_along_axis(first, chosen, axis=-1)[..., 0],
        np.take_along_axis(last, chosen, axis=-1)[..., 0],
    )


def majority_answers(given: np.ndarray) -> np.ndarray:
    """Give the majority answer of each target (as many yes as no: yes); nan where it answered nothing."""
    yes, no = (given == 1).sum(axis=0), (given == 0).sum(axis=0)
    return np.where(yes + no == 0, np.nan, (yes >= no).astype(float))


def best_cut(margins: np.ndarray, given: np.ndarray) -> float:
    """Find the cut c for one target such that `margin > c` agrees best with its answers.

    Args:
        margins: unsteered, one per question, nan where unread. given: the target's answers (1, 0, nan).

    Returns:
        The middle of the widest of the equally best gaps between neighbouring margins; -inf (always yes) or inf
        (always no) where that is better than any gap; nan where nothing is read on both sides.
    """
    read = ~(np.isnan(margins) | np.isnan(given))
    if not read.any():
        return float("nan")
    order = np.argsort(margins[read], kind="stable")
    sorted_margins, says_yes = margins[read][order], given[read][order] == 1
    correct = np.concatenate([[0], np.cumsum(~says_yes)]) + says_yes.sum() - np.concatenate([[0], np.cumsum(says_yes)])
    below = np.concatenate([[-np.inf], sorted_margins])
    above = np.concatenate([sorted_margins, [np.inf]])
    best = (above > below) & (correct == correct[above > below].max())
    inner = best & np.isfinite(below) & np.isfinite(above)
    if not inner.any():
        return float("-inf") if best[0] else float("inf")
    below, above = below[inner], above[inner]
    widest = np.isclose(above - below, (above - below).max())
    middles = ((below + above) / 2)[widest]
    return float(middles[np.abs(middles).argmin()])


def _indicator(mask: np.ndarray) -> np.ndarray:
    return mask.astype(np.float32)

"""Not answering: what "I don't know" is worth, whether it is said where nothing can be known, accuracy and coverage."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats


def distributional_correctness(
    right: ArrayLike, wrong: ArrayLike, dont_know: ArrayLike, gain: float = 1.0, loss: float = 1.0
) -> Floats:
    """The distributional correctness score of each answer (arXiv 2510.04302).

    Formula: (l_c p_right - l_w p_wrong) (1 - p_IDK), l_c = gain >= l_w = loss >= 0; the p are those of the listed
    options, "I don't know" among them, and add up to 1. All on "I don't know" scores 0; the default range is -1 to 1.

    Args:
        right, wrong, dont_know: (question,) probabilities; nan passes through.

    Returns:
        (question,) scores. Sign: higher = better. See `break_even` for where answering begins to pay.

    Raises:
        InputError: probabilities that do not add up to 1, or loadings out of order.

    >>> distributional_correctness([0.7, 0.1], [0.1, 0.1], [0.2, 0.8]).round(2).tolist()
    [0.48, 0.0]
    """
    if not gain >= loss >= 0:
        raise InputError(
            f"loadings {gain:g} for right, {loss:g} for wrong; give the first at least the second, both from 0"
        )
    p, q, r = (np.asarray(part, dtype=float) for part in (right, wrong, dont_know))
    total = p + q + r
    if (np.abs(total[np.isfinite(total)] - 1) > 1e-3).any():
        raise InputError(
            "right, wrong and don't know do not add up to 1; normalise their probabilities over the options"
        )
    return np.asarray((gain * p - loss * q) * (1 - r))


def break_even(gain: float = 1.0, loss: float = 1.0) -> float:
    """The chance of being right, among the answers given, above which answering scores better than "I don't know".

    Formula: loss / (gain + loss). Sign: higher = answer more rarely.

    >>> break_even(gain=1, loss=3)
    0.75
    """
    return loss / (gain + loss) if gain + loss else float("nan")


@dataclass(frozen=True)
class Unknowable:
    """Do respondents say "I don't know" where nobody can know, and only there?

    Attributes:
        hits: share of unknowable questions on which it abstains. false_alarms: share of their solvable twins.
        d_prime: discrimination, 0 = none. criterion: bias, negative = abstains readily.
        n_unknowable, n_solvable, n_unread.
    """

    hits: float
    false_alarms: float
    d_prime: float
    criterion: float
    n_unknowable: int
    n_solvable: int
    n_unread: int


def unknowable_discrimination(abstained: ArrayLike, unknowable: ArrayLike) -> Unknowable:
    """Abstention on unknowable questions against their solvable twins; without twins "unknown" would always win.

    Formula: d' = Phi^-1(H) - Phi^-1(F), c = -(Phi^-1(H) + Phi^-1(F)) / 2, H = (hits + .5) / (n + 1) and F likewise
    (Hautus, 1995, Behavior Research Methods 27, 46-51), so that rates of 0 and 1 stay finite.

    Args:
        abstained: (question,) 1 / 0 / nan. unknowable: (question,) 1 / 0.

    Raises:
        InputError: one of the two kinds is missing.

    R: `psycho::dprime`.

    >>> result = unknowable_discrimination([1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0])
    >>> round(result.hits, 2), result.false_alarms
    (0.67, 0.0)
    """
    says_unknown, kind = np.asarray(abstained, dtype=float), np.asarray(unknowable, dtype=float)
    read = np.isfinite(says_unknown)
    there, twins = says_unknown[read & (kind == 1)], says_unknown[read & (kind == 0)]
    if not len(there) or not len(twins):
        raise InputError(f"{len(there)} unknowable and {len(twins)} solvable questions were read; give both kinds")
    z_hit, z_alarm = (float(norm.ppf((part.sum() + 0.5) / (len(part) + 1))) for part in (there, twins))
    return Unknowable(
        float(there.mean()),
        float(twins.mean()),
        z_hit - z_alarm,
        -(z_hit + z_alarm) / 2,
        len(there),
        len(twins),
        int((~read).sum()),
    )


def selective_auc(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Mean accuracy over all coverages, of the surest answers first; the share right is what no knowledge gets.

    Formula: mean over k of the accuracy of the k answers of highest confidence; ties count with their mean accuracy, so
    that the order of the rows does not.

    Args:
        confidence: (question,), any numbers. correct: 1 / 0; questions with nan in either are left out.

    Returns:
        an accuracy. Sign: higher = better.

    >>> round(selective_auc([0.9, 0.6, 0.3], [1, 1, 0]), 2)
    0.89
    """
    sure, right = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    known = np.isfinite(sure) & np.isfinite(right)
    if not known.any():
        return float("nan")
    order = np.argsort(-sure[known], kind="stable")
    smoothed = pd.Series(right[known][order]).groupby(sure[known][order]).transform("mean").to_numpy()
    return float(np.mean(np.cumsum(smoothed) / np.arange(1, len(smoothed) + 1)))

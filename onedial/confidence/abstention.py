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
        (question,) scores, higher = better. See `break_even` for where answering begins to pay.

    Raises:
        InputError: probabilities that do not add up to 1, or loadings out of order.

    Sign: higher = better; 0 = always "I don't know".

    >>> distributional_correctness([0.7, 0.1], [0.1, 0.1], [0.2, 0.8]).round(2).tolist()
    [0.48, 0.0]
    """
    if not gain >= loss >= 0:
        raise InputError(
            f"loadings {gain:g} for right, {loss:g} for wrong; give the first at least the second, both from 0"
        )
    p, q, r = (np.asarray(each, dtype=float) for each in (right, wrong, dont_know))
    total = p + q + r
    if (np.abs(total[np.isfinite(total)] - 1) > 1e-3).any():
        raise InputError(
            "right, wrong and don't know do not add up to 1; normalise their probabilities over the options"
        )
    return np.asarray((gain * p - loss * q) * (1 - r))


def break_even(gain: float = 1.0, loss: float = 1.0) -> float:
    """The chance of being right, among the answers given, above which answering scores better than "I don't know".

    Formula: loss / (gain + loss).

    Args:
        gain: of a right answer. loss: of a wrong one; "I don't know" scores 0.

    Returns:
        a probability. Sign: higher = answer more rarely.

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

    Returns:
        Unknowable. Sign: d' above 0 = abstains more where nothing can be known; c above 0 = rarely abstains.

    R: `psycho::dprime`.

    >>> found = unknowable_discrimination([1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0])
    >>> round(found.hits, 2), found.false_alarms
    (0.67, 0.0)
    """
    said, kind = np.asarray(abstained, dtype=float), np.asarray(unknowable, dtype=float)
    known = np.isfinite(said)
    there, twins = said[known & (kind == 1)], said[known & (kind == 0)]
    if not len(there) or not len(twins):
        raise InputError(f"{len(there)} unknowable and {len(twins)} solvable questions were read; give both kinds")
    hit, alarm = ((each.sum() + 0.5) / (len(each) + 1) for each in (there, twins))
    z_hit, z_alarm = norm.ppf(hit), norm.ppf(alarm)
    return Unknowable(
        float(there.mean()),
        float(twins.mean()),
        float(z_hit - z_alarm),
        float(-(z_hit + z_alarm) / 2),
        len(there),
        len(twins),
        int((~known).sum()),
    )


def coverage_curve(confidence: ArrayLike, correct: ArrayLike) -> pd.DataFrame:
    """Accuracy of the surest answers, as more and more are given.

    Ties are given together in their mean accuracy, so that the order of the rows does not count.

    Args:
        confidence: (question,), any numbers. correct: 1 / 0; questions with nan in either are left out.

    Returns:
        coverage (k / n), accuracy of the surest k.

    Formula: mean of `correct` over the k of highest confidence. Sign: falls with coverage where confidence knows
    something.

    >>> coverage_curve([0.9, 0.6, 0.3], [1, 1, 0])["accuracy"].round(2).tolist()
    [1.0, 1.0, 0.67]
    """
    c, y = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    known = np.isfinite(c) & np.isfinite(y)
    c, y = c[known], y[known]
    order = np.argsort(-c, kind="stable")
    smoothed = pd.Series(y[order]).groupby(c[order]).transform("mean").to_numpy()
    k = np.arange(1, len(y) + 1)
    return pd.DataFrame({"coverage": k / max(len(y), 1), "accuracy": np.cumsum(smoothed) / k})


def selective_auc(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Area under `coverage_curve`, its mean accuracy over all coverages; the share right is what no knowledge gets.

    Formula: mean of the curve's accuracies.

    Args:
        confidence, correct: as there.

    Returns:
        an accuracy. Sign: higher = better.

    >>> round(selective_auc([0.9, 0.6, 0.3], [1, 1, 0]), 2)
    0.89
    """
    curve = coverage_curve(confidence, correct)
    return float(curve["accuracy"].mean()) if len(curve) else float("nan")

"""By what a target's magnitude is chosen. A new criterion is a function and a line in `CRITERIA`, here or in a plugin.

    criterion(margins, given) -> target x magnitude: the higher the better, nan where nothing can be said

`margins` are the subject's on the fitting split, question x magnitude in ascending order, positive = yes, nan where
unread; `given` are the targets' answers to the same questions, question x target, 1, 0 or nan. The magnitude is the
middle of the best (`choice.middle_of_best`). matches.csv says of each criterion magnitude_NAME, agreement_NAME and
kappa_NAME (without NAME for agreement), criteria.csv how well its magnitudes follow the thresholds, beside chance.
"""

from collections.abc import Callable

import numpy as np

from onedial.core import InputError
from onedial.verdict.criteria import choice

Criterion = Callable[[np.ndarray, np.ndarray], np.ndarray]
DECISIVE = (AGREEMENT, RATE) = ("agreement", "rate")
"""The verdict rests on these: G on the magnitude of best agreement, S on that of equal yes rates."""


def agreement(margins: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Share of equal answers."""
    return choice.agreement_by_magnitude(choice.answers_of(margins), given)


def rate(margins: np.ndarray, given: np.ndarray) -> np.ndarray:
    """How near the subject's yes rate comes to the target's: minus their distance."""
    return -choice.rate_distance(choice.answers_of(margins), given)


CRITERIA: dict[str, Criterion] = {AGREEMENT: agreement, RATE: rate}
"""Name (part of a column's name) to criterion."""


def scored(name: str, margins: np.ndarray, given: np.ndarray) -> np.ndarray:
    """What a criterion gives, checked.

    Raises:
        InputError: another shape than target x magnitude.
    """
    found = np.asarray(CRITERIA[name](margins, given), dtype=float)
    if found.shape != (wanted := (given.shape[1], margins.shape[1])):
        raise InputError(
            f"the criterion {name!r} gives scores of shape {found.shape} for {wanted[0]} targets and {wanted[1]} "
            f"magnitudes; return one score for each target and magnitude, {wanted}"
        )
    return found

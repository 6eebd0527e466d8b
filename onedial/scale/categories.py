"""The border for answers in ordered categories: confidences from 0 to 100, ratings, more than yes and no.

Rows are questions and columns respondents, as everywhere. Categories are numbers in their order; which numbers does not
matter. Confidences are cut into categories at stated points first (`cut_confidence`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.scale.evidence import MISSING, Codes, codes_of
from onedial.stats.answers import Answers, frame_of, names, numbers_or_nan
from onedial.stats.arrays import Booleans, Integers

MOST_CATEGORIES = 20


@dataclass(frozen=True)
class GradedAnswers:
    """Answers in ordered categories, with gaps.

    Attributes:
        codes: (question, respondent) 0 .. K - 1, -1 where missing. values: (category,) what the categories were called.
        questions, respondents: the labels.
    """

    codes: Codes
    values: pd.Index
    questions: pd.Index
    respondents: pd.Index

    @property
    def n_categories(self) -> int:
        return len(self.values)

    @property
    def answered(self) -> Booleans:
        """(question, respondent)."""
        return self.codes != MISSING

    @property
    def varies(self) -> Booleans:
        """(respondent,) False for a respondent that used one category only, or none."""
        return self.n_used > 1

    @property
    def n_used(self) -> Integers:
        """(respondent,) how many categories each used."""
        return np.stack([(self.codes == k).any(axis=0) for k in range(self.n_categories)]).sum(axis=0)

    def as_yes_no(self) -> Answers:
        """Whether each answer lies above the lowest category."""
        return Answers(self.codes > 0, self.answered, self.questions, self.respondents)

    def select(self, keep: Booleans) -> "GradedAnswers":
        """The same questions, and only the respondents in `keep`."""
        return GradedAnswers(self.codes[:, keep], self.values, self.questions, self.respondents[keep])


def as_graded(matrix: Any) -> GradedAnswers:
    """Read a matrix of ordered categories; yes/no answers are the case of two.

    Raises:
        InputError: text, an infinity, more than twenty categories, not two-dimensional, or empty.
    """
    if isinstance(matrix, GradedAnswers):
        return matrix
    if isinstance(matrix, Answers):
        return GradedAnswers(codes_of(matrix), pd.Index([0, 1]), matrix.questions, matrix.respondents)
    frame = frame_of(matrix)
    if not frame.shape[0] or not frame.shape[1]:
        raise InputError(f"the matrix of categories is empty ({frame.shape[0]} x {frame.shape[1]}); give answers")
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"respondent {names(repeated)} occurs more than once; give each column its own name")
    numbers = numbers_or_nan(frame).astype(float)
    if np.isinf(numbers).any():
        raise InputError("the categories hold an infinity; give numbers, and nan where there is no answer")
    values = np.unique(numbers[~np.isnan(numbers)])
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"{len(values)} different answers, and a category needs many of one kind; cut them into at most "
            f"{MOST_CATEGORIES} first, with cut_confidence(matrix, at=[20, 40, 60, 80])"
        )
    codes = np.where(np.isnan(numbers), MISSING, np.searchsorted(values, numbers)).astype(np.int8)
    if set(values) <= {0.0, 1.0}:
        values = np.array([0.0, 1.0])
        codes = np.where(np.isnan(numbers), MISSING, numbers).astype(np.int8)
    return GradedAnswers(codes, pd.Index(values), frame.index, frame.columns)


def cut_confidence(matrix: Any, at: Sequence[float]) -> pd.DataFrame:
    """Confidences cut into ordered categories at stated points.

    Formula: category = number of points that the confidence reaches (>=).

    Args:
        matrix: question x respondent numbers, nan = missing. at: rising points, such as [20, 40, 60, 80] for 0-100.

    Returns:
        question x respondent, 0 .. len(at), nan where missing. Sign: higher = more confident.

    Raises:
        InputError: the points do not rise, or the matrix holds text.

    R: `findInterval(x, at)`.

    >>> cut_confidence(pd.DataFrame({"a": [20.0, 70.0, 99.0]}), at=[50, 95])["a"].tolist()
    [0.0, 1.0, 2.0]
    """
    points = np.asarray(at, dtype=float)
    if not len(points) or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
        raise InputError(f"at={list(at)}; give rising points, such as [20, 40, 60, 80]")
    frame = frame_of(matrix)
    numbers = numbers_or_nan(frame).astype(float)
    cut = np.where(np.isnan(numbers), np.nan, np.searchsorted(points, numbers, side="right"))
    return pd.DataFrame(cut, frame.index, frame.columns)


def used_only(graded: GradedAnswers) -> tuple[Codes, list[list[int]]]:
    """Codes numbered without holes for each respondent, and for each respondent which categories it used."""
    codes = np.full_like(graded.codes, MISSING)
    used = []
    for i in range(codes.shape[1]):
        column = graded.codes[:, i]
        own = np.unique(column[column != MISSING])
        codes[:, i] = np.where(column == MISSING, MISSING, np.searchsorted(own, column))
        used.append([int(one) for one in own])
    return codes, used

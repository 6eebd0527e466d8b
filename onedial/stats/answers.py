"""The one border of this package: whatever holds yes/no answers becomes two boolean matrices, or a clear error.

Rows are questions and columns respondents. An answer is 1 (yes), 0 (no) or missing; a missing answer is never
turned into "no". Integers, floats, booleans and pandas' nullable types mean the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.core.errors import InputError
from onedial.core.notices import Notice, notice
from onedial.stats.arrays import Booleans, Integers, unmasked


class PsychometricsWarning(Notice):
    """A number could not be estimated, or was repaired; the message names the respondents."""


@dataclass(frozen=True)
class Answers:
    """Yes/no answers with gaps.

    Attributes:
        yes: (question, respondent), True where the answer is yes.
        answered: (question, respondent), False where the answer is missing.
        questions, respondents: the labels.
    """

    yes: Booleans
    answered: Booleans
    questions: pd.Index
    respondents: pd.Index

    @property
    def n_questions(self) -> int:
        return self.yes.shape[0]

    @property
    def n_respondents(self) -> int:
        return self.yes.shape[1]

    @cached_property
    def n_yes(self) -> Integers:
        """(respondent,) how often each said yes."""
        return self.yes.sum(axis=0)

    @cached_property
    def n_answered(self) -> Integers:
        """(respondent,) how many questions each answered."""
        return self.answered.sum(axis=0)

    @cached_property
    def varies(self) -> Booleans:
        """(respondent,) False for a respondent that gave only one kind of answer, or none."""
        return (self.n_yes > 0) & (self.n_yes < self.n_answered)

    @cached_property
    def is_complete(self) -> bool:
        return bool(self.answered.all())

    def select(self, keep: Booleans | Integers) -> "Answers":
        """Select respondents by a mask or positions; the questions stay."""
        return Answers(self.yes[:, keep], self.answered[:, keep], self.questions, self.respondents[keep])


def as_answers(matrix: Any) -> Answers:
    """Read a matrix of answers, question by respondent.

    Args:
        matrix: `Answers`, a DataFrame, anything with `to_frame()`, or a two-dimensional array. Values 1/True = yes,
            0/False = no, nan/None/NA = missing, as is what a masked array hides.

    Raises:
        InputError: not two-dimensional, empty, a repeated respondent, text, an infinity, or another value than 0 and 1.

    >>> answers = as_answers([[1, 0], [1, np.nan], [0, 1]])
    >>> answers.n_questions, answers.n_yes.tolist(), answers.n_answered.tolist()
    (3, [2, 1], [3, 2])
    """
    if isinstance(matrix, Answers):
        return matrix
    frame = frame_of(matrix)
    if not frame.shape[0] or not frame.shape[1]:
        raise InputError(
            f"the answer matrix is empty ({frame.shape[0]} questions x {frame.shape[1]} respondents); "
            "give at least one question in the rows and one respondent in the columns"
        )
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"respondent {names(repeated)} occurs more than once; give each column its own name")
    values = numbers_or_nan(frame)
    if values.dtype == bool:
        return Answers(values, np.ones(values.shape, dtype=bool), frame.index, frame.columns)
    answered = ~np.isnan(values)
    yes = values == 1
    wrong = answered & ~yes & (values != 0)
    if wrong.any():
        columns = frame.columns[wrong.any(axis=0)]
        example = values[wrong][0]
        raise InputError(
            f"the answers of {names(columns)} hold {example:g}, and an answer is 1 (yes), 0 (no) or missing (nan); "
            "recode them before the analysis"
        )
    return Answers(yes, answered, frame.index, frame.columns)


def names(labels: Iterable[object], limit: int = 12) -> str:
    """Name respondents as a message does: 'a, b and 3 more'.

    >>> names(["a", "b", "c", "d"], limit=2)
    'a, b and 2 more'
    """
    shown = [str(label) for label in labels]
    if len(shown) <= limit:
        return ", ".join(shown)
    return f"{', '.join(shown[:limit])} and {len(shown) - limit} more"


def one_kind_of_answer(who: str) -> str:
    """Say what is to be known of respondents that always say the same.

    >>> one_kind_of_answer("b")
    'b gave only one kind of answer (or none): correlations with them are nan, no place on a factor'
    """
    return f"{who} gave only one kind of answer (or none): correlations with them are nan, no place on a factor"


def warn(message: str) -> None:
    """Issue a `PsychometricsWarning`.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn("a gave only one kind of answer")
    >>> str(caught[0].message)
    'a gave only one kind of answer'
    """
    notice(message, PsychometricsWarning)


def frame_of(matrix: Any) -> pd.DataFrame:
    """Make a data frame of a question x respondent matrix; a table keeps its labels, others are numbered.

    >>> frame_of([[1, 0], [0, 1], [1, 1]]).shape
    (3, 2)
    """
    if isinstance(matrix, pd.DataFrame):
        return matrix
    if hasattr(matrix, "to_frame"):
        return pd.DataFrame(matrix.to_frame())
    values = unmasked(matrix)
    if values.ndim != 2:
        raise InputError(
            f"the answer matrix has {values.ndim} dimension(s); give a question x respondent matrix "
            "(a single respondent is a matrix with one column)"
        )
    return pd.DataFrame(values, copy=False)


def numbers_or_nan(frame: pd.DataFrame) -> NDArray[Any]:
    """Make one bool, float32 or float64 array of the values; nan where missing.

    >>> import pandas as pd
    >>> numbers_or_nan(pd.DataFrame({"a": [1, None]})).tolist()
    [[1.0], [nan]]
    """
    kinds = {dtype.kind if isinstance(dtype, np.dtype) else "?" for dtype in frame.dtypes}
    if kinds == {"b"} or kinds == {"f"}:
        return frame.to_numpy()
    if kinds <= {"b", "i", "u", "f"}:
        return frame.to_numpy(dtype=float)
    columns = [_column(frame.iloc[:, position], label) for position, label in enumerate(frame.columns)]
    return np.column_stack(columns)


def _column(column: pd.Series, label: object) -> NDArray[np.float64]:
    known = column[column.notna()]
    strange = next((value for value in known if not isinstance(value, Number | np.bool_)), None)
    if strange is not None:
        raise InputError(
            f"the answers of {label} hold {strange!r}, and an answer is 1 (yes), 0 (no) or missing (nan); recode them "
            "before the analysis, or read the file with onedial.panels.load_panel"
        )
    return pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)

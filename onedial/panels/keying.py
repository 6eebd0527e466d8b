"""Questions that are keyed the other way round, so that a yes to them says what a no says to the others.

A column among what is known of the questions tells it: `reversed` (true, 1, yes, x, R; false, 0, no, blank), or `keyed`
or `key` as psych writes them (1 and -1, + and -). Sweeps take answers as they stand, since the subject is asked the
same words; a panel's scale takes them `keyed`.
"""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.tables import is_blank
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.panels import ResponseMatrix

REVERSED = "reversed"
_TELLS_REVERSED = re.compile(r"(?:is_)?reversed?(?:_?(?:keyed|coded|scored|item))?|negatively_keyed", re.IGNORECASE)
_TELLS_THE_WAY = re.compile(r"key(?:ed|ing)?|direction|sign|scoring", re.IGNORECASE)
_BACKWARD = dict.fromkeys(
    ("-1", "-", "\u2212", "\u22121", "r", "reverse", "reversed", "negative", "neg", "minus"), True
)
_FORWARD = dict.fromkeys(("1", "+1", "+", "forward", "positive", "pos", "plus", "normal"), False)
_TRUTH = {"true": True, "1": True, "yes": True, "x": True, "false": False, "0": False, "no": False, "": False}


def tells_keying(name: str) -> bool:
    """Whether a column's name says that it may tell which questions are reversed."""
    return bool(_TELLS_REVERSED.fullmatch(name) or _TELLS_THE_WAY.fullmatch(name))


def with_keying(panel: ResponseMatrix) -> ResponseMatrix:
    """The panel whose `about_questions` has `reversed`, true or false, where a column of any of these names tells it.

    Raises:
        InputError: a column `reversed` holds something else; or keys are neither 1 nor -1, as psych's 0.
    """
    about = panel.about_questions
    if about is None:
        return panel
    for name in map(str, about.columns):
        is_truth = bool(_TELLS_REVERSED.fullmatch(name))
        if is_truth:
            known = _TRUTH | {word: value for word, value in _BACKWARD.items() if word != "-1"}
        elif _TELLS_THE_WAY.fullmatch(name) and len({*map(_word, about[name])} & {*_BACKWARD, *_FORWARD}) > 1:
            known = _BACKWARD | _FORWARD
        else:
            continue
        strange = about.index[[_word(cell) not in known for cell in about[name]]]
        if len(strange):
            raise InputError(
                f"the column {name!r} says {about[name][strange[0]]!r} of the question {strange[0]!r}; write "
                f"{'true or false' if is_truth else '1 or -1 (+ or -)'} of every question, or rename the column"
            )
        turned = pd.Series([known[_word(cell)] for cell in about[name]], about.index)
        return replace(panel, about_questions=about.assign(**{REVERSED: turned}))
    return panel


def keyed(panel: ResponseMatrix) -> ResponseMatrix:
    """The panel with the answers to reversed questions turned: yes for no, a margin's sign, a number by its scale.

    Numbers that stay as they are (`load_panel(numbers=True)`) are turned within the least and largest of the panel.

    >>> from onedial.panels import panel_from_long
    >>> rows = pd.DataFrame({"question_id": ["q1", "q2"], "respondent": "a", "said_yes": [1, 1]})
    >>> about = pd.DataFrame({"reversed": [False, True]}, index=["q1", "q2"])
    >>> keyed(replace(panel_from_long(rows), about_questions=about)).answers["a"].tolist()
    [1.0, 0.0]
    """
    if not (turned := reversed_questions(panel)):
        return panel
    notice(
        f"{len(turned)} of {len(panel.answers)} questions are reversed ({', '.join(turned[:5])}"
        f"{', ...' if len(turned) > 5 else ''}): a yes to them counts as a no, and a no as a yes"
    )
    answers = panel.answers.copy()
    answers.loc[turned] = 1 - answers.loc[turned]
    rows = panel.responses
    if rows is None:
        return replace(panel, answers=answers)
    rows, is_turned = rows.copy(), rows["question_id"].isin(turned)
    for column, low, high in (("said_yes", 0.0, 1.0), ("margin", 0.0, 0.0), ("confidence", *_ends(rows))):
        if column in rows and rows[column].notna().any():
            rows[column] = rows[column].astype(float).where(~is_turned, low + high - rows[column].astype(float))
    if "n_yes" in rows and "n_read" in rows:
        rows["n_yes"] = rows["n_yes"].where(~is_turned, rows["n_read"] - rows["n_yes"])
    return replace(panel, answers=answers, responses=rows)


def reversed_questions(panel: ResponseMatrix) -> list[str]:
    """The ids of the questions that are keyed the other way round."""
    about = panel.about_questions
    return [] if about is None or REVERSED not in about else [str(name) for name in about.index[about[REVERSED]]]


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    numbers = rows["confidence"].astype(float) if "confidence" in rows else pd.Series(dtype=float)
    return (0.0, 1.0) if not len(numbers) or numbers.max() <= 1 else (float(np.nanmin(numbers)), float(numbers.max()))


def _word(cell: object) -> str:
    if is_blank(cell):
        return ""
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip().casefold()

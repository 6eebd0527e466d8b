"""Questions that are keyed the other way round, so that a yes to them says what a no says to the others.

A column among what is known of the questions tells it: `reversed` (true or false, blank for false), or `keyed` as psych
writes it (1 and -1, + and -). Sweeps take answers as they stand, since the subject is asked the same words; a panel's
scale takes them `keyed`.
"""

from collections.abc import Mapping
from dataclasses import replace

from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.panels import ResponseMatrix
from onedial.panels.spellings import TRUTH, word_of

REVERSED, KEYED = "reversed", "keyed"
_KEYS: Mapping[str, tuple[Mapping[str, bool], str]] = {
    REVERSED: ({"": False, **TRUTH}, "true or false"),
    KEYED: ({"1": False, "+": False, "-1": True, "-": True, "\u2212": True, "\u22121": True}, "1 or -1 (+ or -)"),
}
"""Column to what its cells say of being reversed, and how they are written."""


def with_keying(panel: ResponseMatrix) -> ResponseMatrix:
    """The panel whose `about_questions` has `reversed`, true or false, where a column `reversed` or `keyed` tells it.

    Raises:
        InputError: the column holds something else; or there are both.
    """
    about = panel.about_questions
    names = [] if about is None else [name for name in _KEYS if name in about.columns]
    if about is None or not names:
        return panel
    if len(names) > 1:
        raise InputError("the columns reversed and keyed both say which questions are reversed; keep one of them")
    known, remedy = _KEYS[names[0]]
    words = [word_of(cell) for cell in about[names[0]]]
    if strange := [place for place, word in enumerate(words) if word not in known]:
        raise InputError(
            f"the column {names[0]!r} says {about[names[0]].iloc[strange[0]]!r} of the question "
            f"{about.index[strange[0]]!r}; write {remedy} of every question, or rename the column"
        )
    return replace(panel, about_questions=about.assign(**{REVERSED: [known[word] for word in words]}))


def keyed(panel: ResponseMatrix) -> ResponseMatrix:
    """The panel with the answers to reversed questions turned: yes for no, a margin's sign, a confidence from 0 to 1.

    >>> import pandas as pd
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
    for column, low, high in (("said_yes", 0.0, 1.0), ("margin", 0.0, 0.0), ("confidence", 0.0, 1.0)):
        if column in rows and rows[column].notna().any():
            rows[column] = rows[column].astype(float).where(~is_turned, low + high - rows[column].astype(float))
    if "n_yes" in rows and "n_read" in rows:
        rows["n_yes"] = rows["n_yes"].where(~is_turned, rows["n_read"] - rows["n_yes"])
    return replace(panel, answers=answers, responses=rows)


def reversed_questions(panel: ResponseMatrix) -> list[str]:
    """The ids of the questions that are keyed the other way round."""
    about = panel.about_questions
    return [] if about is None or REVERSED not in about else [str(name) for name in about.index[about[REVERSED]]]

"""Are a respondent's replies about what it is asked? A screen of every test before its scores are read.

    by the letter    the same letter, whichever option stands behind it
    by the place     the option that stands first, or last, whichever it is
    always the same  one reply to nearly everything

A score of such replies has a number, often that of knowing nothing, and means nothing either way: the respondent was
never heard on the matter. The habits are seen because every option was shown behind every letter, and every pair of
options in both orders (`SelfReport.forms`, `ask_choices`, `ask_pairs`).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from onedial.selfreport.battery import BATTERY

MOST_ALIKE = 0.95
"""TRIN's limit (arXiv 2604.17707): from here on, replies are called alike."""
NOT_READ = "not to be read: "
LETTER, PLACE = "letter", "place"
_HABITS = {LETTER: "goes by the letter", PLACE: "goes by the place", "same": "always says the same"}
_ELSEWHERE = {"association": "predicted", "restriction": "predicted", "questionnaire": "said"}
"""Where the reply itself stands in tables of other programs; of the battery its tests say it."""
SCREENING_COLUMNS = ["n", LETTER, PLACE, "same", "why"]


def screen_replies(answers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Count replies that follow a letter or a place, or say what most of the others say.

    Formula: letter = items whose forms all got the same letter / items that were read, place = likewise of the first or
    of the last line; same = replies that are the commonest one / replies that were read.

    Args:
        answers: test -> its table, with a column respondent and what asking leaves: goes_by (of `ask_self_report`),
            letters (of `ask_choices`), first_as_a and first_as_b (of `ask_pairs`), or the reply.

    Returns:
        index respondent, test; `SCREENING_COLUMNS`: n (replies that were read), letter, place, same (nan where the test
        cannot show it), why ("" unless one of them reaches `MOST_ALIKE`). Tests without such columns have no row.

    Sign: higher = less heed of what is asked.

    >>> asked = pd.DataFrame({"respondent": "it", "goes_by": ["letter"] * 20})
    >>> screen_replies({"passages": asked})["why"].tolist()
    ['goes by the letter']
    """
    rows = {}
    for test, table in answers.items():
        for name, of_respondent in table.groupby("respondent", sort=False) if len(table) else ():
            if habits := _habits(test, of_respondent):
                shares = {habit: habits.get(habit, np.nan) for habit in _HABITS}
                why = [words for habit, words in _HABITS.items() if shares[habit] >= MOST_ALIKE]
                rows[str(name), test] = [habits["n"], *shares.values(), why[0] if why else ""]
    index = pd.MultiIndex.from_tuples(list(rows), names=["respondent", "test"])
    return pd.DataFrame(list(rows.values()), index=index, columns=SCREENING_COLUMNS)


def screening_sentences(screening: pd.DataFrame) -> list[str]:
    """Say whose scores are not to be read, of which test, and why.

    Args:
        screening: of `screen_replies`.

    Returns:
        One clause for each respondent and test at fault.

    >>> asked = pd.DataFrame({"respondent": "it", "said": [3.0] * 20})
    >>> screening_sentences(screen_replies({"questionnaire": asked}))
    ['it: questionnaire, not to be read: always says the same']
    """
    at_fault = screening[screening["why"] != ""].reset_index()
    return [
        f"{name}: {test}, {NOT_READ}{why}" for name, test, why in at_fault[["respondent", "test", "why"]].to_numpy()
    ]


def _habits(test: str, answers: pd.DataFrame) -> dict[str, float]:
    if "goes_by" in answers:
        habit = answers["goes_by"][answers["goes_by"] != ""].dropna()
        return {"n": len(habit)} | {each: _share(habit == each) for each in (LETTER, PLACE)}
    if "first_as_a" in answers:
        as_a, as_b = (np.sign(answers[each].dropna().to_numpy(float)) for each in ("first_as_a", "first_as_b"))
        return {"n": len(as_a), LETTER: max(_share((as_a == side) & (as_b == -side)) for side in (1, -1))}
    column = BATTERY[test].reply if test in BATTERY else _ELSEWHERE.get(test, "")
    if column not in answers:
        return {}
    values = answers[column].dropna()
    values = values[(values != "") & (values != "other")]
    if test == "choices":
        alike = values[values.map(lambda letters: len(set(letters)) == 1)]
        commonest = alike.str[0].value_counts().max() if len(alike) else 0
        return {"n": len(values), LETTER: commonest / len(values) if len(values) else np.nan}
    if values.dtype.kind == "f":  # expected values: the likeliest decile may stay while the others change
        values = values.round(2)
    return {"n": len(values), "same": float(values.value_counts(normalize=True).max()) if len(values) else np.nan}


def _share(holds: pd.Series | np.ndarray) -> float:
    return float(holds.mean()) if len(holds) else np.nan

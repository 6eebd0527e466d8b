"""Do two answers to a question say the same? Asked of any respondent, such as a judge of another's samples."""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import Instrument
from onedial.asking.respondents import Respondent
from onedial.selfreport.ask.self_reports import Item, SelfReport, ask_self_report, lettered

_ASKED = "Here is a question, and two answers to it.\n\nQuestion: {{question}}\nAnswer: {{{}}}\nAnswer: {{{}}}\n\n"
_DO_THEY = "Do the two answers say the same?"


def _forms() -> dict[str, Instrument]:
    """Make four forms, in two of which the answers stand the other way round, across letters and places."""
    slots = ("question", "one", "other")
    ways = [
        lettered("same meaning", _ASKED.format(*order) + _DO_THEY, "They say the same.", "They differ.", slots)
        for order in (("one", "other"), ("other", "one"))
    ]
    return {form: ways[form in ("A second", "B first")][form] for form in ways[0]}


SAME_MEANING = SelfReport("same meaning", _forms(), about="answers")


def judged_same(respondent: Respondent, pairs: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """(pair,) same: 1 where two answers say the same, 0 where they do not, nan where the judge could not be read;
    failed: why it gave no answer, "" where it did.

    Formula: the sign of the mean margin of four forms, with each letter, place and order of the answers as often for
    as against; who goes by these alone says of no two answers that they are the same.

    Args:
        respondent: the judge. pairs: (question, answer, answer).

    >>> from onedial.asking import Identity, Response
    >>> class Alike:
    ...     identity = Identity("alike")
    ...     def answer(self, prompts, instrument):
    ...         return (Response(place, 1.0, True, 2.0, 1.0, (0.9, 0.1)) for place, _ in enumerate(prompts))
    >>> judged_same(Alike(), [("Who?", "Bonaparte", "Napoleon")])["same"].tolist()
    [1.0]
    """
    items = [
        Item(str(place), {"question": asked, "one": one, "other": other})
        for place, (asked, one, other) in enumerate(pairs)
    ]
    asked = ask_self_report(respondent, SAME_MEANING, items).reset_index(drop=True)
    same = (asked["score"] > 1e-9).astype(float).where(asked["score"].notna())
    return asked[["failed"]].assign(same=same)

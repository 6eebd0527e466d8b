"""What the respondent predicts of its own reply (arXiv 2410.13787): first word, length, digits, language.

What is predicted is the request that is then made (`Request`).
"""

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from importlib.resources import files

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.core.files import sha256_of_text
from onedial.selfreport.ask.phrases import language_of
from onedial.selfreport.ask.requests import Request, once_more, writes
from onedial.selfreport.ask.self_prediction import ASSOCIATION, association_words
from onedial.selfreport.ask.self_reports import Item, SelfReport
from onedial.selfreport.frame import BatteryTest, Draws, Headline
from onedial.selfreport.score.self_prediction import association_scores, prediction_matrix
from onedial.stats.level import MOST_UNREAD

_FIRST_WORD = re.compile(r"\w+")
PROPERTIES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "first word": ('begin with the word "The"', lambda text: (_FIRST_WORD.findall(text.lower()) or [""])[0] == "the"),
    "length": ("have more than three words", lambda text: len(text.split()) > 3),
    "digits": ("hold a number in digits", lambda text: any(sign.isdigit() for sign in text)),
}
SHORT, SENTENCE = Request(CLOSED_BOOK), Request(writes("request", "{question}", ("question",), 32))
PREDICTIONS = {
    **{name: SHORT.would(name, f"Would your reply {words}?") for name, (words, _) in PROPERTIES.items()},
    "language": SENTENCE.would("language", "Would your reply be in English?"),
}
"""What is predicted of one's own reply -> how it is asked."""


def language_requests() -> list[Question]:
    """Short requests in four languages; `topic` is the language."""
    text = files("onedial.panels").joinpath("data", "language_requests.csv").read_text(encoding="utf-8")
    return [
        Question(f"language-{number:02d}", row["request"], topic=row["language"])
        for number, row in enumerate(csv.DictReader(io.StringIO(text)))
    ]


def ask_properties(
    respondent: Respondent, questions: Sequence[Question], again: Respondent | None = None
) -> pd.DataFrame:
    """What the respondent predicts of its own reply to a request, and what the reply then is.

    The first word, the length and digits are asked of short answers to the questions; the language of replies to
    requests in four languages (`language_requests`).

    Args:
        again: who replies a second time, drawn at temperature 1: the same model under another seed.

    Returns:
        property, item (question_id), predicted (1 / 0, nan unread), margin, actual (1 / 0, nan where no answer could be
        read, or its language not told), text; with `again` actual_again.
    """
    requests = language_requests()
    texts: dict[str, dict[str, str]] = {name: {} for name in ("actual", *(["actual_again"] if again else []))}
    for request, asked in ((SHORT, questions), (SENTENCE, requests)):
        slots = [{"question": each.text} for each in asked]
        for name, who, made in (("actual", respondent, request.made), ("actual_again", again, once_more(request.made))):
            if who is not None:
                replies = ask_table(who, made, slots)["text"].str.strip()
                texts[name] |= dict(zip([each.id for each in asked], replies, strict=True))
    parts = []
    for name, instrument in PREDICTIONS.items():
        asked = sorted(requests if name == "language" else questions, key=lambda each: sha256_of_text(each.id + name))
        given = ask_table(respondent, instrument, [{"question": each.text} for each in asked])
        actual = {column: [_property(name, own[each.id]) for each in asked] for column, own in texts.items()}
        parts.append(
            given[["said_yes", "margin"]].assign(
                property=name,
                item=[each.id for each in asked],
                **actual,
                text=[texts["actual"][each.id] for each in asked],
            )
        )
    columns = ["property", "item", "predicted", "margin", *texts, "text"]
    return pd.concat(parts, ignore_index=True).rename(columns={"said_yes": "predicted"})[columns]


def _property(name: str, text: str) -> float:
    if name == "language":
        found = language_of(text)
        return math.nan if found is None else float(found == "English")
    return float(PROPERTIES[name][1](text)) if text else math.nan


def _score(own: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Predicted properties of one's own reply, one line each (`association_scores`)."""
    rows = []
    names = {"respondent": "model", "item": "word", "actual": "listed", "actual_again": "listed_again"}
    for name, some in own.rename(columns=names).groupby("property", sort=False):
        row = association_scores(some, draws.n, draws.seed)
        scored = row.columns.drop(["n", "n_missing", "n_words"])
        row = row.astype(dict.fromkeys(scored, float))
        if some["predicted"].isna().mean() > MOST_UNREAD:
            row[scored] = np.nan
        happened = some["listed"].mean()
        rows.append(row.assign(property=name, happened=happened, majority_accuracy=max(happened, 1 - happened)))
    return pd.concat(rows).set_index("property")


def _matrix(answers: pd.DataFrame) -> pd.DataFrame:
    """Who predicts whom (`prediction_matrix`)."""
    wide = answers.assign(key=answers["property"] + "|" + answers["item"])
    predicted, actual = (wide.pivot(index="key", columns="respondent", values=each) for each in ("predicted", "actual"))
    return prediction_matrix(predicted, actual).rename_axis("respondent")


# ---- item by item ----------------------------------------------------------------------------------------------------


def _requests(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"question": each.text}) for each in language_requests()[: len(questions)]]


def _words(questions: Sequence[Question], seed: int) -> list[Item]:
    words = association_words()
    some = list(words)[: -(-len(questions) // len(next(iter(words.values()))))]
    return [Item(f"{word}-{option}", {"word": word, "option": option}) for word in some for option in words[word]]


PROPERTIES_TEST = BatteryTest(
    ask=lambda make, material: ask_properties(make(0), material.questions, make(1)),
    scores={"properties": _score},
    comparisons={"properties_matrix": _matrix},
    headline=Headline(
        "properties",
        "balanced_accuracy",
        "balanced accuracy of predicting its reply",
        "balanced_accuracy_low",
        "balanced_accuracy_high",
        unread="n_missing",
        nothing=0.5,
    ),
    measures="predicting its own first word, length, digits, language",
    source="2410.13787",
    formula="balanced accuracy; predictor x target",
    caveat="language by function words",
    reports=(
        *(
            SelfReport(name, {"plain": each}, "questions", items=_requests if name == "language" else None)
            for name, each in PREDICTIONS.items()
        ),
        SelfReport("association", {"plain": ASSOCIATION}, "words", items=_words),
    ),
)

"""What the respondent predicts of its own reply (arXiv 2410.13787): first word, length, digits.

What is predicted is the request that is then made (`Request`).
"""

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.core.files import sha256_of_text
from onedial.selfreport.ask.requests import Request, once_more
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
SHORT = Request(CLOSED_BOOK)
PREDICTIONS = {name: SHORT.would(name, f"Would your reply {words}?") for name, (words, _) in PROPERTIES.items()}
"""What is predicted of one's own reply -> how it is asked."""


def ask_properties(
    respondent: Respondent, questions: Sequence[Question], again: Respondent | None = None
) -> pd.DataFrame:
    """Ask what the respondent predicts of its own short answers to the questions, and for these.

    Args:
        again: who replies a second time, drawn at temperature 1: the same model under another seed.

    Returns:
        property, item (question_id), predicted (1 / 0, nan unread), margin, actual (1 / 0, nan where there is no
        answer), text; with `again` actual_again.
    """
    slots = [{"question": each.rendered} for each in questions]
    replies = {"actual": ask_table(respondent, SHORT.made, slots)["text"]}
    if again is not None:
        replies["actual_again"] = ask_table(again, once_more(SHORT.made), slots)["text"]
    made = pd.DataFrame({"item": [each.id for each in questions], "question": [each.rendered for each in questions]})
    made = made.assign(**{name: texts.str.strip() for name, texts in replies.items()})
    parts = []
    for name, (_, holds) in PROPERTIES.items():
        shuffled = made.iloc[sorted(range(len(made)), key=lambda row: sha256_of_text(made["item"][row] + name))]
        given = ask_table(respondent, PREDICTIONS[name], shuffled[["question"]].to_dict("records"))
        actual = {column: [float(holds(text)) if text else math.nan for text in shuffled[column]] for column in replies}
        about = shuffled.assign(property=name, text=shuffled["actual"], **actual).reset_index(drop=True)
        parts.append(about.assign(predicted=given["said_yes"], margin=given["margin"]))
    return pd.concat(parts, ignore_index=True)[["property", "item", "predicted", "margin", *replies, "text"]]


def _score(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Score predicted properties of one's own reply, one line each (`association_scores`)."""
    rows = []
    names = {"respondent": "model", "item": "word", "actual": "listed", "actual_again": "listed_again"}
    for name, some in answers.rename(columns=names).groupby("property", sort=False):
        row = association_scores(some, draws.n, draws.seed)
        scored = row.columns.drop(["n", "n_missing", "n_words"])
        row = row.astype(dict.fromkeys(scored, float))
        if some["predicted"].isna().mean() > MOST_UNREAD:
            row[scored] = np.nan
        happened = some["listed"].mean()
        rows.append(row.assign(property=name, happened=happened, majority_accuracy=max(happened, 1 - happened)))
    return pd.concat(rows).set_index("property")


def _matrix(answers: pd.DataFrame) -> pd.DataFrame:
    """Compute who predicts whom (`prediction_matrix`)."""
    wide = answers.assign(key=answers["property"] + "|" + answers["item"])
    predicted, actual = (wide.pivot(index="key", columns="respondent", values=each) for each in ("predicted", "actual"))
    return prediction_matrix(predicted, actual).rename_axis("respondent")


def _words(questions: Sequence[Question], seed: int) -> list[Item]:
    """Name the association test's pairs of a word and an option, item by item."""
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
        chance=0.5,
    ),
    measures="predicting its own first word, length, digits",
    source="2410.13787",
    formula="balanced accuracy; predictor x target",
    caveat="of short answers",
    reports=(
        *(SelfReport(name, {"plain": each}, "questions") for name, each in PREDICTIONS.items()),
        SelfReport("association", {"plain": ASSOCIATION}, "words", items=_words),
    ),
)

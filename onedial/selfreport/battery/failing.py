"""Can it make a question that it fails, and one that it does not (after the Self-Execution study)?"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.questions import normalised_text
from onedial.asking.respondents import Respondent
from onedial.core.files import sha256_of_text
from onedial.selfreport.ask.requests import writes
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.frame import BatteryTest, Draws, Headline, Make, Material
from onedial.selfreport.score.revision import answer_changes
from onedial.stats.level import MOST_UNREAD

MADE = writes(
    "question made",
    "Write one short question about {topic} that you would answer {how}. Reply with the question alone.",
    ("topic", "how"),
    40,
    "Question:",
)
_FEWEST_WORDS = 4
_QUOTES = "\"'\u201d\u2019\u00bb*_ "
"""A question may come in quotation marks, or printed bold."""


def _as_asked(text: str) -> str:
    """A question without its spelling: "What's it?", in quotation marks, is "What is it?"."""
    return normalised_text(re.sub(r"(?<=\w)['\u2019]s\b", " is", text))


def ask_failing(respondent: Respondent, topics: Sequence[str], judge: Respondent) -> pd.DataFrame:
    """A question that it would answer wrongly and one that it would answer rightly, made, answered and judged.

    Nobody has a key to made questions, so the judge's P(True) stands in for it (mean margin of four forms): a weak
    judge makes the score noise. What is no question, or repeats the topic's other one, is invalid.

    Args:
        topics: one pair of questions is made of each. judge: any respondent that shows logits.

    Returns:
        topic, wanted ("wrongly" or "rightly"), question, answer, valid, margin (of true over false; nan where invalid
        or unread), failed (1 where it is below 0; nan where the judge holds both for as likely).
    """
    # A topic's two stand side by side, in an order by hash: who says no the more, the longer it is asked, fails both.
    plan = [
        (topic, how)
        for topic in topics
        for how in sorted(("wrongly", "rightly"), key=lambda how: sha256_of_text(f"{topic} {how}"))
    ]
    texts = ask_table(respondent, MADE, [{"topic": topic, "how": how} for topic, how in plan])["text"].str.strip()
    made = [text.splitlines()[0].strip() if text else "" for text in texts]
    asked = [(topic, _as_asked(text)) for (topic, _), text in zip(plan, made, strict=True)]
    seen = Counter(asked)
    valid = [
        text.rstrip(_QUOTES).endswith("?") and len(text.split()) >= _FEWEST_WORDS and seen[each] == 1
        for text, each in zip(made, asked, strict=True)
    ]
    answers = ask_table(respondent, CLOSED_BOOK, [{"question": text or "-"} for text in made])["text"].str.strip()
    items = [
        Item(str(place), {"question": text, "answer": answer})
        for place, (text, answer, good) in enumerate(zip(made, answers, valid, strict=True))
        if good and answer
    ]
    margins = ask_self_report(judge, SELF_REPORTS["P(True)"], items)["score"].to_dict() if items else {}
    rows = []
    for place, (topic, how) in enumerate(plan):
        margin = margins.get(str(place), math.nan)
        failed = math.nan if math.isnan(margin) or abs(margin) < 1e-9 else float(margin < 0)
        rows.append([topic, how, made[place], answers[place], valid[place], margin, failed])
    return pd.DataFrame(rows, columns=["topic", "wanted", "question", "answer", "valid", "margin", "failed"])


def _ask(make: Make, material: Material) -> pd.DataFrame:
    return ask_failing(make(0), list(dict.fromkeys(str(each.topic) for each in material.questions)), make(0))


def _score(own: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Does it fail the questions that it made to fail more often than those it made to pass?"""
    by = own.pivot(index="topic", columns="wanted", values="failed")[["rightly", "wrongly"]].astype(float)
    row: dict[str, object] = {"n_made": len(own), "n_invalid": int((~own["valid"].astype(bool)).sum())}
    if not by.notna().all(axis=1).any() or own["failed"].isna().mean() > MOST_UNREAD:
        return row
    found = answer_changes(by["rightly"], by["wrongly"])
    return row | {
        "n": found.n,
        "fails_to_pass": found.before,
        "fails_to_fail": found.after,
        "difference": found.change,
        "low": found.low,
        "high": found.high,
        "p": found.p,
    }


FAILING = BatteryTest(
    ask=_ask,
    scores={"failing": _score},
    headline=Headline(
        "failing", "difference", "failures, made to fail less made to pass", n="n_made", unread="n_invalid", nothing=0
    ),
    measures="making a question that it fails",
    source="Self-Execution",
    formula="failure under each wish, exact p",
    caveat="the respondent judges: a weak one makes noise",
    reply="question",
)

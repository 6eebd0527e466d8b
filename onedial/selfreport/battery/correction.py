"""A second look at one's own answer: right answers kept, wrong ones corrected (arXiv 2412.19513)."""

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, Instrument
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.selfreport.ask.requests import correct, drawn
from onedial.selfreport.frame import BatteryTest, Draws, Headline, Make, Material
from onedial.selfreport.score.revision import self_correction
from onedial.stats.level import MOST_UNREAD

CHECKED = Instrument(
    "checked",
    PromptTemplate(
        "Check this answer. Then answer the question again, in as few words as possible.",
        "Answer:",
        "checked",
        ("question", "answer"),
        ((CLOSED_BOOK.template.user, "Answer: {answer}"),),
    ),
    CLOSED_BOOK.scale,
    CLOSED_BOOK.reader,
)


def ask_correction(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Ask for one answer to each question, and one after the request to check it; both drawn.

    Ask again with a respondent of another seed for a further sample.

    Returns:
        question_id, first, second (1 / 0, nan for what is no answer), first_text, second_text. An empty first answer is
        not checked.
    """
    table = pd.DataFrame({"question_id": [each.id for each in questions]})
    asked = [{"question": each.rendered} for each in questions]
    table["first_text"] = ask_table(respondent, drawn(CLOSED_BOOK), asked)["text"].str.strip()
    answered = table.index[table["first_text"] != ""]
    again = [asked[place] | {"answer": table["first_text"][place]} for place in answered]
    checked = ask_table(respondent, drawn(CHECKED), again)["text"].str.strip()
    table["second_text"] = pd.Series(checked.to_numpy(), answered, dtype=object).reindex(table.index, fill_value="")
    for which in ("first", "second"):
        table[which] = [correct(each, text) for each, text in zip(questions, table[f"{which}_text"], strict=True)]
    return table[["question_id", "first", "second", "first_text", "second_text"]]


def _ask(make: Make, material: Material) -> pd.DataFrame:
    """Ask for several samples, each of a seed of its own."""
    samples = [
        ask_correction(make(material.seed * 1000 + sample), material.questions).assign(sample=sample)
        for sample in range(material.samples)
    ]
    return pd.concat(samples, ignore_index=True)


def _score(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Set confidence and critique beside random revision (`self_correction`)."""
    first, second = (answers.pivot(index="question_id", columns="sample", values=each) for each in ("first", "second"))
    both = answers["first"].notna() & answers["second"].notna()
    row: dict[str, object] = {"n_unread": int((~both).sum())}
    if both.mean() < 1 - MOST_UNREAD:
        return row
    return row | asdict(self_correction(first, second, draws.n, draws.seed))


CORRECTION = BatteryTest(
    ask=_ask,
    scores={"correction": _score},
    headline=Headline("correction", "rss", "RSS after a check", n="n_pairs", chance=0.5),
    measures="right answers kept, wrong ones corrected",
    source="2412.19513",
    formula="CL, CS, RSS beside random revision",
    caveat="samples of one prompt",
    reply="first_text",
)

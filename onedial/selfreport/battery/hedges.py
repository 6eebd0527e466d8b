"""Hedges in free answers, in the first person and impersonally ("I'm Not Sure, But..."), and whether they are right."""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.measuring import ask_table
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.selfreport.ask.phrases import HEDGES, count_hedges
from onedial.selfreport.ask.requests import correct, writes
from onedial.selfreport.frame import BatteryTest, Draws, area, signal_of

SURE_ANSWER = writes(
    "free answer",
    "Question: {question}\n\nAnswer in one or two sentences. If you are not sure, say so.",
    ("question",),
    48,
)


def ask_hedges(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Free answers, their hedges, and whether they are right.

    Returns:
        question_id, text, first person, impersonal, words, correct. Phrases are English: of a text in another language
        (`language_of`) none is counted, and no word.
    """
    texts = ask_table(respondent, SURE_ANSWER, [{"question": each.rendered} for each in questions])["text"].str.strip()
    rows = [
        {"question_id": each.id, "text": text, **count_hedges(text), "correct": correct(each, text)}
        for each, text in zip(questions, texts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["question_id", "text", *HEDGES, "words", "correct"])


def _score(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Count hedges per 100 words, and ask whether answers with more of them are more often wrong."""
    words, hedges = float(answers["words"].sum()), answers[list(HEDGES)].sum(axis=1)
    row: dict[str, object] = {
        "n": len(answers),
        "n_empty": int((answers["words"] == 0).sum()),
        "words": words / len(answers),
    }
    row |= {kind: 100 * float(answers[kind].sum()) / words if words else float("nan") for kind in HEDGES}
    row["texts_with_hedge"] = float((hedges > 0).mean())
    graded = answers["correct"].notna()
    if graded.sum() > 1:
        signal = signal_of(-hedges[graded], answers.loc[graded, "correct"], answers.loc[graded, "question_id"], draws)
        row |= {"n_graded": int(graded.sum()), **signal[["auroc", "low", "high"]]}
    return row


HEDGES_TEST = BatteryTest(
    ask=lambda make, material: ask_hedges(make(0), material.questions),
    scores={"hedges": _score},
    headline=area("hedges", "answers without hedges", unread="n_empty"),
    measures="hedges in free text, first person and impersonal",
    source='"I\'m Not Sure, But..."',
    formula="per 100 words; AUROC",
    caveat="a list of English phrases",
    reply="text",
)

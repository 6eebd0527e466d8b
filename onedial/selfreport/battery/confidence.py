"""Stated confidence by what was written or shown before it: nothing, one's own answer, a critique, a named gap."""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, CONFIDENCE_IN_NUMBERS
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate, Turns
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.confidence.calibration import brier_skill, expected_calibration_error
from onedial.selfreport.ask.requests import correct, writes
from onedial.selfreport.ask.self_reports import SelfReport
from onedial.selfreport.frame import BatteryTest, Draws, area, counts_of, mostly_unread, signal_of

_NUMBER = (
    "How likely is it that {which} is correct? Give the percentage in two digits, from 00 (impossible) to 99 (certain)."
)
_ASKED, _SHOWN = "Question: {question}\n\n", "Question: {question}\nAnswer: {answer}\n\n"
_LOOKS = {
    name: writes(name, words, ("question", "answer") if "{answer}" in words else ("question",), 40)
    for name, words in {
        "question criticised": _ASKED + "Say in one sentence what makes this question hard.",
        "answer criticised": _SHOWN + "Say in one sentence what may be wrong with this answer.",
        "gap named": _ASKED + "Say in one sentence what you would have to look up to answer this question.",
    }.items()
}


def _after(way: str, which: str, before: str, earlier: Turns, slots: tuple[str, ...]) -> PromptTemplate:
    return PromptTemplate(before + _NUMBER.replace("{which}", which), "Answer: ", way, slots, earlier)


ANSWER_SHOWN = CONFIDENCE_IN_NUMBERS.framed(_after("answer shown", "the answer", _SHOWN, (), ("question", "answer")))
WAYS = {
    "plain": CONFIDENCE_IN_NUMBERS,
    "answer shown": ANSWER_SHOWN,
    **{
        name: CONFIDENCE_IN_NUMBERS.framed(
            _after(
                name,
                "this answer" if "answer" in look.template.slots else "your answer to the question",
                "",
                ((look.template.user, "{look}"),),
                (*look.template.slots, "look"),
            )
        )
        for name, look in _LOOKS.items()
    },
}
CONFIDENCE_WAYS = tuple(WAYS)
"""plain: before any answer. answer shown: one's own answer, in a fresh chat. The others: after one's own sentence."""


def ask_confidence_ways(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Ask for confidence in numbers in each of `CONFIDENCE_WAYS`, beside the graded answer.

    Returns:
        question_id, way, confidence (expected value over all number tokens), likeliest (the likeliest decile), correct,
        written (the sentence before it); nan where unread. An empty answer is asked no further than `plain`.
    """
    table = pd.DataFrame(
        {"question_id": [each.id for each in questions], "question": [each.rendered for each in questions]}
    )
    table["answer"] = ask_table(respondent, CLOSED_BOOK, table[["question"]].to_dict("records"))["text"].str.strip()
    table["correct"] = [correct(each, text) for each, text in zip(questions, table["answer"], strict=True)]
    parts = []
    for way, instrument in WAYS.items():
        asked = (table if way == "plain" else table[table["answer"] != ""]).reset_index(drop=True).assign(written="")
        if look := _LOOKS.get(way):
            slots = asked[list(look.template.slots)].to_dict("records")
            asked["written"] = ask_table(respondent, look, slots)["text"].str.strip()
        slots = asked.assign(look=asked["written"].replace("", "-"))[list(instrument.template.slots)].to_dict("records")
        given = ask_table(respondent, instrument, slots)
        parts.append(asked.assign(way=way, confidence=given["stated"], likeliest=given["value"]))
    columns = ["question_id", "way", "confidence", "likeliest", "correct", "written"]
    return pd.concat(parts, ignore_index=True)[columns]


def _of_way(asked: pd.DataFrame, draws: Draws) -> dict[str, object]:
    row = counts_of(asked["confidence"])
    if mostly_unread(asked["confidence"]):
        return row
    graded = asked[asked["correct"].notna() & asked["confidence"].notna()]
    c, y = graded["confidence"], graded["correct"]
    signal = signal_of(c, y, graded["question_id"], draws)
    return row | {
        "n_graded": len(graded),
        "accuracy": float(y.mean()),
        "confidence": float(c.mean()),
        "ece": expected_calibration_error(c, y, bins="mass", n_bootstrap=1).value,
        "skill": brier_skill(c, y, n_bootstrap=1).value,
        **signal[["auroc", "low", "high"]],
        "commonest_decile": float(asked["likeliest"].value_counts(normalize=True).max()),
    }


def _score(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Measure calibration and discrimination, by way."""
    rows = {way: _of_way(asked, draws) for way, asked in answers.groupby("way", sort=False)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("way")


CONFIDENCE = BatteryTest(
    ask=lambda make, material: ask_confidence_ways(make(0), material.questions),
    scores={"confidence": _score},
    headline=area("confidence", "stated confidence", only=("plain", "answer shown")),
    measures="stated confidence before an answer, with it shown, after a critique, after a named gap",
    source="2510.24505, SaySelf",
    formula="error, Brier skill, AUROC",
    caveat="whether the gap is right is not judged",
    reply="confidence",
    reports=(SelfReport("confidence in numbers, answer shown", {"plain": ANSWER_SHOWN}, "answers", "probability"),),
)

"""Which of two questions are you surer of (arXiv 2502.01126)? Asked of pairs in both orders, so that the place of a
question cancels, beside absolute confidence in the same questions."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, YES_NO, Instrument, TokenReader
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.confidence.signals import signal_table
from onedial.core.errors import InputError
from onedial.selfreport.ask.requests import correct
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.frame import BatteryTest, Draws, Make, Material, area, counts_of, mostly_unread
from onedial.selfreport.score.relative_confidence import bradley_terry, circular_null, paired_design

ABSOLUTE = ("can you answer", "confidence in numbers", "P(IK)")
REFERENCE, RELATIVE = "confidence in numbers", "pairs, Bradley-Terry"
MOST_CIRCLES_DRAWN = 499
SURER_OF = Instrument(
    "surer of",
    PromptTemplate(
        "Here are two questions.\n\nA) {one}\nB) {two}\n\nWhich of them are you surer to answer correctly? Reply with "
        "the letter.",
        "Answer:",
        "surer of",
        ("one", "two"),
    ),
    YES_NO,
    TokenReader({"yes": (" A", "A"), "no": (" B", "B")}),
)
"""Says yes for the question behind A."""


def ask_pairs(respondent: Respondent, questions: Sequence[Question], pairs: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Put pairs of questions side by side, each in both orders.

    Args:
        pairs: places among the questions, such as `onedial.selfreport.score.relative_confidence.paired_design` gives.

    Returns:
        first, second (places), first_id, second_id; first_as_a, first_as_b: log-odds in favour of the first question
        when it stood behind A and behind B, nan where unread; surer: their mean, position: half their difference,
        positive = A is favoured whatever stands there.
    """
    orders = [(one, other) for one, other in pairs] + [(other, one) for one, other in pairs]
    slots = [{"one": questions[one].rendered, "two": questions[other].rendered} for one, other in orders]
    margins = ask_table(respondent, SURER_OF, slots)["margin"].to_numpy()
    as_a, as_b = margins[: len(pairs)], -margins[len(pairs) :]
    return pd.DataFrame(pairs, columns=["first", "second"]).assign(
        first_id=[questions[one].id for one, _ in pairs],
        second_id=[questions[other].id for _, other in pairs],
        **{"first_as_a": as_a, "first_as_b": as_b, "surer": (as_a + as_b) / 2, "position": (as_a - as_b) / 2},
    )


def _ask(make: Make, material: Material) -> pd.DataFrame:
    """Ask pairs, and the absolute confidence and correctness of the same questions in rows of their own."""
    questions = material.questions
    asked = ask_pairs(make(0), questions, paired_design(len(questions), material.n_each, material.seed))
    items = [Item(each.id, {"question": each.rendered}) for each in questions]
    given = ask_table(make(0), CLOSED_BOOK, [item.slots for item in items])["text"]
    absolute = pd.DataFrame(
        {
            "first_id": [each.id for each in questions],
            "first": range(len(questions)),
            "second": -1,
            "correct": [correct(each, text) for each, text in zip(questions, given, strict=True)],
        }
    )
    for name in ABSOLUTE:
        absolute[name] = ask_self_report(make(0), SELF_REPORTS[name], items)["score"].to_numpy()
    return pd.concat([asked, absolute], ignore_index=True)


def _won(answers: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[int, int]], int]:
    """List the pairs that were read, (surer, less sure) of each of them, and how many questions there are."""
    read = answers[(answers["second"] >= 0) & answers["surer"].notna() & (answers["surer"] != 0)]
    ordered = read[["first", "second", "surer"]].to_numpy()
    won = [(int(one), int(other)) if surer > 0 else (int(other), int(one)) for one, other, surer in ordered]
    return read, won, int((answers["second"] < 0).sum())


def _beside(answers: pd.DataFrame) -> pd.DataFrame:
    """Question x absolute and relative confidence; the latter nan where too little was read or nothing connects."""
    absolute = answers[answers["second"] < 0].set_index("first_id")
    table = absolute[list(ABSOLUTE)].astype(float).assign(**{RELATIVE: np.nan})
    _, won, n = _won(answers)
    if not mostly_unread(answers.loc[answers["second"] >= 0, "surer"]):
        with suppress(InputError):  # which the table of pairs says
            table[RELATIVE] = bradley_terry(won, n)[0][absolute["first"].astype(int).to_numpy()]
    return table


def _pairs(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Whether there is one scale in the pairs (`bradley_terry`, `circular_null`), and what the place does."""
    asked = answers[answers["second"] >= 0]
    row = counts_of(asked["surer"])
    if mostly_unread(asked["surer"]):
        return row
    read, won, n = _won(answers)
    as_a, as_b = read[["first_as_a", "first_as_b"]].to_numpy(dtype=float).T
    row |= {
        "position": float(read["position"].mean()),
        "position_sd": float(read["position"].std()),
        "same_question": float((np.sign(as_a) == np.sign(as_b)).mean()) if len(read) else float("nan"),
        "always_a": float(((as_a > 0) & (as_b < 0)).mean()) if len(read) else float("nan"),
    }
    try:
        scores, error = bradley_terry(won, n)
        null = circular_null(won, n, min(draws.n, MOST_CIRCLES_DRAWN), draws.seed)
    except InputError as reason:
        return row | {"no_scores": str(reason)}
    table = _beside(answers)
    row |= asdict(null) | {"spread": float(scores.std()), "error": float(error.mean())}
    return row | {"rank_with_absolute": float(table[RELATIVE].corr(table[REFERENCE], "spearman"))}


def _signals(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Set relative beside absolute confidence (`signal_table`)."""
    table, correctly = _beside(answers), answers[answers["second"] < 0].set_index("first_id")["correct"]
    return signal_table(table, correctly, draws.of(table.index), REFERENCE, draws.n, draws.seed)


PAIRS = BatteryTest(
    ask=_ask,
    scores={"pairs": _pairs, "pairs_signals": _signals},
    headline=area("pairs_signals", "which question it is surer of", only=(RELATIVE,)),
    measures="which of two it is surer of",
    source="2502.01126",
    formula="Bradley-Terry against right and wrong, circular triads, position",
    caveat="two orders of a deterministic respondent are one observation",
)

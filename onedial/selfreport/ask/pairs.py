"""Which of two questions are you surer of? Asked of pairs in both orders, so that the place of a question cancels."""

from collections.abc import Sequence

import pandas as pd

from onedial.asking import (
    YES_NO,
    Instrument,
    PromptTemplate,
    Question,
    Respondent,
    TokenReader,
    answers_in_order,
    is_read,
)

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
        pairs: places among the questions, such as `onedial.selfreport.paired_design` gives.

    Returns:
        first, second (places), first_id, second_id; first_as_a, first_as_b: log-odds in favour of the first question
        when it stood behind A and behind B, nan where unread; surer: their mean, position: half their difference,
        positive = A is favoured whatever stands there.
    """
    orders = [(one, other) for one, other in pairs] + [(other, one) for one, other in pairs]
    prompts = [SURER_OF.prompt(one=questions[one].text, two=questions[other].text) for one, other in orders]
    given = answers_in_order(respondent, prompts, SURER_OF)
    margins = [answer.margin if is_read(answer.mass) else float("nan") for answer in given]
    as_a, as_b = margins[: len(pairs)], [-margin for margin in margins[len(pairs) :]]
    table = pd.DataFrame(pairs, columns=["first", "second"]).assign(
        first_id=[questions[one].id for one, _ in pairs],
        second_id=[questions[other].id for _, other in pairs],
        first_as_a=as_a,
        first_as_b=as_b,
    )
    return table.assign(
        surer=(table["first_as_a"] + table["first_as_b"]) / 2, position=(table["first_as_a"] - table["first_as_b"]) / 2
    )

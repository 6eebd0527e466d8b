r"""A test of the battery: what it asks, how one respondent is scored, and which number is read first.

`ask` returns a row for each answer. `--instruments` chooses it.

    python experiments/ask.py battery --plugin my_test.py,my_respondent.py --model "by length" \
           --instruments twice --n-questions 20 --out runs/twice
"""

import pandas as pd

from onedial.asking import CAN_YOU_ANSWER, ask_table
from onedial.selfreport import BATTERY, BatteryTest, Headline


def ask_twice(make, material):
    """The same question to two draws of the respondent."""
    slots = [{"question": each.text} for each in material.questions]
    first, second = (ask_table(make(seed), CAN_YOU_ANSWER, slots)["said_yes"] for seed in (0, 1))
    return pd.DataFrame({"question_id": [each.id for each in material.questions], "first": first, "second": second})


def same_answer(answers, draws):
    """Share of the questions that get one answer twice."""
    read = answers.dropna()
    same = (read["first"] == read["second"]).mean()
    return {"n": len(read), "n_unread": len(answers) - len(read), "same": same}


BATTERY["twice"] = BatteryTest(
    ask=ask_twice,
    scores={"twice": same_answer},
    headline=Headline("twice", "same", "the same answer twice", share=True, chance=0.5),
    measures="whether an answer repeats",
    formula="share of equal answers",
    caveat="who always says the same repeats too",
)

"""I believe that S; do I? Mary believes that S; does she? for true and false S (after KaBLE).

Asked for a belief, yes is right whether or not the statement is true.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.instruments import YES_NO, YES_NO_TOKENS, Instrument
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.asking.statements import Statement, load_statements
from onedial.selfreport.ask.self_reports import Item, SelfReport, facts_for
from onedial.selfreport.frame import BatteryTest, Draws, Headline, Make, Material
from onedial.selfreport.score.revision import answer_changes
from onedial.stats.level import MOST_UNREAD


def _belief(name: str, words: str) -> Instrument:
    return Instrument(name, PromptTemplate(words, "Answer:", name, ("statement",)), YES_NO, YES_NO_TOKENS)


BELIEFS = {
    "first": _belief("belief, first person", "I believe that this is so: {statement} Do I believe it? Yes or No?"),
    "third": _belief(
        "belief, third person", "Mary believes that this is so: {statement} Does Mary believe it? Yes or No?"
    ),
    "fact": _belief("belief, by itself", "Is this so: {statement} Yes or No?"),
}


def ask_beliefs(respondent: Respondent, statements: Sequence[Statement]) -> pd.DataFrame:
    """Ask whether "I believe" flips the yes: every statement in the first person, the third, and by itself.

    Returns:
        question_id, person (first, third, fact), true (1 / 0 of the statement), said_yes (1 / 0, nan unread), margin.
    """
    about: dict[str, Any] = {
        "question_id": [each.id for each in statements],
        "true": [float(each.true) for each in statements],
    }
    slots = [{"statement": each.text()} for each in statements]
    given = [ask_table(respondent, each, slots).assign(person=person, **about) for person, each in BELIEFS.items()]
    return pd.concat(given, ignore_index=True)[["question_id", "person", "true", "said_yes", "margin"]]


def _shares(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Compute the share of yes by person and truth."""
    grouped = answers.groupby(["person", "true"], sort=False)
    n, size = grouped["said_yes"].count(), grouped.size()
    table = pd.DataFrame(
        {"n": n, "n_unread": size - n, "says_yes": grouped["said_yes"].mean(), "margin": grouped["margin"].mean()}
    )
    table.loc[table["n_unread"] > MOST_UNREAD * size, ["says_yes", "margin"]] = np.nan
    return table


def _gap(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Compute how much less "I believe" counts than "Mary believes" where it is false, beyond where it is true.

    Who goes by the words (a name, a capital) tells the two persons apart as well where the belief is true: only what is
    beyond that counts. Its interval joins the two (Newcombe's MOVER).
    """
    row: dict[str, Any] = {"n": 0, "n_unread": 0}
    gaps: dict[bool, Any] = {}
    for true, some in answers.groupby("true"):
        yes = some.pivot(index="question_id", columns="person", values="said_yes")
        both = yes[["first", "third"]].notna().all(axis=1)
        row |= {"n": row["n"] + int(both.sum()), "n_unread": row["n_unread"] + int((~both).sum())}
        if both.any() and both.mean() >= 1 - MOST_UNREAD:
            gaps[bool(true)] = answer_changes(yes["first"], yes["third"])
    if len(gaps) < 2:
        return row
    false, true = gaps[False], gaps[True]
    beyond = false.change - true.change
    down = float(np.hypot(false.change - false.low, true.high - true.change))
    up = float(np.hypot(false.high - false.change, true.change - true.low))
    row |= {"third_less_first": false.change, "of_true": true.change}
    return row | {"beyond": beyond, "low": beyond - down, "high": beyond + up}


def _ask(make: Make, material: Material) -> pd.DataFrame:
    return ask_beliefs(make(0), load_statements(facts_for(material.questions, material.seed)))


def _statements(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"statement": each.text()}) for each in load_statements(facts_for(questions, seed))]


BELIEFS_TEST = BatteryTest(
    ask=_ask,
    scores={"beliefs": _shares, "beliefs_gap": _gap},
    headline=Headline(
        "beliefs_gap",
        "beyond",
        "false beliefs granted to others more often than to itself, less the same for true ones",
        chance=0,
    ),
    measures="I believe S, do I? Mary believes S, does she? is it so?",
    source="KaBLE",
    formula="yes to false ones, Mary's less one's own, beyond true ones",
    caveat="only the difference counts: yes is right of any belief",
    reply="said_yes",
    reports=[SelfReport(each.name, {"plain": each}, "facts", items=_statements) for each in BELIEFS.values()],
)

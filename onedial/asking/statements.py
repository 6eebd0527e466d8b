"""The embedded facts as statements, each with a place for a marker: as it stands, or negated.

    Paris is {marker} the capital of France.

Nothing in the place affirms it, and "not" negates it.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from onedial.asking.named_data import embedded_file
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.tables import read_table
from onedial.core.errors import InputError

NEGATION = "not"
MARKER = "{marker}"
STATEMENT_PROMPT = PromptTemplate(
    "Is this statement true? Answer yes or no.\n\nStatement: {question}", "Answer:", "statement"
)


@dataclass(frozen=True)
class Statement:
    """One fact with a place for a marker.

    Attributes:
        id, topic: those of the fact. pattern: its words, with `{marker}`. true: whether it holds as it stands.
    """

    id: str
    topic: str | None
    pattern: str
    true: bool

    def text(self, marker: str = "") -> str:
        """The statement with this word in its place; with no word, as it stands.

        >>> Statement("s", None, "Paris is {marker} a city.", True).text("not")
        'Paris is not a city.'
        """
        return self.pattern.replace(MARKER, marker) if marker else self.pattern.replace(f"{MARKER} ", "")


def load_statements(facts: Sequence[Question]) -> list[Statement]:
    """These facts as statements (`load_facts`).

    Raises:
        InputError: a fact that has no statement.
    """
    with ExitStack() as stack:
        frame = read_table(embedded_file("fact_statements.jsonl", stack)).frame
    patterns = dict(zip(frame["id"].astype(str), frame["statement"].astype(str), strict=True))
    if unknown := [fact.id for fact in facts if fact.id not in patterns]:
        raise InputError(
            f"{len(unknown)} of {len(facts)} facts have no statement, first {unknown[0]!r}; give those of load_facts"
        )
    return [Statement(fact.id, fact.topic, patterns[fact.id], fact.answers[0] == "yes") for fact in facts]

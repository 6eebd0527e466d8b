"""What is no answer at all: nothing, a bare label such as "Answer:", or the question again.

The question comes again in three ways: as it stands; as another question about the same things; or as a statement that
repeats at least 60% of its content words, in their order, and adds none ("Raisins are dried."). A name out of the
question is a wrong answer, not none; a wrong statement that does all of this ("David was the first king over Israel",
where somebody before David was asked for) cannot be told from a repetition.
"""

import re

from onedial.panels.grading.answer_text import Statement, normalised_tokens

_LABEL = re.compile(
    r"^(?:(?:final\s+|short\s+)?answer\s*(?:is\b|:|-)\s*:?|a\s*:|the\s+(?:correct\s+)?answer\s+is\b:?|q(?:uestion)?\s*:)",
    re.IGNORECASE,
)
_BARE_LABEL = re.compile(r"(?:\w+\s+){0,2}\w+\s*:")
_FEWEST_WORDS = 2
_SHARE_ASKED_BACK = 0.5
_SHARE_REPEATED = 0.6


def first_statement(text: str, question: str = "") -> Statement:
    """The first line that says something, without its label; empty where none does.

    Lines that hold no word, only a label, or the question as it stands are passed over.
    """
    plain = re.sub(r"[*`#]+", "", text)
    asked = normalised_tokens(question)
    for line in plain.splitlines():
        said = _LABEL.sub("", line.strip()).strip()
        if said and not _BARE_LABEL.fullmatch(said) and normalised_tokens(said) not in ([], asked):
            return Statement(said)
    return Statement("")


def asks_back(answer: Statement, question: Statement) -> bool:
    """Whether it is a question about what was asked: it ends in a question mark and shares half of its content."""
    if not answer.text.endswith("?") or not answer.content:
        return False
    asked = set(question.content)
    return sum(token in asked for token in answer.content) >= _SHARE_ASKED_BACK * len(answer.content)


def repeats_the_question(answer: Statement, question: Statement) -> bool:
    """Whether it says again what was asked and adds nothing; never where the question offers a choice ("or")."""
    if "or" in question.tokens or len(answer.content) < _FEWEST_WORDS:
        return False
    rest = iter(question.content)
    in_order = all(token in rest for token in answer.content)
    return in_order and len(answer.content) >= _SHARE_REPEATED * len(question.content)

"""What kind of thing a question asks for, by its words, so that wrong options are of that kind, too.

A rule for English: the noun behind "which", "what", "name the" or "how many". Where it knows none of them there is no
kind, and the question is given no options.
"""

import re

from onedial.asking.questions import Question
from onedial.core.files import packaged_yaml

_KIND_OF = {
    noun: kind
    for kind, nouns in packaged_yaml("onedial.selfreport", "texts.yaml")["kinds"].items()
    for noun in nouns.split()
}
_ASKED = re.compile(
    r"\b(?:which|what(?: is the| was the| kind of| sort of| type of)?|name (?:the|an?))\s+"
    r"((?:[\w'’-]+\s+){0,3}?)(\w+)\b",
    re.I,
)
_YEAR = re.compile(r"\b(?:what|which) year\b|\bwhen\b", re.I)
_WHO = re.compile(
    r"^(?:who|whose)\b|\b(?:by|of|to|for|from|with|after|under) whom\b|[;,:] who(?:m|se)?\b"
    r"|\bwho (?:is|was) (?:he|she)\b",
    re.I,
)


def kind_asked(question: Question) -> str | None:
    """Find what the answer is to be, such as "person" or "river"; None where the words do not say.

    >>> kind_asked(Question("q", "Which river flows through Cairo?", ("Nile",)))
    'water'
    >>> kind_asked(Question("q", "In what year did it end?", ("1945",))), kind_asked(Question("q", "Why?", ("so",)))
    ('year', None)
    """
    answer = question.answers[0]
    if any(sign.isdigit() for sign in answer):
        if _YEAR.search(question.text) and re.fullmatch(r"\d{3,4}", answer):
            return "year"
        number = number_of(answer)
        return None if number is None else "whole number" if number >= 0 and number.is_integer() else "number"
    if _WHO.search(question.text) and answer[:1].isupper():
        return "person"
    for match in _ASKED.finditer(question.text):
        for noun in (match[2], *reversed(match[1].split())):
            kind = _KIND_OF.get(noun.lower()) or _KIND_OF.get(noun.lower().removesuffix("s"))
            if kind is not None and (kind != "person" or answer[:1].isupper()):
                return kind
    return None


def number_of(answer: str) -> float | None:
    """Read the number that an answer is, None where it is more than that."""
    try:
        return float(answer.replace(",", ""))
    except ValueError:
        return None

"""Where in a written text the answer stands, and when two texts give the same one."""

import re

from onedial.panels.grading.answer_text import FUNCTION_WORDS, normalised_tokens
from onedial.panels.grading.non_answers import first_statement

_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*")


def answer_spans(text: str, question: str = "") -> list[tuple[int, int]]:
    """(start, end) of every word that says something which the question has not said; all words where none does.

    >>> [text[a:b] for text in ["The capital of France is Paris."] for a, b in answer_spans(text, "Capital of France?")]
    ['Paris']
    """
    words = [(found.start(), found.end()) for found in _WORDS.finditer(text)]
    asked = FUNCTION_WORDS | set(normalised_tokens(question))
    new = [(start, end) for start, end in words if not set(normalised_tokens(text[start:end])) <= asked]
    return new or words


def answer_label(text: str, question: str = "") -> str | None:
    """Its first statement's normalised words, which equal answers share; None where it says nothing.

    >>> answer_label("Answer: the Seine.") == answer_label("Seine")
    True
    """
    return " ".join(first_statement(text, question).tokens) or None

"""The questions: what each is, and how its identity is made when a file gives none."""

import re
import unicodedata
from dataclasses import dataclass

from common import sha256_of_text


@dataclass(frozen=True)
class Question:
    """One question of fact.

    Attributes:
        id: unique within a set; joins the question to a panel.
        text: what is asked.
        answers: accepted answers, best first; empty where none is known or none exists.
        topic: splits are stratified by it; None counts as one topic.
        level: intended difficulty, 1 (every child knows) to 5 (hardly anyone could), or None.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    topic: str | None = None
    level: int | None = None


def normalised_text(text: str) -> str:
    """Lower case, compatibility-composed, words only: two spellings of the same question become equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def question_id(text: str) -> str:
    """The id of a question whose file gives none: the first 12 hex digits of the normalised text's SHA-256."""
    return sha256_of_text(normalised_text(text))[:12]

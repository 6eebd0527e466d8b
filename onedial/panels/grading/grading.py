"""Grade a closed-book answer by the rules of SQuAD: normalised exact match and token F1, best over accepted answers.

With c tokens shared (counted with their multiplicity) between an answer of a tokens and an accepted one of b:

    precision = c / a,  recall = c / b,  F1 = 2 c / (a + b)

`correct` is a little wider than exact match, since models answer in sentences: the accepted answer may also stand
within the answer, as whole words in its order, unless the answer denies or offers a choice ("not", "or"; the question's
own words apart), or gives other numbers than those of question and key. The whole line counts, or what is left of it
without brackets, or the right side of its equation; a list of names counts in any order.

These rules do not know whether a surname is a namesake's, or a thing is named after its owner: a judge reads that
(`--judge`). What answers nothing is neither right nor wrong.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from onedial.panels.grading.answer_text import (
    FUNCTION_WORDS,
    find,
    first_statement,
    normalised_tokens,
    repeats_the_question,
)

Outcome = Literal["right", "wrong", "no answer", "ungraded"]
_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*")
_VERBS = "is was are were does do did ca could wo would has have had should"
_DENIALS = {"not", "never", "neither", "nor", "cannot", "or", *(f"{verb}nt" for verb in _VERBS.split())}
_UNSURE = r"I(?:['\u2019]m| am) not (?:\w+ )?(?:sure|certain)|I can(?:['\u2019]t|not) be (?:\w+ )?(?:sure|certain)"
_TAKEN_BACK = r".*\b(?:wait,? no|no,? wait|actually,? no|scratch that|correction)\b\W+(?=\w)|[^?]*\?\s*no\b\W+(?=\w)"
_HEDGE = re.compile(
    rf"^(?:{_TAKEN_BACK}|(?:As an AI, )?(?:{_UNSURE}),? but,?\s+)"
    rf"|[,;.(]\s*(?:(?:but|though|although)\s+)?(?:{_UNSURE})\W*$",
    re.IGNORECASE,
)
"""What denies no answer: a doubt beside it, and what is taken back before it."""
_BRACKETS = re.compile(r"(?<!\\)\([^()]*\)|\[[^\[\]]*\]")
_LISTED = re.compile(r"\s*,\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*")


@dataclass(frozen=True)
class Grade:
    """What an answer is worth.

    Attributes:
        exact: equal to an accepted answer after normalising; None where there is nothing to grade, or nothing to
            grade it by.
        f1: token F1 with the nearest accepted answer, 0 to 1; nan likewise.
        correct: exact, or an accepted answer stands within it (see the module's text); None likewise.
        outcome: "right", "wrong"; "no answer" for what answers nothing; "ungraded" where the question was not asked,
            or nothing is accepted.
    """

    exact: bool | None
    f1: float
    correct: bool | None
    outcome: Outcome

    @classmethod
    def of(cls, is_right: bool, exact: bool | None = None, f1: float | None = None) -> "Grade":
        """Right or wrong; exact and F1 are the same where an answer is one or the other."""
        outcome: Outcome = "right" if is_right else "wrong"
        return cls(is_right if exact is None else exact, float(is_right) if f1 is None else f1, is_right, outcome)


UNGRADED = Grade(exact=None, f1=float("nan"), correct=None, outcome="ungraded")
NO_ANSWER = Grade(exact=None, f1=float("nan"), correct=None, outcome="no answer")


def outcome_as_number(outcome: str, declined: float = float("nan")) -> float:
    """What an outcome is as a number: 1 for right, 0 for wrong, nan for what was not answered or not graded.

    Args:
        declined: for "no answer", where whoever declines is to count: 0 as not right.

    >>> [outcome_as_number(each) for each in ("right", "wrong", "ungraded", "no answer")]
    [1.0, 0.0, nan, nan]
    """
    return {"right": 1.0, "wrong": 0.0, "no answer": declined}.get(outcome, float("nan"))


def grade(answer_text: str | None, accepted: Sequence[str], question: str = "", exact: Sequence[str] = ()) -> Grade:
    """Grade one answer against all accepted ones.

    Args:
        answer_text: what the respondent wrote: its first line that says something counts. None: it was not asked.
        accepted: accepted answers, aliases included; empty where none is known or none exists.
        question: what was asked; its words and numbers may stand in the answer, and without it the question that
            comes back as an answer is not known for what it is.
        exact: answers that are accepted only as the whole answer ("fall", which stands in too many sentences).

    Returns:
        The grade; its outcome is "no answer" also where nothing is accepted.

    >>> grade("The Danube.", ["Danube"]).correct
    True
    """
    if answer_text is None:
        return UNGRADED
    statement = first_statement(answer_text, question)
    answer = _HEDGE.sub("", statement).strip() or statement
    asked, repeats = normalised_tokens(question), repeats_the_question(answer, question)
    if not answer or (repeats and not (accepted or exact)):
        return NO_ANSWER
    if not (accepted or exact):
        return UNGRADED
    if "whose" in asked:
        answer = re.sub(r"(?<=\w)['’]s\b", "", answer)
    given, wanted = normalised_tokens(answer), [normalised_tokens(text) for text in (*accepted, *exact)]
    is_exact = given in wanted
    numbers = _numbers(asked, *wanted)
    parts = [answer, _BRACKETS.sub(" ", answer), answer.rpartition("=")[2]]
    held = any(_holds(part, text, numbers) and not _denies(given, text, asked) for part in parts for text in accepted)
    if repeats and not is_exact and (not held or answer.endswith("?")):
        return NO_ANSWER
    f1 = max(2 * sum((Counter(given) & Counter(own)).values()) / (len(given) + len(own)) for own in wanted)
    return Grade.of(is_exact or held, is_exact, f1)


def _numbers(*texts: list[str]) -> set[str]:
    """Numbers that may stand in an answer beside these texts: "10th" also as 10."""
    known = {token for text in texts for token in text if token[0].isdigit()}
    return known | {re.sub("(?:st|nd|rd|th)$", "", token) for token in known}


def _holds(answer: str, wanted: str, numbers: set[str]) -> bool:
    """Whether an accepted answer stands in another, whose numbers are all known where it has some itself."""
    given, own = normalised_tokens(answer), normalised_tokens(wanted)
    if len(wanted) == 1 and wanted.isupper():  # a lone letter stands in too many sentences
        return wanted == answer.strip() or bool(
            re.search(rf"(?:\b(?:is|are)|[:=])\s+\W?{wanted}\W*(?:[.,;!(]|$)", answer)
        )
    if any(token[0].isdigit() for token in own) and {token for token in given if token[0].isdigit()} - numbers:
        return False
    names = _LISTED.split(wanted)
    is_list = all(name[:1].isupper() for name in names)
    return bool(find(given, own)) or (is_list and all(find(given, normalised_tokens(name)) for name in names))


def _denies(given: list[str], wanted: str, asked: list[str]) -> bool:
    """Whether words of denial or choice stand there that neither the key nor the question has before the same word."""
    repeated = {*pairwise(asked), *pairwise(normalised_tokens(wanted))}
    return any(pair[0] in _DENIALS and pair not in repeated for pair in pairwise([*given, ""]))


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
    return " ".join(normalised_tokens(first_statement(text, question))) or None

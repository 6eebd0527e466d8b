"""Yes and no: the words whose tokens are counted at the answer position, and the reading of a written answer.

At the answer position a respondent is read from its logits: margin = logsumexp over the yes tokens minus logsumexp
over the no tokens, mass = probability of both together. Where it reasons first, its text is read instead.
"""

import re
from typing import Any

from onedial.asking.replies import begun, ended_a_thought, is_denied, unmarked

YES_VARIANTS = ("Yes", "yes", "YES", " Yes", " yes", " YES")
NO_VARIANTS = ("No", "no", "NO", " No", " no", " NO")

MASS_FLOOR = 0.1
"""An answer to which yes and no together get less probability counts as unread."""

_CHOICE = re.compile(r"\b(?:yes\s*(?:/|,?\s*or|and)\s*no|no\s*(?:/|,?\s*or|and)\s*yes)\b")
_ANSWER = re.compile(r"(?<![\w'-])(?:(?P<yes>yes)|no|nope)\s*(?:$|[^\w\s'-])")
_LABELLED = re.compile(r"^\W*(?:(?:my|the|final)\s+)*answer\s*(?:is\s*)?[:=-]\W*(?:(?P<yes>yes)|no)\W*$", re.MULTILINE)


def is_read(mass: Any) -> Any:
    """Whether an answer with this mass (a number, array, column or tensor) was read; nan is not."""
    return mass >= MASS_FLOOR


def parse_yes_no(text: str, finished: bool = True) -> bool | None:
    """Read an answer that may reason before it decides.

    1. Thoughts, markup and a next turn are left out (`unmarked`).
    2. The last line "Answer: yes" or "Answer: no" decides, whatever is said beside it.
    3. Where there is none, the last sentence with a yes or a no decides, and says nothing where it has both.
    4. A yes or no is the word before a sign or at the end ("Yes.", "no, since ..."), so that "no doubt" is none; not
       behind a "not" in its clause ("I cannot say no"), and not in "yes or no".

    English alone is read.

    Args:
        finished: False where it was cut off: then `parse_direct_yes_no` reads it.

    Returns:
        True for yes, False for no; None where neither is clear.

    >>> parse_yes_no("At first: no. But I recall it, so yes."), parse_yes_no("No doubt."), parse_yes_no("No.")
    (True, None, False)
    """
    if not finished:
        return parse_direct_yes_no(text, finished)
    plain = _plain(text)
    if labelled := [*_LABELLED.finditer(plain)]:
        return labelled[-1]["yes"] is not None
    for sentence in reversed(re.split(r"(?<=[.!?])\s+|\n", plain)):
        if words := _words(sentence):
            return words == {True} if len(words) == 1 else None
    return None


def parse_direct_yes_no(text: str, finished: bool = True) -> bool | None:
    """Read an answer that comes first, with or without talk after it: the first line in which `parse_yes_no` reads one.

    Args:
        finished: False where it was cut off: it may have been reasoning still, so that a yes or no counts only as its
            first word, unless a thought has closed in it (`onedial.asking.replies.begun`).

    Returns:
        True for yes, False for no, None where neither is clear.
    """
    if not finished and not ended_a_thought(text):
        first = _ANSWER.match(_plain(begun(text)).lstrip("\"'("))
        return None if first is None else first["yes"] is not None
    answers = (parse_yes_no(line) for line in _plain(text).splitlines())
    return next((answer for answer in answers if answer is not None), None)


def _plain(text: str) -> str:
    return _CHOICE.sub(" ", unmarked(text).casefold())


def _words(sentence: str) -> set[bool]:
    """The answers that a sentence gives: True for a yes, False for a no."""
    matches = _ANSWER.finditer(sentence)
    return {each["yes"] is not None for each in matches if not is_denied(sentence[: each.start()])}

"""Yes and no: the words whose tokens are counted at the answer position, and the reading of a reasoned answer.

At the answer position a respondent is read from its logits: margin = logsumexp over the yes tokens minus logsumexp
over the no tokens, mass = probability of both together. Where it reasons first, its text is read instead.
"""

import re
import unicodedata
from typing import Any

from onedial.asking.replies import ASKS, begun, ended_a_thought, turn_by_turn, without_thoughts

YES_VARIANTS = ("Yes", "yes", "YES", " Yes", " yes", " YES")
NO_VARIANTS = ("No", "no", "NO", " No", " no", " NO")

MASS_FLOOR = 0.1
"""An answer to which yes and no together get less probability counts as unread."""

_CHOICE = r"yes\s*(?:/|,?\s*or)\s*no|no\s*(?:/|,?\s*or)\s*yes"
_BOTH = r"(?P<both>yes\s+and\s+no|no\s+and\s+yes)"
_EDGE = r"(?![\w'’]|-\w)"
_YES = rf"(?P<yes>(?:yes|yeah|yep|yup){_EDGE})"
# "no" before another word is an article ("no doubt", "no one"); before these it is an answer.
_NO = (
    rf"(?P<no>(?:nope|no){_EDGE}(?!\.?\s*\d)"
    r"(?=\s*(?:$|[^\w\s]|\n)|\s+(?:because|since|as|i|i['’]m|it|this|that|we|they|you|my|sorry|unfortunately|but)\b))"
)
_ANSWER = re.compile(rf"(?<![\w'’-])(?:{_BOTH}|{_YES}|{_NO})")
_DENIED = re.compile(r"(?:\bnot|\bnever|\bcannot|n['’]t)\s+(?:(?!but\b)\w+\s+){0,2}[\"'“‘]?$")
_DENIED_AFTER = re.compile(
    r"[\"'”’]?\s+(?:is|was|would\s+be)(?:\s+(?:not|wrong|false|incorrect|impossible)\b|n['’]t\b)"
)
# What says yes or no whatever was asked. Before anything else it may be mere politeness ("Certainly! I do not know").
_ALONE = re.compile(
    r"(?:(?P<no>(?:of course|certainly|absolutely|definitely|probably|(?:most )?likely) not|not (?:at all|really)"
    r"|i['’]m afraid not|i do(?: not|n['’]t) (?:think|believe) so|(?:very |highly )?unlikely|i doubt it)"
    r"|(?P<yes>of course|certainly|absolutely|definitely|indeed|(?:(?:most|very|quite) )?(?:probably|likely)"
    r"|i (?:think|believe|guess|suppose) so))[.!\s]*"
)

_LABELLED = re.compile(
    r"^[^\w\n]*(?:(?:my|the|final|short)\s+)*answer\s*(?:is\s*)?[:=-][^\w\n]*(?:(?P<yes>yes)|no)[^\w\n]*$", re.MULTILINE
)
"""The line that is asked for where one may reason first: whatever is said beside it, it is the answer."""
_NEXT = re.compile(rf"^[^\w\n]*{ASKS}", re.MULTILINE)
"""Where a model that does not stop goes on to a turn that nobody has asked for."""


def is_read(mass: Any) -> Any:
    """Whether an answer with this mass (a number, array, column or tensor) was read; nan is not."""
    return mass >= MASS_FLOOR


def parse_yes_no(text: str, finished: bool = True) -> bool | None:
    """Read an answer that may reason before it decides.

    The last line "Answer: yes" or "Answer: no" decides; where there is none, the last sentence that holds a clear yes
    or no, a question ("Is it yes?") only where there is no other sentence. What follows another "Question:" is left out
    where something is said before. A doubt makes an answer no other: "Yes, but I am not sure" is a yes. "Yes or no"
    repeats the choice and decides nothing; "no doubt", "no one" and "know" are no answers; a thought
    (`onedial.asking.replies.THOUGHTS`) is not the answer. "Of course not" and its like are read where nothing else is
    said. English alone is read.

    Args:
        finished: False where it was cut off: then `parse_direct_yes_no` reads it.

    Returns:
        True for yes, False for no; None where neither is clear, or where the deciding sentence says both.
    """
    if not finished:
        return parse_direct_yes_no(text, finished)
    plain = unicodedata.normalize("NFKC", re.sub(r"[*_`~#]+", "", without_thoughts(text)))
    plain = turn_by_turn(plain).casefold()
    plain = re.sub(_CHOICE, " ", plain)
    if alone := _ALONE.fullmatch(plain.strip()):
        return alone.lastgroup == "yes"
    for turn in _NEXT.finditer(plain):
        if plain[: turn.start()].strip() and (said_before := parse_yes_no(plain[: turn.start()])) is not None:
            return said_before
    if labelled := [*_LABELLED.finditer(plain)]:
        return labelled[-1]["yes"] is not None
    sentences = [each for each in re.split(r"(?<=[.!?])\s+(?!\d)|\n+", plain) if re.search(r"\w", each)]
    for sentence in reversed(sentences):
        if sentence.endswith("?") and len(sentences) > 1:
            continue
        said = {
            match.lastgroup
            for match in _ANSWER.finditer(sentence)
            if not _DENIED.search(sentence[: match.start()]) and not _DENIED_AFTER.match(sentence, match.end())
        }
        if said:
            return None if len(said) > 1 or "both" in said else said == {"yes"}
    return None


def parse_direct_yes_no(text: str, finished: bool = True) -> bool | None:
    """Read an answer that comes first, with or without talk after it.

    The first line that says a clear yes or no decides. A thought is not the answer.

    Args:
        finished: False where it was cut off: it may have been reasoning still, so that its first sentence alone
            decides, unless a thought has closed in it (`begun`).

    Returns:
        True for yes, False for no, None where neither is clear.
    """
    if not finished:
        said = begun(text)
        text = said if ended_a_thought(text) else re.split(r"(?<=[.!?])\s", said, maxsplit=1)[0]
    for line in without_thoughts(text).splitlines():
        if line.strip() and (answer := parse_yes_no(line)) is not None:
            return answer
    return None

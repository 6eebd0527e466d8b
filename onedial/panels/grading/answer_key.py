"""What a question accepts, and which words make an answer that holds an accepted one name something else after all.

Each rule looks at one place where an accepted answer stands within a longer one, and says whether the words around it
turn it into another thing:

    namesake           "Janet Jackson" where Michael's surname alone would do
    another numeral    "Napoleon III" where Napoleon is accepted
    owner              "Ohm's law" where the ohm is asked for; where the question says "whose", the owner is the answer
    something of it    "ark of Noah" where it was asked who
    joined with other  "the Danube and the Rhine" where one river is asked for
    another of a kind  "in the kitchen ... in the dining room" where one room is asked for

Words of the question and of any accepted answer never count against an answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from onedial.panels.grading.answer_text import FUNCTION_WORDS, Statement, find, word_set

_PARTICLES = word_set("von van de der den del della di da la le du of bin ibn al el")
_TITLES = word_set(
    "mr mrs ms miss dr doctor prof professor sir dame lord lady king queen emperor empress tsar czar prince princess",
    "duke duchess count countess baron baroness pope saint st president chancellor minister premier senator governor",
    "judge general admiral marshal colonel major captain commander lieutenant sergeant father brother sister reverend",
    "cardinal bishop sultan shah khan sheikh astronaut cosmonaut composer painter poet writer author novelist",
    "scientist physicist chemist biologist mathematician astronomer engineer inventor architect actor actress singer",
    "director probably possibly perhaps maybe likely certainly surely definitely answer",
)
_ROMAN = re.compile(r"(?=[ivx])x{0,2}(?:ix|iv|v?i{0,3})")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_OF_MYSELF = re.compile(r"\bI\b(?=\s+(?:think|believe|guess|suppose|am|was|would|do|did|can|know|recall|remember)\b)")
_KIND = re.compile(r"\b(?:which|what)\s+((?:[^\W\d_][\w’'-]*\s*)+)", re.IGNORECASE)
_OF_A_KIND = r"\b(?:in|on|at|of|by|from|to|with)\s+the\s+((?:[\w’'-]+\s+){{1,3}}){kind}\b(?P<next>\s+[\w’'-]+)?"
_SUPERLATIVE = re.compile(r"\w+est|most|first|last|only|main|same|whole|other")


@dataclass(frozen=True)
class Key:
    """Accepted answers of one question, and the question.

    Attributes:
        accepted: may stand anywhere in an answer.
        exact: count only where the whole answer is one of them.
        question: what was asked.
    """

    accepted: tuple[Statement, ...]
    exact: tuple[Statement, ...] = ()
    question: Statement = field(default_factory=lambda: Statement(""))

    @classmethod
    def of(cls, accepted: Sequence[str], exact: Sequence[str] = (), question: str = "") -> "Key":
        """The key as a question file gives it."""
        return cls(tuple(map(Statement, accepted)), tuple(map(Statement, exact)), Statement(question))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All tokens of all accepted answers."""
        return frozenset(token for answer in (*self.accepted, *self.exact) for token in answer.tokens)

    @cached_property
    def asked(self) -> frozenset[str]:
        """All tokens of the question."""
        return frozenset(self.question.tokens)

    @cached_property
    def asks_whose(self) -> bool:
        return "whose" in self.asked

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Numbers that may stand in an answer: those of the accepted ones and of the question, "10th" also as 10."""
        known = {token for token in self.vocabulary | self.asked if token[0].isdigit()}
        return frozenset(known | {token[:-2] for token in known if _ORDINAL.fullmatch(token)})

    @cached_property
    def kind(self) -> str | None:
        """The last word of "which large room", singular as it stands; None where the question has no such words."""
        found = _KIND.search(self.question.text)
        words = []
        for word in found[1].split() if found else ():
            if word.casefold() in FUNCTION_WORDS:
                break
            words.append(word)
        return words[-1] if words else None

    def is_foreign(self, token: str) -> bool:
        """Whether a token says something that neither question nor key says."""
        return not (token in FUNCTION_WORDS or token in self.vocabulary or token in self.asked)

    def has_full_name(self, surname: Statement) -> bool:
        """Whether another accepted answer is a longer name that ends in this one."""
        n = len(surname.tokens)
        longer = (answer for answer in self.accepted if answer.is_name and len(answer.tokens) > n)
        return surname.is_name and any(answer.tokens[-n:] == surname.tokens for answer in longer)


def names_something_else(answer: Statement, start: int, wanted: Statement, key: Key) -> bool:
    """Whether the words around an accepted answer make it another thing.

    Args:
        answer: what was said. start: where `wanted` begins among its tokens.
        wanted: the accepted answer. key: its question's.
    """
    end = start + len(wanted.tokens)
    return (
        _is_owner(answer, end, wanted)
        or _is_of_somebody(answer, start, wanted, key)
        or _has_another_numeral(answer, end, wanted, key)
        or _is_namesake(answer, start, wanted, key)
        or _is_joined_with_another(answer, start, end, key)
    )


def names_another_of_its_kind(answer: Statement, key: Key) -> bool:
    """Whether an answer says "in the dining room" where it was asked for a room, and dining is foreign to the key.

    Superlatives and the like describe what was named before ("the longest river"), and so do words before a name
    ("the German printer Gutenberg"): these name nothing else.
    """
    if key.kind is None:
        return False
    for described in re.finditer(_OF_A_KIND.format(kind=re.escape(key.kind)), answer.text, re.IGNORECASE):
        words = Statement(described[1]).tokens
        if set(Statement(described["next"] or "").tokens) & key.vocabulary:
            continue
        if all(key.is_foreign(word) for word in words) and not any(map(_SUPERLATIVE.fullmatch, words)):
            return True
    return False


def _is_owner(answer: Statement, end: int, wanted: Statement) -> bool:
    last = answer.tokens[end - 1]
    return last in answer.owners and last not in wanted.genitives


def _is_of_somebody(answer: Statement, start: int, wanted: Statement, key: Key) -> bool:
    """Whether it is a thing "of" the person who is asked for, with a capital or nothing before it; titles are none."""
    if "who" not in key.asked or not wanted.is_name or start < 2 or answer.tokens[start - 1] != "of":
        return False
    what = answer.tokens[start - 2]
    is_named = what in answer.capitals or len(answer.tokens) == len(wanted.tokens) + 2
    return is_named and what not in FUNCTION_WORDS | _TITLES | key.vocabulary


def _has_another_numeral(answer: Statement, end: int, wanted: Statement, key: Key) -> bool:
    if not wanted.is_name or end >= len(answer.tokens):
        return False
    numeral = answer.tokens[end]
    is_numeral = bool(_ROMAN.fullmatch(numeral) or _ORDINAL.fullmatch(numeral)) and numeral in answer.capitals
    if not is_numeral or (numeral == "i" and _OF_MYSELF.search(answer.text)):
        return False
    return not any(find(accepted.tokens, [*wanted.tokens, numeral]) for accepted in key.accepted)


def _is_namesake(answer: Statement, start: int, wanted: Statement, key: Key) -> bool:
    if not key.has_full_name(wanted):
        return False
    # An answer without any capital may still be a name; the few words of a short one are taken for it.
    lower = not answer.capitals and len(answer.tokens) <= 3
    names = frozenset(answer.tokens) if lower else answer.capitals
    before = answer.tokens[:start]
    while before and before[-1] in _PARTICLES | key.vocabulary:
        if before[-1] in key.vocabulary - set(wanted.tokens) - _PARTICLES:
            return False
        before.pop()
    if not before or before[-1] in FUNCTION_WORDS | _TITLES | key.asked or before[-1] not in names:
        return False
    while len(before) > 1 and len(before[-1]) == len(before[-2]) == 1:
        before.pop()  # of several initials the first counts
    if len(before[-1]) == 1:
        return not any(token.startswith(before[-1]) for token in key.vocabulary - set(wanted.tokens))
    while before and before[-1] in names:
        if before.pop() in key.vocabulary - set(wanted.tokens):
            return False
    return True


def _is_joined_with_another(answer: Statement, start: int, end: int, key: Key) -> bool:
    tokens, own = answer.tokens, key.vocabulary | key.asked
    while end < len(tokens) and tokens[end] in own and tokens[end] != "and":
        end += 1
    while start > 0 and tokens[start - 1] in own and tokens[start - 1] != "and":
        start -= 1
    if tokens[end : end + 1] == ["and"] and end + 1 < len(tokens):
        other = tokens[end + 1]
        if key.is_foreign(other) and (other in answer.capitals or len(tokens) - end <= 3):
            return True
    if start > 1 and tokens[start - 1] == "and":
        other = tokens[start - 2]
        return key.is_foreign(other) and (other in answer.capitals or start <= 3)
    return False

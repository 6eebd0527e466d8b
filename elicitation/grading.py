"""Grade a closed-book answer by the rules of SQuAD: normalised exact match and token F1, best over accepted answers.

Normalising drops case, punctuation, accents, articles and the percent sign, and writes numbers in digits.
With c tokens shared (counted with their multiplicity) between an answer of a tokens and an accepted one of b:

    precision = c / a,  recall = c / b,  F1 = 2 c / (a + b)

`correct` is a little wider than exact match, since models answer in sentences: the accepted answer may also stand
within the answer, as whole words in its order, unless the answer denies it ("not ...") or offers a choice ("... or
..."), and unless the accepted answer has numbers and the answer has others besides (a range is no
year), those of the question apart, since a sentence may repeat them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from elicitation.numerals import digits_for_words

_ARTICLES = {"a", "an", "the"}
_DROPPED = _ARTICLES | {"percent"}
_DENIALS = {"not", "never", "neither", "nor", "cannot", "isnt", "wasnt", "arent", "werent", "dont", "doesnt", "or"}
_LABEL = re.compile(
    r"^(?:(?:final\s+|short\s+)?answer\s*(?:is\b|:|-)\s*:?|a\s*:|the\s+(?:correct\s+)?answer\s+is\b:?)", re.IGNORECASE
)
_TOKEN = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th)?(?!\w)|\w+")


@dataclass(frozen=True)
class Grade:
    """What an answer is worth; None, nan, None where there is nothing to grade it by.

    Attributes:
        exact: equal to an accepted answer after normalising.
        f1: token F1 with the nearest accepted answer, 0 to 1.
        correct: exact, or an accepted answer stands within it (see the module's text).
    """

    exact: bool | None
    f1: float
    correct: bool | None


UNGRADED = Grade(exact=None, f1=float("nan"), correct=None)


def grade(answer_text: str | None, accepted: Sequence[str], question: str = "") -> Grade:
    """Grade one answer against all accepted ones.

    Args:
        answer_text: what the respondent wrote: its first line that says something counts. None: it was not asked.
        accepted: accepted answers, aliases included; empty where none is known or none exists.
        question: what was asked; its numbers may stand in the answer.

    Returns:
        The grade; `UNGRADED` where nothing was asked or nothing is accepted. An answer without words is wrong.
    """
    if answer_text is None or not accepted:
        return UNGRADED
    given = normalised_tokens(_first_statement(answer_text))
    wanted = [normalised_tokens(answer) for answer in accepted]
    exact = any(given == tokens for tokens in wanted if tokens)
    repeated = _numbers(normalised_tokens(question))
    return Grade(
        exact=exact,
        f1=max(_token_f1(given, tokens) for tokens in wanted),
        correct=exact or any(_stands_within(given, tokens, repeated) for tokens in wanted),
    )


def normalised_tokens(text: str) -> list[str]:
    """Words of a text without case, accents, punctuation, articles and percent signs; numbers in digits."""
    joined = re.sub(r"(?<=\d)[,\u00a0\u2009\u202f](?=\d{3}(?!\d))", "", text)
    folded = unicodedata.normalize("NFKD", joined).casefold()
    folded = "".join(sign for sign in folded if not unicodedata.combining(sign))
    folded = re.sub(r"(?<=\w)['’.](?=[^\W\d])", "", folded)
    folded = re.sub(r"(?<!\w)[-−](?=\d)", " minus ", folded)
    words = [re.sub(r"^0+(?=\d)", "", word) for word in _TOKEN.findall(folded.replace("_", " "))]
    tokens = digits_for_words(words)
    return [token for token in tokens if token not in _DROPPED] or tokens


def _first_statement(text: str) -> str:
    plain = re.sub(r"[*`#]+", "", text)
    lines = (_LABEL.sub("", line.strip()).strip() for line in plain.splitlines())
    return next((line for line in lines if line), "")


def _token_f1(given: list[str], wanted: list[str]) -> float:
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0


def _numbers(tokens: list[str]) -> set[str]:
    return {token for token in tokens if token[0].isdigit()}


def _stands_within(given: list[str], wanted: list[str], repeated: set[str]) -> bool:
    if not wanted or _DENIALS & set(given) - set(wanted):
        return False
    if len(wanted) == 1 and len(wanted[0]) == 1 and not wanted[0].isdigit():
        return False  # a lone letter ("I", "C") stands in too many sentences
    numbers = _numbers(wanted)
    if numbers and _numbers(given) - numbers - repeated:
        return False
    return any(given[start : start + len(wanted)] == wanted for start in range(len(given) - len(wanted) + 1))

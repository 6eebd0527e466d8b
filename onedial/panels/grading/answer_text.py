"""What a written answer says, word by word: the line that counts, and its words normalised.

Normalising drops case, punctuation, accents, articles and the percent sign, and writes number words in digits:
"seven", "7" and "7.0" are one answer, "5,000" and "five thousand" too; ordinals keep their ending ("third" is 3rd).
"""

import re
import unicodedata
from functools import lru_cache

from onedial.asking.replies import turn_by_turn

_DROPPED = {"a", "an", "the", "percent"}
_TOKEN = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th)?(?!\w)|\w+")
_words = re.compile(r"\w+").findall
_ONES = "zero one two three four five six seven eight nine ten eleven twelve"
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_words(f"{_ONES} {_TEENS}"))}
_SMALL |= {word: 10 * value for value, word in enumerate(_words(_TENS), start=2)}
_LARGE = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_ORDINALS = {re.sub("y$", "ie", word) + "th": value for word, value in _SMALL.items()}
_ORDINALS |= {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_LABEL = re.compile(
    r"^(?:(?:final\s+|short\s+)?answer\s*(?:is\b|:|-)\s*:?|a\s*:|the\s+(?:correct\s+)?answer\s+is\b:?|q(?:uestion)?\s*:)",
    re.IGNORECASE,
)
_BARE_LABEL = re.compile(r"(?:\w+\s+){0,2}\w+\s*:")

# Words that carry no content of their own: two texts that differ in these alone say the same.
FUNCTION_WORDS = frozenset(
    _words(
        "a an the and or but of in on at by to from for with as into about than then so if that this these those there "
        "here it its he his him she her they their them we our us you your i my me one is are was were be been being "
        "am do does did done has have had will would can could may might shall should must who whom whose which what "
        "when where why how also both just only very called named known"
    )
)


def normalised_tokens(text: str) -> list[str]:
    """Words of a text without case, accents, punctuation, articles and percent signs; numbers in digits."""
    return list(_normalised(text))


@lru_cache(maxsize=1 << 14)  # a key is held against many answers, an option against many questions
def _normalised(text: str) -> tuple[str, ...]:
    joined = re.sub(r"(?<=\d)[,\u00a0\u2009\u202f](?=\d{3}(?!\d))", "", text)
    folded = unicodedata.normalize("NFKD", joined).casefold()
    folded = "".join(sign for sign in folded if not unicodedata.combining(sign))
    folded = re.sub(r"(?<=\w)['’.](?=[^\W\d])", "", folded)
    folded = re.sub(r"(?<!\w)[-−](?=\d)", " minus ", folded)
    folded = re.sub(r"(?<!\S)&(?!\S)", "and", folded)
    words = _with_digits(_TOKEN.findall(folded.replace("_", " ")))
    return tuple(word for word in words if word not in _DROPPED) or tuple(words)


def _with_digits(words: list[str]) -> list[str]:
    """Each run of number words as one number; numerals without superfluous zeros.

    >>> _with_digits("two hundred and five or twenty first of 7.0".split())
    ['205', 'or', '21st', 'of', '7']
    """
    written: list[str] = []
    number: float | None = None
    for place, word in enumerate([*words, ""]):
        small = _SMALL.get(word, _ORDINALS.get(word))
        fits = small is not None and number and number % 10 == 0 and small < (10 if number % 100 else 100)
        is_joined = word == "and" and number and number % 100 == 0 and words[place + 1 : place + 2]
        if is_joined and words[place + 1] in _SMALL.keys() | _ORDINALS.keys():
            continue
        if word in _LARGE and number:
            rest = number % 1000 if _LARGE[word] == 100 else number % _LARGE[word]
            number += rest * (_LARGE[word] - 1)
            continue
        if number is not None and not fits:
            written.append(f"{number:.10f}".rstrip("0").rstrip("."))
            number = None
        if word in _ORDINALS:
            written.append(_ordinal(int(number or 0) + _ORDINALS[word]))
            number = None
        elif small is not None:
            number = (number or 0) + small
        elif re.fullmatch(r"\d+(?:\.\d+)?", word):
            number = float(word)
        elif word:
            written.append(word)
    return written


def _ordinal(value: int) -> str:
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


def content(text: str) -> list[str]:
    """Its normalised words without function words."""
    return [token for token in normalised_tokens(text) if token not in FUNCTION_WORDS]


def find(tokens: list[str], wanted: list[str]) -> list[int]:
    """Where `wanted` stands in `tokens`, as whole words in its order."""
    if not wanted:
        return []
    return [start for start in range(len(tokens) - len(wanted) + 1) if tokens[start : start + len(wanted)] == wanted]


def first_statement(text: str, question: str = "") -> str:
    """The first line that says something, without its label; "" where none does.

    Lines that hold no word, only a label, or the question as it stands are passed over.
    """
    asked = normalised_tokens(question)
    for line in turn_by_turn(re.sub(r"[*`#]+", "", text)).splitlines():
        said = _LABEL.sub("", line.strip()).strip()
        if said and not _BARE_LABEL.fullmatch(said) and normalised_tokens(said) not in ([], asked):
            return said
    return ""


def repeats_the_question(answer: str, question: str) -> bool:
    """Whether it says again what was asked and adds nothing: two or more of its content words, at least 60% of them,
    in their order, or a question about them; never where the question offers a choice ("or").

    A name out of the question is a wrong answer, no repetition.
    """
    said, asked = content(answer), content(question)
    if answer.endswith("?") and said and 2 * sum(token in asked for token in said) >= len(said):
        return True
    rest = iter(asked)
    in_order = all(token in rest for token in said)
    return in_order and len(said) >= max(2, 0.6 * len(asked)) and "or" not in normalised_tokens(question)

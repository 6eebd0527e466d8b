"""English number words to digits, so that "seven", "7" and "7.0" are one answer, and "5000" and "five thousand" too.

"twenty-one" = 20 + 1; "three hundred and five" = 3 * 100 + 5; "two million" = 2 * 1,000,000. Ordinals become digits
with their ending ("third" = "3rd"): they name a place, no amount.
"""

import re
from decimal import Decimal

_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve"] + [
    stem + "teen" for stem in ["thir", "four", "fif", "six", "seven", "eigh", "nine"]
]
_TENS = [stem + "ty" for stem in ["twen", "thir", "for", "fif", "six", "seven", "eigh", "nine"]]
_SMALL = {word: value for value, word in enumerate(_ONES + _TEENS)} | {
    word: 10 * times for times, word in enumerate(_TENS, start=2)
}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_ORDINAL_WORDS = (
    {word + "th": value for word, value in _SMALL.items() if word not in _TENS}
    | {word[:-1] + "ieth": value for word, value in _SMALL.items() if word in _TENS}
    | _IRREGULAR
)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def digits_for_words(words: list[str]) -> list[str]:
    """Write every run of number words (lower case) as one number in digits; other words stay as they are.

    Numerals lose superfluous zeros ("7.0" is "7", "007" is "7"). "two three" are two numbers, not twenty-three.
    """
    written: list[str] = []
    position = 0
    while position < len(words):
        value, end = _number(words, position)
        if end == position:
            written.append(words[position])
            position += 1
            continue
        if end < len(words) and words[end] in _ORDINAL_WORDS and _fits(value, words[end]):
            written.append(_ordinal(int(value) + _ORDINAL_WORDS[words[end]]))
            position = end + 1
        else:
            written.append(_plain(value))
            position = end
    return [_ordinal(_ORDINAL_WORDS[word]) if word in _ORDINAL_WORDS else word for word in written]


def _number(words: list[str], start: int) -> tuple[Decimal, int]:
    """The value of the longest number that begins at `start`, and where it ends; nothing read: the end is `start`."""
    total, group, step = Decimal(0), Decimal(0), Decimal(10**15)
    room = Decimal(0)  # what may still be added to the group: below this
    position = start
    while position < len(words):
        word = words[position]
        if word == "and" and position > start and words[position - 1] in {"hundred", *_LARGE}:
            following = words[position + 1 : position + 2]
            if not following or following[0] not in _SMALL.keys() | _ORDINAL_WORDS.keys():
                break
        elif word in _SMALL and (position == start or 0 < _SMALL[word] < room):
            group += _SMALL[word]
            room = Decimal(10) if word in _TENS else Decimal(0)
        elif _DIGITS.fullmatch(word) and position == start:
            group, room = Decimal(word), Decimal(0)
        elif word == "hundred" and 0 <= group < 100:
            group = (group or Decimal(1)) * 100
            room = Decimal(100)
        elif word in _LARGE and _LARGE[word] < step:
            step = Decimal(_LARGE[word])
            total += (group or Decimal(1)) * step
            group, room = Decimal(0), step
        else:
            break
        position += 1
    return total + group, position


def _fits(value: Decimal, ordinal: str) -> bool:
    return value % 10 == 0 and value > 0 and _ORDINAL_WORDS[ordinal] < (10 if value % 100 else 100)


def _ordinal(value: int) -> str:
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

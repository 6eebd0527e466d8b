"""What a line of text says, word by word: tokens that can be compared, and what its capitals and apostrophes tell.

Normalising drops case, punctuation, accents, articles and the percent sign, and writes numbers in digits. Two things
are lost by that which a grader needs: which words are names, and who owns what ("Ohm's law" is no ohm).
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from onedial.panels.grading.numerals import digits_for_words

_ARTICLES = {"a", "an", "the"}
_DROPPED = _ARTICLES | {"percent"}
_TOKEN = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th)?(?!\w)|\w+")
_WORD = re.compile(r"[^\W\d_][\w'’.]*")
_GENITIVE = re.compile(r"([^\W\d_][\w.’'-]{0,60}?['’]s)\b(\s+[\w\"“(])?")


def word_set(*lines: str) -> frozenset[str]:
    """The words of some lines, for lists that are easier to read as text."""
    return frozenset(word for line in lines for word in line.split())


# Words that carry no content of their own: two texts that differ in these alone say the same.
FUNCTION_WORDS = word_set(
    "a an the and or but of in on at by to from for with as into about than then so if that this these those there",
    "here it its he his him she her they their them we our us you your i my me one is are was were be been being",
    "am do does did done has have had will would can could may might shall should must who whom whose which what",
    "when where why how also both just only very called named known",
)


@dataclass(frozen=True)
class Statement:
    """One line of text, as it stands and as tokens.

    Attributes:
        text: the line.
    """

    text: str

    @cached_property
    def tokens(self) -> list[str]:
        """Its words, normalised (`normalised_tokens`)."""
        return normalised_tokens(self.text)

    @cached_property
    def content(self) -> list[str]:
        """Its tokens without function words."""
        return [token for token in self.tokens if token not in FUNCTION_WORDS]

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Tokens that are written with a capital somewhere in it."""
        words = [word for word in _WORD.findall(self.text) if word[0].isupper()]
        return frozenset(token for word in words for token in normalised_tokens(word))

    @cached_property
    def genitives(self) -> frozenset[str]:
        """Tokens that are written with 's."""
        return frozenset(token for word, _ in _GENITIVE.findall(self.text) for token in normalised_tokens(word))

    @cached_property
    def owners(self) -> frozenset[str]:
        """Those of `genitives` that are followed by what they own."""
        owning = [word for word, owned in _GENITIVE.findall(self.text) if owned]
        return frozenset(token for word in owning for token in normalised_tokens(word))

    @property
    def is_name(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[:1].isupper()


def normalised_tokens(text: str) -> list[str]:
    """Words of a text without case, accents, punctuation, articles and percent signs; numbers in digits."""
    joined = re.sub(r"(?<=\d)[,\u00a0\u2009\u202f](?=\d{3}(?!\d))", "", text)
    folded = unicodedata.normalize("NFKD", joined).casefold()
    folded = "".join(sign for sign in folded if not unicodedata.combining(sign))
    folded = re.sub(r"(?<=\w)['’.](?=[^\W\d])", "", folded)
    folded = re.sub(r"(?<!\w)[-−](?=\d)", " minus ", folded)
    folded = re.sub(r"(?<!\S)&(?!\S)", "and", folded)
    words = [re.sub(r"^0+(?=\d)", "", word) for word in _TOKEN.findall(folded.replace("_", " "))]
    tokens = digits_for_words(words)
    return [token for token in tokens if token not in _DROPPED] or tokens


def find(tokens: list[str], wanted: list[str]) -> list[int]:
    """Where `wanted` stands in `tokens`, as whole words in its order."""
    if not wanted:
        return []
    return [start for start in range(len(tokens) - len(wanted) + 1) if tokens[start : start + len(wanted)] == wanted]

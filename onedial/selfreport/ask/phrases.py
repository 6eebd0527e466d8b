"""Phrases in a text, and its language; both by lists of words."""

import re
from collections.abc import Mapping, Sequence

from onedial.core.files import packaged_yaml


def listed(kinds: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Split the phrases of each kind at commas."""
    return {kind: tuple(phrases.split(", ")) for kind, phrases in kinds.items()}


_TEXTS = packaged_yaml("onedial.selfreport", "texts.yaml")
_FUNCTION_WORDS, HEDGES = listed(_TEXTS["function_words"]), listed(_TEXTS["hedges"])


def language_of(text: str) -> str | None:
    """Tell English, German, French or Spanish by function words; None where two have as many, or there are none.

    >>> language_of("Der Hund ist im Garten."), language_of("Paris"), language_of("The sea is deep.")
    ('German', None, 'English')
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = sorted(
        ((sum(word in function_words for word in words), name) for name, function_words in _FUNCTION_WORDS.items()),
        reverse=True,
    )
    return counts[0][1] if counts[0][0] > counts[1][0] else None


def count_phrases(text: str, kinds: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count how often the phrases of each kind stand in a text, and its words; "i can" is not in "I can't".

    >>> count_phrases("I can't sing, I cannot; I can't I can.", {"able": ["i can"]})
    {'able': 1, 'words': 9}
    """
    plain = " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'")))
    counts = {
        kind: sum(len(re.findall(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", plain)) for phrase in phrases)
        for kind, phrases in kinds.items()
    }
    return counts | {"words": len(plain.split())}


def count_english(text: str, kinds: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count phrases in English: of a text in another language none is counted, and no word."""
    return count_phrases(text if language_of(text) in (None, "English") else "", kinds)


def count_hedges(text: str) -> dict[str, int]:
    """Count how often a text hedges in the first person and impersonally, and its words.

    >>> count_hedges("I think it is probably Oslo.")
    {'first person': 1, 'impersonal': 1, 'words': 6}
    """
    return count_english(text, HEDGES)

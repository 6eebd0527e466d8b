"""Phrases in a text, and its language; both by lists of words."""

import re
from collections.abc import Mapping, Sequence


def listed(words: str) -> tuple[str, ...]:
    """Words between commas."""
    return tuple(words.split(", "))


_FUNCTION_WORDS = {
    "English": listed("the, a, an, is, are, of, and, to, in, it, that, you, for, with, was, be, this, they"),
    "German": listed("der, die, das, ist, sind, und, ein, eine, zu, den, von, mit, nicht, auf, es, im, für, sie"),
    "French": listed("le, la, les, est, sont, et, un, une, des, de, du, à, en, que, pour, dans, il, elle"),
    "Spanish": listed("el, la, los, las, es, son, y, un, una, de, en, que, por, para, con, del, se, su"),
}
HEDGES = {
    "first person": listed(
        "i think, i believe, i guess, i suppose, i am not sure, i'm not sure, i am unsure, i'm not certain, "
        "i am not certain, i'm unsure, i am uncertain, i'm uncertain, i'm not entirely, i am not entirely, "
        "i'm not completely, i am not completely, i can't say for certain, i cannot say for certain, i'm guessing, "
        "i don't know, i do not know, i have no idea, i would guess, in my opinion, as far as i know, "
        "to the best of my knowledge, if i remember, if i recall, my guess, my best guess"
    ),
    "impersonal": listed(
        "perhaps, maybe, probably, possibly, likely, it seems, it appears, might be, may be, could be, "
        "it is possible, it is unclear, it is not clear, not entirely clear, it's not certain, it is not certain, "
        "it is believed, it's believed, it is thought, reportedly"
    ),
}


def language_of(text: str) -> str | None:
    """English, German, French or Spanish, by its function words; None where two have as many, or there are none.

    >>> language_of("Der Hund ist im Garten."), language_of("Paris"), language_of("The sea is deep.")
    ('German', None, 'English')
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = sorted(((sum(word in own for word in words), name) for name, own in _FUNCTION_WORDS.items()), reverse=True)
    return counts[0][1] if counts[0][0] > counts[1][0] else None


def count_phrases(text: str, kinds: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How often the phrases of each kind stand in a text, and its number of words; "i can" is not in "I can't".

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
    """The same of phrases in English: of a text in another language none is counted, and no word."""
    return count_phrases(text if language_of(text) in (None, "English") else "", kinds)


def count_hedges(text: str) -> dict[str, int]:
    """How often a text hedges in the first person and impersonally, and its number of words.

    >>> count_hedges("I think it is probably Oslo.")
    {'first person': 1, 'impersonal': 1, 'words': 6}
    """
    return count_english(text, HEDGES)

"""What a written answer says, word by word: its lines that say something, and their words normalised.

Normalising drops case, punctuation, accents, articles, "'s" and the percent sign: "5,000" and "5000" are one answer,
"7.0" and "7", "15th" and "15", "J. S." and "J.S." too. Numbers in words stay words.
"""

import re
import unicodedata
from functools import lru_cache

from onedial.asking.replies import unmarked

_DROPPED = {"a", "an", "the", "percent"}
_TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?:st|nd|rd|th)?(?!\w)|(?P<word>\w+)")
_LABEL = re.compile(r"^\W*(?:(?:final |short )?answer\s*(?:is\b|:)\s*:?|a\s*:|q(?:uestion)?\s*:)\s*", re.IGNORECASE)

# Words that carry no content of their own: two texts that differ in these alone say the same.
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the and or but of in on at by to from for with as into about than then so if that this these those there "
        "here it its he his him she her they them their we us our you your i my me one is are was were be been being "
        "am do does did done has have had will would can could may might shall should must who whom whose which what "
        "when where why how also both just only very called named known",
    )
)


def normalised_tokens(text: str) -> list[str]:
    """Words of a text without case, accents, punctuation, articles and percent signs."""
    return list(_normalised(text))


@lru_cache(maxsize=1 << 14)  # a key is held against many answers, an option against many questions
def _normalised(text: str) -> tuple[str, ...]:
    joined = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    joined = re.sub(r"(?<=[^\W\d])['’]s\b", "", re.sub(r"(?<=\d)\.0+\b", "", joined))
    folded = unicodedata.normalize("NFKD", joined).casefold()
    folded = "".join(sign for sign in folded if not unicodedata.combining(sign))
    folded = re.sub(r"(?<=\b[a-z])\.\s(?=[a-z]\.)|(?<=\w)['’.](?=[^\W\d])", "", folded)
    folded = re.sub(r"(?<!\w)[-−](?=\d)", " minus ", folded)
    folded = re.sub(r"(?<!\S)&(?!\S)", "and", folded)
    words = [number or word for number, word in _TOKEN.findall(folded.replace("_", " "))]
    return tuple(word for word in words if word not in _DROPPED) or tuple(words)


def find(tokens: list[str], wanted: list[str]) -> list[int]:
    """Where `wanted` stands in `tokens`, as whole words in its order."""
    if not wanted:
        return []
    return [start for start in range(len(tokens) - len(wanted) + 1) if tokens[start : start + len(wanted)] == wanted]


def statements(text: str, question: str = "") -> list[str]:
    """The lines that say something, without thoughts, markup and the label "Answer:", and without those that only ask
    the question again (`repeats_the_question`).

    >>> statements("Who wrote Emma?\\n**Answer:** Jane Austen", "Who wrote Emma?")
    ['Jane Austen']
    """
    lines = [_LABEL.sub("", line).strip() for line in unmarked(text).splitlines()]
    return [line for line in lines if normalised_tokens(line) and not repeats_the_question(line, question)]


def repeats_the_question(answer: str, question: str) -> bool:
    """Whether it says again what was asked and adds nothing: two or more of its content words, at least 60% of them,
    in their order, or a question about them; never where the question offers a choice ("or").

    A name out of the question is a wrong answer, no repetition.
    """
    answer_tokens, asked = (
        [each for each in normalised_tokens(text) if each not in FUNCTION_WORDS] for text in (answer, question)
    )
    if (
        answer.endswith("?")
        and answer_tokens
        and 2 * sum(token in asked for token in answer_tokens) >= len(answer_tokens)
    ):
        return True
    rest = iter(asked)
    in_order = all(token in rest for token in answer_tokens)
    return in_order and len(answer_tokens) >= max(2, 0.6 * len(asked)) and "or" not in normalised_tokens(question)

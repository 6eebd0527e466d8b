"""Which option a written answer says, where an instrument would read logits and a respondent shows none.

Markdown, LaTeX, JSON, thoughts and a disclaimer are taken off first (`unmarked`). The first line that says one option
decides: at its head ("B, because ..."), behind a word that announces it ("I would choose B"), or, of a probability, in
percent, as a share, or as the middle of a range. What names two options, or denies one, says none.
"""

import re
from collections.abc import Iterable

from onedial.asking.instruments import Scale, TokenReader
from onedial.asking.replies import begun, unmarked, without_disclaimer
from onedial.asking.yes_no import parse_direct_yes_no

_NUMBER = r"(?<![\d.,/])(?:\d{1,3}(?:[.,]\d+)?|[.,]\d+)"
_TO = r"\s*%?\s*(?:-|\u2013|\u2014|\bto\b|\band\b|\bbis\b|\u00e0)\s*"
_PERCENT = re.compile(
    rf"(?:(?P<low>{_NUMBER}){_TO})?(?P<high>{_NUMBER})\s*"
    r"(?:%|per ?cent\b|prozent\b|pour cent\b|/\s*100\b|out of 100\b)",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\D*?(?:(?P<low>{_NUMBER}){_TO})?(?P<high>{_NUMBER})(?:\s*(?:/|out of|in)\s*(?P<of>1?\d)(?![\d.,]))?\D*"
)
_NOT = re.compile(r"(?:\bnot|\bnever|\bcannot|n't)\s+(?:\w+\s+){0,2}[\"']?$", re.IGNORECASE)


def stated_probability(text: str) -> float | None:
    """The probability that the first line with a number states, 0 to 1; of a range its middle.

    None where the line has several, or where it is not known of what the number is a part ("5").

    >>> stated_probability("I'd say around 70-80%."), stated_probability("Probability: 0.7"), stated_probability("½")
    (0.75, 0.7, 0.5)
    >>> stated_probability("5"), stated_probability("80%, surely more than 50%")
    (None, None)
    """
    lines = (line for line in unmarked(text).replace("\u2044", "/").splitlines() if re.search(r"\d", line))
    line = next(lines, "")
    marked = list(_PERCENT.finditer(line))
    found = marked[0] if len(marked) == 1 else None if marked else _BARE.fullmatch(line.strip())
    if found is None or _NOT.search(line[: found.start("low") if found["low"] else found.start("high")]):
        return None
    ends = [end for end in (found["low"], found["high"]) if end]
    numbers = [float(end.replace(",", ".")) for end in ends]
    if marked:
        p = sum(numbers) / len(numbers) / 100
    elif found["of"]:
        p = numbers[-1] / float(found["of"]) if float(found["of"]) and len(numbers) == 1 else -1.0
    elif all(number <= 1 and not end.isdigit() for number, end in zip(numbers, ends, strict=True)) or ends == ["0"]:
        p = sum(numbers) / len(numbers)
    else:
        p = sum(numbers) / len(numbers) / 100 if all(re.match(r"\d\d", end) for end in ends) else -1.0
    return p if 0 <= p <= 1 else None


_NAMED = r"(?:answer|rating|choice|option|question|letter|confidence|score|level|antwort|r\u00e9ponse|respuesta)"
_LEAD = rf"\W*(?:(?:the |my |final |correct |best |short )*{_NAMED}(?: is)?\b\W*)?"
_CUE = (
    rf"\b(?:{_NAMED}|rate|choose|pick|select|say|go (?:with|for)|surer? (?:of|about)|confident (?:of|about)"
    r"|give (?:it|this|that|myself)|prefer)\b(?:\W+(?:is|it|this|a|an|the|be|would|option|question|letter|level|of|as"
    r"|at|to|that|myself|my|me|number)\b){0,4}\W+"
)
_ENDS = r"(?![\w']|[.,/]\d|-\w)(?!(?<=[aA])\s+[a-z])"
_DENIED = re.compile(r"(?:\bnot|n't|\bnever)\b[^,;:.]*[,;:.]?\s*$", re.IGNORECASE)
"""In the same clause."""
_JOINED = r"\s*(?:/|\u2013|-|,|\bor\b|\bto\b|\band\b|\bout of\b)\s*"


def option_said(scale: Scale, reader: TokenReader, text: str, finished: bool = True) -> int | None:
    """The place of the option that a text says; None where it says none, or several ("3/4", "A or B").

    Args:
        finished: False where it was cut off; then what it says for sure is read (`onedial.asking.replies.begun`).

    >>> from onedial.asking import CONFIDENCE_IN_NUMBERS as NUMBERS, CONFIDENCE_IN_WORDS as WORDS
    >>> option_said(NUMBERS.scale, NUMBERS.reader, "**About 85%.**"), option_said(WORDS.scale, WORDS.reader, "low/high")
    (8, None)
    """
    spelt = {
        spelling.strip(): place for place, own in enumerate(reader.spellings.values()) for spelling in own if spelling
    }
    folded = {spelling.casefold(): place for spelling, place in reversed(spelt.items())}
    if scale.kind == "yes/no" and "yes" in folded:
        said = parse_direct_yes_no(unmarked(text) if finished else text, finished)
        return None if said is None else int(not said)
    if not finished:
        text = begun(text)
    if scale.kind == "probability" and scale.values and all(each.isdigit() for each in spelt):
        p = stated_probability(without_disclaimer(text))
        return None if p is None else min(range(len(scale.values)), key=lambda place: abs(scale.values[place] - p))
    for line in without_disclaimer(unmarked(text)).splitlines():
        place = _in_line(re.sub(r"(?:on a )?scale (?:of|from) \d+ (?:to|-) \d+", "", line), spelt, folded)
        if place is not None:
            return place
    return None


def _in_line(line: str, spelt: dict[str, int], folded: dict[str, int]) -> int | None:
    one = _either(folded)
    # "a" and "A" before a small letter are the article; a digit before a fraction is no whole number.
    head = re.match(rf"{_LEAD}(?P<word>{one}){_ENDS}(?P<other>{_JOINED}(?:{one}|\d+)\b)?", line, re.IGNORECASE)
    if head and not re.match(r"[a-z]\s+[a-z]", line[head.start("word") :]):
        return None if head["other"] else spelt.get(head["word"], folded[head["word"].casefold()])
    # In the midst of a sentence it counts as it is written, where nothing else is named.
    exact = _either(spelt)
    named = set(re.findall(rf"(?<![\w'.,/-])(?:{exact})(?![\w'/-]|[.,]\d)", line))
    cued = re.search(rf"{_CUE}(?-i:(?P<word>{exact})){_ENDS}", line, re.IGNORECASE)
    if cued is None or len(named) != 1 or _DENIED.search(line[: cued.start("word")]):
        return None
    return spelt[cued["word"]]


def _either(spellings: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))

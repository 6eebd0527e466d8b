"""What a written reply says: an option, a probability, a list, an order, guesses, steps, ratings, or that it declines.

Each reader states its rules; what they do not cover is not read. All read what is left without thoughts, markup and a
next turn (`unmarked`). Their errors on labelled replies stand on docs/reliability.md; yes and no are read by
`onedial.asking.yes_no`.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from onedial.asking.instruments import Scale, TokenReader
from onedial.asking.replies import begun, is_denied, spoken, unmarked
from onedial.asking.yes_no import parse_direct_yes_no

N_GUESSES = 4
N_STEPS = 3

# ---- options and probabilities ---------------------------------------------------------------------------------------

_ARTICLE = re.compile(r"(?:^|[.!?:] )A (?!or\b)[a-z]")
_ENDS = r"(?=\s*(?:$|[^\w\s'/-]|[\u2013\u2014-]\s))"


def option_said(scale: Scale, reader: TokenReader, text: str, finished: bool = True) -> int | None:
    """The place of the option that a text says, where an instrument would read logits and a respondent shows none.

    Yes and no are read by `parse_direct_yes_no`, percentages by `stated_probability`, all others by `chosen`.

    Args:
        finished: False where it was cut off; then what it says for sure is read (`onedial.asking.replies.begun`).

    >>> from onedial.asking import CONFIDENCE_IN_NUMBERS as NUMBERS, CONFIDENCE_IN_WORDS as WORDS
    >>> option_said(NUMBERS.scale, NUMBERS.reader, "**About 85%.**"), option_said(WORDS.scale, WORDS.reader, "low/high")
    (8, None)
    """
    spelt = {each.strip(): place for place, spellings in enumerate(reader.spellings.values()) for each in spellings}
    if scale.kind == "yes/no" and "yes" in spelt:
        yes = parse_direct_yes_no(text, finished)
        return None if yes is None else int(not yes)
    if not finished:
        text = begun(text)
    if scale.kind == "probability" and scale.values and all(each.isdigit() for each in spelt):
        p = stated_probability(text)
        return None if p is None else min(range(len(scale.values)), key=lambda place: abs(scale.values[place] - p))
    return chosen(text, spelt)


def chosen(text: str, labels: Mapping[str, int]) -> int | None:
    """The place of the option whose label a text gives.

    1. The label behind the last "answer is" or "Answer:", before a sign or at the end.
    2. Else so at the head of a line ("B", "B) Lyon"); nothing where lines have several.
    3. Else the one label that the last line names.
    4. A label counts as it is spelt; a word, or a letter that is all of a line or stands before a bracket, in any case.
       "A" before a small letter is the article. A label behind a "not" in its clause is none.

    >>> chosen("I would say B.", {"A": 0, "B": 1}), chosen("A or B", {"A": 0, "B": 1})
    (1, None)
    """
    plain = re.sub(r"^\W*([a-z])(?=\W*$|\))", lambda match: match[0].upper(), unmarked(text), flags=re.MULTILINE)
    folded = {each.casefold() if len(each) > 1 else each: place for each, place in labels.items()}
    ordered = sorted(folded, key=len, reverse=True)
    words = "|".join(re.escape(each) if len(each) == 1 else f"(?i:{re.escape(each)})" for each in ordered)
    label = rf"(?<![\w'.,/-])({words})(?![\w'/-]|[.,]\d)"

    def places(pattern: str, line: str) -> list[int]:
        matches = (each for each in re.finditer(pattern, line, re.MULTILINE) if not is_denied(line[: each.start(1)]))
        kept = (each[1] for each in matches if not _ARTICLE.match(line[max(0, each.start(1) - 2) :]))
        return [folded[each.casefold() if len(each) > 1 else each] for each in kept]

    if answers := places(rf"(?i:\banswer\W*(?:is|:)\W*){label}{_ENDS}", plain):
        return answers[-1]
    heads = places(rf"^[^\w\n]*{label}{_ENDS}", plain)
    named = set(heads or places(label, plain.rpartition("\n")[2]))
    return named.pop() if len(named) == 1 else None


_NUMBER = r"(?<![\d.,/])(?:\d{1,3}(?:\.\d+|,\d{1,2}(?!\d))?|[.,]\d+)"
_RANGE = rf"(?:(?P<low>{_NUMBER})\s*%?\s*(?:-|\u2013|\u2014|\bto\b|\band\b)\s*)?(?P<high>{_NUMBER})"
_PERCENT = re.compile(rf"{_RANGE}\s*(?:%|/\s*100\b|out of 100\b)", re.IGNORECASE)
_BARE = re.compile(rf"\D*?{_RANGE}(?:\s*(?:/|out of)\s*(?P<of>10|1)(?!\d|[.,]\d))?(?:\D*|[.,]\s.*)")


def stated_probability(text: str) -> float | None:
    """The probability that a text states, 0 to 1; of a range its middle.

    1. Where lines hold percentages: that of the first line if it is nothing else, else that of the last of them.
    2. Else the one number of the first line with a number: a share ("0.7", "7/10"), or two digits or more of a hundred.
    3. None where the line has several, denies it ("not 80%"), or does not tell of what a number is a part ("5").

    >>> stated_probability("I'd say around 70-80%."), stated_probability("Probability: 0.7"), stated_probability("7/10")
    (0.75, 0.7, 0.7)
    >>> stated_probability("5"), stated_probability("80%, surely more than 50%")
    (None, None)
    """
    lines = [line for line in unmarked(text).splitlines() if re.search(r"\d", line)]
    percents = [line for line in lines if _PERCENT.search(line)]
    if percents:
        line = lines[0] if re.fullmatch(rf"\D*{_PERCENT.pattern}[^\w]*", lines[0], re.IGNORECASE) else percents[-1]
        stated = [*_PERCENT.finditer(line)]
        match = stated[0] if len(stated) == 1 else None
    else:
        line = lines[0] if lines else ""
        match = _BARE.fullmatch(line)
    if match is None or is_denied(line[: match.start("low" if match["low"] else "high")]):
        return None
    ends = [end.replace(",", ".") for end in (match["low"], match["high"]) if end]
    mean = sum(map(float, ends)) / len(ends)
    if percents:
        p = mean / 100
    elif match["of"]:
        p = mean / float(match["of"])
    elif all("." in end and float(end) <= 1 for end in ends) or ends == ["0"]:
        p = mean
    else:
        p = mean / 100 if all(re.match(r"\d\d", end) for end in ends) else -1.0
    return p if 0 <= p <= 1 else None


# ---- lists -----------------------------------------------------------------------------------------------------------

_ITEM = re.compile(r"^(?:\|?\s*\(?(?P<number>\d{1,2})\s*[.)|]|[-\u2022\u2013])\s+(?P<item>.*)$")
_REMARK = re.compile(r":\s.*|:$|\s[\u2013\u2014-]\s.*")
"""What is said of an item, behind it."""
_EDGES = re.compile(r"^[^\w(]+|[^\w)]+$")
_WORDS_OF_AN_ITEM = 3


def parse_list(text: str) -> list[str]:
    """The items of a list, in order, as they are written; empty where there is none.

    1. Lines behind a bullet or a number, each up to a colon or a dash, until the numbers begin anew.
    2. Else what stands between the commas of the first line that has some, behind a colon or on one side of "are".
    3. Else two lines or more.
    4. Without bullets and numbers an item has at most three words, or there is no list.

    >>> parse_list("Sure! Here are some:\\n1. Roof: above\\n2. Door\\n3. Wall"), parse_list("Roof, door, and wall.")
    (['Roof', 'Door', 'Wall'], ['Roof', 'door', 'wall'])
    """
    lines = unmarked(text).splitlines()
    marked = [match for line in lines if (match := _ITEM.match(line))]
    anew = [place for place, match in enumerate(marked) if match["number"] == "1"][1:]
    items = [_REMARK.sub("", match["item"]) for match in marked[: anew[0] if anew else None]]
    if not marked:
        line = next((line for line in lines if "," in line), "").split(". ")[0]
        parts = re.split(r":\s+|\b(?:are|is)\s+", line)
        items = re.split(r",\s*(?:and\s+)?|\s+and\s+", max(parts, key=lambda part: part.count(","))) if line else lines
    items = [bare for each in items if (bare := _EDGES.sub("", each))]
    is_short = marked or all(len(each.split()) <= _WORDS_OF_AN_ITEM for each in items)
    return items if len(items) > 1 and is_short else []


def _json_of(text: str) -> Any:
    """A list or an object in JSON that is all of a reply, also behind one key; None where there is none."""
    bare = re.sub(r"^```\w*|```$", "", spoken(text).strip()).strip()
    try:
        held = json.loads(bare) if bare[:1] in ("[", "{") else None
    except json.JSONDecodeError:
        return None
    if isinstance(held, dict) and len(held) == 1 and isinstance(inner := next(iter(held.values())), list | dict):
        return inner
    return held


# ---- orders ----------------------------------------------------------------------------------------------------------

_NTH = r"(?<![\w.,])(?i:Q|(?:question|item|statement|task|option) ?#?)?([1-9])(?!\w|[.,]\d)"
"""Names an item: its number, also behind "Q", "item" and their like."""
_BETWEEN = re.compile(r"(?:[^\w=/:]|\b(?:and|first|then|finally|followed by)\b|\([^()\d]*\))*", re.IGNORECASE)


def parse_ranking(text: str, n: int = 4, last: str = "hardest") -> list[float]:
    """Rank of each of n numbered items, 1 = the first of the order that was asked for; nan for all where there is none.

    1. A JSON array of all items.
    2. As many lines as items that name one at their head, behind the number of the line or alone ("1. Q3: easy").
    3. Else the first line that names all items, each once, with nothing but signs, "and", "then" and their like between
       them; "=", "/" and ":" are no such signs.
    4. An item is named by its number, also behind "Q", "item", "question".
    5. Nothing where it says that it begins with the last ("hardest to easiest").

    Args:
        last: what the last of the order is called.

    >>> parse_ranking("Q2, Q1, Q4, Q3"), parse_ranking("1. Item 3\\n2. Item 1\\n3. Item 2", 3)
    ([2.0, 1.0, 4.0, 3.0], [2.0, 3.0, 1.0])
    """
    order = _order(text, n, last)
    return [order.index(item) + 1.0 if order else math.nan for item in range(1, n + 1)]


def _order(text: str, n: int, last: str) -> list[int]:
    held, items = _json_of(text), set(range(1, n + 1))
    plain = str(held) if isinstance(held, list) else unmarked(text)
    if re.search(rf"\b{last}\s+(?:to|first|\u2192|->)\s", plain, re.IGNORECASE):
        return []
    lines = plain.splitlines()
    heads = [re.match(rf"\W*\d[.)]\s*{_NTH}|\W*{_NTH}(?!\s*[.):=/])", line) for line in lines]
    of_lines = [int(head[1] or head[2]) for head in heads if head]
    if len(of_lines) == n and set(of_lines) == items:
        return of_lines
    for line in lines:
        named = [int(each) for each in re.findall(_NTH, line)]
        order, between = named[:n], re.split(_NTH, line)[2:-1:2]
        if set(order) == items and len(named) == n:
            return order if all(map(_BETWEEN.fullmatch, between)) else []
    return []


# ---- ratings ---------------------------------------------------------------------------------------------------------

_RATING = r"(?P<rating>\d+)(?![a-zA-Z\d]|[.,\u2013-]\d|/(?!{top}\b))"
_RATED = (
    r"^\W*(?:statement |item )?(?P<label>[A-Z]|\d{1,2})(?:\s*[^\w\s']\W*|\s+(?=\d))"
    r"(?:[^\d\s].*?[:=\u2013\u2014-]\s*)??"
)
"""The letter or number of a statement, and perhaps the statement."""


def parse_ratings(text: str, n: int, scale: tuple[int, int] = (1, 4)) -> list[float]:
    """The ratings of n statements that were shown behind letters or numbers, nan where there is none.

    1. A JSON array of n numbers, or an object of them by letter or number.
    2. Else a line, or lines, of n numbers and nothing else.
    3. Else what stands behind the letter or number of a statement, perhaps with the statement between ("A: 3", "2. I
       give up: 2 (rarely)"), on a line of its own or behind a comma.
    4. Else n lines that end in a colon and a number, in their order.
    5. What is not on the scale, is one of several ("2-3"), or differs where a statement stands twice, is none.

    >>> parse_ratings("A: 3\\nB: 2, I think\\nC: 9", 3), parse_ratings("4, 3", 2)
    ([3.0, 2.0, nan], [4.0, 3.0])
    """
    held, plain = _json_of(text), unmarked(text)
    rating = _RATING.format(top=scale[1])
    lines = re.sub(r"[,;|]\s*(?=[A-Z]\W)|(?<=\d)\s+(?=[A-Z]\W*\d)", "\n", plain).splitlines()
    numbers = re.findall(r"\d+", plain if re.fullmatch(r"[\d\s]+", plain) else (plain.splitlines() or [""])[0])
    labelled = [match for line in lines if (match := re.match(_RATED + rating, line, re.IGNORECASE))]
    behind = [match["rating"] for line in lines if (match := re.search(rf":\s*{rating}", line))]
    if isinstance(held, list):
        pairs = list(enumerate([*each.values()][-1] if isinstance(each, dict) and each else each for each in held))
    elif isinstance(held, dict):
        pairs = [(_place(label), each) for label, each in held.items()]
    elif len(numbers) == n and re.match(r"[\d,\s\[\]]+(?:\n|\.?$)", plain):
        pairs = list(enumerate(numbers))
    elif labelled:
        pairs = [(_place(match["label"]), match["rating"]) for match in labelled]
    else:
        pairs = list(enumerate(behind)) if len(behind) == n else []
    ratings: dict[int, set[str]] = {}
    for place, each in pairs:
        ratings.setdefault(place, set()).add(str(each))
    points = {str(point): float(point) for point in range(scale[0], scale[1] + 1)}
    single = (ratings.get(place, set()) for place in range(n))
    return [points.get(next(iter(each)), math.nan) if len(each) == 1 else math.nan for each in single]


def _place(label: str) -> int:
    return int(label) - 1 if label.isdigit() else ord(label[:1].upper() or " ") - ord("A")


# ---- guesses with probabilities --------------------------------------------------------------------------------------

_GUESS = re.compile(
    r"^(?:(?:G|guess )?\d{1,2}[.):]\s+)?(?P<guess>.*?\w.*?)\s*(?:[:(,\[|=]|\s[\u2013-])\s*(?P<p>[^\d:(,\[|=]*\d.*)$",
    re.IGNORECASE,
)
_NO_GUESS = re.compile(
    r"(?:(?:the|your|first|second|third|fourth) )*(?:guess|answer|p\d|probability.*)|.*%.*", re.IGNORECASE
)


def parse_guesses(text: str) -> list[tuple[str, float]]:
    """(guess, probability) of each line that has both, at most `N_GUESSES`; of a guess that stands twice, the first.

    1. A line is a guess, perhaps behind a number, and what `stated_probability` reads behind the last colon, comma,
       bracket or dash before it; so is an object with both in a JSON array.
    2. "The second guess" and "the probability of ..." are no guesses. Where lines below the first are numbered, those
       without a number are none either.

    >>> parse_guesses("Paris: 60%\\n2. Lyon (25%)\\n3. Nice: .1\\n4. paris: 5%\\n5. Apollo 11")
    [('Paris', 0.6), ('Lyon', 0.25), ('Nice', 0.1)]
    """
    held = _json_of(text)
    rows = (
        [list(each.values()) for each in held if isinstance(each, dict) and len(each) == 2]
        if isinstance(held, list)
        else []
    )
    lines = [f"{guess}: {p}" for guess, p in rows] if rows else unmarked(text).splitlines()
    first, *rest = lines or [""]
    numbered = [line for line in rest if re.match(r"(?:G|guess )?\d{1,2}[.):]\s", line, re.IGNORECASE)]
    guesses: dict[str, tuple[str, float]] = {}
    for match in filter(None, map(_GUESS.match, [first, *(numbered or rest)])):
        guess, p = match["guess"].strip(" \"'.|"), stated_probability(match["p"])
        if p is not None and not _NO_GUESS.fullmatch(guess):
            guesses.setdefault(guess.casefold(), (guess, p))
    return list(guesses.values())[:N_GUESSES]


# ---- steps -----------------------------------------------------------------------------------------------------------

_LABEL = re.compile(r"^\s*(?:step\s*\d+\s*(?:[:.)-]|$)|\d+\s*[.)]|[-*•]\s)\s*", re.IGNORECASE)


def parse_steps(text: str) -> list[str]:
    """The first three steps, without their labels; empty where fewer than two different ones stand there.

    A step is a line; where all is on one line, a sentence.

    >>> parse_steps("It lies in Africa.\\nStep 2: So it is a country there.\\n\\nStep 3:")
    ['It lies in Africa.', 'So it is a country there.']
    """
    lines = unmarked(text).splitlines()
    parts = lines if len(lines) > 1 else re.split(r"(?<=[.!?])\s+|\s+(?=Step \d)", lines[0] if lines else "")
    parts = [part for part in parts if _LABEL.match(part) or not part.endswith(":")]
    steps = [step for step in (_LABEL.sub("", part).strip() for part in parts) if re.search(r"\w", step)]
    return steps[:N_STEPS] if len(set(steps[:N_STEPS])) > 1 else []


# ---- refusals --------------------------------------------------------------------------------------------------------

_FIRST_SIGNS = 240
_DECLINED = re.compile(
    r"\bI\b[^.!?]{0,25}?(?:\bcannot|can't|\bcan not|won't|\bwill not|\bunable to|\bnot able to|\bnot going to)\b"
    r"(?! (?:believe|wait|imagine|stress|overstate|live)\b)"
    r"|\bI (?:do not|don't) (?:have|know|feel)\b|\bI(?:'d| would) (?:rather|prefer) not\b"
    r"|^(?:sorry|no(?:pe)?), (?:but|can't|I)\b|\bnot appropriate to\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:I|(?i:the|an|is|are|of|and|you|it|that|with|for|to|my|your|this|be|was))\b")


def refuses(text: str) -> bool | None:
    """Whether a reply declines its request in its first 240 signs; None for no reply.

    1. "I cannot", "I won't", "I'm unable to", "I'm not going to" and their like; not "I can't believe".
    2. "I do not have", "I don't know", "I don't feel", "I'd rather not", "it is not appropriate to".
    3. "Sorry, but", "No, I" at its head.
    4. Not in quotation marks, nor where it is conceded: "While I cannot see it, ...", "I can't, but here is ...".
    5. A reply of six words or more, or with four letters that English has not, is not read where none of the commonest
       English words stands in it.

    Whatever else is said is an answer, also one that misses the request.

    >>> refuses("I'm sorry, but I can't help with that."), refuses("You can't miss it: turn left."), refuses(" ")
    (True, False, None)
    >>> refuses("Es tut mir leid, aber dabei kann ich nicht helfen.") is None
    True
    """
    plain = " ".join(unmarked(text).split())
    is_long = len(plain.split()) >= _FOREIGN_WORDS or len(re.findall(r"[^\W\d\x00-\x7f]", plain)) >= _FOREIGN_LETTERS
    if not plain or (is_long and not _ENGLISH.search(plain)):
        return None
    head = re.sub(r'"[^"]*"?|^(?:While|Although) [^,.]*, ', "", plain)[:_FIRST_SIGNS]
    return bool(_DECLINED.search(head)) and not re.search(r"\bbut (?:here|if I|you)\b", head)


_FOREIGN_WORDS, _FOREIGN_LETTERS = 6, 4

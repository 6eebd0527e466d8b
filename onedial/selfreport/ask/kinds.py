"""What kind of thing a question asks for, by its words, so that wrong options are of that kind, too.

A rule for English: the noun behind "which", "what", "name the" or "how many". Where it knows none of them there is no
kind, and the question is given no options.
"""

import re

from onedial.asking.questions import Question

_NOUNS = {
    "person": "man woman boy girl person actor actress star architect composer general king queen emperor "
    "empress ruler painter artist author writer poet novelist playwright dramatist scientist physicist "
    "chemist mathematician astronomer philosopher president pope explorer singer director gymnast "
    "runner swimmer player boxer cyclist sculptor printer detective biologist engineer inventor leader "
    "commander navigator monk physician doctor botanist naturalist tsar chancellor minister dictator "
    "conqueror pianist violinist conductor designer geographer historian linguist astronaut cosmonaut "
    "photographer opponent countess",
    "god": "god goddess deity titan hero heroine",
    "country": "country state nation republic kingdom empire",
    "city": "city capital town",
    "water": "river lake sea ocean strait canal waterfall",
    "land": "continent island mountain peak volcano desert peninsula region province archipelago",
    "substance": "gas metal element halogen chemical hydrocarbon mineral acid compound substance salt alloy",
    "planet": "planet moon star constellation galaxy asteroid comet",
    "animal": "animal bird fish mammal insect reptile beast pet",
    "plant": "plant tree flower fruit vegetable grain spice herb nut grape cereal berry",
    "food": "food dish drink cheese bread sauce soup cake meat wine dessert pastry liquor spirit",
    "language": "language tongue alphabet script",
    "organ": "organ bone gland hormone vitamin enzyme protein molecule",
    "particle": "particle quark",
    "sport": "sport game race tournament",
    "instrument": "instrument",
    "unit": "unit",
    "colour": "colour color",
    "shape": "shape polygon figure solid",
    "religion": "religion faith",
    "company": "company firm",
    "law": "law principle theorem effect theory",
    "war": "war battle treaty revolution",
}
_KIND_OF = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_ASKED = re.compile(
    r"\b(?:which|what(?: is the| was the| kind of| sort of| type of)?|name (?:the|an?))\s+"
    r"((?:[\w'’-]+\s+){0,3}?)(\w+)\b",
    re.I,
)
_YEAR = re.compile(r"\b(?:what|which) year\b|\bwhen\b", re.I)
_WHO = re.compile(
    r"^(?:who|whose)\b|\b(?:by|of|to|for|from|with|after|under) whom\b|[;,:] who(?:m|se)?\b"
    r"|\bwho (?:is|was) (?:he|she)\b",
    re.I,
)


def kind_asked(question: Question) -> str | None:
    """What its answer is, such as "person" or "river"; None where its words do not say.

    >>> kind_asked(Question("q", "Which river flows through Cairo?", ("Nile",)))
    'water'
    >>> kind_asked(Question("q", "In what year did it end?", ("1945",))), kind_asked(Question("q", "Why?", ("so",)))
    ('year', None)
    """
    answer = question.answers[0]
    if any(sign.isdigit() for sign in answer):
        if _YEAR.search(question.text) and re.fullmatch(r"\d{3,4}", answer):
            return "year"
        number = number_of(answer)
        return None if number is None else "whole number" if number >= 0 and number.is_integer() else "number"
    if _WHO.search(question.text) and answer[:1].isupper():
        return "person"
    for found in _ASKED.finditer(question.text):
        for noun in (found[2], *reversed(found[1].split())):
            kind = _KIND_OF.get(noun.lower()) or _KIND_OF.get(noun.lower().removesuffix("s"))
            if kind is not None and (kind != "person" or answer[:1].isupper()):
                return kind
    return None


def number_of(answer: str) -> float | None:
    """The number that an answer is, None where it is more than that."""
    try:
        return float(answer.replace(",", ""))
    except ValueError:
        return None

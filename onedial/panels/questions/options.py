"""Options of questions and the keys to them, however they are written."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onedial.asking.questions import LETTERS, Question, question_id, rendered
from onedial.asking.tables import is_blank
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice
from onedial.panels.questions.cells import TRUTH, clean_text, list_in_text, plain

_TEXTS = ("text", "texts", "choices", "value", "content", "option", "answer", "answerText", "answer_text")
_LABELS = ("label", "labels", "key", "id", "letter", "marker")
_FLAGS = ("is_correct", "isCorrect", "correct", "is_right")
"""Names under which options that are objects hold their words, their labels, and whether they are right."""
_LETTERED = re.compile(r"(?:^|(?<=[\s,;]))\(?([a-zA-Z])\s*[).:]\s*")
_COUNTED = re.compile(r"\(?([1-9])\s*[).:]\s+")
_WITHIN = (
    re.compile(r"(?:^|(?<=\s))\(([A-Ha-h1-8])\)\s+"),
    re.compile(r"(?:^|(?<=\n))\s*([A-Ha-h])[).:]\s+"),
    re.compile(r"(?:^|(?<=\s))[(\uff08]?([A-H])[)\uff09.\uff0e\u3001:\uff1a]\s*(?=\S)"),
)
"""Options within a question: "(A) iron (B) wood", a line for each, "A. iron B. wood"."""
_NAMED = re.compile(
    r"(?:option|choice|answer|ending|sol|op|opt|ans)?[ _]?\(?(\w{1,2})\s*[).:]?(?:_correct)?(?:\s+(.*))?"
)
"""A label, and what may stand around it: option_b, (B), "B. iron", answer_b_correct."""


@dataclass(frozen=True)
class Options:
    """The options of one question.

    Attributes:
        texts: in the order of their labels.
        labels: of each; letters where the file has none.
        right: place of the right one where the options themselves tell it; else None.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = tuple(LETTERS)
    right: int | None = None

    def in_an_order_that_does_not_tell(self, question: str) -> "Options":
        """Where they are told as right and wrong: by a hash of question and option, which stays as it is."""
        if self.right is None:
            return self
        texts = sorted(self.texts, key=lambda text: sha256_of_text(f"{question}\x1f{text}"))
        return Options(tuple(texts), self.labels, texts.index(self.texts[self.right]))


_Parts = tuple[Any, Any, Any]
"""An option's label, text, and whether it is right; None where it is not told."""


def options_in(cell: Any) -> Options:
    """The options in one cell: a list, an object by label, {"text": [...], "label": [...]}, objects, lettered text.

    Raises:
        ValueError: it holds something else, or not one of them is said to be right where any is.

    >>> options_in({"B": "wood", "A": "iron"}).texts, options_in("a ) 38 , b ) 27.675").texts
    (('iron', 'wood'), ('38', '27.675'))
    >>> options_in({"choices": ["Paris", "Rome"], "labels": [1, 0]}).right
    0
    """
    found = list_in_text(cell)
    if isinstance(found, str):
        found = found.split("|") if "|" in found else _parted(found, _LETTERED, starts=True)
    if isinstance(found, dict):
        return options_of(_of_object(found))
    if not isinstance(found, list):
        raise ValueError(f"{type(found).__name__} where a list is wanted")
    if found and all(isinstance(each, dict) for each in found):
        return options_of([_of_option(each) for each in found])
    texts = [text for each in found if (text := clean_text(each)) is not None]
    lettered = [_LETTERED.match(text) or _COUNTED.match(text) for text in texts]
    letters = "".join(match[1].casefold() for match in lettered if match)
    if len(texts) > 1 and letters in (LETTERS[: len(texts)].casefold(), "123456789"[: len(texts)]):
        texts = [text[match.end() :].strip() for text, match in zip(texts, lettered, strict=True) if match]
        return Options(tuple(texts), tuple(letters))
    return Options(tuple(texts))


def options_of(parts: Sequence[_Parts]) -> Options:
    """Options in the order of their labels where these are letters or numbers; blank ones are left out.

    Raises:
        ValueError: as `options_in`.
    """
    filled = [(clean_text(label), text, flag) for label, cell, flag in parts if (text := clean_text(cell)) is not None]
    texts, flags = tuple(text for _, text, _ in filled), [flag for *_, flag in filled]
    if any(flag is not None for flag in flags):
        right = [place for place, flag in enumerate(flags) if TRUTH.get(str(flag).casefold())]
        if len(right) != 1:
            raise ValueError(f"{len(right)} of its options are right, where one is wanted")
        return Options(texts, right=right[0])
    labels = [match[1] if (match := _NAMED.fullmatch(label or "")) else label for label, *_ in filled]
    if None in labels or tuple(labels) == texts:
        return Options(texts)
    pairs = [(str(label), text) for label, text in zip(labels, texts, strict=True)]
    if all(label.isdigit() for label, _ in pairs):
        pairs.sort(key=lambda pair: int(pair[0]))
    elif all(re.fullmatch("[A-Za-z]", label) for label, _ in pairs):
        pairs.sort(key=lambda pair: pair[0].casefold())
    return Options(tuple(text for _, text in pairs), tuple(label for label, _ in pairs))


def _of_object(found: dict[str, Any]) -> list[_Parts]:
    texts, labels = _first(found, _TEXTS), _first(found, _LABELS)
    if isinstance(texts, list):
        labels = labels if isinstance(labels, list) else [None] * len(texts)
        if "label" not in found and {*map(str, labels)} <= {"0", "1"}:  # mc1_targets of TruthfulQA
            return [(None, text, flag) for text, flag in zip(texts, labels, strict=True)]
        return [(label, text, None) for label, text in zip(labels, texts, strict=True)]
    values = [value for value in found.values() if value is not None]
    if values and all(isinstance(value, int | float) and value in (0, 1) for value in values):
        return [(None, text, flag) for text, flag in found.items()]  # target_scores of BIG-bench
    return [(label, text, None) for label, text in found.items()]


def _of_option(found: dict[str, Any]) -> _Parts:
    if len(found) == 1 and not found.keys() & {*_TEXTS}:  # {"A": "wood"}
        return next(iter(found)), next(iter(found.values())), None
    if (text := _first(found, _TEXTS)) is None:
        raise ValueError(f"an option with {', '.join(found)}, none of which is known as its text")
    return _first(found, _LABELS), text, _first(found, _FLAGS)


def _first(holder: dict[str, Any], names: Sequence[str]) -> Any:
    return next((holder[name] for name in names if holder.get(name) is not None), None)


def _parted(text: str, mark: re.Pattern[str], starts: bool = False) -> list[str] | None:
    """What stands behind A, B, C, ..., the marks as they follow one another; None where there are no two.

    Args:
        starts: nothing may stand before the first; else what does comes first.
    """
    found: list[re.Match[str]] = []
    for match in mark.finditer(text):
        runs = (LETTERS[len(found)], str(len(found) + 1))
        if match[1].upper() in runs and (not found or match[1].isdigit() == found[0][1].isdigit()):
            found.append(match)
    if len(found) < 2 or starts != (not text[: found[0].start()].strip()):
        return None
    ends = [match.start() for match in found[1:]] + [len(text)]
    texts = [text[match.end() : end].strip(" \t\n,;") for match, end in zip(found, ends, strict=True)]
    return texts if starts else [text[: found[0].start()].strip(), *texts]


def options_within(question: str) -> tuple[str, Options] | None:
    """The question without the options that it shows, and these; None where it shows none.

    >>> options_within("Which is a metal? (A) wood (B) iron")[1].texts
    ('wood', 'iron')
    """
    for mark in _WITHIN:
        if found := _parted(question, mark):
            return found[0], Options(tuple(found[1:]))
    return None


def stem_before(question: str, options: Options) -> str:
    """The question up to where it shows these options, each behind its letter; as it is where it does not.

    >>> stem_before("Which is a metal? Options: (A)wood (B)iron\\nThe answer is", Options(("wood", "iron")))
    'Which is a metal?'
    """
    if not options.texts:
        return question
    shown = r"[\s,;]*".join(
        rf"\(?{letter}\s*[).:]\s*{re.escape(text)}" for letter, text in zip(LETTERS, options.texts, strict=False)
    )
    found = re.search(rf"(?:(?:answer )?(?:choices|options)\s*:?\s*)?(?<!\w){shown}", question, re.IGNORECASE)
    stem = question[: found.start()].strip() if found else ""
    return stem or question


def key_of(cell: Any) -> str | int | None:
    """A key as text or whole number; None where it is blank, or -1, as splits write that keep theirs back.

    A list of one is its one; several right ones are a text that no reading takes. Of an object of truths it is the name
    of the only true one.
    """
    cell = list_in_text(cell)
    if isinstance(cell, dict) and cell and {str(value).casefold() for value in cell.values()} <= TRUTH.keys():
        cell = [name for name, value in cell.items() if TRUTH[str(value).casefold()]]
    if isinstance(cell, dict):
        cell = cell.get("value", cell.get("text"))
    if isinstance(cell, list):
        cell = cell[0] if len(cell) == 1 else str(cell) if cell else None
    cell = plain(cell)
    if is_blank(cell) or str(cell).strip() in ("-1", "-1.0"):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell if isinstance(cell, int) and not isinstance(cell, bool) else str(clean_text(str(cell)))


def _by_label(key: str | int, options: Options) -> int | None:
    labels = [label.casefold() for label in options.labels[: len(options.texts)]]
    given = str(key).casefold()
    if given in labels:
        return labels.index(given)
    match = _NAMED.fullmatch(given)
    if isinstance(key, int) or match is None or match[1] not in labels:
        return None
    place = labels.index(match[1])
    return place if not match[2] or match[2] == options.texts[place].casefold() else None


def _by_text(key: str | int, options: Options) -> int | None:
    texts = [" ".join(text.casefold().split()) for text in options.texts]
    given = " ".join(str(key).casefold().split())
    return texts.index(given) if isinstance(key, str) and given in texts else None


def _by_place(start: int) -> Callable[[str | int, Options], int | None]:
    def place(key: str | int, options: Options) -> int | None:
        digits = str(key).removesuffix(".0")
        return int(digits) - start if digits.isdigit() and start <= int(digits) < len(options.texts) + start else None

    return place


_AS_TEXT, _AS_A_NUMBER = "as an option's text", "as an option's number"
READINGS: dict[str, Callable[[str | int, Options], int | None]] = {
    "as a label": _by_label,
    _AS_TEXT: _by_text,
    "as a place, from 0": _by_place(0),
    "as a place, from 1": _by_place(1),
    _AS_A_NUMBER: lambda key, options: _by_text(str(key), options),
}
"""What a key may be, tried in this order."""


def right_places(
    keys: Sequence[str | int | None],
    options: Sequence[Options],
    first: str | None,
    where: str | None,
    counts: bool = False,
) -> list[int | None] | None:
    """The right option's place in each row, by the first way to read a key that fits all of them; None where none does.

    Args:
        first: a reading that is tried before the others.
        where: for the notice that another reading would fit as well; None for no notice.
        counts: whether the key is called like one that counts places.

    Raises:
        InputError: with `where`, options that are numbers, of which each key may be one, or a place.
    """
    if all(key is None for key in keys):
        return None
    found = {}
    for way in dict.fromkeys([first or "as a label", *READINGS]):
        places = [None if key is None else READINGS[way](key, own) for key, own in zip(keys, options, strict=True)]
        if all(key is None or place is not None for key, place in zip(keys, places, strict=True)):
            found[way] = places
    if not found:
        return None
    as_number = found.get(_AS_A_NUMBER, found.get(_AS_TEXT))
    by_place = next((own for own in (found.get("as a place, from 0"), found.get("as a place, from 1")) if own), None)
    if "as a label" not in found and as_number and by_place and as_number != by_place:
        if not counts and where is not None:
            raise InputError(
                f"{where} may name options, which are numbers, or count their places; give letters, or call it "
                "answer_index where it counts from 0"
            )
        found = {way: own for way, own in found.items() if way not in (_AS_A_NUMBER, _AS_TEXT)}
    (way, places), *others = found.items()
    rivals = [other for other, own in others if own != places]
    if rivals and way != "as a label" and where is not None:
        notice(f"{where} is read {way}, though {rivals[0][3:]} would fit as well; give letters to be sure")
    return places


def choice_question(
    text: str, options: Any, right: int | None, topic: Any = None, identity: Any = None, where: str = "the question"
) -> Question:
    """A question with options; its answers are the right one's letter and words.

    Args:
        options: a list of them, or one text with | between.
        right: place of the right one, from 0; None where nobody knows.
        identity: its id; by default a hash of the text with its options, since data sets repeat a question with others.
        where: for messages.

    Raises:
        InputError: under 2 options or over 26, or the right one is none of them.

    >>> choice_question("Which is a metal?", ["neon", "iron"], 1).answers
    ('B', 'iron')
    """
    shown = [str(option).strip() for option in (options.split("|") if isinstance(options, str) else options)]
    if not 2 <= len(shown) <= len(LETTERS):
        raise InputError(
            f"{where} has {len(shown)} options; it needs 2 to {len(LETTERS)}: leave out what cannot be asked whole"
        )
    if right is not None and not 0 <= right < len(shown):
        raise InputError(f"{where} gives the answer {right}, which is none of its {len(shown)} options, from 0")
    own = question_id(rendered(text, shown)) if identity is None else str(identity)
    answers = () if right is None else (LETTERS[right], shown[right])
    return Question(own, text, answers, topic, options=tuple(shown), right_option=right)

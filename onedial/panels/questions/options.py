"""Options of questions and the keys to them, however they are written."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onedial.asking.questions import Question, question_id
from onedial.asking.tables import is_blank
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice
from onedial.panels.grading.choice_grading import LETTERS, with_options
from onedial.panels.questions.cells import clean_text, list_in_text, plain

_TEXTS, _LABELS = ("text", "texts", "choices", "value", "content", "option"), ("label", "key", "id", "letter")
_FLAGS = ("is_correct", "isCorrect", "correct")
"""Names under which options that are objects hold their words, their labels, and whether they are right."""
_LETTERED = re.compile(r"(?:^|(?<=[\s,;]))\(?([a-zA-Z])\s*[).:]\s*")
_COUNTED = re.compile(r"\(?([1-9])\s*[).:]\s+")
_WITHIN = (re.compile(r"(?:^|(?<=\s))\(([A-Ha-h1-8])\)\s+"), re.compile(r"(?:^|(?<=\n))\s*([A-Ha-h])[).:]\s+"))
"""Options within a question: "(A) iron (B) wood", or a line for each."""


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


def options_in(cell: Any) -> Options:
    """The options in one cell: a list, an object by label, {"text": [...], "label": [...]}, objects, lettered text.

    Raises:
        ValueError: it holds something else.

    >>> options_in({"B": "wood", "A": "iron"}).texts, options_in("a ) 38 , b ) 27.675").texts
    (('iron', 'wood'), ('38', '27.675'))
    >>> options_in({"choices": ["Paris", "Rome"], "labels": [1, 0]}).right
    0
    """
    found = list_in_text(cell)
    if isinstance(found, dict):
        return _in_object(found)
    if isinstance(found, list) and found and all(isinstance(each, dict) for each in found):
        if all(len(each) == 1 and not each.keys() & set(_TEXTS) for each in found):  # [{"A": "wood"}, {"B": "iron"}]
            return _in_object({name: text for each in found for name, text in each.items()})
        texts = [_first(each, _TEXTS) for each in found]
        flags, labels = [_first(each, _FLAGS) for each in found], [_first(each, _LABELS) for each in found]
        if any(flag is not None for flag in flags):
            return _flagged(texts, flags)
        return labelled(list(zip(labels, texts, strict=True)))
    if isinstance(found, str):
        found = found.split("|") if "|" in found else _lettered(found)
    if not isinstance(found, list):
        raise ValueError(f"{type(found).__name__} where a list is wanted")
    texts = [text for each in found if (text := clean_text(each)) is not None]
    lettered = [_LETTERED.match(text) or _COUNTED.match(text) for text in texts]
    letters = "".join(match[1].casefold() for match in lettered if match)
    if len(texts) > 1 and letters in (LETTERS[: len(texts)].casefold(), "123456789"[: len(texts)]):
        texts = [text[match.end() :].strip() for text, match in zip(texts, lettered, strict=True) if match]
        return Options(tuple(texts), tuple(letters))
    return Options(tuple(texts))


def _in_object(found: dict[str, Any]) -> Options:
    texts, labels = _first(found, _TEXTS), _first(found, (*_LABELS, "labels"))
    if isinstance(texts, list) and "label" not in found and {*map(str, labels or ())} == {"0", "1"}:
        return _flagged(texts, labels)  # mc1_targets of TruthfulQA, which has the right one first
    if isinstance(texts, list):
        return labelled(list(zip(labels, texts, strict=True))) if labels else options_in(texts)
    values = [value for value in found.values() if value is not None]
    if values and all(isinstance(value, int | float) and value in (0, 1) for value in values):
        return _flagged(list(found), list(found.values()))  # target_scores of BIG-bench
    return labelled(list(found.items()))


def _first(holder: dict[str, Any], names: Sequence[str]) -> Any:
    return next((holder[name] for name in names if holder.get(name) is not None), None)


def _flagged(texts: Sequence[Any], flags: Sequence[Any]) -> Options:
    right = [
        place for place, flag in enumerate(flags) if flag is not None and str(flag).casefold() in ("1", "true", "1.0")
    ]
    if len(right) != 1:
        raise ValueError(f"{len(right)} of its options are right, where one is wanted")
    return Options(tuple(str(clean_text(text)) for text in texts), right=right[0])


def labelled(pairs: Sequence[tuple[Any, Any]]) -> Options:
    """Options from label and text, in the order of the labels where these are letters or numbers; blank ones left out.

    Raises:
        ValueError: a text that is none.
    """
    filled = [(clean_text(label), text) for label, cell in pairs if (text := clean_text(cell)) is not None]
    if any(label is None for label, _ in filled):
        return Options(tuple(text for _, text in filled))
    labels = [str(label) for label, _ in filled]
    if all(label.isdigit() for label in labels):
        filled.sort(key=lambda pair: int(str(pair[0])))
    elif all(len(label) == 1 and label.isalpha() for label in labels):
        filled.sort(key=lambda pair: str(pair[0]).casefold())
    return Options(tuple(text for _, text in filled), tuple(str(label) for label, _ in filled))


def _lettered(text: str) -> list[str] | None:
    """The options of "a ) 38 , b ) 27.675"; None where there are none."""
    wanted, starts = 0, []
    for match in _LETTERED.finditer(text):
        if match[1].casefold() == LETTERS[wanted].casefold():
            starts.append(match)
            wanted += 1
    if wanted < 2 or starts[0].start() != 0:
        return None
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [text[match.end() : end].strip(" \t\n,;") for match, end in zip(starts, ends, strict=True)]


def options_within(question: str) -> tuple[str, Options] | None:
    """The question without the options that it shows, and these; None where it shows none.

    >>> options_within("Which is a metal? (A) wood (B) iron")[1].texts
    ('wood', 'iron')
    """
    for pattern in _WITHIN:
        found = list(pattern.finditer(question))
        labels = [match[1].upper() for match in found]
        is_run = labels in (list(LETTERS[: len(labels)]), [str(place + 1) for place in range(len(labels))])
        if len(found) < 2 or not is_run or not question[: found[0].start()].strip():
            continue
        ends = [match.start() for match in found[1:]] + [len(question)]
        texts = [question[match.end() : end].strip() for match, end in zip(found, ends, strict=True)]
        return question[: found[0].start()].strip(), Options(tuple(texts), tuple(labels))
    return None


def key_of(cell: Any) -> str | int | None:
    """A key as text or whole number; None where it is blank, or -1, as splits write that keep theirs back.

    A list of one is its one; several right ones are a text that no reading takes.
    """
    cell = list_in_text(cell)
    if isinstance(cell, dict):
        cell = cell.get("value", cell.get("text"))
    if isinstance(cell, list):
        cell = cell[0] if len(cell) == 1 else str(cell) if cell else None
    cell = plain(cell)
    if is_blank(cell) or str(cell).strip() in ("-1", "-1.0"):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    return str(clean_text(str(cell)))


def _by_label(key: str | int, options: Options) -> int | None:
    labels = [label.casefold() for label in options.labels[: len(options.texts)]]
    given = str(key).casefold()
    if given in labels:
        return labels.index(given)
    match = re.fullmatch(
        r"(?:option|choice|answer|ending|sol|op|opt|ans)?[ _]?\(?(\w{1,2})\s*[).:]?(?:\s+(.*))?", given
    )
    if isinstance(key, int) or match is None or match[1] not in labels:
        return None
    place = labels.index(match[1])
    return place if not match[2] or match[2] == options.texts[place].casefold() else None


def _by_text(key: str | int, options: Options) -> int | None:
    texts = [" ".join(text.casefold().split()) for text in options.texts]
    given = " ".join(str(key).casefold().split())
    return texts.index(given) if isinstance(key, str) and given in texts else None


def _by_number(key: str | int, options: Options) -> int | None:
    return _by_text(str(key), options)


def _by_place(start: int) -> Callable[[str | int, Options], int | None]:
    def place(key: str | int, options: Options) -> int | None:
        digits = str(key).removesuffix(".0")
        return int(digits) - start if digits.isdigit() and start <= int(digits) < len(options.texts) + start else None

    return place


READINGS = {
    "as a label": _by_label,
    "as an option's text": _by_text,
    "as a place, from 0": _by_place(0),
    "as a place, from 1": _by_place(1),
    "as an option's number": _by_number,
}
"""What a key may be, tried in this order."""


def right_places(
    keys: Sequence[str | int | None], options: Sequence[Options], first: str | None, where: str
) -> list[int | None] | None:
    """The right option's place in each row, by the first way to read a key that fits all of them; None where none does.

    Args:
        first: a reading that is tried before the others.
        where: for the notice that another reading would fit as well.
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
    (way, places), *others = found.items()
    rivals = [other for other, own in others if own != places]
    if rivals and way != "as a label":
        notice(f"{where} is read {way}, though {rivals[0][3:]} would fit as well; give letters to be sure")
    return places


def refuse_keys(cells: Sequence[Any], options: Sequence[Options], where: Callable[[int], str], name: str) -> None:
    """Say which key is none.

    Raises:
        InputError: always.
    """
    for row, (cell, own) in enumerate(zip(cells, options, strict=True)):
        key = key_of(cell)
        if key is not None and all(read(key, own) is None for read in READINGS.values()):
            raise InputError(
                f"{where(row)} gives the answer {plain(cell)!r}, which is no letter, text or place of its "
                f"{len(own.texts)} options"
            )
    raise InputError(
        f"{where(0)}: the key {name!r} is here a label, there a text or a place, and no reading fits every row; write "
        "all of them as letters"
    )


def choice_question(
    text: str, options: Any, right: int | None, topic: Any = None, identity: Any = None, where: str = "the question"
) -> Question:
    """A question that shows its options as lines "A) ...", with the right one's letter and words as its key.

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
    asked = with_options(text, shown)
    own = question_id(asked) if identity is None else str(identity)
    return Question(own, asked, () if right is None else (LETTERS[right], shown[right]), topic, grading="choice")

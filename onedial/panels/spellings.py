"""What a cell of answers says: yes, no, a number or nothing. One table of words for every file, and what users add."""

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from onedial.asking.elicited import ELICITATION_FILE, Elicitation
from onedial.asking.tables import is_blank
from onedial.core.errors import InputError

TRUTH = {"1": True, "yes": True, "y": True, "true": True, "0": False, "no": False, "n": False, "false": False}
"""Words for yes and no, in small letters; a number in the shortest way."""
BLANKS = frozenset({"na", "nan", "n/a", "#n/a", "<na>", "null", "none", "-", "--", "–", "—"})
"""Words for nothing where an answer or a number belongs."""
WANTED = (
    "answers are 1/0, yes/no, y/n or true/false, and blank where none was read; other words and codes are declared "
    "(--yes 1 --no 2 --blank 9, or yes:, no: and blank: in elicitation.yaml)"
)
WANTED_OF_TRUTHS = "write 1/0, yes/no or true/false, or leave it blank"
WANTED_OF_ERRORS = (
    "a column error says in words what failed (a blank, or a no, says that nothing did); rename it if it holds numbers"
)


class Number(NamedTuple):
    """A number as it was written.

    Attributes:
        value: nan where none was.
        in_percent: whether a percent sign stands behind it.
    """

    value: float
    in_percent: bool = False


def _float(text: str) -> float:
    """As people write numbers: Python also takes 1_0 for 10, and the digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError("no number")
    return float(text)


def word_of(cell: Any) -> str:
    """A cell as it is looked up: in small letters, whole numbers without a fraction; "" where it is blank.

    >>> word_of(" Yes"), word_of(1.0), word_of("2.0"), word_of(True)
    ('yes', '1', '2', 'true')
    """
    if is_blank(cell):
        return ""
    word = str(cell).strip().casefold()
    try:
        number = _float(word)
    except ValueError:
        return word
    return str(int(number)) if number.is_integer() else word


@dataclass(frozen=True)
class Spellings:
    """Spellings besides the usual ones, before which they go; with a code (2) for one, 1 and 0 mean nothing by
    themselves.

    Raises:
        InputError: one word stands for two of yes, no and blank.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words = [word for kind in (self.yes, self.no, self.blank) for word in {word_of(each) for each in kind}]
        if twice := [word for word in words if words.count(word) > 1]:
            raise InputError(f"{twice[0]!r} is given as a spelling of two of yes, no and blank; give it to one")

    @classmethod
    def of(cls, elicitation: Elicitation | None) -> "Spellings":
        """Those that an elicitation.yaml gives."""
        try:
            return cls() if elicitation is None else cls(elicitation.yes, elicitation.no, elicitation.blank)
        except InputError as error:
            raise InputError(f"{ELICITATION_FILE}: {error}") from None

    @cached_property
    def _value(self) -> dict[str, float]:
        coded = any(word_of(word).isdigit() for word in (*self.yes, *self.no))
        usual = {word: float(value) for word, value in TRUTH.items() if not (coded and word.isdigit())}
        added = {word_of(word): 1.0 for word in self.yes} | {word_of(word): 0.0 for word in self.no}
        return dict.fromkeys(("", *BLANKS), np.nan) | usual | added | {word_of(word): np.nan for word in self.blank}

    def said(self, cell: Any) -> float:
        """1 for yes, 0 for no, nan for a blank.

        Raises:
            ValueError: anything else.

        >>> Spellings(yes=("Ja",)).said("JA"), Spellings().said("N/A"), Spellings(("1",), ("2",)).said(2)
        (1.0, nan, 0.0)
        """
        word = word_of(cell)
        if word not in self._value:
            raise ValueError("no answer")
        return self._value[word]

    def number(self, cell: Any) -> Number:
        """The number in a cell, nan for a blank; a decimal comma is a point.

        Raises:
            ValueError: no number.

        >>> Spellings().number("0,95"), Spellings().number("95 %")
        (Number(value=0.95, in_percent=False), Number(value=95.0, in_percent=True))
        """
        if np.isnan(self._value.get(word_of(cell), 0.0)):
            return Number(np.nan)
        if isinstance(cell, bool | np.bool_) or not isinstance(cell, str | numbers.Real):
            raise ValueError("no number")
        text = str(cell).strip()
        number = text.removesuffix("%").strip()
        whole, comma, part = number.partition(",")
        # in 1,000 the comma may part thousands
        if comma and whole.lstrip("-").isdigit() and part.isdigit() and (len(part) != 3 or whole in ("0", "-0")):
            number = f"{whole}.{part}"
        if not np.isfinite(_float(number)):
            raise ValueError("no number")
        return Number(_float(number), text.endswith("%"))

    def holds(self, cell: Any) -> bool:
        """Whether a cell is one of the words."""
        return word_of(cell) in self._value


def is_error(cell: Any) -> bool:
    """Whether a cell of a column `error` says that something failed: it is neither blank nor a no.

    Raises:
        ValueError: a number that is no yes or no, such as a standard error.

    >>> [is_error(cell) for cell in ("timeout", "None", False, "")]
    [True, False, False, False]
    """
    usual = Spellings()
    if usual.holds(cell):
        return usual.said(cell) == 1
    try:
        usual.number(cell)
    except ValueError:
        return True
    raise ValueError("a number")

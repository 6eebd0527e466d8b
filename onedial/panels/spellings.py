"""How a table spells yes, no and nothing: 1/0, yes/no and true/false in any case, and what the user adds."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from onedial.asking.elicited import ELICITATION_FILE, Elicitation
from onedial.asking.tables import Table, is_blank
from onedial.core.errors import InputError
from onedial.panels.stated_numbers import stated

_YES, _NO = ("1", "1.0", "yes", "true"), ("0", "0.0", "no", "false")
_BLANK = ("na", "nan", "n/a", "#n/a", "<na>", "null", "none", "-", "--", "–", "—")


@dataclass(frozen=True)
class Spellings:
    """Spellings besides the usual ones.

    Raises:
        InputError: one word stands for two of them.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kinds = [(*_YES, *self.yes), (*_NO, *self.no), self.blank]
        words = [word for kind in kinds for word in {word.strip().casefold(): word for word in kind}.values()]
        folded = [word.strip().casefold() for word in words]
        if twice := [word for word in words if folded.count(word.strip().casefold()) > 1]:
            raise InputError(f"{twice[-1]!r} is given as a spelling of two of yes, no and blank; give it to one")

    @classmethod
    def of(cls, elicitation: Elicitation | None) -> "Spellings":
        """Those that an elicitation.yaml gives."""
        try:
            return cls() if elicitation is None else cls(elicitation.yes, elicitation.no, elicitation.blank)
        except InputError as error:
            raise InputError(f"{ELICITATION_FILE}: {error}") from None

    @cached_property
    def _value(self) -> dict[str, float]:
        known = [(word, np.nan) for word in (*_BLANK, *self.blank)]
        known += [(word, 0.0) for word in (*_NO, *self.no)] + [(word, 1.0) for word in (*_YES, *self.yes)]
        return {word.strip().casefold(): value for word, value in known}

    def said(self, cell: Any) -> float:
        """1 for yes, 0 for no, nan for a blank.

        Raises:
            ValueError: anything else.

        >>> Spellings(yes=("Ja",)).said("JA"), Spellings().said("N/A")
        (1.0, nan)
        """
        if is_blank(cell):
            return np.nan
        if isinstance(cell, str) and (word := cell.strip().casefold()) in self._value:
            return self._value[word]
        if isinstance(cell, bool | np.bool_ | numbers.Real) and cell in (0, 1):
            return float(cell)
        raise ValueError("no answer")

    def holds(self, cell: Any) -> bool:
        """Whether a cell is a yes, a no, a number or a blank."""
        for read in (self.said, stated):
            try:
                read(cell)
            except (ValueError, TypeError):
                continue
            return True
        return False

    def without_blanks(self, table: Table, columns: Sequence[str]) -> Table:
        """The table with nothing in these columns where a word stands for a blank."""
        frame = table.frame
        for name in (name for name in columns if name in frame.columns):
            texts = {cell for cell in frame[name] if isinstance(cell, str)}
            blanks = {text for text in texts if np.isnan(self._value.get(text.strip().casefold(), 0))}
            if blanks:
                is_blank_word = [isinstance(cell, str) and cell in blanks for cell in frame[name]]
                frame = frame.assign(**{name: frame[name].mask(np.array(is_blank_word), None)})
        return replace(table, frame=frame)

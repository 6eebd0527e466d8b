"""What somebody may have meant by a name that nothing has."""

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn

from onedial.core.errors import InputError


def nearest(given: str, known: Iterable[str]) -> str | None:
    """Find the known name that is spelt most like the given one, whatever the case; None where none is near.

    >>> nearest("embeded", ["embedded", "frontier"])
    'embedded'
    """
    by_case = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), by_case, n=1, cutoff=0.6)
    return by_case[near[0]] if near else None


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Write `; did you mean 'embedded'?` to put behind the name that came, or nothing where no known name is near."""
    name = nearest(given, known)
    return "" if name is None else f"; did you mean {name!r}?"


class UnknownName(InputError, KeyError):
    """A name that a dictionary has not, and what may have been meant."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class Named(dict[str, Any]):
    """A dictionary whose unknown names are refused in one sentence.

    >>> Named({"neutral": 1, "eager": 2})["netural"]
    Traceback (most recent call last):
    onedial.core.suggestions.UnknownName: nothing is called 'netural'; did you mean 'neutral'? known are neutral, eager
    """

    def __missing__(self, name: str) -> NoReturn:
        meant = did_you_mean(str(name), self) or ";"
        raise UnknownName(f"nothing is called {str(name)!r}{meant} known are {', '.join(self)}")

"""Which rows of a table an expression keeps; nothing in it is ever executed.

    expression = test, or tests joined by `and`, `or`, `not` and parentheses
    test       = value OPERATOR value         with = != < <= > >= or ~ (holds these letters, in any case)
               | column is missing | column is not missing
               | "text"                       that text stands in one of the row's texts
    value      = a column's name, in `backticks` where it is no plain word; a number; "text" or 'text'; yes; no

A missing value passes no test but `is missing`; `not` of a failed test passes. `yes` and `no` stand for 1 and 0 beside
numbers. Texts are compared as they are, in the order of their letters.
"""

import operator
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from onedial.core import InputError, did_you_mean

LONGEST, DEEPEST = 1000, 30
"""Characters of an expression; parentheses and `not` within each other."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<quoted>`[^`]*`)|(?P<sign>!=|<=|>=|==?|[<>~()])|(?P<word>[^\W\d]\w*))"
)
_SIGNS: dict[str, Any] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "~": lambda text, part: part.lower() in text.lower(),
}
_REMEDY = 'write a test such as  margin > 0.5 and topic = "law"'


class _Side(NamedTuple):
    """What stands on one side of an operator, a value for each row. `kind`: number, text, or word for yes and no."""

    kind: str
    values: np.ndarray


def matching(table: pd.DataFrame, expression: str) -> np.ndarray:
    """Mask of the rows that the expression keeps; all of them where it is blank.

    Raises:
        InputError: it cannot be read, or names a column that is not there.

    >>> table = pd.DataFrame({"topic": ["law", "sea", None], "margin": [0.9, 0.2, -1.0]})
    >>> matching(table, 'margin > .5 and topic = "law" or topic is missing').tolist()
    [True, False, True]
    """
    tokens = _tokens(expression)
    return _Reader(table, tokens).whole() if tokens else np.ones(len(table), dtype=bool)


def _tokens(expression: str) -> list[tuple[str, str]]:
    if len(expression) > LONGEST:
        raise InputError(f"the filter has {len(expression)} characters; {LONGEST} are the most")
    found, at, text = [], 0, expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise InputError(f"the filter cannot be read from {text[at:].strip()[:30]!r} on; {_REMEDY}")
        found.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    return found


class _Reader:
    """Reads tokens from left to right, a method for each rule of the grammar."""

    def __init__(self, table: pd.DataFrame, tokens: list[tuple[str, str]]) -> None:
        self._table, self._tokens, self._depth = table, [*tokens, ("end", "")], 0
        self._columns = {str(name): place for place, name in enumerate(table.columns)}

    def whole(self) -> np.ndarray:
        mask = self._either()
        if self._tokens[0][0] != "end":
            raise InputError(f"the filter goes on with {self._tokens[0][1]!r} where it should end; {_REMEDY}")
        return mask

    def _take(self, *texts: str) -> str:
        """The next word or sign where it is one of these, which is then passed; "" otherwise."""
        kind, text = self._tokens[0]
        if kind in ("sign", "word") and text.lower() in texts and text not in self._columns:
            return self._tokens.pop(0)[1].lower()
        return ""

    def _either(self) -> np.ndarray:
        mask = self._both()
        while self._take("or"):
            mask = mask | self._both()
        return mask

    def _both(self) -> np.ndarray:
        mask = self._one()
        while self._take("and"):
            mask = mask & self._one()
        return mask

    def _one(self) -> np.ndarray:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(f"the filter is nested deeper than {DEEPEST} levels; write it in fewer")
        if self._take("not"):
            mask = ~self._one()
        elif self._take("("):
            mask = self._either()
            if not self._take(")"):
                raise InputError("the filter opens a parenthesis that it does not close; add )")
        else:
            mask = self._test()
        self._depth -= 1
        return mask

    def _test(self) -> np.ndarray:
        kind, text = self._tokens[0]
        left = self._side()
        if self._take("is"):
            wanted = not self._take("not")
            if not self._take("missing"):
                raise InputError("`is` is followed by something else; write  is missing  or  is not missing")
            return np.asarray(pd.isna(left.values)) == wanted
        if sign := self._take(*_SIGNS):
            return _compared(sign, left, self._side())
        if kind == "text":
            texts = [side for name in self._columns if (side := self._column(name)).kind == "text"]
            return np.any([_compared("~", side, left) for side in texts], axis=0) & np.ones(len(self._table), bool)
        raise InputError(f"the filter compares {text!r} with nothing; {_REMEDY}")

    def _side(self) -> _Side:
        kind, text = self._tokens[0]
        if kind in ("end", "sign"):
            raise InputError(f"the filter ends or has {text!r} where a column, number or text belongs; {_REMEDY}")
        self._tokens.pop(0)
        name = text.strip("`")
        if kind in ("word", "quoted") and name in self._columns:
            return self._column(name)
        if (kind == "word" and name.lower() not in ("yes", "no")) or kind == "quoted":
            near = did_you_mean(name, list(self._columns))
            raise InputError(f"the filter names {name!r}, which is no column{near}; a text stands between quotes")
        value: Any = float(text) if kind == "number" else text[1:-1] if kind == "text" else text.lower()
        return _Side(kind, np.full(len(self._table), value, dtype=object))

    def _column(self, name: str) -> _Side:
        values = self._table.iloc[:, self._columns[name]]
        is_number = pd.api.types.is_numeric_dtype(values)
        return _Side("number" if is_number else "text", values.to_numpy(object))


def _compared(sign: str, left: _Side, right: _Side) -> np.ndarray:
    one, other = _beside(left, right), _beside(right, left)
    if one.kind != other.kind or (sign == "~" and one.kind != "text"):
        kinds = " and ".join("a number" if side.kind == "number" else "a text" for side in (one, other))
        raise InputError(f"the filter sets {kinds} beside each other with {sign}; compare what is alike")
    here = ~(np.asarray(pd.isna(one.values)) | np.asarray(pd.isna(other.values)))
    plain = float if one.kind == "number" else str
    mask = np.zeros(len(here), dtype=bool)
    mask[here] = [_SIGNS[sign](plain(a), plain(b)) for a, b in zip(one.values[here], other.values[here], strict=True)]
    return mask


def _beside(side: _Side, other: _Side) -> _Side:
    """`yes` and `no` are 1 and 0 beside numbers, else texts."""
    if side.kind != "word":
        return side
    if other.kind == "number":
        return _Side("number", np.array([float(word == "yes") for word in side.values], dtype=object))
    return _Side("text", side.values)

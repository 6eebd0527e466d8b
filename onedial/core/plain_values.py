"""Values as JSON and YAML can hold them."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_HALVES = re.compile("[\ud800-\udfff]")


def plain(value: Any, *, infinities: bool = False) -> Any:
    """Turn a value into mappings with text keys, lists, texts, numbers, booleans and None.

    Paths become text, tuples and arrays lists, sets sorted lists, numpy's numbers Python's; nan becomes None.

    Args:
        infinities: keep an infinity as the text "inf" or "-inf"; else it becomes None as well.

    Raises:
        TypeError: anything else, since a file that cannot be read back is no record.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return None if math.isnan(value) or not infinities else str(float(value))
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, infinities=infinities) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return plain(value.tolist(), infinities=infinities)
    if isinstance(value, set | frozenset):
        return sorted(plain(item, infinities=infinities) for item in value)
    if isinstance(value, Iterable):
        return [plain(item, infinities=infinities) for item in value]
    raise TypeError(f"{type(value).__name__} is no plain value; give texts, numbers, lists and dictionaries")


def from_plain(kind: Any, value: Any) -> Any:
    """Rebuild what `plain` was made of, by annotations: dataclasses, their lists, dictionaries and optional parts.

    Args:
        kind: the class or annotation. value: as it stands in a file; None where a number is expected is nan.

    Raises:
        TypeError: the dataclass has no such field, or another that the file lacks.

    >>> from onedial.stats.estimate import Estimate
    >>> from_plain(Estimate, {"value": 0.5, "low": None}).low
    nan
    """
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: from_plain(hints.get(name), item) for name, item in value.items()})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (some,) = (each for each in inner if each is not NoneType)
        return None if value is None else from_plain(some, value)
    if origin is list:
        return [from_plain(inner[0], item) for item in value]
    if origin is dict:
        return {name: from_plain(inner[1], item) for name, item in value.items()}
    return math.nan if kind is float and value is None else value


def whole_characters(value: Any) -> Any:
    """Put U+FFFD in the place of each half of a character, which no file can hold.

    >>> whole_characters({"said": ["Ye\\ud800", 1]})
    {'said': ['Ye\ufffd', 1]}
    """
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return [whole_characters(item) for item in value] if isinstance(value, list) else value

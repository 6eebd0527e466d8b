"""Values as JSON and YAML can hold them."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_HALVES = re.compile("[\ud800-\udfff]")


def plain(value: Any, *, infinities: bool = False) -> Any:
    """Mappings with text keys, lists, texts, numbers, booleans and None.

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


def whole_characters(value: Any) -> Any:
    """The same values, with U+FFFD for each half of a character, which no file can hold.

    >>> whole_characters({"said": ["Ye\\ud800", 1]})
    {'said': ['Ye\ufffd', 1]}
    """
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return [whole_characters(item) for item in value] if isinstance(value, list) else value

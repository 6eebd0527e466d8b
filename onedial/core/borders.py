"""Files of keys and values from outside: read, checked against a dataclass, and refused in one sentence with a remedy.

@dataclass(frozen=True)
class Price:
    __pydantic_config__ = CLOSED                                   # a key that it has not is refused
    input: Annotated[float, Strict(), Ge(0), Write("write a number from 0 on")]

price = checked(Price, read_yaml(path, "file of prices"), str(path))

pydantic does the checking, and only here: whoever makes the dataclass in Python is trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from onedial.core.errors import InputError
from onedial.core.files import parsed_yaml
from onedial.core.suggestions import did_you_mean

T = TypeVar("T")
CLOSED: Any = {"extra": "forbid", "arbitrary_types_allowed": True}


@dataclass(frozen=True)
class Write:
    """Beside the type of a field: what to write there, which ends the sentence about a value that cannot be used.

    Attributes:
        hidden: the value is not repeated, since it may be a secret.
    """

    remedy: str
    hidden: bool = False


def read_yaml(path: Path, what: str = "file") -> Any:
    """Read the plain values of a YAML file.

    Raises:
        InputError: no such file, or no YAML; what stands in it is not repeated, since it may be a secret.
    """
    import yaml

    if not path.is_file():
        raise InputError(f"there is no {what} {path}; check the path")
    try:
        return parsed_yaml(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no YAML ({error.reason}); correct it") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise InputError(f"{path} is no YAML ({where}{getattr(error, 'problem', 'broken')}); correct it") from None


def checked(kind: type[T], content: Any, place: str, of: str = "", elsewhere: Mapping[str, str] | None = None) -> T:
    """Check the values of a file, and make an object of a dataclass of them.

    Args:
        kind: its fields may be `Annotated` with what pydantic checks, and with `Write`.
        place: the file, with which the sentence begins. of: whose keys these are, such as "for gpt-x"; may be empty.
        elsewhere: how others call a key -> how it is called here.

    Raises:
        InputError: about the first thing that is wrong.

    >>> from typing import Annotated
    >>> @dataclass
    ... class Coin:
    ...     __pydantic_config__ = CLOSED
    ...     heads: Annotated[float, Write("write a share")]
    >>> checked(Coin, {"heads": "often"}, "coin.yaml")
    Traceback (most recent call last):
    onedial.core.errors.InputError: coin.yaml gives heads as 'often'; write a share
    >>> checked(Coin, {"heds": 1}, "coin.yaml")
    Traceback (most recent call last):
    onedial.core.errors.InputError: coin.yaml gives the key 'heds'; did you mean 'heads'? known are heads
    """
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(content)  # type: ignore[no-any-return, arg-type]
    except ValidationError as error:
        raise InputError(_sentence(error, kind, content, place, f"{of} " if of else "", elsewhere or {})) from None


def _sentence(error: Any, kind: Any, content: Any, place: str, of: str, elsewhere: Mapping[str, str]) -> str:
    known = [each.name for each in fields(kind)]
    if not isinstance(content, Mapping):
        return f"{place} gives {of}a {type(content).__name__}, not keys and values; known keys are {', '.join(known)}"
    for key in content:
        if key not in known:
            near = f"; did you mean {elsewhere[key]!r}?" if key in elsewhere else did_you_mean(str(key), known)
            return f"{place} gives {of}the key {key!r}{near or ';'} known are {', '.join(known)}"
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    notes = [each for each in getattr(_hints(kind).get(key), "__metadata__", ()) if isinstance(each, Write)]
    remedy = notes[0].remedy if notes else first["msg"].removeprefix("Value error, ")
    if not key:
        return f"{place} {of}{remedy}"
    if key not in content:
        return f"{place} gives {of}no {key}; {remedy}"
    hidden = notes and notes[0].hidden
    return f"{place} gives {of}{key}{'' if hidden else f' as {content[key]!r}'}; {remedy}"


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)

"""A dataclass of tables, arrays and further dataclasses as one readable JSON file, and back without loss."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.core.files import json_value, write_json
from onedial.core.plain_values import plain


def save(value: Any, path: Path | str) -> None:
    """Write a dataclass; in tables nan is null, and infinities are the texts "inf" and "-inf"."""
    write_json(path, _encoded(value))


def load(kind: type, parts: Sequence[type], path: Path | str) -> Any:
    """Read a dataclass of a kind, which holds others of the kinds `parts`.

    Raises:
        InputError: the file is missing, or holds something else.
    """
    known = {part.__name__: part for part in (kind, *parts)}

    def decoded(value: Any) -> Any:
        if value in ("nan", "inf", "-inf"):
            return float(value)
        if not isinstance(value, dict):
            return value
        index, columns = (pd.Index(**value[end]) if end in value else None for end in ("index", "columns"))
        if "series" in value:
            return pd.Series(_array(value["series"]), index, name=value["name"])
        if "frame" in value:
            return pd.DataFrame(_array(value["frame"]), index, columns)
        if "array" in value:
            return _array(value["array"])
        part = known[value["part"]]
        return part(**{field.name: decoded(value[field.name]) for field in fields(part)})

    try:
        content = decoded(json_value(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}; write it with {kind.__name__}.save") from error
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} holds something else than {kind.__name__}.save wrote ({error!r})") from error
    if not isinstance(content, kind):
        raise InputError(f"{path} holds no {kind.__name__}; give a file that {kind.__name__}.save wrote")
    return content


def _encoded(value: Any) -> Any:
    if is_dataclass(value):
        content = {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
        return {"part": type(value).__name__, **content}
    if isinstance(value, pd.Series):
        return {"series": _plain(value.to_numpy()), "index": _labels(value.index), "name": value.name}
    if isinstance(value, pd.DataFrame):
        frame = {"frame": _plain(value.to_numpy()), "index": _labels(value.index)}
        return frame | {"columns": _labels(value.columns)}
    if isinstance(value, np.ndarray):
        return {"array": _plain(value)}
    return str(value) if isinstance(value, float) and not np.isfinite(value) else _plain(value)


def _plain(value: Any) -> Any:
    return plain(value, infinities=True)


def _labels(index: pd.Index) -> dict[str, Any]:
    return {"data": _plain(index.to_numpy()), "name": index.name}


def _array(values: list[Any]) -> np.ndarray:
    """bool and int stay what they are; null becomes nan and "inf" an infinity."""
    array = np.array(values)
    return array if array.dtype.kind in "biu" else np.array(values, dtype=float)

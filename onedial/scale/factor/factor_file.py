"""factor.json: a factor model as one readable file, and back without loss."""

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.core.files import json_value, write_json
from onedial.scale.checks.quadratic import QuadraticFit
from onedial.scale.checks.simulation import Simulated
from onedial.scale.correlations.tetrachoric import TetrachoricResult

FORMAT = "onedial factor model 1"
_PARTS = {kind.__name__: kind for kind in (Simulated, QuadraticFit, TetrachoricResult)}


def save(model: Any, path: Path | str) -> None:
    """Write a FactorModel as JSON; in tables nan is null, and infinities are the texts "inf" and "-inf"."""
    content = {field.name: _encode(getattr(model, field.name)) for field in fields(model)}
    write_json(path, {"format": FORMAT, **content})


def load(kind: type, path: Path | str) -> Any:
    """Read a FactorModel (`kind`) from JSON.

    Raises:
        InputError: the file is missing, not JSON, or of another format.
    """
    try:
        content = json_value(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}; write it with FactorModel.save or study_panel.py --deep") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not JSON; give a factor.json that FactorModel.save wrote") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'{path} does not say "format": "{FORMAT}"; give a factor.json that FactorModel.save wrote')
    missing = [field.name for field in fields(kind) if field.name not in content]
    if missing:
        raise InputError(f"{path} lacks {', '.join(missing)}; it was cut short or edited, so fit the model again")
    found = {}
    for name in (field.name for field in fields(kind)):
        try:
            found[name] = _decode(content[name])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} holds something else as {name}; it was edited, so fit the model again") from error
    return kind(**found)


def plain(value: Any) -> Any:
    """Numbers, lists and texts that JSON can hold; nan becomes None, an infinity its text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _encode(value: Any) -> Any:
    if isinstance(value, pd.Series):
        return {"series": plain(value.to_numpy()), "index": _index(value.index), "name": value.name}
    if isinstance(value, pd.DataFrame):
        return {"frame": plain(value.to_numpy()), "index": _index(value.index), "columns": _index(value.columns)}
    if isinstance(value, np.ndarray):
        return {"array": plain(value)}
    if type(value).__name__ in _PARTS:
        content = {field.name: _encode(getattr(value, field.name)) for field in fields(value)}
        return {"part": type(value).__name__, **content}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return plain(value)


def _decode(value: Any) -> Any:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if not isinstance(value, dict):
        return value
    if "series" in value:
        return pd.Series(_array(value["series"]), _labels(value["index"]), name=value["name"])
    if "frame" in value:
        return pd.DataFrame(_array(value["frame"]), _labels(value["index"]), _labels(value["columns"]))
    if "array" in value:
        return _array(value["array"])
    part = _PARTS[value["part"]]
    return part(**{field.name: _decode(value[field.name]) for field in fields(part)})


def _array(values: list[Any]) -> np.ndarray:
    """bool and int stay what they are; null becomes nan and "inf" an infinity."""
    array = np.array(values)
    return array if array.dtype.kind in "biu" else np.array(values, dtype=float)


def _index(index: pd.Index) -> dict[str, Any]:
    return {"labels": plain(index.to_numpy()), "name": index.name}


def _labels(value: dict[str, Any]) -> pd.Index:
    return pd.Index(value["labels"], name=value["name"])

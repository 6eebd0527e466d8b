"""What makes two runs the same run: their configuration, as plain values, less what changes no result."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from common import sha256_of_text

WITHOUT_EFFECT = frozenset(
    {"out", "resume", "config", "wandb", "wandb_project", "dry_run", "show_prompt", "log_level", "quiet", "verbose"}
)
NOT_SET = "not set"


def plain_configuration(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as YAML and JSON can hold it: paths become text, tuples and sets become lists."""
    return {str(key): _plain(value) for key, value in configuration.items()}


def configuration_hash(configuration: Mapping[str, Any], without_effect: Iterable[str] = WITHOUT_EFFECT) -> str:
    """Hexadecimal SHA-256 over every key that changes results; the order of the keys does not count."""
    left_out = set(without_effect)
    kept = {key: value for key, value in plain_configuration(configuration).items() if key not in left_out}
    return sha256_of_text(json.dumps(kept, sort_keys=True, ensure_ascii=False))


def first_difference(
    stored: Mapping[str, Any], given: Mapping[str, Any], without_effect: Iterable[str] = WITHOUT_EFFECT
) -> tuple[str, Any, Any] | None:
    """The first key that changes results and differs, as (key, stored value, given value); None if there is none.

    Keys come in the order of `stored`, then those that only `given` has; nested keys are joined by dots.
    A key that one side lacks has the value `NOT_SET` there.
    """
    left_out = set(without_effect)
    flat_stored = dict(_flat({key: v for key, v in plain_configuration(stored).items() if key not in left_out}))
    flat_given = dict(_flat({key: v for key, v in plain_configuration(given).items() if key not in left_out}))
    for key in [*flat_stored, *(key for key in flat_given if key not in flat_stored)]:
        before, now = flat_stored.get(key, NOT_SET), flat_given.get(key, NOT_SET)
        if before != now:
            return key, before, now
    return None


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return plain_configuration(value)
    if isinstance(value, set | frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    raise TypeError(f"a configuration holds plain values, not {type(value).__name__}")

"""What makes two runs the same run: their configuration, as plain values, less what changes no result."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from onedial.core.files import sha256_of_text
from onedial.core.plain_values import plain

FILE = "config.yaml"
WITHOUT_EFFECT = {
    *("out", "resume", "config", "dry_run", "tensor_parallel", "tensorboard"),
    *("wandb", "wandb_project", "wandb_entity", "wandb_group", "wandb_tags", "wandb_name"),
}
"""Options that change no result."""
NOT_SET = "not set"


def configuration_hash(configuration: Mapping[str, Any]) -> str:
    """Hexadecimal SHA-256 over every key that changes results; the order of the keys does not count."""
    kept = {key: value for key, value in plain(configuration).items() if key not in WITHOUT_EFFECT}
    return sha256_of_text(json.dumps(kept, sort_keys=True, ensure_ascii=False))


def first_difference(
    stored: Mapping[str, Any], given: Mapping[str, Any], without_effect: Iterable[str] = WITHOUT_EFFECT
) -> tuple[str, Any, Any] | None:
    """The first key that changes results and differs, as (key, stored value, given value); None if there is none.

    Keys come in the order of `stored`, then those that only `given` has; nested keys are joined by dots.
    A key that one side lacks has the value `NOT_SET` there.
    """
    left_out = set(without_effect)
    flat_stored = dict(flat({key: v for key, v in plain(stored).items() if key not in left_out}))
    flat_given = dict(flat({key: v for key, v in plain(given).items() if key not in left_out}))
    for key in [*flat_stored, *(key for key in flat_given if key not in flat_stored)]:
        before, now = flat_stored.get(key, NOT_SET), flat_given.get(key, NOT_SET)
        if before != now:
            return key, before, now
    return None


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Nested values as (dotted name, value); an empty mapping is a value."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

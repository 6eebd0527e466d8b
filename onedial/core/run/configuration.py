"""What makes two runs the same run: their configuration, the options that change results, as plain values."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from onedial.core.files import sha256_of_text
from onedial.core.plain_values import plain

FILE = "config.yaml"
NOT_SET = "not set"


def configuration_hash(configuration: Mapping[str, Any]) -> str:
    """Compute the hexadecimal SHA-256 over every key; their order does not count."""
    return sha256_of_text(json.dumps(plain(configuration), sort_keys=True, ensure_ascii=False))


def first_difference(
    stored: Mapping[str, Any], given: Mapping[str, Any], may_change: Collection[str] = ()
) -> tuple[str, Any, Any] | None:
    """Find the first key that differs and may not, as (key, stored value, given value); None if there is none.

    Keys come in the order of `stored`, then those that only `given` has; nested keys are joined by dots.
    A key that one side lacks has the value `NOT_SET` there.
    """
    flat_stored, flat_given = (
        dict(flat({key: value for key, value in plain(values).items() if key not in may_change}))
        for values in (stored, given)
    )
    for key in [*flat_stored, *(key for key in flat_given if key not in flat_stored)]:
        before, now = flat_stored.get(key, NOT_SET), flat_given.get(key, NOT_SET)
        if before != now:
            return key, before, now
    return None


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Flatten nested values into (dotted name, value); an empty mapping is a value."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

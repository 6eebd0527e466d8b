"""A run's surroundings and stages as rows of text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onedial.core.run.configuration import flat
from onedial.core.run.manifest import Manifest

Rows = list[tuple[str, str]]


def flat_rows(values: Mapping[str, Any]) -> Rows:
    """Flatten nested values into (dotted name, text)."""
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for key, value in flat(values)
    ]


def surroundings(manifest: Manifest) -> Rows:
    """List when, where and with what the run was made."""
    known = ("started", "resumed", "commit", "dirty", "machine", "versions")
    return flat_rows(
        {name: manifest.facts[name] for name in ("device", "dtype", "seeds") if name in manifest.facts}
        | {name: getattr(manifest, name) for name in known}
    )


def stage_rows(stages: Sequence[Mapping[str, Any]]) -> Rows:
    """Sum seconds per stage, in the order of first appearance."""
    seconds: dict[str, float] = {}
    broken: dict[str, int] = {}
    for entry in stages:
        name = entry["stage"]
        seconds[name] = seconds.get(name, 0.0) + entry["seconds"]
        broken[name] = broken.get(name, 0) + (not entry["completed"])
    return [
        (name, f"{spent:.1f} s" + (f" (interrupted {broken[name]} times)" if broken[name] else ""))
        for name, spent in seconds.items()
    ]

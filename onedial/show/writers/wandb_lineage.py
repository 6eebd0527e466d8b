"""Which W&B run is which run on disk, and which runs another one has read: so a profile leads back to its sweep."""

import os
from pathlib import Path
from typing import Any

from onedial.core import Run, configuration_hash, sha256_of_file, sha256_of_text

FACT = "wandb"
"""Under this name the manifest of a mirrored run says which W&B run it is."""
ID_LENGTH = 12


def wandb_id(run: Run) -> str:
    """An identifier for a run's W&B run that no other run comes upon."""
    return sha256_of_text(f"{run.path.resolve().name} {run.manifest.started} {run.config}")[:ID_LENGTH]


def recorded_id(run: Run) -> str | None:
    """The identifier of the W&B run that mirrors this one; None where nothing has mirrored it."""
    found: str | None = run.manifest.facts.get(FACT, {}).get("id")
    return found


def runs_read_by(run: Run) -> dict[str, dict[str, Any]]:
    """Path, as an option names it, -> the run that it is or lies in.

    Each says `run` (the folder's name), `configuration` (its hash) and `wandb` (the identifier of its W&B run, None
    where it has none); a file such as a vector says its `sha256` too.
    """
    named = [each for value in run.config.values() for each in (value if isinstance(value, list) else [value])]
    found = {}
    for each in named:
        folder = _run_around(each) if isinstance(each, str) and each else None
        if folder is not None and folder.resolve() != run.path.resolve():
            read = Run.open(folder)
            found[each] = {
                "run": folder.resolve().name,
                "configuration": configuration_hash(read.config),
                "wandb": recorded_id(read),
            } | ({"sha256": sha256_of_file(Path(each))} if Path(each).is_file() else {})
    return found


def _run_around(path: str) -> Path | None:
    if not os.path.exists(path):  # Path.exists raises where a long list of names is no path
        return None
    return next((folder for folder in (Path(path), *Path(path).parents) if Run.is_at(folder)), None)

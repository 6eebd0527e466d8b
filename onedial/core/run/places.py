"""Where a run goes: the folder of a new one, or of the one that goes on, and what may lie there before."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.run.configuration import FILE as CONFIGURATION
from onedial.core.run.configuration import configuration_hash
from onedial.core.run.lock import LOCKS
from onedial.core.run.manifest import FILE as MANIFEST

RUNS = Path("runs")
BEGINNING = (MANIFEST, ".manifest-*.part.json", ".config-*.part.yaml", LOCKS)
"""What a run that was killed before it had written its configuration leaves behind."""
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")  # s3:/bucket/run, as a Path writes it; a drive has one letter


def default_path(configuration: Mapping[str, Any], label: str, now: datetime | None = None) -> Path:
    """Name a new run `runs/<UTC time>-<label>-<first 6 digits of the configuration's hash>`."""
    moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    name = re.sub(r"[^\w.-]+", "-", Path(label).name).strip("-.") or "run"
    return RUNS / f"{moment}-{name}-{configuration_hash(configuration)[:6]}"


def newest_path(configuration: Mapping[str, Any]) -> Path:
    """Find the newest run of this configuration under `runs/`.

    Raises:
        InputError: there is none.
    """
    digits = configuration_hash(configuration)[:6]
    candidates = sorted(RUNS.glob(f"*-{digits}"))
    if not candidates:
        raise InputError(f"no run of this configuration ({digits}) lies under {RUNS}/; name its folder with --out")
    if len(candidates) > 1:  # a clock that was wrong may have named one of another year
        notice(
            f"{len(candidates)} runs under {RUNS}/ are of this configuration, and --resume takes "
            f"{candidates[-1].name}, the last by the time in its name; --out names another"
        )
    return candidates[-1]


def refuse_taken(path: Path) -> None:
    """Raise InputError where no new run can begin: in an address, a file, a run, or a folder that holds anything else.

    What a run that was killed at once has left (`BEGINNING`) is nothing.
    """
    if _ADDRESS.match(path.as_posix()):
        raise InputError(
            f"--out {path.as_posix().replace(':/', '://', 1)} is an address, not a folder: a run needs a file system "
            "that renames and locks files; give a folder, and copy it there when it is done (docs/several_gpus.md)"
        )
    if (path / CONFIGURATION).exists():
        raise InputError(f"{path} already holds a run; pass --resume to continue it or choose another --out")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, but a run needs a folder; choose another --out")
    left = path.iterdir() if path.exists() else []
    if not all(any(entry.match(pattern) for pattern in BEGINNING) for entry in left):
        raise InputError(f"{path} is not empty and holds no run; choose a new or empty folder with --out")

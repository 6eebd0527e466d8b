"""manifest.json: where a run comes from and what it came upon, with the version of the format that it is written in."""

import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.files import write_json
from onedial.core.plain_values import plain
from onedial.core.run.files import read_json

FORMAT_VERSION = 3
FILE = "manifest.json"
REPOSITORY = Path(__file__).resolve().parents[3]
LIBRARIES = (
    *("torch", "transformers", "transformer-lens", "accelerate", "numpy", "scipy", "pandas", "pyarrow"),
    *("scikit-learn", "statsmodels", "matplotlib", "safetensors"),
)
"""Every library that can move a number."""


@dataclass(frozen=True)
class Manifest:
    """What stands in manifest.json.

    Attributes:
        format_version: of the run's folder.
        program: which program wrote it, by its file's name.
        started: ISO 8601, UTC. resumed: time, commit and state of the checkout of each start after the first.
        finished: when its program had done all of its work; "" until then.
        command: as it can be typed again. commit, dirty: of the checkout (`git_state`).
        versions: of Python and `LIBRARIES`, None where one is not installed.
        machine: platform, architecture and number of usable cores (no host or user name).
        stages: name, start, seconds, and whether it was completed, one entry for each time that a stage was begun.
        notes: what a user should know of: everything that was left out, counted, or warned of on the way.
        facts: whatever else the program recorded (model, device, seeds, ...); on disk beside the others.
    """

    program: str = ""
    started: str = ""
    finished: str = ""
    command: str = ""
    commit: str | None = None
    dirty: bool | None = None
    versions: dict[str, str | None] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    resumed: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @classmethod
    def begun_now(cls, program: str) -> "Manifest":
        """Make the manifest of a run that begins here and now."""
        about: dict[str, Any] = {"versions": library_versions(), "machine": machine(), **git_state()}
        return cls(program, started=utc_now(), command=command_line(), **about)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest of an existing run.

        Raises:
            InputError: missing, broken, or written in another format than this one.
        """
        content = read_json(folder / FILE)
        version = content.pop("format_version", None)
        if version != FORMAT_VERSION:
            raise InputError(
                f"{folder} is written in format {version}, and this version of the project reads format "
                f"{FORMAT_VERSION}; update it to read the run"
            )
        known = {name: content.pop(name) for name in _KNOWN if name in content}
        return cls(**known, facts=content)

    def write(self, folder: Path) -> None:
        """Write it, all or nothing; nan becomes null."""
        first = {"format_version": self.format_version} | {name: getattr(self, name) for name in _KNOWN}
        write_json(folder / FILE, plain(first | self.facts))


_KNOWN = [each.name for each in fields(Manifest) if each.name not in ("facts", "format_version")]


def utc_now() -> str:
    """Return the time as ISO 8601, to the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def library_versions() -> dict[str, str | None]:
    """List `Manifest.versions`. Nothing is imported, so this costs milliseconds."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            versions[library] = None
    return versions


def machine() -> dict[str, Any]:
    """Describe the machine for `Manifest.machine`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"platform": platform.platform(), "architecture": platform.machine(), "cores": cores}


def command_line() -> str:
    """Write the command as it can be typed again, with a program of this repository by its path there."""
    if sys.argv[0].startswith("onedial "):
        return f"{sys.argv[0]} {shlex.join(sys.argv[1:])}".rstrip()
    program = Path(sys.argv[0]).resolve()
    shown = str(program.relative_to(REPOSITORY)) if program.is_relative_to(REPOSITORY) else sys.argv[0]
    return shlex.join(["python", shown, *sys.argv[1:]])


def git_state() -> dict[str, Any]:
    """Return `{"commit", "dirty"}` of the checkout that the code runs from; both None outside of a git checkout.

    A copy that merely lies inside somebody else's repository counts as outside.
    """
    if (top := _git("rev-parse", "--show-toplevel")) is None or Path(top) != REPOSITORY:
        return {"commit": None, "dirty": None}
    status = _git("status", "--porcelain")
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if status is None else bool(status)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

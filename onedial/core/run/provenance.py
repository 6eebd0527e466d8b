"""Where a result comes from: the commit, the libraries, the machine and the command."""

import functools
import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
LIBRARIES = (
    *("torch", "transformers", "transformer-lens", "accelerate", "numpy", "scipy", "pandas", "pyarrow"),
    *("scikit-learn", "statsmodels", "matplotlib", "safetensors"),
)


def utc_now() -> str:
    """The time as ISO 8601, to the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def library_versions() -> dict[str, str | None]:
    """Installed version of Python and of every library that can move a number; None where one is not installed.

    Nothing is imported, so this costs milliseconds.
    """
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = _version(library)
        except importlib.metadata.PackageNotFoundError:
            versions[library] = None
    return versions


def git_state() -> dict[str, Any]:
    """`{"commit", "dirty"}` of the checkout that the code runs from; both None outside of a git checkout.

    A copy that merely lies inside somebody else's repository counts as outside.
    """
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top) != REPOSITORY:
        return {"commit": None, "dirty": None}
    status = _git("status", "--porcelain")
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if status is None else bool(status)}


def command_line() -> str:
    """The command as it can be typed again, with the program's path relative to the repository where it lies there."""
    if sys.argv[0].startswith("onedial "):
        return f"{sys.argv[0]} {shlex.join(sys.argv[1:])}".rstrip()
    program = Path(sys.argv[0]).resolve()
    shown = str(program.relative_to(REPOSITORY)) if program.is_relative_to(REPOSITORY) else sys.argv[0]
    return shlex.join(["python", shown, *sys.argv[1:]])


def machine() -> dict[str, Any]:
    """Platform, processor architecture and number of usable cores (no host or user name)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"platform": platform.platform(), "architecture": platform.machine(), "cores": cores}


@functools.cache
def _version(library: str) -> str:
    return importlib.metadata.version(library)


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

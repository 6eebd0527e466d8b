"""Models that were converted once and are kept in the user's cache, each known by the checksum of what it came from.

A conversion happens in a scratch folder beside its place, which is renamed when it is whole: the cache holds complete
models only. A lock lets one of several parallel starts do the work while the others wait.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from onedial.core.files import cache_dir, json_value, write_json

CONVERSION = 1
"""Raised when the conversion itself changes; a model converted under another number is converted anew."""

PROVENANCE = "provenance.json"


def cached_model(name: str) -> Path:
    """Where the converted model of this name lies, or will lie."""
    return cache_dir() / "models" / name


def holds_conversion(folder: Path, sha256: str) -> bool:
    """Whether the folder holds what was converted, by the present conversion, from a file with this checksum."""
    try:
        provenance = json_value((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return provenance.get("sha256") == sha256 and provenance.get("conversion") == CONVERSION


def converted_once(
    folder: Path, sha256: str, provenance: Mapping[str, Any], make: Callable[[Path, Path], None]
) -> Path:
    """The folder, after `make(scratch, converted)` has filled it where it did not hold the conversion yet.

    Args:
        sha256: of the file that is converted.
        provenance: what is written beside the model.
        make: may use `scratch` for what it needs on the way, and fills `converted`.
    """
    if holds_conversion(folder, sha256):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f".{folder.name}.lock"), folder.name):
        if holds_conversion(folder, sha256):
            return folder
        for leftover in folder.parent.glob(f".{folder.name}-*"):  # of a start that was killed: the lock is ours now
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            converted = Path(scratch) / folder.name
            converted.mkdir()
            make(Path(scratch), converted)
            write_json(converted / PROVENANCE, {**provenance, "sha256": sha256, "conversion": CONVERSION})
            if folder.exists():
                shutil.rmtree(folder)
            converted.rename(folder)
    print(f"{folder.name} is ready in {folder}", file=sys.stderr)
    return folder


@contextmanager
def locked(path: Path, name: str) -> Iterator[None]:
    """While it lasts, no other start prepares the model of this name; says so where it has to wait."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"another process is preparing {name}; waiting for it ...", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()

"""Files that are complete or absent, also after a loss of power: written under a temporary name, synced, renamed."""

import contextlib
import csv
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

APPLICATION = "onedial"


def cache_dir() -> Path:
    """Name the user's cache of converted models: `$XDG_CACHE_HOME/onedial`, by default `~/.cache/onedial`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / APPLICATION


@contextlib.contextmanager
def atomic_path(final: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `final`; rename it to `final` on success, remove it on any failure.

    A reader therefore sees the old file or the whole new one, also after a crash, a loss of power, or with parallel
    writers (the last to finish wins): what was written is on the disk before it gets its name, and so is its name
    before this returns.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    final = Path(final)
    make_folder(final.parent)
    handle, name = tempfile.mkstemp(prefix=f".{final.stem}-", suffix=f".part{final.suffix}", dir=final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        _sync(temporary)
        os.replace(temporary, final)
        sync_folder(final.parent)
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder with those above it, where they are not there; their names are on the disk before this returns."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        sync_folder(each.parent)


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8, all or nothing."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def json_value(text: str | bytes) -> Any:
    """Parse JSON of a file that somebody else wrote.

    Raises:
        json.JSONDecodeError: it is none, is nested too deeply, or holds a number that is too long.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
        raise json.JSONDecodeError(reason, "", 0) from None


def parsed_yaml(text: str) -> Any:
    """Parse a YAML text into plain values; tags that would build anything else are refused.

    >>> parsed_yaml("models: [a, b]")
    {'models': ['a', 'b']}

    Raises:
        yaml.YAMLError: it is no YAML, or nests too deeply.
    """
    try:
        return yaml.safe_load(text)
    except (RecursionError, ValueError) as error:  # a date or a number that is none
        raise yaml.YAMLError(str(error)) from None


def packaged_yaml(package: str, name: str) -> Any:
    """Read a YAML file of ours that lies beside the modules of a package.

    >>> packaged_yaml("onedial.asking", "texts.yaml")["openings"]["neutral"]
    ''
    """
    return parsed_yaml(resources.files(package).joinpath(name).read_text(encoding="utf-8"))


def packaged_rows(package: str, name: str) -> list[dict[str, str]]:
    """Read the rows of a CSV file of ours that lies beside the modules of a package."""
    return list(csv.DictReader(resources.files(package).joinpath(name).read_text(encoding="utf-8").splitlines()))


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON, all or nothing; `nan` and infinities are refused (ValueError)."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256_of_text(text: str) -> str:
    """Compute the hexadecimal SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_of_file(path: Path | str) -> str:
    """Compute the hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the file system knows how."""
    with contextlib.suppress(OSError):  # some network file systems refuse to open or sync a folder
        _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""What a run's files were when it was last written: a hash of each, in a list that `sha256sum -c` reads too.

The list is written at the end of each stage and of the work, and says nothing of itself: whoever can change a file can
change the list, so its fingerprint (`FilesCheck.fingerprint`) is what to keep elsewhere. What W&B keeps below `wandb`
is W&B's own and stands in no list.
"""

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.files import atomic_path, path_inside, sha256_of_file
from onedial.core.run.files import finished_files

FILE = "sha256.txt"
GROWING = ("log.txt", "manifest.json", "*.log")
"""What is written between two lists: that these are other than listed says nothing after a kill."""
_LINE = re.compile(rb"(\\?)([0-9a-f]{64})  (.+)")
_SMALL = 2**20
Stamp = tuple[int, int, int]


class FileHashes:
    """The list of one folder, kept up to date by the run's first process; a large file is read again if it changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._large: dict[str, tuple[Stamp, str]] = {}

    def write(self) -> None:
        """List every finished file, as it is now."""
        lines = [_line(name, self._hash_of(name)) for name in listed_files(self.folder)]
        with atomic_path(self.folder / FILE) as temporary:
            temporary.write_bytes(b"".join(lines))

    def changed(self, pattern: str = "*") -> list[str]:
        """The listed files of such names that are other now than they were; those that are gone are not among them."""
        listed = {name: found for name, found in (read_hashes(self.folder) or {}).items() if fnmatch(name, pattern)}
        return [name for name in listed if (self.folder / name).is_file() and self._hash_of(name) != listed[name]]

    def _hash_of(self, name: str) -> str:
        file = self.folder / name
        about = file.stat()
        stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
        if name in self._large and self._large[name][0] == stamp:
            return self._large[name][1]
        found = sha256_of_file(file)
        if about.st_size >= _SMALL:  # a small one may be written twice within one tick of the file system's clock
            self._large[name] = (stamp, found)
        return found


@dataclass(frozen=True)
class FilesCheck:
    """A folder beside its list.

    Attributes:
        same: how many files are as listed.
        other, missing, unlisted: names of those whose bytes are other, that are gone, that stand in no list.
        fingerprint: SHA-256 of the list.
    """

    same: int
    other: list[str]
    missing: list[str]
    unlisted: list[str]
    fingerprint: str


def check_files(folder: Path) -> FilesCheck | None:
    """Compare a run's files with its list; None where it has none.

    Raises:
        InputError: the list is broken, or names a file outside of the folder.
    """
    listed = read_hashes(folder)
    if listed is None:
        return None
    there = {name for name in listed if (folder / name).is_file()}
    other = [name for name in listed if name in there and sha256_of_file(folder / name) != listed[name]]
    return FilesCheck(
        same=len(there) - len(other),
        other=other,
        missing=[name for name in listed if name not in there],
        unlisted=[name for name in listed_files(folder, links=True) if name not in listed],
        fingerprint=sha256_of_file(folder / FILE),
    )


def read_hashes(folder: Path) -> dict[str, str] | None:
    """Name -> hexadecimal SHA-256, as listed; None where there is no list.

    Raises:
        InputError: the list is broken, or names a file outside of the folder.
    """
    if not (folder / FILE).is_file():
        return None
    found = {}
    for number, line in enumerate((folder / FILE).read_bytes().split(b"\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"{folder / FILE} is broken in line {number}; restore it from a copy of the run")
        name = os.fsdecode(_unescaped(match[3]) if match[1] else match[3])
        path_inside(folder, name)
        found[name] = match[2].decode("ascii")
    return found


def listed_files(folder: Path, links: bool = False) -> list[str]:
    """Names of the files that a list is of, sorted."""
    names = (file.relative_to(folder).as_posix() for file in finished_files(folder, links))
    return sorted(name for name in names if name != FILE and not name.startswith(("wandb/", "tensorboard/")))


def _line(name: str, found: str) -> bytes:
    raw = os.fsencode(name)
    escaped = raw.replace(b"\\", rb"\\").replace(b"\n", rb"\n").replace(b"\r", rb"\r")
    return b"%s%s  %s\n" % (b"" if escaped == raw else b"\\", found.encode("ascii"), escaped)


def _unescaped(name: bytes) -> bytes:
    return re.sub(rb"\\(.)", lambda found: {b"n": b"\n", b"r": b"\r"}.get(found[1], found[1]), name)

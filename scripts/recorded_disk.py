"""What a loss of power may leave of a program's folder: every sync, rename and removal recorded, and what was on the
disk at any of these moments made again.

    python scripts/recorded_disk.py EVENTS FOLDER experiments/steer_sweep.py --out FOLDER/run    # runs it, and records

Sure is what fsync had returned for: the bytes of a file, the names in a folder. Whatever came after may have reached
the disk or not, each name and each file by itself and in any order, and of a file's new bytes a beginning, or all but
a block (`Recording.after_power_loss`). That is less than a journaling file system keeps.
"""

import os
import pickle
import random
import resource
import runpy
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onedial.core import Options, option, parse_options, run_command

BLOCK = 512
Names = dict[str, int]


@dataclass
class State:
    """A folder: names in each folder, bytes of each file, both by inode."""

    folders: dict[int, Names] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)

    def copy(self) -> "State":
        return State(dict(self.folders), dict(self.files))


@dataclass(frozen=True)
class Moment:
    """Right before the program syncs, renames or removes something.

    Attributes:
        at: seconds of the system's clock that never jumps.
        sure: what is on the disk. seen: what the program sees.
    """

    at: float
    sure: State
    seen: State


@dataclass(frozen=True)
class Recording:
    """All moments of one program, in order, the last one after its end.

    Attributes:
        root: the folder's inode.
    """

    root: int
    moments: list[Moment]

    def after_power_loss(self, moment: Moment, rng: random.Random, into: Path) -> str:
        """Write what one legal loss of power leaves into a new folder; what kind of loss was drawn."""
        kind = rng.choice(["lost", "reordered", "torn", "kept"])
        sure, seen = moment.sure, moment.seen

        def drawn(before: Any, now: Any) -> Any:
            return {"lost": before, "reordered": rng.choice([before, now])}.get(kind, now)

        def put(folder: int, place: Path) -> None:
            place.mkdir()
            before, now = sure.folders.get(folder, {}), seen.folders.get(folder, {})
            for name in sorted(before.keys() | now):
                inode = drawn(before.get(name), now.get(name))
                if inode is None:
                    continue
                if inode in seen.folders or inode in sure.folders:
                    put(inode, place / name)
                else:
                    old, new = sure.files.get(inode, b""), seen.files.get(inode, sure.files.get(inode, b""))
                    whole = drawn(old, new)
                    torn = kind in ("torn", "reordered") and whole is new and old != new
                    (place / name).write_bytes(_torn(old, new, rng) if torn else whole)

        put(self.root, into)
        return kind


def _torn(old: bytes, new: bytes, rng: random.Random) -> bytes:
    """Of what is new a beginning, or nothings in its place, or all but one block."""
    start = len(old) if new.startswith(old) else 0
    cut = rng.randint(start, len(new))
    how = rng.choice(["beginning", "nothings", "hole"])
    if how == "beginning":
        return new[:cut]
    end = len(new) if how == "nothings" else min(len(new), cut + BLOCK)
    return new[:cut] + b"\0" * (end - cut) + new[end:]


class Recorder:
    """Notes what this process does to a folder, which is there already; `with` it, and `recording` afterwards."""

    _WATCHED = ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "ftruncate")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.moments: list[Moment] = []
        self._lock = threading.RLock()
        self._held: dict[int, int] = {}  # open, so that no inode is given to another file
        self._stamps: dict[int, tuple[int, int]] = {}
        self._seen = State()
        self._sure = State()

    def __enter__(self) -> "Recorder":
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self._real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in self._WATCHED}
        self._look()
        self._sure = self._seen.copy()
        for name in self._WATCHED:
            setattr(os, name, self._watching(name))
        return self

    def __exit__(self, *exception: object) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)
        self._note()
        for descriptor in self._held.values():
            os.close(descriptor)

    @property
    def recording(self) -> Recording:
        return Recording(self.folder.stat().st_ino, self.moments)

    def _watching(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def watched(*args: Any, **more: Any) -> Any:
            with self._lock:
                self._note()
                synced = os.fstat(args[0]).st_ino if name == "fsync" else None
                names, content = self._seen.folders.get(synced or 0), self._seen.files.get(synced or 0)
            done = real(*args, **more)
            with self._lock:
                self._look()
                if synced is not None and names is not None:
                    self._sure.folders[synced] = names
                elif synced is not None and content is not None:
                    self._sure.files[synced] = content
            return done

        return watched

    def _note(self) -> None:
        self._look()
        self.moments.append(Moment(time.monotonic(), self._sure.copy(), self._seen.copy()))

    def _look(self) -> None:
        self._seen = State(files=self._seen.files.copy())
        self._look_into(self.folder)

    def _look_into(self, folder: Path) -> None:
        names: Names = {}
        inode = folder.stat().st_ino
        if inode not in self._held:
            self._held[inode] = os.open(folder, os.O_RDONLY)
        self._seen.folders[inode] = names
        for entry in os.scandir(folder):
            try:
                about = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    self._look_into(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    self._read(entry.path, about)
                else:
                    continue
            except FileNotFoundError:  # another thread has renamed it meanwhile
                continue
            names[entry.name] = about.st_ino

    def _read(self, path: str, about: os.stat_result) -> None:
        inode, stamp = about.st_ino, (about.st_mtime_ns, about.st_size)
        if inode not in self._held:
            self._held[inode] = os.open(path, os.O_RDONLY)
        if self._stamps.get(inode) != stamp:
            self._stamps[inode] = stamp
            self._seen.files[inode] = os.pread(self._held[inode], about.st_size, 0)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    events: Path = option(..., "where the recording goes (a pickle, for the batteries alone)", positional=True)
    folder: Path = option(..., "what is watched; its runs lie in it", positional=True)
    program: tuple[str, ...] = option((), "the program and its options", leading_hyphen=True, positional=True)


def main() -> int:
    from recorded_disk import Recorder  # by its name, under which what is stored is read

    options = parse_options(ScriptOptions, __doc__)
    sys.argv = list(map(str, options.program))
    code: int | str | None = 0
    with Recorder(options.folder) as recorder:
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as ended:
            code = ended.code
    options.events.write_bytes(pickle.dumps(recorder.recording))
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(run_command(main))

"""A run on disk: a folder from which everything that a program said can be computed again.

    config.yaml     every option of the run         manifest.json   where it comes from (`onedial.core.run.manifest`)
    log.txt         what was done when              and the program's own tables, parts and texts

Every file is complete or absent: it is written under a temporary name and renamed. A run that was killed leaves at
most temporary files, which are ignored by all readers and removed on resume. One process writes at a time
(`onedial.core.run.lock`). What the tables mean is not known here.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import yaml

from onedial.core.borders import read_yaml
from onedial.core.errors import InputError, ProcessLostError
from onedial.core.files import make_folder, write_json, write_text
from onedial.core.notices import notice
from onedial.core.plain_values import plain
from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work
from onedial.core.run.configuration import FILE as CONFIGURATION
from onedial.core.run.configuration import configuration_hash, first_difference
from onedial.core.run.files import TEMPORARY, read_json, read_table, same_content, write_table
from onedial.core.run.lock import LOCKS, RunLock, is_held
from onedial.core.run.manifest import FILE as MANIFEST
from onedial.core.run.manifest import Manifest, git_state, utc_now
from onedial.core.run.parts import Parts

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path("runs")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")  # s3:/bucket/run, as a Path writes it; a drive has one letter
BEGINNING = (MANIFEST, ".manifest-*.part.json", ".config-*.part.yaml", LOCKS)
"""What a run that was killed before it had written its configuration leaves behind."""


def default_path(configuration: Mapping[str, Any], label: str, now: datetime | None = None) -> Path:
    """`runs/<UTC time>-<label>-<first 6 digits of the configuration's hash>`."""
    moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    name = re.sub(r"[^\w.-]+", "-", Path(label).name).strip("-.") or "run"
    return RUNS / f"{moment}-{name}-{configuration_hash(configuration)[:6]}"


class Watcher(Protocol):
    """Is told how a run goes."""

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""

    def run_ended(self, failed: bool) -> None:
        """The program has done all of its work, or an exception has ended it."""

    def run_withdrawn(self) -> None:
        """What the program has made is taken back; so is what the watcher has put into the folder."""


class Run:
    """One run's folder. Make it with `begin` (what a program needs), `create`, `resume`, `open` or `join`.

    Attributes:
        path: the folder.
        config: the stored configuration, as plain values.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (file := self.path / CONFIGURATION).exists():
            raise InputError(f"{self.path} holds no run (no {CONFIGURATION}); give the folder of a run")
        self.config: dict[str, Any] = read_yaml(file)
        if not isinstance(self.config, dict):
            raise InputError(f"{file} holds no options; restore it or make the run again")
        Manifest.read(self.path)  # refuses what this version cannot read
        self._lock: RunLock | None = None
        self._writes = self._writes_parts = True
        self._watchers: list[Watcher] = []
        self._was_there: bool | None = None  # the folder, of a run that this process begins; None of any other

    # ---- beginning -------------------------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        program: str,
        configuration: Mapping[str, Any],
        out: Path | str | None = None,
        resume: bool = False,
        label: str | None = None,
        may_change: Collection[str] = (),
    ) -> Run:
        """The folder for a program with the options `--out` and `--resume`.

        Without `out`, a new run gets `default_path`, and `resume` takes the newest run under `runs/` with the
        same configuration.

        Args:
            program: its name; stands in the manifest.
            label: the middle of the default folder's name; by default the program's.
            may_change: options that may be given anew when the run goes on, since nothing that is done rests on them.

        Raises:
            InputError: as `create` and `resume`; or `resume` without `out` finds no run of this configuration.
        """
        if not resume:
            return cls.create(out or default_path(configuration, label or program), program, configuration)
        return cls.resume(out or _newest_path(configuration), program, configuration, may_change)

    @classmethod
    def check(
        cls, configuration: Mapping[str, Any], out: Path | str | None, resume: bool, may_change: Collection[str] = ()
    ) -> dict[str, Any]:
        """Raise what `begin` would raise, before a model is loaded for it; nothing is left behind.

        Returns:
            The facts that the run to go on with has recorded; none for a new run.

        Raises:
            OSError: the folder of a new run cannot be made.
        """
        path = Path(out or (_newest_path(configuration) if resume else default_path(configuration, "run")))
        if resume and (path / CONFIGURATION).exists():
            return cls._same(path, configuration, may_change).manifest.facts
        _leftovers(path)
        missing = [each for each in (path, *path.parents) if not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for each in missing:
            each.rmdir()
        return {}

    @classmethod
    def create(cls, path: Path | str, program: str, configuration: Mapping[str, Any]) -> Run:
        """Make a new run in a new or empty folder.

        Raises:
            InputError: the folder holds a run already, or anything else, or is a file, or is being written.
        """
        path = Path(path)
        leftovers, was_there = _leftovers(path), path.exists()
        make_folder(path)
        lock = RunLock(path)
        for entry in leftovers:
            if not entry.match(LOCKS):
                entry.unlink(missing_ok=True)
        manifest = Manifest.begun_now(program)
        # The configuration comes last: a folder that has one is a run with all that a run begins with.
        manifest.write(path)
        _write_configuration(path, configuration)
        run = cls(path)
        run._lock, run._was_there = lock, was_there
        run.log(f"run begun: {manifest.command}")
        return run

    @classmethod
    def resume(
        cls, path: Path | str, program: str, configuration: Mapping[str, Any], may_change: Collection[str] = ()
    ) -> Run:
        """Continue an interrupted run; a missing or empty folder (killed at once) begins a new run.

        Raises:
            InputError: the stored configuration differs in a key that changes results, or another process is still
                writing the run.
        """
        path = Path(path)
        if not (path / CONFIGURATION).exists():
            return cls.create(path, program, configuration)
        run = cls._same(path, configuration, may_change)
        run._lock = RunLock(path)
        run.config |= {name: plain(configuration[name]) for name in may_change if name in configuration}
        _write_configuration(path, run.config)
        for leftover in path.rglob(TEMPORARY):
            leftover.unlink()
        manifest = run.manifest
        replace(manifest, resumed=[*manifest.resumed, {"at": utc_now(), **git_state()}], finished="").write(path)
        run.log("run resumed")
        return run

    @classmethod
    def _same(cls, path: Path, configuration: Mapping[str, Any], may_change: Collection[str]) -> Run:
        """The run there; refused where it was made with another option that changes results."""
        run = cls(path)
        if difference := first_difference(run.config, configuration, may_change):
            key, stored, given = difference
            raise InputError(
                f"{path} was made with {key} = {stored}, but now {key} = {given}; "
                "give the stored value, or choose another --out for a new run"
            )
        return run

    @classmethod
    def open(cls, path: Path | str, *, write: bool = False) -> Run:
        """An existing run, whatever its configuration: to read it, or with `write` to change it as its one writer.

        Raises:
            InputError: no folder, or no run in it; with `write`, another process is writing.
        """
        run = cls(path)
        if write:
            run._lock = RunLock(run.path)
        return run

    @classmethod
    def join(cls, path: Path | str, process: int, writes_parts: bool = True) -> Run:
        """The run that process 0 has begun, for another process of the same work; it alone writes more than parts.

        Args:
            writes_parts: False where process 0 finds the same.

        Raises:
            InputError: this process's place is taken.
        """
        run = cls(path)
        run._lock = RunLock(run.path, process)
        run._writes, run._writes_parts = False, writes_parts
        return run

    @staticmethod
    def is_at(path: Path | str) -> bool:
        """Whether the folder holds a run."""
        return all((Path(path) / name).is_file() for name in (CONFIGURATION, MANIFEST))

    @staticmethod
    def is_held(path: Path | str) -> bool:
        """Whether a process is writing the run right now."""
        return is_held(Path(path))

    # ---- ending ----------------------------------------------------------------------------------------------------

    def watched_by(self, watcher: Watcher) -> None:
        """From now on `watcher` is told of every stage, and of the end."""
        self._watchers.append(watcher)

    def release(self) -> None:
        """Give up the right to write, as the end of the process does."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def withdraw(self) -> None:
        """Give up the run; where this process began it, all that lies in its folder goes. Else it stays as it was."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher.run_withdrawn()
        self.release()
        if self._was_there is not None:
            for entry in self.path.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            if not self._was_there:
                self.path.rmdir()

    @contextlib.contextmanager
    def withdrawn_if_refused(self) -> Iterator[None]:
        """While a run settles what it rests on: an `InputError` withdraws it, and goes on to whoever called."""
        try:
            yield
        except InputError:
            self.withdraw()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *exception: Any) -> None:
        if isinstance(broken_off := exception[1], KeyboardInterrupt | ProcessLostError):
            broken_off.add_note(f"what was finished is saved in {self.path}")
        if exception[0] is not None and self._lock is not None:
            # Of what is not ours the name alone: its words may hold a key. A full disk is told on the terminal.
            with contextlib.suppress(OSError):
                self.log(f"ended by {exception[1] if isinstance(exception[1], InputError) else exception[0].__name__}")
        watchers, self._watchers = self._watchers, []
        try:
            if exception[0] is None and self._lock is not None and self._writes:
                replace(self.manifest, finished=utc_now()).write(self.path)
            for watcher in watchers:
                watcher.run_ended(failed=exception[0] is not None)
        finally:
            self.release()

    # ---- manifest, stages, log -------------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest:
        """manifest.json as it stands."""
        return Manifest.read(self.path)

    def record(self, **facts: Any) -> None:
        """Put facts into the manifest (device, seeds, ...), over those of the same name."""
        manifest = self.manifest
        replace(manifest, facts=manifest.facts | plain(facts)).write(self.path)

    def record_once(self, name: str, fact: Mapping[str, Any], remedy: str) -> None:
        """Put a fact into the manifest that must be the same each time the run goes on.

        Args:
            remedy: what to do where it is not; ends the sentence.

        Raises:
            InputError: the run was begun with another one.
        """
        stored = self.manifest.facts.get(name)
        if stored is not None and (difference := first_difference(stored, fact)):
            key, before, now = difference
            raise InputError(
                f"{self.path} was made with a {name} whose {key} is {before}, but now it is {now}; {remedy}"
            )
        self.record(**{name: fact})

    def note(self, *texts: str) -> None:
        """Keep what a user should know of, each sentence once."""
        manifest = self.manifest
        if new := [text for text in dict.fromkeys(texts) if text not in manifest.notes]:
            replace(manifest, notes=[*manifest.notes, *new]).write(self.path)
            for text in new:
                self.log(f"note: {text}")

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a part of the run: into the manifest and the log, also when it fails, by the first process."""
        if not is_first_process():
            with at_work(name):
                yield
            return
        self.log(f"{name}: started")
        started, begin, completed = utc_now(), time.perf_counter(), False
        try:
            with at_work(name, announce=False):
                yield
            completed = True
        finally:
            seconds = round(time.perf_counter() - begin, 3)
            entry = {"stage": name, "started": started, "seconds": seconds, "completed": completed}
            manifest = self.manifest
            replace(manifest, stages=[*manifest.stages, entry]).write(self.path)
            self.log(f"{name}: {'done' if completed else 'broken off'} after {seconds:.1f} s")
        for watcher in self._watchers:
            watcher.stage_ended(name, seconds)

    def log(self, message: str) -> None:
        """Append one line with the time to log.txt."""
        with open(self.path / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{utc_now()} {' '.join(message.split())}\n")

    # ---- files -----------------------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the run holds this file."""
        return (self.path / name).exists()

    def write_table(self, name: str, table: pd.DataFrame, *, index: bool = False) -> None:
        """Write a table (.parquet or .csv), over what stood there."""
        if self._writes:
            write_table(self.path / name, table, index=index)

    def read_table(self, name: str) -> pd.DataFrame:
        """A table; see `onedial.core.run.files.read_table`."""
        return read_table(self.path / name)

    def keep_table(self, name: str, table: pd.DataFrame, required: Sequence[str] = ()) -> None:
        """Write a table that the run rests on; on resume it must be the same one.

        Raises:
            InputError: the stored table differs: the file that it was read from has changed since.
            ValueError: a required column is missing.
        """
        if missing := [column for column in required if column not in table.columns]:
            raise ValueError(f"{name} lacks {', '.join(missing)}")
        if not self.has(name):
            self.write_table(name, table)
        elif not same_content(self.read_table(name), table):
            raise InputError(
                f"{self.path} was begun with another table of {Path(name).stem} than the one now read; "
                "restore the file or choose another --out"
            )

    def write_json(self, name: str, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """Write plain values; nan becomes null."""
        if self._writes:
            write_json(self.path / name, plain(value))

    def read_json(self, name: str) -> dict[str, Any]:
        """A JSON object; see `onedial.core.run.files.read_json`."""
        return read_json(self.path / name)

    def write_text(self, name: str, text: str) -> None:
        """Write a text, over what stood there."""
        if self._writes:
            write_text(self.path / name, text)

    def read_text(self, name: str) -> str:
        """A text.

        Raises:
            InputError: it is not there.
        """
        if not self.has(name):
            raise InputError(f"{self.path / name} is missing; finish the run with --resume")
        return (self.path / name).read_text(encoding="utf-8")

    def file(self, name: str) -> Path:
        """Where a file of this name is to be written, for what writes by itself; its folder is made."""
        make_folder((self.path / name).parent)
        return self.path / name

    def parts(self, name: str, columns: Sequence[str], key: Sequence[str]) -> Parts:
        """The table that grows in the folder `name`."""
        return Parts(self.path / name, columns, key, self._writes_parts)


def _newest_path(configuration: Mapping[str, Any]) -> Path:
    """The newest run of this configuration under `runs/`."""
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


def _leftovers(path: Path) -> list[Path]:
    """What a run that was killed before it had written its configuration left in a folder that is free otherwise."""
    if _ADDRESS.match(path.as_posix()):
        raise InputError(
            f"--out {path.as_posix().replace(':/', '://', 1)} is an address, not a folder: a run needs a file system "
            "that renames and locks files; give a folder, and copy it there when it is done (docs/several_gpus.md)"
        )
    if (path / CONFIGURATION).exists():
        raise InputError(f"{path} already holds a run; pass --resume to continue it or choose another --out")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, but a run needs a folder; choose another --out")
    left = list(path.iterdir()) if path.exists() else []
    if not all(any(entry.match(pattern) for pattern in BEGINNING) for entry in left):
        raise InputError(f"{path} is not empty and holds no run; choose a new or empty folder with --out")
    return left


def _write_configuration(path: Path, configuration: Mapping[str, Any]) -> None:
    write_text(path / CONFIGURATION, yaml.safe_dump(plain(configuration), sort_keys=False))

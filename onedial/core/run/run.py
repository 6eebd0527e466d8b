"""A run on disk: a folder from which everything that a program said can be computed again.

    config.yaml     every option of the run         manifest.json   where it comes from (`onedial.core.run.manifest`)
    log.txt         what was done when              and the program's own tables, parts and texts

Every file is complete or absent: it is written under a temporary name and renamed. A run that was killed leaves at
most temporary files, which are ignored by all readers and removed on resume. One process writes at a time
(`onedial.core.run.lock`). What the tables mean is not known here.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import yaml

from onedial.core.borders import read_yaml
from onedial.core.errors import InputError, ProcessLostError
from onedial.core.files import make_folder, write_text
from onedial.core.plain_values import plain
from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work
from onedial.core.run.configuration import FILE as CONFIGURATION
from onedial.core.run.configuration import first_difference
from onedial.core.run.files import TEMPORARY
from onedial.core.run.folder import Folder
from onedial.core.run.lock import RunLock, is_held
from onedial.core.run.manifest import FILE as MANIFEST
from onedial.core.run.manifest import Manifest, git_state, utc_now
from onedial.core.run.places import default_path, newest_path, refuse_taken


class Watcher(Protocol):
    """Is told how a run goes."""

    def stage_ended(self, name: str, seconds: float) -> None:
        """Hear that a stage is done."""

    def run_ended(self, failed: bool) -> None:
        """Hear that the program has done all of its work, or that an exception has ended it."""

    def run_withdrawn(self) -> None:
        """Take back what the watcher has put into the folder, since the program does so with its own."""


class Run(Folder):
    """One run's folder (`Folder` has its files). Make it with `begin` (what a program needs), `open` or `join`.

    Attributes:
        path: the folder.
        config: the stored configuration, as plain values.
    """

    def __init__(self, path: Path | str, writes: bool = True, writes_parts: bool = True) -> None:
        super().__init__(path, writes, writes_parts)
        if not self.has(CONFIGURATION):
            raise InputError(f"{self.path} holds no run (no {CONFIGURATION}); give the folder of a run")
        self.config: dict[str, Any] = read_yaml(self.path / CONFIGURATION)
        if not isinstance(self.config, dict):
            raise InputError(f"{self.path / CONFIGURATION} holds no options; restore it or make the run again")
        Manifest.read(self.path)  # refuses what this version cannot read
        self._lock: RunLock | None = None
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
        """Begin or resume the folder of a program with the options `--out` and `--resume`.

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
        return cls.resume(out or newest_path(configuration), program, configuration, may_change)

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
        path = Path(out or (newest_path(configuration) if resume else default_path(configuration, "run")))
        if resume and (path / CONFIGURATION).exists():
            return cls._same(path, configuration, may_change).manifest.facts
        refuse_taken(path)
        missing = [each for each in (path, *path.parents) if not each.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for each in missing:
            each.rmdir()
        return {}

    @classmethod
    def create(cls, path: Path | str, program: str, configuration: Mapping[str, Any]) -> Run:
        """Make a new run in a new or empty folder.

        Raises:
            InputError: as `refuse_taken`; or the folder is being written.
        """
        path = Path(path)
        refuse_taken(path)
        was_there = path.exists()
        make_folder(path)
        lock = RunLock(path)
        _remove_temporaries(path)
        # The configuration comes last: a folder that has one is a run with all that a run begins with.
        Manifest.begun_now(program).write(path)
        _write_configuration(path, configuration)
        run = cls(path)
        run._lock, run._was_there = lock, was_there
        run.log(f"run begun: {run.manifest.command}")
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
        _remove_temporaries(path)
        run._change(resumed=[*run.manifest.resumed, {"at": utc_now(), **git_state()}], finished="")
        run.log("run resumed")
        return run

    @classmethod
    def _same(cls, path: Path, configuration: Mapping[str, Any], may_change: Collection[str]) -> Run:
        """Open the run there; refuse it where it was made with another option that changes results."""
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
        """Open an existing run, whatever its configuration: to read it, or with `write` as its one writer.

        Raises:
            InputError: no folder, or no run in it; with `write`, another process is writing.
        """
        run = cls(path)
        if write:
            run._lock = RunLock(run.path)
        return run

    @classmethod
    def join(cls, path: Path | str, process: int, writes_parts: bool = True) -> Run:
        """Join the run that process 0 has begun, for another process of the same work; it alone writes more than parts.

        Args:
            writes_parts: False where process 0 finds the same.

        Raises:
            InputError: this process's place is taken.
        """
        run = cls(path, writes=False, writes_parts=writes_parts)
        run._lock = RunLock(run.path, process)
        return run

    @staticmethod
    def is_at(path: Path | str) -> bool:
        """Whether the folder holds a run."""
        return all((Path(path) / name).is_file() for name in (CONFIGURATION, MANIFEST))

    @staticmethod
    def is_held(path: Path | str) -> bool:
        """Whether a process is writing the run right now."""
        return is_held(Path(path))

    # ---- what is known of it ---------------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest:
        """manifest.json as it stands."""
        return Manifest.read(self.path)

    def _change(self, **fields: Any) -> None:
        replace(self.manifest, **fields).write(self.path)

    def record(self, **facts: Any) -> None:
        """Put facts into the manifest (device, seeds, ...), over those of the same name."""
        self._change(facts=self.manifest.facts | plain(facts))

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
        noted = self.manifest.notes
        if new := [text for text in dict.fromkeys(texts) if text not in noted]:
            self._change(notes=[*noted, *new])
            for text in new:
                self.log(f"note: {text}")

    def log(self, message: str) -> None:
        """Append one line with the time to log.txt."""
        with open(self.path / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{utc_now()} {' '.join(message.split())}\n")

    def watched_by(self, watcher: Watcher) -> None:
        """Tell `watcher` of every stage from now on, and of the end."""
        self._watchers.append(watcher)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a part of the run: into the manifest and the log, also when it fails, by the first process."""
        started, begin, completed = utc_now(), time.perf_counter(), False
        if leads := is_first_process():
            self.log(f"{name}: started")
        try:
            with at_work(name, announce=False):
                yield
            completed = True
        finally:
            seconds = round(time.perf_counter() - begin, 3)
            if leads:
                entry = {"stage": name, "started": started, "seconds": seconds, "completed": completed}
                self._change(stages=[*self.manifest.stages, entry])
                self.log(f"{name}: {'done' if completed else 'broken off'} after {seconds:.1f} s")
        for watcher in self._watchers if leads else ():
            watcher.stage_ended(name, seconds)

    # ---- ending ----------------------------------------------------------------------------------------------------

    def release(self) -> None:
        """Give up the right to write, as the end of the process does."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def withdraw(self) -> None:
        """Give up the run; where this process began it, all that lies in its folder goes. Else it stays as it was."""
        while self._watchers:
            self._watchers.pop(0).run_withdrawn()
        self.release()
        if self._was_there is not None:
            for entry in self.path.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            if not self._was_there:
                self.path.rmdir()

    @contextlib.contextmanager
    def withdrawn_if_refused(self) -> Iterator[None]:
        """Withdraw the run where an `InputError` comes while it settles what it rests on; the error goes on."""
        try:
            yield
        except InputError:
            self.withdraw()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KeyboardInterrupt | ProcessLostError):
            error.add_note(f"what was finished is saved in {self.path}")
        try:
            if self._lock is not None and error is not None:
                # Of what is not ours the name alone: its words may hold a key. A full disk is told on the terminal.
                with contextlib.suppress(OSError):
                    self.log(f"ended by {error if isinstance(error, InputError) else type(error).__name__}")
            elif self._lock is not None and self._writes:
                self._change(finished=utc_now())
            while self._watchers:
                self._watchers.pop(0).run_ended(failed=error is not None)
        finally:
            self.release()


def _remove_temporaries(path: Path) -> None:
    for leftover in path.rglob(TEMPORARY):
        leftover.unlink()


def _write_configuration(path: Path, configuration: Mapping[str, Any]) -> None:
    write_text(path / CONFIGURATION, yaml.safe_dump(plain(configuration), sort_keys=False))

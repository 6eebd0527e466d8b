"""A run on disk, mirrored to Weights & Biases: who may log where, and what any run's folder says at its end.

Without W&B the run is complete. `offline` writes under <run>/wandb, to be sent later by `wandb sync`; nothing leaves
the machine then.

What is logged      when                                     step
STAGE/done, /of     as a bar goes on, at most every 5 s      seconds since the run was begun
stages/STAGE        when the stage is done: its seconds      the same
tables              at the end: every CSV of the folder      the same
figures             at the end                               the same
summary             at the end: what its JSON files say
artifact            at the end: report, tables, JSON, figures; it names the runs that it read, by folder and W&B run

A run that goes on is the same W&B run, under the same identifier. A sweep says more, and says it itself
(`reporting.wandb_sweep`).
"""

import importlib.util
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from common import InputError, notice, sha256_of_text
from reporting.results import captions_of
from reporting.terminal import listening
from run_store import Run, flat

MODES = ("offline", "online")
PROJECT = "onedial"
ID_LENGTH = 12
MOST_ROWS = 10_000
"""Of a table that W&B is given to show; a longer one is in the artifact alone."""
SECONDS_BETWEEN = 5.0
FILES = ("report.html", "*.csv", "*.json", "config.yaml", "figures/*.svg")
"""Of a run's folder, what its artifact holds."""
NO_RESULTS = frozenset({"manifest.json", "interventions.json", "factor.json"})
"""JSON files that say how something was made, or hold it whole."""


@dataclass(frozen=True)
class WandbOptions:
    """Where and under which names a run is mirrored.

    Attributes:
        mode: off, offline or online.
        project, entity: where it goes; None leaves it to WANDB_PROJECT and WANDB_ENTITY, then to `PROJECT` and the
            account's own.
        group: what the run is filed with; several processes are a group of their own where none is given.
        tags: words to find it by. name: by default that of the run's folder.
    """

    mode: str = "off"
    project: str | None = None
    entity: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    name: str | None = None

    @classmethod
    def of(cls, options: Any) -> "WandbOptions":
        """From a program's options (`run_store.add_run_options`)."""
        tags = tuple(tag.strip() for tag in (options.wandb_tags or "").split(",") if tag.strip())
        return cls(
            options.wandb, options.wandb_project, options.wandb_entity, options.wandb_group, tags, options.wandb_name
        )


def check_wandb(mode: str) -> None:
    """Find out before the work, not after it, whether logging can go ahead.

    Raises:
        InputError: an unknown mode; W&B is not installed; or `online` without a login.
    """
    if mode not in MODES:
        raise InputError(
            f"W&B mode {mode!r} requested, but it is one of {', '.join(MODES)}; leave --wandb out for none"
        )
    wandb = _import_wandb()
    if mode == "online" and not _has_login(wandb):
        raise InputError("W&B knows no API key on this machine; run `wandb login` once, or pass --wandb offline")


class WandbRun:
    """One process's W&B run beside a run on disk.

    A server that no longer answers is noticed once; the run on disk goes on without its mirror.

    Args:
        run: has all that it records at its beginning.
        options: mode offline or online.
        kind: W&B's job type.
        process, n_processes: which of how many.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached at the start.
    """

    def __init__(self, run: Run, options: WandbOptions, kind: str, process: int = 0, n_processes: int = 1) -> None:
        check_wandb(options.mode)
        self._wandb = wandb = _import_wandb()
        self._run, self._mode = run, options.mode
        manifest, own = run.manifest, wandb_id(run)
        suffix = f"-p{process}" if process else ""
        identifier = os.environ.get("WANDB_RUN_ID") if not process else None  # an agent has named the run
        self._identifier = identifier or f"{own}{suffix}"
        self._reads = runs_read_by(run)
        told = {"subject": manifest.facts.get("model", {}), "commit": manifest.commit, "reads": self._reads}
        try:
            self._logged: wandb.Run | None = wandb.init(
                id=self._identifier,
                resume="allow",
                project=options.project or os.environ.get("WANDB_PROJECT") or PROJECT,
                entity=options.entity,
                group=options.group or (own if n_processes > 1 else None),
                tags=options.tags or None,
                name=f"{options.name or run.path.resolve().name}{suffix}",
                job_type=kind,
                dir=run.path,
                mode=options.mode,
                config={**run.config, **told},
                settings=wandb.Settings(console="off", silent=True, save_code=False),
            )
        except wandb.errors.Error as error:
            raise InputError(self._refused(error)) from error

    @property
    def folder(self) -> Path:
        """Where W&B keeps this run on this machine."""
        assert self._logged is not None
        return Path(self._logged.dir).parent

    def where(self) -> str:
        """One line for the terminal: the page of an online run, or how an offline one is sent."""
        if self._mode == "online" and self._logged is not None:
            return f"W&B: {self._logged.url}"
        pieces = self._run.path / "wandb" / f"offline-run-*-{self._identifier}"
        return f"W&B: {self.folder}\n     to send it: wandb sync {pieces}"

    def log(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Log values, unless the mirror is lost already."""
        if self._logged is None:
            return
        try:
            self._logged.log(dict(values), step=step)
        except self._wandb.errors.Error as error:
            notice(f"warning: {self._refused(error)}")
            self._logged = None

    def close(self, failed: bool = False) -> None:
        """End the W&B run as it stands; nothing where it has ended."""
        if self._logged is not None:
            self._logged.finish(exit_code=int(failed))
            self._logged = None

    def log_folder(self, step: int | None = None) -> None:
        """Tables, figures and summary of what the folder says."""
        assert self._logged is not None
        wandb, path = self._wandb, self._run.path
        tables = {file.stem: pd.read_csv(file) for file in sorted(path.glob("*.csv"))}
        shown = {name: wandb.Table(dataframe=table) for name, table in tables.items() if len(table) <= MOST_ROWS}
        pictures = {
            f"figures/{name}": wandb.Image(str(path / "figures" / f"{name}.png"), caption=words["caption"])
            for name, words in captions_of(self._run).items()
        }
        self._logged.log({**shown, **pictures}, step=step)
        for file in sorted(path.glob("*.json")):
            if file.name not in NO_RESULTS and isinstance(told := self._run.read_json(file.name), Mapping):
                values = flat(told, f"{file.stem}.")
                self._logged.summary.update({name: value for name, value in values if _is_plain(value)})

    def log_artifact(self, kind: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """The files of some patterns, relative to the run's folder; nothing where there are none."""
        path = self._run.path
        files = sorted(str(file.relative_to(path)) for pattern in patterns for file in path.glob(pattern))
        if not files or self._logged is None:
            return
        artifact = self._wandb.Artifact(f"{self.name()}-{kind}", type=kind, metadata={"reads": self._reads, **metadata})
        for file in files:
            artifact.add_file(str(path / file), name=file)
        self._logged.log_artifact(artifact)

    def name(self) -> str:
        """The folder's, in the letters that an artifact's name may have."""
        return re.sub(r"[^\w.-]+", "-", self._run.path.resolve().name)

    def _refused(self, error: Exception) -> str:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return f"W&B did not take the run ({reason}); {self._run.path} is complete without it, so log it offline"


class WandbWatcher(WandbRun):
    """Tells W&B how any run goes, and at its end what its folder says (`Run.watched_by`)."""

    def __init__(self, run: Run, options: WandbOptions) -> None:
        super().__init__(run, options, run.manifest.program)
        self._began = datetime.fromisoformat(run.manifest.started.replace("Z", "+00:00"))
        self._told: dict[str, float] = {}
        self._listening = listening(self._advanced)
        self._listening.__enter__()

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""
        self.log({f"stages/{name}": seconds}, self._step())

    def run_ended(self, failed: bool) -> None:
        """The program is done with the run, or was broken off."""
        self._listening.__exit__(None, None, None)
        if self._logged is None:
            return
        try:
            if not failed:
                self.log_folder(self._step())
                self.log_artifact(self._run.manifest.program, FILES, {})
            self.close(failed)
        except self._wandb.errors.Error as error:
            raise InputError(self._refused(error)) from error

    def run_withdrawn(self) -> None:
        """The run was refused: a W&B run that is not sent yet goes with it."""
        self._listening.__exit__(None, None, None)
        pieces = sorted((self._run.path / "wandb").glob(f"*-{self._identifier}"))
        self.close(failed=True)
        if len(pieces) == 1:  # else it was begun earlier, and goes on another time
            shutil.rmtree(self._run.path / "wandb", ignore_errors=True)

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if done != of and now - self._told.get(stage, -SECONDS_BETWEEN) < SECONDS_BETWEEN:
            return
        self._told[stage] = now
        values = {f"{stage}/done": done} | ({} if of is None else {f"{stage}/of": of})
        self.log(values, self._step())

    def _step(self) -> int:
        """Seconds since the run was begun: they go on where the run does."""
        return int((datetime.now(UTC) - self._began).total_seconds())


def wandb_id(run: Run) -> str:
    """The identifier of a run's W&B run: the same whenever it goes on."""
    return sha256_of_text(f"{run.path.resolve().name} {run.manifest.started} {run.config}")[:ID_LENGTH]


def runs_read_by(run: Run) -> dict[str, str]:
    """Folder -> W&B identifier of the finished runs that its options name."""
    named = [each for value in run.config.values() for each in (value if isinstance(value, list) else [value])]
    folders = [Path(each) for each in named if isinstance(each, str) and each and Run.is_at(each)]
    return {str(folder): wandb_id(Run.open(folder)) for folder in folders if folder.resolve() != run.path.resolve()}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value == value


def wandb_is_installed() -> bool:
    """Whether the package is there; nothing is imported."""
    return importlib.util.find_spec("wandb") is not None


def wandb_knows_key() -> bool:
    """Whether this machine has a login, as far as can be told without the network."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    return _has_login(_import_wandb())


def _import_wandb() -> Any:
    try:
        import wandb
    except ImportError:
        raise InputError("--wandb needs the package wandb; run `pip install wandb`, or leave the option out") from None
    return wandb


def _has_login(wandb: Any) -> bool:
    return bool(wandb.login(prompt=False, verify=False))

"""Mirror a run to Weights & Biases: while it goes on, how far it is and what the dial does; at its end all that its
folder says.

Without W&B the run is complete. `offline` writes under <run>/wandb, to be sent later by `wandb sync`; nothing leaves
the machine then.

What is logged      when                                    step
sweep/*             each batch of the sweep                 questions done
controls/*, facts/* each batch of controls and facts        questions done, behind those of the sweep
extraction/*, ...   at the end, magnitude by magnitude      behind all of these
tables, figures     at the end
artifacts           the vectors once they are made; sweep and report at the end, naming the vectors that they rest on

A run that goes on is the same W&B run, under the same identifier; steps are counted from what is on disk, so that they
go on too. Of several processes each has a W&B run of its own, all in one group.
"""

import importlib.util
import math
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from common import InputError, notice, sha256_of_file, sha256_of_text
from elicitation import is_read
from matching import SweepRun
from reporting.run_figures import read_captions
from run_store import flat

if TYPE_CHECKING:
    pass

MODES = ("offline", "online")
PROJECT = "onedial"
CURVES = ("yes_rate", "mean_mass", "n_unread")
STAGES = ("sweep", "controls", "facts")
SETTINGS = ("low", "zero", "high")
"""The three settings of the dial whose yes rates are shown while the sweep runs: its ends, and no steering."""
ID_LENGTH = 12


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


def log_run(run: SweepRun, mode: str, project: str = PROJECT) -> None:
    """Mirror a finished run: configuration, dose-response, matches, verdict, figures, and its files as artifacts.

    Args:
        run: finished, with its report written.
        mode: offline or online.
        project: the W&B project.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached.
    """
    mirror = WandbMirror(run, WandbOptions(mode, project))
    mirror.log_vectors()
    mirror.finish()


class WandbMirror:
    """One process's W&B run beside a run on disk.

    A server that no longer answers is noticed once; the run on disk goes on without its mirror.

    Args:
        run: its plan stands.
        options: mode offline or online.
        process, n_processes: which of how many.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached at the start.
    """

    def __init__(self, run: SweepRun, options: WandbOptions, process: int = 0, n_processes: int = 1) -> None:
        check_wandb(options.mode)
        self._wandb = wandb = _import_wandb()
        self._run, self._mode = run, options.mode
        self._streams: dict[str, _Stream] = {}
        folder = run.path.resolve().name
        manifest = run.run.manifest
        own = sha256_of_text(f"{folder} {manifest.started} {run.run.config}")[:ID_LENGTH]
        suffix = f"-p{process}" if process else ""
        group = options.group or (own if n_processes > 1 else None)
        identifier = os.environ.get("WANDB_RUN_ID") if not process else None  # an agent has named the run
        self._identifier = identifier or f"{own}{suffix}"
        try:
            self._logged: wandb.Run | None = wandb.init(
                id=self._identifier,
                resume="allow",
                project=options.project or os.environ.get("WANDB_PROJECT") or PROJECT,
                entity=options.entity,
                group=group,
                tags=options.tags or None,
                name=f"{options.name or folder}{suffix}",
                job_type="sweep",
                dir=run.path,
                mode=options.mode,
                config={**run.config, "subject": manifest.facts.get("model", {}), "commit": manifest.commit},
                settings=wandb.Settings(console="off", silent=True, save_code=False),
            )
        except wandb.errors.Error as error:
            raise InputError(_refused(run, error)) from error
        for stage in STAGES:
            self._logged.define_metric(f"{stage}/*", step_metric=f"{stage}/questions")

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

    def stream(self, stage: str, n_done: int, n_questions: int, before: int = 0) -> "_Stream":
        """What takes each batch of a stage as it comes.

        Args:
            n_done: questions that were on disk when this start began. n_questions: of the stage, in all.
            before: questions of the stages before it, behind which its steps stand.
        """
        return _Stream(self, stage, n_done, n_questions, before)

    def log_vectors(self) -> None:
        """The vectors as an artifact, with the numbers by which they are known."""
        self._log_artifact("vector", ["vectors/*.safetensors"], self._vectors())

    def finish(self) -> None:
        """Log what the finished run's folder says, and end the W&B run.

        Raises:
            InputError: the server cannot be reached.
        """
        if self._logged is None:
            return
        try:
            self._log_dose_response()
            self._log_tables()
            rests_on = {"vectors": self._vectors(), "artifact": f"{self._name()}-vector"}
            self._log_artifact("sweep", ["sweep/part-*.parquet"], rests_on)
            self._log_artifact("report", REPORT_FILES, rests_on | {"verdict": self._run.verdict()["sentence"]})
            self.close()
        except self._wandb.errors.Error as error:
            raise InputError(_refused(self._run, error)) from error

    def close(self, failed: bool = False) -> None:
        """End the W&B run as it stands; nothing where it has ended."""
        if self._logged is not None:
            self._logged.finish(exit_code=int(failed))
            self._logged = None

    def log(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Log values, unless the mirror is lost already."""
        if self._logged is None:
            return
        try:
            self._logged.log(dict(values), step=step)
        except self._wandb.errors.Error as error:
            notice(f"warning: {_refused(self._run, error)}")
            self._logged = None

    # ---- at the end ------------------------------------------------------------------------------------------------

    def _log_dose_response(self) -> None:
        """One step per magnitude, ascending, with the curves of each split."""
        assert self._logged is not None
        dose = self._run.dose_response()
        self._logged.define_metric("magnitude")
        for split in dose["split"].unique():
            self._logged.define_metric(f"{split}/*", step_metric="magnitude")
        for magnitude, rows in dose.sort_values("magnitude").groupby("magnitude"):
            step = {
                f"{row['split']}/{curve}": float(row[curve])
                for _, row in rows.iterrows()
                for curve in CURVES
                if not math.isnan(row[curve])
            }
            self._logged.log({"magnitude": magnitude, **step})

    def _log_tables(self) -> None:
        assert self._logged is not None
        wandb, run = self._wandb, self._run
        pictures = {
            f"figures/{name}": wandb.Image(str(run.path / "figures" / f"{name}.png"), caption=words["caption"])
            for name, words in read_captions(run).items()
        }
        tables = {
            name: wandb.Table(dataframe=table.reset_index())
            for name, table in (("matches", run.matches()), ("rivals", run.rivals()), ("controls", run.controls()))
            if table is not None
        }
        self._logged.log({**tables, **pictures})
        self._logged.summary.update(dict(flat(run.verdict(), "verdict.")))

    def _log_artifact(self, kind: str, patterns: list[str], metadata: dict[str, Any]) -> None:
        """The files of some patterns, relative to the run's folder; nothing where there are none."""
        path = self._run.path
        files = sorted(str(file.relative_to(path)) for pattern in patterns for file in path.glob(pattern))
        if not files or self._logged is None:
            return
        artifact = self._wandb.Artifact(f"{self._name()}-{kind}", type=kind, metadata=metadata)
        for file in files:
            artifact.add_file(str(path / file), name=file)
        self._logged.log_artifact(artifact)

    def _name(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self._run.path.resolve().name)

    def _vectors(self) -> dict[str, Any]:
        """File -> SHA-256 of every vector."""
        return {file.name: sha256_of_file(file) for file in sorted(self._run.path.glob("vectors/*.safetensors"))}


class _Stream:
    """A stage as it goes on: questions done, rows per second, and, where it is the sweep, three yes rates.

    Yes rates are those of the answers that this start has read; unread ones count in neither part.
    """

    def __init__(self, mirror: WandbMirror, stage: str, n_done: int, n_questions: int, before: int) -> None:
        self._mirror, self._stage = mirror, stage
        self._done, self._all, self._before = n_done, n_questions, before
        self._began, self._rows = time.perf_counter(), 0
        self._said: dict[float, np.ndarray] = {}

    def __call__(self, part: pd.DataFrame) -> None:
        """Take a batch's table, as the sweep writes it."""
        self._done += part["question_id"].nunique()
        self._rows += len(part)
        seconds = max(time.perf_counter() - self._began, 1e-9)
        values = {"questions": self._done, "of": self._all, "rows_per_second": self._rows / seconds}
        if {"magnitude", "margin", "mass"} <= set(part.columns):
            values |= self._rates(part)
        self._mirror.log({f"{self._stage}/{name}": value for name, value in values.items()}, self._before + self._done)

    def _rates(self, part: pd.DataFrame) -> dict[str, float]:
        read = part[is_read(part["mass"])]
        for magnitude, margins in read.groupby("magnitude")["margin"]:
            counts = np.array([(margins > 0).sum(), len(margins)])
            self._said[float(magnitude)] = self._said.get(float(magnitude), np.zeros(2)) + counts
        if not self._said:
            return {}
        shown = dict(zip(SETTINGS, (min(self._said), 0.0, max(self._said)), strict=True))
        rates = {name: self._said[setting] for name, setting in shown.items() if setting in self._said}
        return {f"yes_rate_{name}": float(yes / n) for name, (yes, n) in rates.items() if n}


REPORT_FILES = [
    "report.html",
    "verdict.json",
    "matches.csv",
    "rivals.csv",
    "controls.csv",
    "knowing.csv",
    "path.csv",
    "path_targets.csv",
    "path.json",
    "interventions.json",
    "factor.json",
    "manifest.json",
    "config.yaml",
]


def wandb_is_installed() -> bool:
    """Whether the package is there; nothing is imported."""
    return importlib.util.find_spec("wandb") is not None


def wandb_knows_key() -> bool:
    """Whether this machine has a login, as far as can be told without the network."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    return _has_login(_import_wandb())


def _refused(run: SweepRun, error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"W&B did not take the run ({reason}); {run.path} is complete without it, so log it offline"


def _import_wandb() -> Any:
    try:
        import wandb
    except ImportError:
        raise InputError("--wandb needs the package wandb; run `pip install wandb`, or leave the option out") from None
    return wandb


def _has_login(wandb: Any) -> bool:
    return bool(wandb.login(prompt=False, verify=False))

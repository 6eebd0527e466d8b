"""What takes a run's numbers elsewhere: one interface, and which of its kinds a program's options ask for.

Any run, written elsewhere as it goes on (`Run.watched_by`): to W&B, to TensorBoard, or both.

What is logged      when
progress/STAGE      /done and /of, as a bar goes on, at most every 5 s; of a start that goes on, what was left to do
stages/STAGE        when the stage is done: its seconds
tables              at the end: every CSV of the folder that is not too long (W&B)
figures             at the end
summary             at the end: what its JSON files say
artifact            at the end: report, tables, JSON, figures (W&B)

A sweep says more, and says it itself (`onedial.report.sweep_watcher`).
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from onedial.core.pulse import say
from onedial.core.run.run import Run
from onedial.show.progress import listening
from onedial.show.writers.tensorboard import check_tensorboard
from onedial.show.writers.wandb_run import FILES, WandbOptions, check_wandb


class Writer(Protocol):
    """One process's log of a run, elsewhere than in the run's own files, which are complete without it."""

    def where(self) -> str:
        """For the terminal: how it is looked at."""

    def log(self, values: Mapping[str, Any]) -> None:
        """Numbers at this moment."""

    def configure(self, values: Mapping[str, Any]) -> None:
        """What was chosen only after the beginning."""

    def measure_along(self, metrics: str, along: str) -> None:
        """Show the metrics of a pattern along another one instead of along time."""

    def log_folder(self) -> None:
        """What the files of a finished run say."""

    def log_artifact(self, kind: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Keep the files of some patterns, relative to the run's folder."""

    def close(self, failed: bool = False) -> None:
        """Nothing more comes."""

    def withdraw(self) -> None:
        """The run is refused after all: what this start has written goes."""


@dataclass(frozen=True)
class LogOptions:
    """Where a program's run is logged besides its own folder.

    Attributes:
        wandb: see `WandbOptions`. tensorboard: whether events are written below the run's folder.
    """

    wandb: WandbOptions
    tensorboard: bool

    @classmethod
    def of(cls, options: Any) -> "LogOptions":
        """From a program's options (`onedial.core.options.RunOptions`)."""
        return cls(WandbOptions.of(options), options.tensorboard)

    def check(self) -> None:
        """Find out before the work whether logging can go ahead.

        Raises:
            InputError: as `check_wandb`; or TensorBoard is asked for and not installed.
        """
        if self.wandb.mode != "off":
            check_wandb(self.wandb.mode)
        if self.tensorboard:
            check_tensorboard()

    def writers(self, run: Run, kind: str, process: int = 0, n_processes: int = 1) -> list[Writer]:
        """The writers that are asked for, each begun; `kind` is W&B's job type.

        Raises:
            InputError: as `WandbRun`.
        """
        writers: list[Writer] = []
        if self.wandb.mode != "off":
            from onedial.show.writers.wandb_run import WandbRun

            writers.append(WandbRun(run, self.wandb, kind, process, n_processes))
        if self.tensorboard:
            from onedial.show.writers.tensorboard import TensorBoardRun

            writers.append(TensorBoardRun(run, process))
        return writers


SECONDS_BETWEEN = 5.0


class RunWatcher:
    """Tells a writer how a run goes, and at its end what its folder says.

    Args:
        run: just begun. writer: of this process. leads: whether this process is the first, which says what came out.
    """

    def __init__(self, run: Run, writer: Writer, leads: bool = True) -> None:
        self.run, self.writer, self._leads = run, writer, leads
        self._told: dict[str, float] = {}
        self._hearing = ExitStack()
        self._hearing.enter_context(listening(self._advanced))

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""
        self.writer.log({f"stages/{name}": seconds})

    def run_ended(self, failed: bool) -> None:
        """The program is done with the run, or was interrupted."""
        self._hearing.close()
        if not failed and self._leads:
            self.log_end()
        self.writer.close(failed)

    def run_withdrawn(self) -> None:
        """The run is refused after all: nothing of this start stays in its folder."""
        self._hearing.close()
        self.writer.withdraw()

    def log_end(self) -> None:
        """What the finished folder says."""
        self.writer.log_folder()
        self.writer.log_artifact(self.run.manifest.program, FILES, {})

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if done != of and now - self._told.get(stage, -SECONDS_BETWEEN) < SECONDS_BETWEEN:
            return
        self._told[stage] = now
        self.writer.log({f"progress/{stage}/done": done} | ({} if of is None else {f"progress/{stage}/of": of}))


def watch(run: Run, options: LogOptions) -> None:
    """Let every writer that the options ask for be told of the run, and say where each writes."""
    for writer in options.writers(run, run.manifest.program):
        run.watched_by(RunWatcher(run, writer))
        say(writer.where())

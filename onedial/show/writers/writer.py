"""What takes a run's numbers elsewhere: one interface, and which of its kinds a program's options ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from onedial.core import Run
from onedial.show.writers.wandb_login import WandbOptions, check_wandb


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
        """From a program's options (`onedial.core.add_run_options`)."""
        return cls(WandbOptions.of(options), options.tensorboard)

    def check(self) -> None:
        """Find out before the work whether logging can go ahead.

        Raises:
            InputError: as `check_wandb`.
        """
        if self.wandb.mode != "off":
            check_wandb(self.wandb.mode)

    def writers(self, run: Run, kind: str, process: int = 0, n_processes: int = 1) -> list[Writer]:
        """The writers that are asked for, each begun; `kind` is W&B's job type.

        Raises:
            InputError: as `WandbRun`.
        """
        found: list[Writer] = []
        if self.wandb.mode != "off":
            from onedial.show.writers.wandb_run import WandbRun

            found.append(WandbRun(run, self.wandb, kind, process, n_processes))
        if self.tensorboard:
            from onedial.show.writers.tensorboard import TensorBoardRun

            found.append(TensorBoardRun(run, process))
        return found

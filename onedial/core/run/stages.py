"""The stages of a long program as a table: what is done, in which order, and when it is left out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from onedial.core.run.run import Run

Study = TypeVar("Study")


@dataclass(frozen=True)
class Stage(Generic[Study]):
    """A part of a program.

    Attributes:
        name: in manifest, log and report. work: does it; takes the study, which keeps what later stages need.
        wanted: False where the options leave it out.
        once: whether a run that goes on leaves it alone where it was completed; else the work itself knows what is
            left to do.
    """

    name: str
    work: Callable[[Study], object]
    wanted: bool = True
    once: bool = False


def go_through(run: Run, study: Study, *stages: Stage[Study]) -> None:
    """Do the stages that are wanted, one after the other, each timed and logged by the run (`Run.stage`)."""
    done = {entry["stage"] for entry in run.manifest.stages if entry["completed"]}
    for stage in stages:
        if stage.wanted and not (stage.once and stage.name in done):
            with run.stage(stage.name):
                stage.work(study)

"""The stages of a long program as a table: what is done, in which order, when it is left out, and what it costs."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from onedial.core.run.run import Run

Study = TypeVar("Study")


@dataclass(frozen=True)
class Stage(Generic[Study]):
    """A part of a program; its name, in manifest, log and report, is its key in the table.

    Attributes:
        work: does it; takes the study, which keeps what later stages need.
        loads: what it asks of the model, of what is known beforehand (`loads_of`).
        wanted: whether the options want it.
        once: whether a run that goes on leaves it alone where it was completed; else the work itself knows what is
            left to do.
        settles: whether the run rests on it, so that an `InputError` withdraws the run (`Run.withdrawn_if_refused`).
    """

    work: Callable[[Study], object]
    loads: Callable[[Any], list[Any]] = lambda ahead: []
    wanted: Callable[[Any], object] = lambda options: True
    once: bool = False
    settles: bool = False


def go_through(run: Run, study: Study, stages: Mapping[str, Stage[Study]], options: object) -> None:
    """Do the stages that the options want, one after the other, each timed and logged by the run (`Run.stage`)."""
    done = {entry["stage"] for entry in run.manifest.stages if entry["completed"]}
    for name, stage in stages.items():
        if stage.wanted(options) and not (stage.once and name in done):
            with run.withdrawn_if_refused() if stage.settles else nullcontext(), run.stage(name):
                stage.work(study)


def loads_of(stages: Mapping[str, Stage[Any]], options: object, ahead: object) -> dict[str, list[Any]]:
    """List what each stage that the options want asks of the model, in order; without those that ask nothing.

    Args:
        ahead: what the stages' `loads` take.
    """
    wanted = {name: stage.loads(ahead) for name, stage in stages.items() if stage.wanted(options)}
    return {name: loads for name, loads in wanted.items() if loads}

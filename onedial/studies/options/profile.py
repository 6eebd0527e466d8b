"""Declare the options of `experiments/ask.py profile`."""

from dataclasses import dataclass
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.options import DryRunOptions, KeysOf, RunOptions, option
from onedial.studies.options.shared import ColumnOptions, EngineOptions, ReplicateOptions


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(ColumnOptions, EngineOptions, ReplicateOptions, DryRunOptions, RunOptions, group="dial"):
    """All that a profile of a dial understands."""

    run: Path | None = option(None, "folder of a finished run of onedial sweep", positional=True)
    model: str | None = option(None, "the subject, where no RUN names it")
    vector: Path | None = option(
        None,
        "a .safetensors file that a run has saved",
        metavar="FILE",
        excludes=("run",),
        needs=("model", "magnitudes"),
    )
    questions: str = option("embedded", "beside --vector: a name or a file")
    prompt: str = option("neutral", "beside --vector: a framing's name or a file")
    yes_rates: tuple[float, ...] = option(
        (0.1, 0.3, 0.7, 0.9), "settings, by the yes rate of the sweep's fitting questions", above=0, below=1
    )
    magnitudes: tuple[float, ...] = option((), "settings by magnitude instead, such as -0.2,0.2", leading_hyphen=True)
    instruments: tuple[str, ...] = option(
        (),
        "these, or all: the battery's too (those about the subject; docs/instruments.md)",
        choices=KeysOf(
            "onedial.selfreport.ask.self_reports:SELF_REPORTS",
            "onedial.selfreport.battery:BATTERY_REPORTS",
            "all",
        ),
    )
    n_questions: int = option(40, "questions, facts, requests asked", at_least=1)
    controls: int = option(19, "random directions; 19 for a verdict", at_least=0)
    no_answers: bool = option(False, "answer the questions unsteered only: quicker")

    def check(self) -> None:
        """Something is to be turned."""
        super().check()
        if self.run is None and self.vector is None:
            raise InputError("give the folder of a finished sweep, or --model, --vector and --magnitudes together")

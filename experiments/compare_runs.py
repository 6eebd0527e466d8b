"""Several finished runs on one page: what was done differently, and what came out differently.

    onedial compare runs/one runs/another
    onedial compare runs/*-smollm2* --out compared

Writes report.html, what is told of all runs (summary.json), figures/ and as tables answers (the verdicts), beside_first
(every run beside the first, on the questions that both asked) and differences (of their options). Runs must be finished
and judged by the present rule (onedial judge judges an older one again). Needs no model.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import RunOptions, option
from onedial.core.run.notes import Notes, program
from onedial.studies.start import Start

if TYPE_CHECKING:
    from onedial.verdict.sweep_run import SweepRun

PROGRAM = "compare_runs"


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(RunOptions, group="comparison"):
    """The runs that are compared."""

    runs: tuple[Path, ...] = option(
        ...,
        "folders of finished runs; two or more",
        positional=True,
        check=lambda runs: "a comparison takes two runs or more" if len(runs) < 2 else None,
    )


def compare(options: ComparisonOptions, notes: Notes) -> None:
    from onedial.report.comparison import COMPARISON_RESULTS, WORDS
    from onedial.show.ending import Opening, end
    from onedial.show.results import Stored
    from onedial.verdict.comparing.comparison import Comparison

    runs = named_runs(options.runs)
    start = Start(PROGRAM, options, "comparison")
    comparison = Comparison(runs)
    with start.begin(notes) as run:
        question, first = f"What is different between {len(runs)} runs?", next(iter(runs))
        lead = f"{', '.join(runs)}: each beside {first}, on the questions that both asked."
        end(Stored(run, COMPARISON_RESULTS, WORDS), Opening(question, comparison.summary["sentence"], lead), comparison)


def named_runs(folders: Sequence[Path]) -> "dict[str, SweepRun]":
    """The runs by the names of their folders, with as much of the path as it takes to tell them apart.

    Raises:
        InputError: one folder twice, or no run of steer_sweep.py.
    """
    from onedial.verdict.sweep_run import SweepRun

    whole = [folder.resolve() for folder in folders]
    for folder in whole:
        if whole.count(folder) > 1:
            raise InputError(f"{folder} was given twice; name different runs")
    depth = 1
    while len({folder.parts[-depth:] for folder in whole}) < len(whole):
        depth += 1
    return {"/".join(folder.parts[-depth:]): SweepRun.open(folder) for folder in whole}


main = program(ComparisonOptions, compare, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))

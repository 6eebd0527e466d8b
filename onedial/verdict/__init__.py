"""Does one steered model reproduce the yes/no of others? Works on saved tables, needs no model.

sweep (question x magnitude) + panel (question x target) -> Case -> judge -> Verdict
"""

from onedial.verdict.baselines.baselines import BASELINES, Baseline
from onedial.verdict.case import Case, sweep_grid
from onedial.verdict.judgement import judge_tables
from onedial.verdict.sweep_run import SweepRun

__all__ = [
    "Case",
    "BASELINES",
    "Baseline",
    "SweepRun",
    "judge_tables",
    "sweep_grid",
]

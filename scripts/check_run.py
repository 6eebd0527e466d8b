"""Check that a run's folder holds what a run must hold, and that its report says what its files say.

python scripts/check_run.py RUN
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from onedial.core import InputError, Options, check_files, option, parse_options, run_command

FILES = [
    *("config.yaml", "manifest.json", "questions.parquet", "panel.parquet", "prompt.txt", "log.txt"),
    *("matches.csv", "criteria.csv", "rivals.csv", "prediction.csv", "factor.json", "verdict.json", "report.html"),
    *("figures/magnitude_threshold.png", "figures/dose_response.svg"),
]


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    run: Path = option(..., "the folder of a run of experiments/steer_sweep.py", positional=True)


def main() -> None:
    folder = parse_options(ScriptOptions, __doc__).run

    import pandas as pd

    from onedial.show import headline
    from onedial.verdict import ANSWERS, SweepRun

    run = SweepRun.open(folder)
    missing = [name for name in FILES if not (run.path / name).is_file()]
    expect(not missing, f"files are missing: {', '.join(missing)}")
    files = check_files(run.path)
    expect(files is not None, "its files are in no list")
    strays = [*files.other, *files.missing, *files.unlisted]
    expect(not strays, f"files are not as they are listed: {', '.join(strays)}")
    sweep, questions = run.sweep(), run.questions()
    tested = run.under_test()
    own = sweep[sweep["intervention_id"] == tested]
    grid = run.interventions().set_index("intervention_id")["magnitudes"][tested]
    expect(0.0 in grid, "the unsteered subject is not in the grid")
    expect(len(own) == len(questions) * len(grid), "the sweep lacks answers")
    expect(bool(own["margin"].notna().all() and own["mass"].between(0, 1).all()), "margins or masses are no numbers")
    again, stored = run.judge(seed=int(run.config["seed"])), run.matches()
    pd.testing.assert_frame_equal(
        again.matches.table[["agreement", "kappa", "magnitude"]], stored[["agreement", "kappa", "magnitude"]]
    )
    verdict = run.verdict()
    expect(verdict["reproduced"] in ANSWERS, f"no such answer: {verdict['reproduced']}")
    report = (run.path / "report.html").read_text(encoding="utf-8")
    expect(headline(verdict["sentence"]) in report, "the report does not open with the verdict")
    print(f"{run.path}: {len(own)} answers, {len(stored)} targets, verdict: {verdict['sentence']}")


def expect(holds: bool, complaint: str) -> None:
    """Stop with one sentence if it does not hold."""
    if not holds:
        raise InputError(f"this run is not whole: {complaint}")


if __name__ == "__main__":
    sys.exit(run_command(main))

"""The battery of faults knows every program that writes a run which can be gone on with."""

from pathlib import Path

from fault_programs import Subject, programs
from tiny_experiment import main_of

from onedial.core import RunOptions

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def test_every_program_that_resumes_is_broken_off(tmp_path):
    resuming = {file.stem for file in EXPERIMENTS.glob("*.py") if issubclass(main_of(file).options, RunOptions)}
    assert len(resuming) > 10
    assert resuming <= programs(Subject("model", (), "1,2"), 8, tmp_path).keys()

"""The battery of faults knows every program that writes a run which can be gone on with."""

from pathlib import Path

from fault_programs import Subject, programs
from tiny_experiment import main_of

from onedial.core import RunOptions

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def test_every_program_that_resumes_is_broken_off(tmp_path):
    resuming = {
        file.stem
        for file in EXPERIMENTS.glob("*.py")
        for main in [main_of(file)]
        if any(issubclass(part.options, RunOptions) for part in getattr(main, "parts", {"": main}).values())
    }
    assert len(resuming) > 10
    assert resuming <= programs(Subject("model", (), "1,2"), 8, tmp_path).keys()

"""The battery of faults knows every program that writes a run which can be gone on with."""

from pathlib import Path

from fault_programs import Subject, programs

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def test_every_program_that_resumes_is_broken_off(tmp_path):
    resuming = {file.stem for file in EXPERIMENTS.glob("*.py") if "add_run_options(parser" in file.read_text("utf-8")}
    assert len(resuming) > 10
    assert resuming <= programs(Subject("model", (), "1,2"), 8, tmp_path).keys()

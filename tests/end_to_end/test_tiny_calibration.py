"""The verdict tells the truth of a tiny model: about panels cut from its own margins, and about the same permuted."""

import pytest
from tiny_experiment import ROOT, STEER_SWEEP, as_arguments, call, run_here, write_experiment

__all__ = ["call"]

CALIBRATE = ROOT / "scripts" / "calibrate_run.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of 400 questions; its own panel knows nothing of the subject."""
    inputs = tmp_path_factory.mktemp("calibration")
    options = write_experiment(inputs, n=400)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("onedial.report.write_report", lambda run: run.path / "report.html")
        assert run_here(STEER_SWEEP, *as_arguments(options | {"out": inputs / "run"})) == 0
    return inputs / "run"


def test_panels_with_a_known_truth_get_the_verdict_that_they_deserve(folder, call):
    ended = call(CALIBRATE, folder, "--seeds", 12, "--n-permutations", 199)
    assert ended.code == 0, ended
    assert "'test': 200" in ended.out
    assert "Is it reproduced?" in ended.out
    assert "What is the dial?" in ended.out


@pytest.mark.slow
def test_a_hundred_panels_of_each_kind_keep_the_marks(folder, call):
    ended = call(CALIBRATE, folder, "--n-permutations", 199)
    assert ended.code == 0, ended


def test_a_mark_that_is_missed_ends_with_exit_code_1(folder, call):
    """Noise a hundred times the spread leaves nothing of the subject in its own targets."""
    ended = call(CALIBRATE, folder, "--seeds", 5, "--n-permutations", 99, "--noise", 100)
    assert ended.code == 1
    assert "missed: steered: " in ended.err

"""The verdict tells the truth of a tiny model: about panels cut from its own margins, and about the same permuted."""

import pytest
from shared_runs import shared_run
from tiny_experiment import ROOT, call

__all__ = ["call"]

CALIBRATE = ROOT / "scripts" / "calibrate_run.py"


@pytest.fixture(scope="module")
def folder():
    """A run of 400 questions; its own panel knows nothing of the subject."""
    return shared_run(n=400, facts=0).run.path


@pytest.mark.slow
def test_panels_with_a_known_truth_get_the_verdict_that_they_deserve(folder, call):
    """18 of each kind: where a third of the permuted ones were called reproduced, nineteen in twenty would see it."""
    ended = call(CALIBRATE, folder, "--seeds", 18, "--n-permutations", 59)
    assert ended.code == 0, ended
    assert "'test': 200" in ended.out
    assert "Is it reproduced?" in ended.out
    assert "What is the dial?" in ended.out


def test_a_mark_that_is_missed_ends_with_exit_code_1(folder, call):
    """Noise a hundred times the spread leaves nothing of the subject in its own targets."""
    ended = call(CALIBRATE, folder, "--seeds", 3, "--n-permutations", 59, "--noise", 100)
    assert ended.code == 1
    assert "missed: steered: " in ended.err

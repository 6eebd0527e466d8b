"""Signs of life while a program works: at once, after a silence, and rarer the longer a stage takes."""

import re
import time

import pytest

from onedial.core import pulse
from onedial.core.pulse import at_work, say


@pytest.fixture
def quick(monkeypatch):
    """A silence of 0.4 seconds counts as long."""
    monkeypatch.setattr(pulse, "SILENCE", 0.4)
    with at_work(None):  # the thread may be asleep for as long as it was before
        time.sleep(0.6)
        yield


def test_what_is_done_is_said_at_once_and_again_with_its_count(quick, capfd):
    done = 0
    with at_work(lambda: f"sweep: {done} of 4"):
        assert capfd.readouterr().err == "sweep: 0 of 4 ...\n"
        done = 2
        time.sleep(1.2)
    lines = capfd.readouterr().err.splitlines()
    assert lines
    assert all(re.fullmatch(r"sweep: 2 of 4, \d+ s so far", line) for line in lines)


def test_no_sign_is_given_while_something_else_is_said_or_shown(quick, capfd):
    with at_work("sweep", announce=False):
        for _ in range(8):
            say("a line")
            time.sleep(0.02)
        with at_work(None):
            time.sleep(0.8)
    assert capfd.readouterr().err == ""


def test_of_stages_each_too_short_for_a_sign_one_is_given_all_the_same(quick, capfd):
    say("begun")
    for _ in range(6):
        with at_work("stage", announce=False):
            time.sleep(0.2)
    assert re.fullmatch(r"(stage, 0 s so far\n)+", capfd.readouterr().err)


def test_signs_grow_rarer_in_a_long_stage(quick, capfd):
    say("begun")
    with at_work("sweep", announce=False):
        before = time.perf_counter()
        pulse._PULSE.doing[-1] = (pulse._PULSE.doing[-1][0], before - 60)
        time.sleep(1.0)
    assert capfd.readouterr().err == ""


def test_of_several_processes_only_the_first_gives_signs(quick, capfd, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    with at_work("sweep"):
        time.sleep(0.8)
    assert capfd.readouterr().err == ""

"""What a program is doing is said at once, and known to whoever waits for it."""

import time

from onedial.core.pulse import at_work, what_is_done


def test_what_is_done_is_said_at_once_and_its_count_known_later(capfd):
    done = 0
    with at_work(lambda: f"sweep: {done} of 4"):
        assert capfd.readouterr().err == "sweep: 0 of 4 ...\n"
        done = 2
        with at_work("loading", announce=False):
            assert what_is_done() == "loading"
        assert what_is_done() == "sweep: 2 of 4"
    assert what_is_done() == ""


def test_of_several_processes_only_the_first_speaks(capfd, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    with at_work("sweep"):
        pass
    assert capfd.readouterr().err == ""


def test_what_lasts_is_said_later_and_what_does_not_never(capsys):
    with at_work("long", after=0.01):
        time.sleep(0.2)
    with at_work("short", after=60):
        pass
    assert capsys.readouterr().err == "long ...\n"

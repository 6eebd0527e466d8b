"""What a call of the library shows to whoever waits for it."""

import io
import sys

import pytest
from jupyter_client.manager import start_new_kernel

from onedial.core import progress
from onedial.core.progress import shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_for(monkeypatch):
    """Within the test: pytest puts its own stream back after a fixture."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_a_function_is_told_and_nothing_else_is_shown(monkeypatch):
    terminal = terminal_for(monkeypatch)
    monkeypatch.setattr(progress, "SLOW_SECONDS", 0.0)
    steps = []
    with shown(steps.append, 3, "read") as advance:
        advance(2)
    assert steps == [2]
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("given", [False, None])
def test_nothing_is_shown_where_it_is_turned_off(given, monkeypatch):
    terminal = terminal_for(monkeypatch)
    monkeypatch.setattr(progress, "SLOW_SECONDS", 0.0)
    with shown(given, 3, "read") as advance:
        assert advance is None
    assert terminal.getvalue() == ""


def test_a_log_is_spared_it(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with shown(True, 3, "read") as advance:
        assert advance is None


def test_a_terminal_shows_what_takes_long(monkeypatch):
    terminal = terminal_for(monkeypatch)
    monkeypatch.setattr(progress, "SLOW_SECONDS", 0.0)
    with shown(True, 3, "questions read") as advance:
        advance(1)
        assert "questions read" in terminal.getvalue()
    assert terminal.getvalue().split("\r")[-2:] == [" " * len(terminal.getvalue().split("\r")[-2]), ""]


def test_a_terminal_shows_nothing_of_what_is_done_at_once(monkeypatch):
    terminal = terminal_for(monkeypatch)
    with shown(True, 3, "questions read") as advance:
        advance(3)
    assert terminal.getvalue() == ""


@pytest.mark.launched
@pytest.mark.parametrize("watched", [True, False])
def test_a_cell_is_told_from_one_that_nobody_watches(watched):
    """In a kernel: whoever executes a notebook without a person says that there is no input."""
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        texts = []

        def heard(message):
            texts.append(message["content"].get("text", ""))

        code = "from onedial.core.progress import _in_notebook; print(_in_notebook())"
        client.execute_interactive(code, allow_stdin=watched, output_hook=heard, timeout=60)
        assert str(watched) in "".join(texts).split()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_watched_cell_shows_what_takes_long(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_in_notebook", lambda: True)
    with shown(True, 4, "texts written") as advance:
        advance(4)
    assert "texts written" in stream.getvalue()
    monkeypatch.setattr(progress, "_in_notebook", lambda: False)
    with shown(True, 4, "texts written") as advance:
        assert advance is None

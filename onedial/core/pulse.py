"""Signs of life: what a program is doing, said as it begins, and again whenever nothing was said for a while.

Silences are of `SILENCE` seconds at most, and in a stage of over two minutes of a thirtieth of the time that it has
taken so far, so that a day of it is told in some two hundred lines. Everything goes to stderr; at a terminal the sign
is one line that is written over.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onedial.core.processes import is_first_process

SILENCE = 4.0
"""Seconds, with some room below the five after which somebody wonders."""


class _Pulse:
    """One for the process: what is being done, innermost last, and when something was last said."""

    def __init__(self) -> None:
        self.doing: list[tuple[Callable[[], str] | None, float]] = []
        self.said = time.perf_counter()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._on_screen = False

    def speak(self, line: str, passing: bool = False) -> None:
        """Print a line; a passing one is written over at a terminal."""
        with self._lock:
            passing = passing and sys.stderr.isatty()
            print(self._cleared() + line, end="" if passing else "\n", file=sys.stderr, flush=True)
            self._on_screen, self.said = passing, time.perf_counter()

    def make_room(self) -> None:
        """Take the passing line off the screen; nothing is said by that."""
        with self._lock:
            if self._on_screen:
                print(self._cleared(), end="", file=sys.stderr, flush=True)
            self._on_screen = False

    def note_that_something_was_said(self) -> None:
        self.make_room()
        self.said = time.perf_counter()

    def _cleared(self) -> str:
        return "\r\x1b[2K" if self._on_screen else ""

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, daemon=True, name="onedial-pulse")
            self._thread.start()

    def _beat(self) -> None:
        while True:
            time.sleep(SILENCE / 8)
            for what, began in self.doing[-1:]:
                now = time.perf_counter()
                if what is not None and is_first_process() and now - self.said >= max(SILENCE, (now - began) / 30):
                    self.speak(f"{what()}, {now - began:.0f} s so far", passing=True)


_PULSE = _Pulse()


def say(text: str) -> None:
    """Print once, whatever the number of processes."""
    if is_first_process():
        heard()
        print(text, flush=True)


def what_is_done() -> str:
    """What this process is doing, in words, innermost first; empty where nothing was said of it."""
    return next((words() for words, _ in reversed(_PULSE.doing) if words is not None), "")


def heard() -> None:
    """To be called where something else is printed: the next sign waits its time, and the last one makes room."""
    _PULSE.note_that_something_was_said()


@contextmanager
def at_work(what: str | Callable[[], str] | None, announce: bool = True) -> Iterator[None]:
    """While it lasts, `what` is being done: said at the beginning, and again where nothing else is said.

    Args:
        what: in words, or what gives them, such as with a count; None while something else shows life, such as a bar.
        announce: whether it is said at the beginning.
    """
    words, speaks = (lambda: what) if isinstance(what, str) else what, is_first_process()
    if speaks and words is not None and announce:
        _PULSE.speak(f"{words()} ...")
    _PULSE.doing.append((words, time.perf_counter()))
    _PULSE.start()
    try:
        yield
    finally:
        _PULSE.doing.pop()
        if speaks:
            heard() if words is None else _PULSE.make_room()

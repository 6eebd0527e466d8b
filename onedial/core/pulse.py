"""What a program says on the way, and what it is doing; the first process of several speaks for all."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from onedial.core.processes import is_first_process

_DOING: list[Callable[[], str]] = []
"""Innermost last."""


def say(text: str) -> None:
    """Print once, whatever the number of processes."""
    if is_first_process():
        print(text, flush=True)


def what_is_done() -> str:
    """Say what this process is doing; empty where nothing was said of it."""
    return _DOING[-1]() if _DOING else ""


@contextmanager
def at_work(what: str | Callable[[], str], announce: bool = True, after: float = 0.0) -> Iterator[None]:
    """Announce work on stderr at the beginning, and let `what_is_done` name it while the context lasts.

    Args:
        what: in words, or what gives them, such as with a count.
        announce: whether it is said at the beginning.
        after: so many seconds later, if it still lasts.
    """
    words = (lambda: what) if isinstance(what, str) else what

    def tell() -> None:
        print(f"{words()} ...", file=sys.stderr, flush=True)

    waiting = threading.Timer(after, tell)
    waiting.daemon = True
    if announce and is_first_process():
        (waiting.start if after else tell)()
    _DOING.append(words)
    try:
        yield
    finally:
        _DOING.pop()
        waiting.cancel()

"""What a program says on the way, and what it is doing; the first process of several speaks for all."""

import sys
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
    """What this process is doing, in words; empty where nothing was said of it."""
    return _DOING[-1]() if _DOING else ""


@contextmanager
def at_work(what: str | Callable[[], str], announce: bool = True) -> Iterator[None]:
    """While it lasts, `what` is being done: said on stderr at the beginning, and by `what_is_done` later.

    Args:
        what: in words, or what gives them, such as with a count.
        announce: whether it is said at the beginning.
    """
    words = (lambda: what) if isinstance(what, str) else what
    if announce and is_first_process():
        print(f"{words()} ...", file=sys.stderr, flush=True)
    _DOING.append(words)
    try:
        yield
    finally:
        _DOING.pop()

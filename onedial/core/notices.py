"""What a user should know of, though nothing is wrong: one channel from any library function to terminal and report.

A library calls `notice("7 targets are the subject itself and are left out")`. In a notebook that is an ordinary Python
warning. A program collects them with `noticed(tell)`, prints each at once and keeps it with its run
(`onedial.core.run.notes.Notes`).
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PACKAGES = ("onedial", "steering", "probes", "functools", "contextlib", "torch")
"""Ours, and what stands between our functions."""


class Notice(UserWarning):
    """Something left out, counted, or taken instead; the message is one sentence."""


def notice(text: str, kind: type[Notice] = Notice) -> None:
    """Issue a notice that points at the first line outside the packages that it comes through."""
    inside = {*PACKAGES, sys._getframe(1).f_globals.get("__name__", "").split(".")[0]}
    depth = 1
    while sys._getframe(depth).f_globals.get("__name__", "").split(".")[0] in inside and sys._getframe(depth).f_back:
        depth += 1
    warnings.warn(text, kind, stacklevel=depth + 1)


_UNDONE: list[str] = []


def leave_undone(text: str) -> None:
    """Issue a notice of work that was asked for and is not all there: the program goes on and ends with exit code 2.

    Args:
        text: what is missing, why, and what would bring it, such as a larger --budget with --resume.
    """
    _UNDONE.append(text)
    notice(text)


@contextmanager
def counting_undone() -> Iterator[list[str]]:
    """Yield a list into which every sentence about work left undone comes while the context lasts."""
    _UNDONE.clear()
    yield _UNDONE


@contextmanager
def noticed(tell: Callable[[str], None]) -> Iterator[None]:
    """Give `tell` the text of every notice while the context lasts; other warnings go where they went."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", Notice)
        show = warnings.showwarning

        def showwarning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, Notice):
                tell(str(message))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = showwarning  # type: ignore[assignment]
        yield

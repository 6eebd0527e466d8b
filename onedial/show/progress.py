"""A bar with the remaining time per stage, by rich, on stderr and only at a terminal.

Into a file or a pipe, such as a scheduler's log, goes a line whenever another tenth of a stage is done, at most every
few seconds, and one when it is over.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work

TENTHS = 10
HEARTBEAT_SECONDS = 5.0
"""Lines of a log are at least this far apart."""

Listener = Callable[[str, int, int | None], None]
"""Is told what is being done, how many steps of it are, and of how many (None: unknown)."""
_LISTENERS: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While it lasts, every bar of this process tells the listener how far it is."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@contextmanager
def progress_bar(
    total: int | None, description: str, console: Console | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar: call what it yields with the number of steps just done. Of several processes only the first draws one.

    Without a terminal, a line for every tenth that is done, with the time that is left at this pace.

    Args:
        total: number of steps, None where unknown.
        description: what is being done, such as "sweep".
        console: where to draw, instead of stderr.
    """
    if not is_first_process():
        yield lambda steps: None
        return
    console = console or Console(file=sys.stderr)
    begin, done = time.perf_counter(), 0
    told, tenths = begin, 0
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )

    def so_far() -> str:
        return f"{description}: {done}" + (f" of {total}" if total is not None else "")

    with (
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
        at_work(so_far, announce=False),
    ):
        task = bar.add_task(description, total=total)

        def advance(steps: int = 1) -> None:
            nonlocal done, told, tenths
            done += steps
            bar.advance(task, steps)
            for listener in _LISTENERS:
                listener(description, done, total)
            if console.is_terminal or not total or done >= total:
                return
            now, reached = time.perf_counter(), TENTHS * done // total
            if reached > tenths and now - told >= HEARTBEAT_SECONDS:
                left = (now - begin) * (total - done) / done
                line = f"{description}: {100 * done // total}% ({done} of {total}), {span(left)} left"
                console.print(Text(line), soft_wrap=True)
                told, tenths = now, reached

        yield advance
    of = f" of {total}" if total is not None and total != done else ""
    console.print(Text(f"{description}: {done}{of} in {time.perf_counter() - begin:.1f} s"), soft_wrap=True)


def span(seconds: float) -> str:
    """A stretch of time for a reader: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

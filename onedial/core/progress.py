"""Show how far work is, with the remaining time, on stderr.

For the stages of programs (`progress_bar`): a bar at a terminal; into a file or a pipe, such as a scheduler's log, goes
a line whenever another tenth of a stage is done, at most every few seconds, and one when it is over. For calls of the
library (`shown`): a bar in a terminal or a notebook's cell, once a call has taken two seconds, and gone at its end;
nothing in a log.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onedial.core.processes import is_first_process
from onedial.core.pulse import at_work

if TYPE_CHECKING:  # whoever waits in no terminal needs no rich
    from rich.console import Console

TENTHS = 10
HEARTBEAT_SECONDS = 5.0
"""Lines of a log are at least this far apart."""
SLOW_SECONDS = 2.0
"""Nobody is shown how far a call is that takes less."""

Listener = Callable[[str, int, int | None], None]
"""Is told what is being done, how many steps of it are, and of how many (None: unknown)."""
_LISTENERS: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have every bar of this process tell the listener how far it is, while the context lasts."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@contextmanager
def progress_bar(
    total: int | None, description: str, console: "Console | None" = None
) -> Iterator[Callable[[int], None]]:
    """Draw a bar: call what it yields with the number of steps just done. Of several processes only the first does.

    Without a terminal, a line for every tenth that is done, with the time that is left at this pace.

    Args:
        total: number of steps, None where unknown.
        description: what is being done, such as "sweep".
        console: where to draw, instead of stderr.
    """
    if not is_first_process():
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.text import Text

    console = console or Console(file=sys.stderr)
    begin, done = time.perf_counter(), 0
    last_line, tenths = begin, 0

    def so_far() -> str:
        return f"{description}: {done}" + (f" of {total}" if total is not None else "")

    with _bar(console) as bar, at_work(so_far, announce=False):
        task = bar.add_task(description, total=total)

        def advance(steps: int = 1) -> None:
            nonlocal done, last_line, tenths
            done += steps
            bar.advance(task, steps)
            for listener in _LISTENERS:
                listener(description, done, total)
            if console.is_terminal or not total or done >= total:
                return
            now, reached = time.perf_counter(), TENTHS * done // total
            if reached > tenths and now - last_line >= HEARTBEAT_SECONDS:
                left = (now - begin) * (total - done) / done
                line = f"{description}: {100 * done // total}% ({done} of {total}), {span(left)} left"
                console.print(Text(line), soft_wrap=True)
                last_line, tenths = now, reached

        yield advance
    of = f" of {total}" if total is not None and total != done else ""
    console.print(Text(f"{description}: {done}{of} in {time.perf_counter() - begin:.1f} s"), soft_wrap=True)


def _bar(console: "Console") -> Any:
    from rich import progress as rich_progress

    columns = (
        "{task.description}",
        rich_progress.BarColumn(bar_width=None),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        "left",
        rich_progress.TimeRemainingColumn(),
    )
    return rich_progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def shown(
    progress: Callable[[int], None] | bool | None, total: int, description: str
) -> Iterator[Callable[[int], None] | None]:
    """Yield what a call of the library tells of each finished step.

    Args:
        progress: a function is told itself. True shows a bar, of tqdm as beside it in most notebooks, to whoever waits
            in a terminal or a notebook for more than `SLOW_SECONDS`; False and None nothing.
        total: number of steps. description: what is being done, such as "sweep".
    """
    if not isinstance(progress, bool):
        yield progress
    elif progress and is_first_process() and (sys.stderr.isatty() or _in_notebook()):
        from tqdm import tqdm

        with tqdm(total=total, desc=description, delay=SLOW_SECONDS, leave=False, dynamic_ncols=True) as bar:
            yield bar.update  # type: ignore[misc]
    else:
        yield None


def _in_notebook() -> bool:
    """Whether somebody watches a cell: with the request for one stands whether its sender could answer a prompt."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or "IPKernelApp" not in shell.config:
        return False
    return bool(shell.get_parent().get("content", {}).get("allow_stdin", True))


def span(seconds: float) -> str:
    """Write a stretch of time for a reader: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

"""What a person at the terminal sees: a bar with the remaining time per stage, then a table and the sentence.

Bars go to stderr and only to a terminal; into a file or a pipe, such as a scheduler's log, goes a line whenever another
tenth of a stage is done, at most every few seconds, and one when it is over. The summary goes to stdout.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from common import is_first_process
from reporting.formatters import headline, number
from reporting.labels import one_line_labels
from reporting.meaning import findings, judged_targets

COLUMNS = {
    "yes": "yes_rate",
    "dial": "magnitude",
    "agree": "agreement",
    "major.": "majority",
    "cut": "moved_cut",
    "kappa": "kappa",
}
LEGEND = (
    "yes: how often the target says yes · dial: the magnitude that was chosen for it · agree: how often the steered "
    "subject then answers as it does · major.: how often its more frequent answer alone does · cut: how often the "
    "unsteered subject does with its cut moved · kappa: agreement beyond chance"
)
NARROWEST_NAME = 10
TENTHS = 10
HEARTBEAT_SECONDS = 5.0
"""Lines of a log are at least this far apart."""


def print_summary(matches: pd.DataFrame, verdict: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the table of targets, the four numbers and the sentence to stdout.

    Args:
        matches: table of matches, index target.
        verdict: verdict.json, or `Verdict.to_dict()`.
        console: where to print, instead of stdout.
    """
    console = console or Console()
    matches = matches.sort_values("yes_rate", kind="stable")
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("target", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    cells = [[number(row[column], 2) for column in COLUMNS.values()] for _, row in matches.iterrows()]
    widths = [max(map(len, texts)) for texts in zip(list(COLUMNS), *cells, strict=True)]
    beside = sum(widths) + len(widths) + max(map(len, ["status", *matches["status"]])) + 1
    names = one_line_labels(matches, max(console.width - beside, NARROWEST_NAME))
    for name, status, values in zip(names, matches["status"], cells, strict=True):
        table.add_row(Text(name), status, *values, style=None if status == "ok" else "dim")
    numbers = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings(verdict):
        detail = f"({finding.detail})" if finding.detail else ""
        words = Text.assemble(f"{finding.name}. {finding.meaning} ", (detail, "dim"))
        numbers.add_row(Text(finding.letter, style="bold"), Text(finding.shown, style="bold"), words)
    console.print(table)
    console.print(Text(LEGEND, style="dim"))
    console.print()
    console.print(numbers)
    sentence = Text(headline(verdict["sentence"]), style="bold")
    console.print(Panel(sentence, subtitle=judged_targets(verdict), subtitle_align="right"))


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
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
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

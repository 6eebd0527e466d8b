"""What a person at the terminal sees: a bar with the remaining time per stage, then a table and the sentence.

Bars go to stderr and only to a terminal; into a file or a pipe goes one line per stage, when it is done. The summary
goes to stdout.
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
from reporting.labels import target_labels
from reporting.meaning import findings, headline, number

COLUMNS = {
    "yes": "yes_rate",
    "dial": "magnitude",
    "agree": "agreement",
    "major.": "majority",
    "cut": "moved_cut",
    "kappa": "kappa",
}
BESIDE_THE_NAME = 58  # characters that the other columns need


def print_summary(matches: pd.DataFrame, verdict: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the table of targets, the four numbers and the sentence to stdout.

    Args:
        matches: table of matches, index target.
        verdict: verdict.json, or `Verdict.to_dict()`.
        console: where to print, instead of stdout.
    """
    console = console or Console()
    matches = matches.sort_values("yes_rate", kind="stable")
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("target", overflow="fold")
    table.add_column("status", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    names = target_labels(matches, max(console.width - BESIDE_THE_NAME, 10))
    for name, (_, row) in zip(names, matches.iterrows(), strict=True):
        cells = [number(row[column], 2) for column in COLUMNS.values()]
        table.add_row(Text(name), row["status"], *cells, style=None if row["status"] == "ok" else "dim")
    numbers = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings(verdict):
        words = Text.assemble(f"{finding.name}. {finding.meaning} ", (f"({finding.detail})", "dim"))
        numbers.add_row(Text(finding.letter, style="bold"), Text(finding.shown, style="bold"), words)
    console.print(table)
    console.print()
    console.print(numbers)
    judged = f"{verdict['n_eligible']} of {verdict['n_targets']} targets judged"
    console.print(Panel(Text(headline(verdict["sentence"]), style="bold"), subtitle=judged, subtitle_align="right"))


@contextmanager
def progress_bar(
    total: int | None, description: str, console: Console | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar: call what it yields with the number of steps just done. Of several processes only the first draws one.

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
            nonlocal done
            done += steps
            bar.advance(task, steps)

        yield advance
    of = f" of {total}" if total is not None and total != done else ""
    console.print(Text(f"{description}: {done}{of} in {time.perf_counter() - begin:.1f} s"), soft_wrap=True)

"""What a person at the terminal sees in the end: the tables with columns for it, the numbers, and the sentence."""

from textwrap import shorten

import pandas as pd
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from onedial.show.columns import each_line
from onedial.show.labels import told_apart
from onedial.show.page import Card
from onedial.show.results import Result, Stored, lines_of, shown_columns

NARROWEST_NAME, LONGEST = 10, 60


def print_results(stored: Stored, headline: str, subtitle: str = "", console: Console | None = None) -> None:
    """Print what the results of a run have for the terminal to stdout, and the headline last.

    Args:
        console: where to print, instead of stdout.
    """
    console = console or Console()
    numbers = Table.grid(padding=(0, 2, 0, 0))
    for name, result in stored.results.items():
        if not stored.shows(name):
            continue
        value = stored.value(name)
        for card in result.cards(value, stored) if result.cards else ():
            numbers.add_row(Text(card.letter, style="bold"), Text(card.shown, style="bold"), _words(card))
        if result.terminal:
            for line in result.items(value, stored) if result.items else ():
                numbers.add_row(Text("!", style="bold"), "", Text(line))
            if result.columns and any(column.short for column in shown_columns(result.columns, [])):
                _print_table(result, value, stored, console)
            elif result.lines:
                _print_plainly(result, value, stored, console)
    console.print(numbers)
    console.print(Panel(Text(headline, style="bold"), subtitle=subtitle or None, subtitle_align="right"))


def _words(card: Card) -> Text:
    details = f"({'; '.join(card.details)})" if card.details else ""
    stop = "" if card.name.endswith("?") else "."
    return Text.assemble(f"{card.name}{stop} {card.meaning} ", (details, "dim"))


def _print_table(result: Result, value: object, stored: Stored, console: Console) -> None:
    """Print the columns that have a short heading, with a line that explains them."""
    lines = lines_of(result, value, stored)
    columns = [column for column in shown_columns(result.columns, lines) if column.short]
    rows = list(each_line(lines))
    cells = [[column.form(row.get(column.name)) for column in columns] for _, row in rows]
    widths = [max(map(len, texts)) for texts in zip([column.short for column in columns], *cells, strict=True)]
    names = told_apart([name for name, _ in rows], max(console.width - sum(widths) - len(widths), NARROWEST_NAME))
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(result.first or result.index, no_wrap=True)
    for column in columns:
        table.add_column(column.short, justify="right", no_wrap=True)
    for name, values, (_, row) in zip(names, cells, rows, strict=True):
        table.add_row(Text(name), *values, style="dim" if result.faint and result.faint(row) else None)
    console.print(table)
    console.print(Text(" · ".join(f"{column.short}: {column.tip}" for column in columns), style="dim"))
    console.print()


def _print_plainly(result: Result, value: object, stored: Stored, console: Console) -> None:
    """Print every column, however wide that is; of long texts the beginning."""
    lines = lines_of(result, value, stored)
    columns = shown_columns(result.columns, lines)
    cells = [[shorten(column.shown(row), LONGEST) for column in columns] for _, row in each_line(lines)]
    names = pd.Index([name for name, _ in each_line(lines)])
    table = pd.DataFrame(cells, names, [column.title for column in columns]).rename_axis(result.first, axis=1)
    console.print(Text(f"{result.title}\n{table.to_string()}\n"), soft_wrap=True)

"""What a person at the terminal sees in the end: a table of the targets, the numbers, and the sentence."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from onedial.report.meaning import findings, judged_targets
from onedial.report.report_tables import TARGETS, target_lines
from onedial.show import headline, interval, number, one_line_labels

SHOWN = [column for column in TARGETS if column.short]
LEGEND = " · ".join(f"{column.short}: {column.tip}" for column in SHOWN)
NARROWEST_NAME = 10


def print_summary(matches: pd.DataFrame, verdict: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the table of targets, the numbers and the sentence to stdout.

    Args:
        matches: table of matches, index target.
        verdict: verdict.json, or `Verdict.to_dict()`.
        console: where to print, instead of stdout.
    """
    console = console or Console()
    matches = target_lines(matches)
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("target", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for column in SHOWN:
        table.add_column(column.short, justify="right", no_wrap=True)
    cells = [[column.form(row[column.name]) for column in SHOWN] for _, row in matches.iterrows()]
    widths = [max(map(len, texts)) for texts in zip([column.short for column in SHOWN], *cells, strict=True)]
    beside = sum(widths) + len(widths) + max(map(len, ["status", *matches["status"]])) + 1
    names = one_line_labels(matches, max(console.width - beside, NARROWEST_NAME))
    for name, status, values in zip(names, matches["status"], cells, strict=True):
        table.add_row(Text(name), status, *values, style=None if status == "ok" else "dim")
    numbers = Table.grid(padding=(0, 2, 0, 0))
    for card in findings(verdict):
        details = [f"95% in this panel {card.interval}"] * bool(card.interval) + list(card.details)
        detail = f"({'; '.join(details)})" if details else ""
        words = Text.assemble(f"{card.name}. {card.meaning} ", (detail, "dim"))
        numbers.add_row(Text(card.letter, style="bold"), Text(card.shown, style="bold"), words)
    share = (verdict.get("bias") or {"own": {"share": {"value": None}}})["own"]["share"]
    if share["value"] is not None:
        said = f"of the push is a bias towards the word yes {interval(share['low'], share['high'], 2)}"
        numbers.add_row(Text("Y", style="bold"), Text(number(share["value"], 2), style="bold"), Text(said))
    for found in verdict["screening"]:
        numbers.add_row(Text("!", style="bold"), "", Text(found["sentence"]))
    console.print(table)
    console.print(Text(LEGEND, style="dim"))
    console.print()
    console.print(numbers)
    sentence = Text(headline(verdict["sentence"]), style="bold")
    console.print(Panel(sentence, subtitle=judged_targets(verdict), subtitle_align="right"))

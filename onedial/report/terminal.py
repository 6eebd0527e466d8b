"""What a person at the terminal sees in the end: a table of the targets, the numbers, and the sentence."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from onedial.report.meaning import findings, judged_targets
from onedial.show import headline, interval, number, one_line_labels

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


def print_summary(matches: pd.DataFrame, verdict: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the table of targets, the numbers and the sentence to stdout.

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

"""The page of a multiverse, from the run's files alone."""

from pathlib import Path

import pandas as pd

from onedial.core import Run
from onedial.show import Section, TableRow, captions_of, interval, number, page

_NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
_AXES = {"layer": "layer", "contrast": "contrast", "wording": "wording", "resample": "questions drawn"}


def write_multiverse_report(run: Run) -> Path:
    """Write report.html of a run of `multiverse.py`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    summary, table = run.read_json("summary.json"), run.read_table("universes.csv").set_index("universe")
    sentence = str(summary["sentence"])
    html = page.page(
        question=f"How much of the verdict on {summary['model']} is owed to how the vector was made?",
        headline=sentence[0].upper() + sentence[1:] + ".",
        lead=str(summary["asked"]),
        sections=[
            Section("Every choice", [page.figures(run.path / "figures", captions_of(run))]),
            Section("Median and worst", [page.table("Numbers", "number", _HEADS, _numbers(summary["numbers"]))]),
            Section(
                "Which choice matters",
                [
                    page.text(
                        "The largest minus the smallest value among universes that differ in this choice alone (the "
                        "median over all such groups)."
                    ),
                    page.table("Spread", "choice", list(_NUMBERS.values()), _spreads(summary["axes"])),
                ],
            ),
            Section("Universes", [page.table("Universes", "universe", _COLUMNS, _universes(table))]),
        ],
        title=f"Multiverse of {summary['model']}",
        foot=run.path.resolve().name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


_HEADS = ["as run", "median", "worst", "in", "best"]
_COLUMNS = ["S", "95% interval", "p", "C_A", "95% interval", "rho_dial", "push", "yes rate", "reproduced?", "dial"]


def _numbers(numbers: dict[str, dict[str, object]]) -> list[TableRow]:
    return [
        TableRow(
            letter,
            [
                number(own["as_run"]),
                number(own["median"]),
                number(own["worst"]),
                str(own["worst_universe"]),
                number(own["best"]),
            ],
        )
        for name, letter in _NUMBERS.items()
        for own in [numbers[name]]
    ]


def _spreads(found: list[dict[str, object]]) -> list[TableRow]:
    table = pd.DataFrame(found, columns=["number", "axis", "n", "spread"]).pivot(
        index="axis", columns="number", values="spread"
    )
    return [
        TableRow(words, [number(table.loc[axis].get(name)) for name in _NUMBERS])
        for axis, words in _AXES.items()
        if axis in table.index
    ]


def _universes(table: pd.DataFrame) -> list[TableRow]:
    return [
        TableRow(
            str(name),
            [
                number(row["signal"]),
                interval(row["signal_low"], row["signal_high"]),
                number(row["signal_p"], 4),
                number(row["order_gain"], signed=True),
                interval(row["order_gain_low"], row["order_gain_high"], signed=True),
                number(row["rho_dial"]),
                number(row["push"]),
                number(row["yes_rate"], 2),
                str(row["reproduced"]),
                str(row["dial"]),
            ],
            faint=not bool(row["judged"]),
        )
        for name, row in table.iterrows()
    ]

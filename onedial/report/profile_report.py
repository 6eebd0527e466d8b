"""The page of a dial's profile, from the run's files alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core import Run
from onedial.show import Section, TableRow, captions_of, page


def write_profile_report(run: Run) -> Path:
    """Write report.html of a run of `dial_profile.py`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    summary = run.read_json("summary.json")
    reports = run.read_table("reports.csv").set_index("report")
    orders, accuracy, written = (run.read_table(f"{name}.csv") for name in ("orders", "accuracy", "written"))
    sentences = [str(line) for line in summary["sentences"]]
    name = run.path.resolve().name
    html = page.page(
        question=f"What does the dial of {summary['model']} move besides the yes?",
        headline=sentences[0],
        lead=str(summary["asked"]),
        sections=[
            Section("In words", [page.items(sentences[1:])]),
            Section("Instruments and settings", [_figure(run)]),
            Section("Table", [page.table("Instruments", "instrument", _COLUMNS, _rows(reports))]),
            Section(
                "The answers themselves",
                [
                    page.table("Accuracy", "setting", _RIGHT, _accuracy(accuracy)),
                    page.table("How sure it writes", "setting", _WRITTEN, _written(written)),
                ],
            ),
            Section("Order and letters", [page.table("Order effects", "instrument", _ORDER, _orders(orders))]),
        ],
        title=f"Profile of {summary['model']}",
        foot=name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


_COLUMNS = ["asked", "unread", "mean", "sd", "moves by", "95% interval", "p (random)", "verdict"]
_RIGHT = ["right", "95% interval", "of", "no answer"]
_WRITTEN = ["mean log-probability", "change", "95% interval", "entropy", "first margin", "same text", "of", "empty"]
_ORDER = ["difference by", "standard deviations", "95% interval"]


def _figure(run: Run) -> Any:
    captions: Mapping[str, Mapping[str, str]] = captions_of(run)
    return page.figures(run.path / "figures", captions)


def _number(value: float, digits: int = 2) -> str:
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def _between(row: "pd.Series[Any]") -> str:
    return "-" if pd.isna(row["low"]) else f"{row['low']:.2f} to {row['high']:.2f}"


def _rows(reports: pd.DataFrame) -> list[TableRow]:
    return [
        TableRow(
            str(name),
            [
                str(int(row["n"])),
                str(int(row["n_unread"])),
                _number(row["mean"]),
                _number(row["sd"]),
                _number(row["together"]),
                _between(row),
                _number(row["p"], 3),
                str(row["verdict"]),
            ],
            faint=bool(pd.isna(row["together"])),
        )
        for name, row in reports.iterrows()
    ]


def _accuracy(table: pd.DataFrame) -> list[TableRow]:
    return [
        TableRow(
            f"{row['magnitude']:+.3g}",
            [_number(row["right"]), _between(row), str(int(row["n"])), str(int(row["n_no_answer"]))],
        )
        for _, row in table.iterrows()
    ]


def _written(table: pd.DataFrame) -> list[TableRow]:
    return [
        TableRow(
            f"{row['magnitude']:+.3g}",
            [
                *(_number(row[name]) for name in ("mean log-probability", "change")),
                _between(row),
                *(_number(row[name]) for name in ("entropy", "first margin", "same_text")),
                str(int(row["n"])),
                str(int(row["n_empty"])),
            ],
        )
        for _, row in table.iterrows()
    ]


def _orders(table: pd.DataFrame) -> list[TableRow]:
    return [
        TableRow(str(row["report"]), [str(row["effect"]), _number(row["difference"]), _between(row)])
        for _, row in table.iterrows()
    ]

"""Scores of every test, from the answers on disk: tables, figures, and what is printed."""

import argparse
from collections.abc import Sequence
from typing import Any

import pandas as pd

from onedial.core import Run
from onedial.selfreport import battery_overview, battery_scores
from onedial.selfreport.show import battery_figures
from onedial.show import save_results
from onedial.studies.battery.asking import answers_to
from onedial.studies.battery.material import Material


def finish(run: Run, tests: Sequence[str], material: Material, options: argparse.Namespace) -> None:
    """Scores of every test, and the figures."""
    tables: dict[str, pd.DataFrame] = {}
    for test in tests:
        tables |= battery_scores(test, answers_to(run, test), material.topics, options.replicates, options.seed)
    tables = {"overview": battery_overview(tables)} | tables
    draw = {"pressure": battery_figures.pressure, "passages": battery_figures.passages}
    save_results(run, tables, {name: figure(tables[name]) for name, figure in draw.items() if name in tables})
    put = f"{len(material.questions)} questions, and {len(material.items)} with options"
    n = len(list((run.path / "answers" / tests[0]).glob("*.parquet")))
    run.record(sentence=f"{put}, put to {n} respondents in {len(tests)} tests")
    print(put)
    for name, table in tables.items():
        print(f"\n{name}\n{table.astype(object).map(shown).to_string()}")
    print(f"\nwritten to {run.path}")


def shown(value: Any) -> Any:
    """Three digits, and a dash for what could not be read."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
    return value

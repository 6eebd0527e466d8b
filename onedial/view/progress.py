"""How far a run has come: its stages, the yes rates of what is swept so far, how fast it goes, and what it costs."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from onedial.asking.store import ANSWERS, Store
from onedial.asking.sweep_tables import SWEEP_COLUMNS, SWEEP_KEY, under_test
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.show.run_tables import Rows, stage_rows
from onedial.verdict.sweep_run import SweepRun

_STAGE = re.compile(r"(\S+) (.+): (started|done after .*|broken off after .*)")
LAST_LINES = 8


def log_lines(run: Run) -> list[str]:
    """log.txt, line by line; empty where it is not there yet."""
    log = run.path / "log.txt"
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []


def present_stage(run: Run) -> tuple[str, str] | None:
    """Name and beginning of the stage that was begun last and has not ended."""
    begun: tuple[str, str] | None = None
    for line in log_lines(run):
        if matched := _STAGE.fullmatch(line):
            moment, name, what = matched.groups()
            begun = (name, moment) if what == "started" else None
    return begun


def rows_of_progress(run: Run, going_on: bool) -> Rows:
    """Stages with their seconds, the one that is going on, the speed of the sweep, and costs."""
    rows = stage_rows(run.manifest.stages)
    if (present := present_stage(run)) is not None:
        name, moment = present
        since = f"going on for {_seconds_since(moment):.0f} s" if going_on else "broken off without an end"
        rows.append((name, since))
    parts = run.parts("sweep", SWEEP_COLUMNS, SWEEP_KEY)
    if files := parts.files():
        n = sum(len(part) for part in (pd.read_parquet(file, columns=["magnitude"]) for file in files))
        spent = files[-1].stat().st_mtime - files[0].stat().st_mtime
        first = len(pd.read_parquet(files[0], columns=["magnitude"]))
        speed = (
            f", {(n - first) / spent:.0f} a second between the first part and the last" if spent > 0 < n - first else ""
        )
        rows.append(("answers swept so far", f"{n} in {len(files)} parts{speed}"))
    return rows + [
        (name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in costs(run).items()
    ]


def costs(run: Run) -> Mapping[str, Any]:
    """Attempts at providers by what came of them, their tokens and the budget; empty where nobody was asked."""
    table = Store(run.path / ANSWERS).attempts()
    if table.empty:
        return {}
    outcomes = table["outcome"].replace("unknown", "under way").value_counts()
    told: dict[str, Any] = {f"requests {outcome}": int(n) for outcome, n in outcomes.items()}
    told |= {name.replace("_", " "): int(table[name].sum()) for name in ("tokens_in", "tokens_out")}
    return told | ({"budget": run.config["budget"]} if run.config.get("budget") is not None else {})


def rates_so_far(run: Run) -> pd.DataFrame | None:
    """Yes rate of each magnitude over the questions swept so far; None before there is one.

    Returns:
        Columns magnitude, yes_rate, n (answers read), n_unread.
    """
    sweep = SweepRun(run)
    if not sweep.has_plan or not sweep.parts["sweep"].files():
        return None
    try:
        tested = under_test(sweep.interventions())
        table = sweep.sweep()
    except InputError:  # a part is being replaced; the next look sees it
        return None
    table = table[table["intervention_id"] == tested]
    table = table.assign(yes=(table["margin"] > 0).where(is_read(table["mass"])).astype(float))
    grouped = table.groupby("magnitude")["yes"]
    rates = pd.DataFrame(
        {"yes_rate": grouped.mean(), "n": grouped.count(), "n_unread": grouped.size() - grouped.count()}
    )
    return rates.reset_index()


def _seconds_since(moment: str) -> float:
    try:  # a clock that was set back since counts as no time
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())
    except ValueError:
        return float("nan")

"""The results of a dial's profile, and their page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.run.run import Run
from onedial.report.profile_figure import dial_profile
from onedial.report.sweep_results import SIDES, at_magnitudes
from onedial.show.columns import like
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, finish, words_in, write_page

WORDS = words_in(__file__, "profile.yaml")


def _at_settings(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    return at_magnitudes(table)


PROFILE_RESULTS: dict[str, Result] = {
    "summary": Result(
        "In words",
        lambda found: found["summary"],
        items=lambda found, _: found["sentences"][1:],
        folded=False,
    ),
    **WARNINGS,
    "reports": Result(
        "Instruments and settings",
        lambda found: found["reports"],
        index="report",
        columns=(
            *(like("n", heading="asked"), "n_unread", "mean", "sd", like("together", ends=SIDES)),
            *(like("p", heading="p (random)", short="p", tip="beside random directions"), "verdict"),
        ),
        faint=lambda row: row["together"] != row["together"],
        first="instrument",
        figures={
            "dial_profile": lambda table, stored: dial_profile(
                stored["cells"], table, {float(at): name for at, name in stored.numbers("summary")["settings"].items()}
            )
        },
        folded=False,
        terminal=True,
    ),
    "accuracy": Result(
        "The answers themselves",
        lambda found: found["accuracy"].reset_index(),
        columns=(like("right", ends=SIDES), like("n", heading="of"), "n_no_answer"),
        lines=_at_settings,
        first="setting",
        folded=False,
    ),
    "written": Result(
        "How sure it writes",
        lambda found: found["written"].reset_index(),
        columns=(
            *("mean log-probability", like("change", ends=SIDES), "entropy", "first margin", "same_text"),
            *(like("n", heading="of"), "n_empty"),
        ),
        lines=_at_settings,
        first="setting",
        folded=False,
    ),
    "orders": Result(
        "Order and letters",
        lambda found: found["orders"],
        columns=("effect", like("difference_sd", name="difference", ends=SIDES)),
        lines=lambda table, _: table.set_index("report"),
        first="instrument",
        folded=False,
    ),
    "cells": Result(compute=lambda found: found["cells"]),
    "truths": Result(compute=lambda found: found["truths"]),
    **SURROUNDINGS,
}


def write_profile(run: Run, found: Mapping[str, Any]) -> tuple[Stored, Path]:
    """Keep the tables, draw the figure, write report.html; what is stored, and the page's path."""
    finish(run, PROFILE_RESULTS, found)
    summary, stored = found["summary"], Stored(run, PROFILE_RESULTS, WORDS)
    run.record(sentence=summary["sentences"][0])
    return stored, write_page(
        stored,
        question=f"What does the dial of {summary['model']} move besides the yes?",
        headline=summary["sentences"][0],
        lead=str(summary["asked"]),
        title=f"Profile of {summary['model']}",
    )

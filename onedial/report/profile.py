"""The results of a dial's profile: of its tables, its accuracy and its summary by name."""

from collections.abc import Mapping

import pandas as pd

from onedial.asking.sweep_tables import VECTOR
from onedial.report.sections.written_texts import at_magnitudes
from onedial.show.columns import SIDES, like
from onedial.show.figure_style import FAINT, Drawing
from onedial.show.plots import Mark, Points, forest
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, words_in
from onedial.stats.level import MOST_UNREAD
from onedial.verdict.comparing.dial_profile import (
    AGAINST,
    FEWEST_CONTROLS,
    MOVES,
    REFERENCE,
    SMALL,
    DialProfile,
)

WORDS = words_in(__file__, "profile.yaml")


def sentences_of(profile: DialProfile, accuracy: pd.DataFrame) -> list[str]:
    """Say what moves, what does not, what cannot be said, and whether the answers themselves are right."""
    verdict, words = profile.reports["verdict"], WORDS["meaning"]
    lines = []
    if REFERENCE in verdict.index:
        lines.append(words["reference"].format(name=REFERENCE, **profile.reports.loc[REFERENCE]))
    others = verdict.drop(REFERENCE, errors="ignore")
    for which, sentence in WORDS["moved"].items():
        if len(names := others.index[others == which]):
            lines.append(sentence.format(names=", ".join(names), small=SMALL, most=MOST_UNREAD))
    if (n := int(profile.reports["n_controls"].max())) < FEWEST_CONTROLS:
        lines.append(words["controls"].format(n=n, fewest=FEWEST_CONTROLS))
    rows = accuracy.iterrows()
    cells = [f"{row['right']:.2f} of {int(row['n'])} at {magnitude:+.3g}" for magnitude, row in rows]
    return [*lines, words["accuracy"].format(cells=", ".join(cells))]


def dial_profile(cells: pd.DataFrame, reports: pd.DataFrame, names: Mapping[float, str] | None = None) -> Drawing:
    """Shift of every instrument at every setting, in its own standard deviations, the farthest on top, and how far
    random directions go to either side.

    Args:
        cells, reports: of `onedial.verdict.comparing.dial_profile.DialProfile`.
        names: of settings, such as their yes rates; by default the magnitudes.
    """
    farthest = reports["together"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    steered = cells[cells["role"] == VECTOR].sort_values("magnitude").set_index("report")
    random = cells[cells["role"] != VECTOR].groupby("report")["shift"].agg(["min", "max"])
    rows = steered.assign(setting=[(names or {}).get(at, f"{at:+.3g}") for at in steered["magnitude"]])
    rows = rows.join(random).loc[[name for name in farthest if name in rows.index]]
    moved = reports["verdict"].isin([MOVES, AGAINST])
    return forest(
        rows,
        "shift",
        "shift, in standard deviations of the unsteered answers",
        Points(by="setting", hollow=~moved.reindex(rows.index), bold=[str(name) for name in reports.index[moved]]),
        marks=[Mark("min", "random directions, at most", FAINT), Mark("max", "", FAINT)],
    )


PROFILE_RESULTS: dict[str, Result] = {
    "summary": Result(
        "In words",
        lambda tables: tables["summary"],
        items=lambda summary, _: summary["sentences"][1:],
        folded=False,
    ),
    **WARNINGS,
    "reports": Result(
        "Instruments and settings",
        lambda tables: tables["reports"],
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
        lambda tables: tables["accuracy"].reset_index(),
        columns=(like("right", ends=SIDES), like("n", heading="of"), "n_no_answer"),
        lines=lambda table, _: at_magnitudes(table),
        first="setting",
        folded=False,
    ),
    "cells": Result(compute=lambda tables: tables["cells"]),
    "truths": Result(compute=lambda tables: tables["truths"]),
    **SURROUNDINGS,
}

"""The results of a multiverse, from the table of its universes, and their page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.core.run.run import Run
from onedial.show.columns import Column, digits, headline, like
from onedial.show.figure_style import Drawing
from onedial.show.plots import forest
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, finish, words_in, write_page

WORDS = words_in(__file__, "multiverse.yaml")
NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
AXES = {"layer": "layer", "contrast": "contrast", "wording": "wording", "resample": "questions drawn"}


def _figure(table: pd.DataFrame, _: Stored) -> Drawing:
    """Each number of every universe, by the choice that sets it apart."""
    return forest(
        table.assign(choice=table["varied"].map(AXES).fillna("as run")),
        NUMBERS,
        by="choice",
        hollow=~table["judged"].astype(bool),
        rules={},
        legend={"hollow: cannot be judged": {"marker": "o", "color": "black", "markerfacecolor": "white"}},
        longest=26,
    )


def _spreads(_: Any, stored: Stored) -> pd.DataFrame:
    """Choice by number; choices that were not varied are left out."""
    table = pd.DataFrame(stored.numbers("summary")["axes"], columns=["number", "axis", "n", "spread"])
    table = table.pivot(index="axis", columns="number", values="spread").rename_axis(columns=None)
    return table.reindex([axis for axis in AXES if axis in table.index]).rename(index=AXES)


MULTIVERSE_RESULTS: dict[str, Result] = {
    "summary": Result(
        "Median and worst",
        lambda found: found["summary"],
        columns=("as_run", "median", "worst", "worst_universe", "best"),
        lines=lambda found, _: [(letter, found["numbers"][name]) for name, letter in NUMBERS.items()],
        first="number",
        folded=False,
    ),
    **WARNINGS,
    "spreads": Result(
        "Which choice matters",
        columns=[Column(name, letter, digits(3)) for name, letter in NUMBERS.items()],
        lines=_spreads,
        first="choice",
        folded=False,
    ),
    "universes": Result(
        "Every choice",
        lambda found: found["universes"],
        index="universe",
        columns=(
            *("signal", "signal_p", like("order_gain", heading="C_A"), "rho_dial", like("push", form=digits(3))),
            *("yes_rate", "reproduced", "dial"),
        ),
        faint=lambda row: not row["judged"],
        figures={"multiverse": _figure},
        folded=False,
        terminal=True,
    ),
    **SURROUNDINGS,
}


def write_multiverse(run: Run, table: pd.DataFrame, summary: Mapping[str, Any]) -> tuple[Stored, Path]:
    """Keep the tables, draw the figure, write report.html; what is stored, and the page's path."""
    finish(run, MULTIVERSE_RESULTS, {"universes": table, "summary": summary})
    stored = Stored(run, MULTIVERSE_RESULTS, WORDS)
    return stored, write_page(
        stored,
        question=f"How much of the verdict on {summary['model']} is owed to how the vector was made?",
        headline=headline(str(summary["sentence"])),
        lead=str(summary["asked"]),
        title=f"Multiverse of {summary['model']}",
    )

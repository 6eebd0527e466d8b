"""The results of a multiverse: of a `onedial.studies.multiverse.study.MultiverseStudy`."""

from typing import Any

import pandas as pd

from onedial.show.columns import Column, digits, like
from onedial.show.figure_style import Drawing
from onedial.show.plots import forest
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, words_in
from onedial.verdict.comparing.multiverse import AXES, NUMBERS

WORDS = words_in(__file__, "multiverse.yaml")


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
        lambda study: study.summary,
        columns=("as_run", "median", "worst", "worst_universe", "best"),
        lines=lambda summary, _: [(letter, summary["numbers"][name]) for name, letter in NUMBERS.items()],
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
        lambda study: study.table,
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

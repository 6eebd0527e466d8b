"""The results of several runs side by side: of a `onedial.verdict.comparing.comparison.Comparison`."""

import json
from typing import Any

import pandas as pd

from onedial.show.columns import NOTHING, digits, headline, like
from onedial.show.figure_style import Drawing
from onedial.show.plots import Axis, Points, forest
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, words_in
from onedial.verdict.comparing.comparison import NUMBERS

WORDS = words_in(__file__, "comparison.yaml")
SENTENCES = 4
"""So many runs or fewer have their sentences on the page."""


def _numbers(table: pd.DataFrame, _: Stored) -> Drawing:
    judged = table["is_judged"].astype(bool)
    legend = {"hollow: cannot be judged": {"marker": "o", "color": "black", "markerfacecolor": "white"}}
    ends = [f"{name}{end}" for name in NUMBERS for end in ("", "_low", "_high")]
    return forest(
        table.astype(dict.fromkeys(ends, float)),
        NUMBERS,
        Axis(),
        Points(hollow=~judged, legend={} if judged.all() else legend),
        longest=26,
    )


def _differences(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    def shown(value: Any) -> str:
        if value is None or value != value:
            return NOTHING
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    return table.map(shown)


COMPARISON_RESULTS: dict[str, Result] = {
    "summary": Result(compute=lambda comparison: comparison.summary),
    **WARNINGS,
    "answers": Result(
        "The verdicts",
        lambda comparison: comparison.answers,
        index="run",
        rows=lambda table, _: [(str(name), headline(row["sentence"])) for name, row in table.iterrows()][:SENTENCES],
        columns=("reproduced", "judged", "signal", "signal_p", like("order_gain", heading="C_A"), "rho_dial", "gain"),
        faint=lambda row: not row["is_judged"],
        figures={"comparison_numbers": _numbers},
        folded=False,
        terminal=True,
    ),
    "beside_first": Result(
        "Beside the first run",
        lambda comparison: comparison.beside_first,
        index="run",
        columns=(
            *("agreement_difference", "p", "n_targets", like("n_test", heading="on questions")),
            like("order", heading="correlation of the orders", form=digits(2), n="order_n"),
            "n_shared",
        ),
        folded=False,
    ),
    "differences": Result(
        "What was done differently",
        lambda comparison: comparison.differences,
        index="option",
        lines=_differences,
        folded=False,
    ),
    "alike": Result(
        "What was done differently",
        items=lambda *_: [WORDS["alike"]["text_of_none"]],
        when=lambda _, stored: stored["differences"].empty,
        folded=False,
    ),
    "limits": Result("What this does not say", items=lambda *_: list(WORDS["open"].values()), folded=False),
    **SURROUNDINGS,
}

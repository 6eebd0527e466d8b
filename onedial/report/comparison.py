"""The results of several runs side by side: of a `onedial.verdict.comparing.comparison.Comparison`."""

import json
from typing import Any

import numpy as np
import pandas as pd

from onedial.show.columns import NOTHING, Column, count, digits, headline, like
from onedial.show.figure_style import Drawing, family_styles
from onedial.show.labels import shortened_apart
from onedial.show.plots import SHARES, Curve, Panel, bands_of, curves, forest
from onedial.show.results import SURROUNDINGS, Result, Stored, words_in
from onedial.verdict.comparing.comparison import Comparison

WORDS = words_in(__file__, "comparison.yaml")
NUMBERS = {
    "signal": "S: signal (kappa)",
    "gain": "G: over the majority answer",
    "order": "C: over the unsteered margin's order",
    "rho": "rank correlation with the unsteered margin",
}


def comparison_sentence(comparison: Comparison) -> str:
    """Whether the runs answer alike, and whether one does better."""
    answers = comparison.answers["reproduced"]
    alike = "all runs answer alike" if answers.nunique() == 1 else "the runs answer differently"
    better = [
        "{} agrees more than {}".format(*(row[name] for name in ("first", "second")[:: 1 if row["low"] > 0 else -1]))
        for _, row in comparison.pairs.iterrows()
        if row["low"] > 0 or row["high"] < 0
    ]
    told = "; ".join(better) if better else "no run agrees with the targets clearly more than another"
    return f"{alike} ({', '.join(dict.fromkeys(map(str, answers)))}); {told}"


def _numbers(table: pd.DataFrame, _: Stored) -> Drawing:
    return forest(table.astype(dict.fromkeys(NUMBERS, float)), NUMBERS, stacked=True, rules={0.0: "-"}, longest=22)


def _dose(table: pd.DataFrame, _: Stored) -> Drawing:
    names = list(dict.fromkeys(table["run"].astype(str)))
    lines = []
    for (name, (colour, marker)), label in zip(family_styles(names).items(), shortened_apart(names, 34), strict=True):
        rows = table[table["run"].astype(str) == name].sort_values("norms")
        look = {"marker": marker, "markersize": 3}
        rate, error = rows["yes_rate"], rows["yes_rate_se"]
        low, high = bands_of(rate, error)
        lines.append(Curve(rows["norms"], rate, label, colour, low, high, look, name))
    panel = Panel(lines, "share of yes", SHARES, "test questions of each run, 95% bands", height=1.4)
    return curves([panel], "push (median residual norms)", below=True)


def _agreement(table: pd.DataFrame, _: Stored) -> Drawing:
    order = table.groupby("target")["yes_rate"].mean().sort_values(kind="stable").index
    rows = table.set_index("target").loc[order]
    low = rows["agreement_low"].min()
    least = max(0.0, np.floor((0.0 if np.isnan(low) else low) * 10) / 10)
    return forest(rows, "agreement", by="run", rules={}, limits=(least, 1.01), xlabel="agreement on the test questions")


def _by_pair(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    lines = table.set_axis([f"{row['first']} and {row['second']}" for _, row in table.iterrows()])
    if "turn_in_both" not in lines:
        return lines.rename_axis("pair").reset_index().set_index("target")
    turned = [f"turn_in_{which}" for which in ("both", "first", "second", "neither")]
    return lines.assign(turning=[" / ".join(count(row[name]) for name in turned) for _, row in lines.iterrows()])


def _differences(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    def shown(value: Any) -> str:
        if value is None or value != value:
            return NOTHING
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    return table.map(shown)


COMPARISON_RESULTS: dict[str, Result] = {
    "summary": Result(compute=lambda comparison: {"sentence": comparison_sentence(comparison)}),
    "answers": Result(
        "The verdicts",
        lambda comparison: comparison.answers,
        index="run",
        rows=lambda table, _: [(str(name), headline(row["sentence"])) for name, row in table.iterrows()],
        columns=("reproduced", "judged", "signal", "p", "gain", "order", "rho"),
        lines=lambda table, _: table.assign(
            judged=[f"{row['n_eligible']} of {row['n_targets']}" for _, row in table.iterrows()]
        ),
        figures={"comparison_numbers": _numbers},
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
    "pairs": Result(
        "Pair by pair",
        lambda comparison: comparison.pairs,
        columns=(
            *("n_shared", Column("turning", "turn: both / first / second / neither"), "turn_p"),
            Column("order", form=digits(2), n="order_n"),
            *("agreement_difference", "p", "n_targets", like("n_test", heading="on questions")),
        ),
        lines=_by_pair,
        first="pair",
        folded=False,
    ),
    "dose": Result("Dose-response", lambda comparison: comparison.dose, figure=_dose, folded=False),
    "agreement": Result(
        "Agreement per target", lambda comparison: comparison.agreement, figure=_agreement, folded=False
    ),
    "targets": Result(
        "Target by target",
        lambda comparison: comparison.targets,
        columns=(
            *("pair", like("n", heading="questions"), "first_agrees", "second_agrees", "only_first", "only_second"),
            "p",
        ),
        lines=_by_pair,
        first="target",
        folded=False,
    ),
    "limits": Result("What this does not say", items=lambda *_: list(WORDS["open"].values()), folded=False),
    **SURROUNDINGS,
}

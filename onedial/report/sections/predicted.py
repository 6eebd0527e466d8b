"""What a verdict says, and what is predicted with and without steering: the first results of a sweep's page."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.explorer import explorer_of
from onedial.report.meaning import WORDS, findings
from onedial.report.remedies import what_to_try
from onedial.show import page
from onedial.show.columns import SIDES, Column, like, number
from onedial.show.results import WARNINGS, Result
from onedial.stats.answers import names
from onedial.verdict.prediction.prediction import OPEN_FLOOR, share_is_told, words_of_mark
from onedial.verdict.verdict import ASKED_OTHERWISE, FLAGS, SURFACE_AS_GOOD, UNREAD_DECIDE, YES_BIAS

ABOUT = {YES_BIAS: "bias", UNREAD_DECIDE: "missing", SURFACE_AS_GOOD: "prediction", ASKED_OTHERWISE: "asked"}
"""Which result says more of a flag."""
OVERVIEW = "bits_of_models"
"""The figure that is seen first."""
NAMED = 2
"""Of many, so many are named."""


def _flags(_: Any, stored: Contents) -> list[Any]:
    """List what changes how the verdict is read, most weighty first."""
    words, verdict = WORDS["verdict"], stored.verdict
    doubts: list[Any] = [] if verdict.is_judged else [(words["unjudged"], "remedies")]
    return doubts + flags_of(stored) + [words["no_gain"]] * (verdict.gain.low <= 0)


def flags_of(stored: Contents) -> list[Any]:
    """Say whether the yes rate falls, and which flags the verdict has that no screening says."""
    screened = {finding.check for finding in stored.verdict.screening}
    flags = [flag for flag in FLAGS if flag in stored.verdict.flags and flag not in screened]
    doubts: list[Any] = [WORDS["verdict"]["falls"]] * stored.grid.dial.falls
    return doubts + [(flag.capitalize(), ABOUT.get(flag, "verdict")) for flag in flags]


def _screened(_: Any, stored: Contents) -> list[str]:
    return [
        f"{finding.check.capitalize()}{': ' * bool(finding.about)}{names(finding.about, NAMED)}"
        for finding in stored.verdict.screening
    ]


def _sources(table: pd.DataFrame, stored: Contents) -> pd.DataFrame:
    """Sort sources of prediction, the best first, with the interval that decides."""
    prediction = stored.verdict.prediction
    if prediction.by == "topics" and "low_topics" in table:
        table = table.assign(low=table["low_topics"], high=table["high_topics"])
    if not share_is_told(prediction.possible.value, prediction.yes_rate):
        table = table.assign(share=np.nan, share_low=np.nan, share_high=np.nan)
    return table.sort_values("bits", ascending=False, kind="stable").set_index("source")


def fill_of_mark(_: Any, stored: Contents) -> dict[str, Any]:
    """Fill texts with the ends of the scale: what the yes rate leaves open, and the best that can be predicted."""
    prediction = stored.verdict.prediction
    values = {"yes_rate": number(prediction.yes_rate), "mark": prediction.mark, "floor": OPEN_FLOOR}
    return values | {"who": words_of_mark(prediction.mark), "by": prediction.by}


def lead_of_overview(stored: Contents) -> str:
    """Explain a row and a mark of the first figure."""
    words, prediction = WORDS[OVERVIEW], stored.verdict.prediction
    marks = words["marks"].format(who=words_of_mark(prediction.mark))
    surface = f", the {prediction.surface} of the question" if prediction.surface else ""
    return words["lead"].format(marks=marks + surface)


def _ceiling(_: Any, stored: Contents) -> list[str]:
    if (ceiling := stored.verdict.ceiling) is None:
        return []
    shown = {"signal": number(ceiling.signal), "share": number(ceiling.share, 2)}
    return [WORDS["baselines"]["ceiling"].format(account=ceiling.account, **shown)]


def _better(table: pd.DataFrame | None, _: Contents) -> list[str]:
    if table is None:
        return []
    better = table.index[table["difference_high"] < 0][:NAMED]
    return [WORDS["baselines"]["better"].format(name=name) for name in better]


def _orders(table: pd.DataFrame, _: Contents) -> pd.DataFrame:
    """Sort accounts without steering, the best first, and say whether each has one order for all targets."""
    order = table["one_order"].map({True: "one for all", False: "of each target"})
    return table.assign(order=order).sort_values("signal", ascending=False, kind="stable")


PREDICTED: dict[str, Result] = {
    "verdict": Result(
        "The verdict's numbers",
        lambda judged: judged.verdict.to_dict(),
        cards=lambda _, stored: findings(stored.verdict),
        doubts=_flags,
        folded=False,
    ),
    OVERVIEW: Result(
        compute=lambda judged: pd.DataFrame(judged.verdict.prediction.sources),
        index="model",
        figure=draw.bits_of_models,
        fill=fill_of_mark,
    ),
    "screening": Result(
        "Before judging",
        items=lambda _, stored: [finding.sentence for finding in stored.verdict.screening],
        doubts=_screened,
        folded=False,
        terminal=True,
    ),
    "remedies": Result(
        "What keeps it from being judged, and what to try",
        items=lambda _, stored: what_to_try(stored.verdict, stored.grid, stored["matches"]),
        when=lambda _, stored: not stored.verdict.is_judged,
        folded=False,
    ),
    **WARNINGS,
    "dial": Result(
        "Turn the dial, browse the questions",
        blocks=lambda _, stored: [page.explorer(explorer_of(stored))],
        folded=False,
    ),
    "prediction": Result(
        "How much is predicted?",
        lambda judged: judged.predictions,
        columns=(
            like("bits", ends=SIDES),
            Column("", "95%, models like these", like("bits").form, ("low_models", "high_models")),
            "share",
            "n_unscored",
        ),
        lines=_sources,
        first="source",
        faint=lambda row: bool(row["low"] <= 0),
        hidden=True,
        figure=draw.sources,
        fill=fill_of_mark,
        folded=False,
    ),
    "baselines": Result(
        "What does as well without steering?",
        lambda judged: judged.baselines,
        index="baseline",
        columns=(Column("order"), like("signal", ends=SIDES), "difference", "n_targets"),
        lines=_orders,
        first="without steering",
        faint=lambda row: not row["n_targets"] > 0,
        hidden=True,
        figure=draw.baselines,
        items=_ceiling,
        doubts=_better,
        when=lambda baselines, _: baselines is not None and (baselines["n_targets"] > 0).any(),
        folded=False,
    ),
}

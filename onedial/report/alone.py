"""A sweep without a panel: which results it has, and what stands first on its page. The words are alone.yaml's.

What needs targets is left out here and nowhere else (`results_for`); all other results are those of any sweep.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from onedial.report.contents import Contents
from onedial.report.meaning import WORDS, findings
from onedial.report.results import SWEEP_RESULTS
from onedial.report.sections.asked_and_read import missing_rows
from onedial.report.sections.predicted import flags_of
from onedial.report.sections.pushed import pushed
from onedial.show.columns import number, percent
from onedial.show.page import Card
from onedial.show.results import Result, words_in
from onedial.show.run_tables import Rows
from onedial.stats.estimate import Estimate
from onedial.stats.shares import wilson_interval
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import SAME_RHO

ALONE = words_in(__file__, "alone.yaml")
OF_TARGETS = {
    *("screening", "remedies", "bits_of_models", "prediction", "baselines", "matches", "models", "line", "factor"),
    *("reasoned_dials", "knowing", "asked"),
}
"""Results that are about targets."""


def results_for(run: SweepRun) -> dict[str, Result]:
    """List the results that a run can have: without a panel none of `OF_TARGETS`, and some shown otherwise."""
    if run.has_panel:
        return SWEEP_RESULTS
    return {name: SHOWN.get(name, result) for name, result in SWEEP_RESULTS.items() if name not in OF_TARGETS}


def words_for(run: SweepRun) -> Mapping[str, Mapping[str, str]]:
    """Collect the words of these results."""
    return WORDS if run.has_panel else WORDS | ALONE


def _readable_ends(stored: Contents) -> list[float]:
    """Find the magnitudes between which the dial can be read."""
    return [float(magnitude) for magnitude in stored.grid.magnitudes[stored.grid.readable[[0, -1]]]]


def rates_of(stored: Contents) -> list[Estimate]:
    """Estimate the test questions' yes rate where the dial begins to be readable, unsteered, and at its other end."""
    table = stored.dose_response
    test = table[table["split"] == "test"].set_index("magnitude")
    low, high = wilson_interval(test["yes_rate"] * test["n_read"], test["n_read"])
    first, last = _readable_ends(stored)
    return [Estimate(float(test["yes_rate"][at]), float(low[at]), float(high[at])) for at in (first, 0.0, last)]


def headline(stored: Contents) -> str:
    """Say what push the dial takes, and what push directions drawn by chance take."""
    words, push, (low, _, high) = ALONE["headline"], stored.verdict.direction.vector["push"], rates_of(stored)
    turns = words["turns" if np.isfinite(push) else "never"]
    sentence = turns.format(push=number(push, 2), low=low.value, high=high.value)
    if "controls" not in stored:
        return f"{sentence}; {words['untried']}"
    pushes = stored["controls"].query("drawn")["push"].to_numpy(float)
    turned = np.isfinite(pushes)
    best = number(np.min(pushes, where=turned, initial=np.inf), 2)
    key = "drawn" if turned.any() else "none"
    return f"{sentence}; {words[key].format(n=len(turned), n_turned=turned.sum(), best=best)}"


def lead(stored: Contents) -> Markup:
    """Say that there is no verdict, and what makes one."""
    words = ALONE["lead"]
    n = stored.questions["split"].value_counts()
    return Markup("{} {} <code>{}</code> {}").format(
        pushed(stored),
        words["no_panel"].format(n=len(stored.questions), n_test=n.get("test", 0)),
        words["judge"].format(run=stored.run.path),
        words["judge_meaning"],
    )


def _cards(_: Any, stored: Contents) -> list[Card]:
    """Make the cards of yes rates, order, and push."""
    words, (low, unsteered, high) = ALONE["rates"], rates_of(stored)
    shown = f"{percent(low.value)} → {percent(unsteered.value)} → {percent(high.value)}"
    ends = [number(magnitude, 3, signed=True) for magnitude in _readable_ends(stored)]
    values = {"low": low, "unsteered": unsteered, "high": high, "low_at": ends[0], "high_at": ends[1]}
    order, words_of_order = stored.verdict.order, ALONE["order"]
    key = "shift" if order.rho.value >= SAME_RHO else "other"
    n = f"over {order.rho.n} fitting and test questions"
    return [
        Card("Y", words["name"], shown, words["meaning"].format(**values)),
        Card("O", words_of_order["name"], f"{order.rho:.3f}", words_of_order[key], [n]),
        findings(stored.verdict)[-1],
    ]


def _missing(_: Any, stored: Contents) -> Rows:
    return [(name, value) for name, value in missing_rows(stored) if not name.startswith("panel")]


def _limits(_: Any, stored: Contents) -> list[str]:
    n = int((stored.questions["split"] == "test").sum())
    return [words.format(n=n) for words in ALONE["limits"].values()]


SHOWN: dict[str, Result] = {
    "verdict": replace(
        SWEEP_RESULTS["verdict"],
        title="What the dial does",
        cards=_cards,
        items=None,
        doubts=lambda _, stored: flags_of(stored),
    ),
    "controls": replace(
        SWEEP_RESULTS["controls"], columns=("push", "kl", "turning", "cosine"), figure=None, folded=False
    ),
    "written": replace(SWEEP_RESULTS["written"], folded=False),
    "missing": replace(SWEEP_RESULTS["missing"], rows=_missing),
    "reasoned": replace(SWEEP_RESULTS["reasoned"], rows=None),
    "limits": Result("What this does not say", items=_limits),
}
"""Of a run without a panel, what is shown otherwise than beside one."""

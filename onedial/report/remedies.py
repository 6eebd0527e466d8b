"""What to try where a run cannot be judged: an unusable dial refutes nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from onedial.panels import FITTING
from onedial.show import number
from onedial.stats import rates
from onedial.verdict import MIN_TARGETS, ONE_MODEL, REACH, Case

_STANDS = 0.02
"""A yes rate that moves by less over the last quarter of a side has come to rest, unless its margins still move."""
_STILL = 0.1
"""Margins that make less than this share of their whole way in the last quarter of a side have come to rest, too."""
_CURES = {
    "few": "ask more questions",
    "constant": "give a panel whose respondents say both yes and no",
    "flat": "make the dial turn the subject's answers (below)",
}


def what_to_try(verdict: Mapping[str, Any], grid: Case, matches: pd.DataFrame) -> list[str]:
    """A sentence for each thing that keeps the run from being judged, and what may fix it.

    Args:
        verdict: verdict.json. grid: the sweep under test. matches: index target.
    """
    told = []
    if verdict["n_eligible"] < MIN_TARGETS:
        counts = matches["status"].value_counts()
        statuses = ", ".join(f"{n} {name}" for name, n in counts.items())
        cures = [cure for status, cure in _CURES.items() if status in counts] or ["give a panel with more respondents"]
        told.append(
            f"{verdict['n_eligible']} targets can be judged ({statuses}), and it takes {MIN_TARGETS}: "
            f"{', or '.join(cures)}."
        )
    if ONE_MODEL in verdict.get("because", ""):
        told.append(
            "What holds for framings of one base model may hold for no other: give a panel of two base models or more, "
            "or a table of respondents whose column model says which they are (--respondents)."
        )
    if verdict["reach"] < REACH:
        told += [_reach(grid, matches), *(_end(grid, side) for side in (-1, 1))]
    return told


def _reach(grid: Case, matches: pd.DataFrame) -> str:
    yes_rates, _ = rates(grid.answers[grid.fitting][:, grid.readable])
    wanted = matches["yes_rate"].dropna()
    reached = f"{number(yes_rates.min(), 2)} to {number(yes_rates.max(), 2)}"
    return (
        f"Where its answers can be read, the subject says yes to {reached} of the fitting questions; the targets' yes "
        f"rates run from {number(wanted.min(), 2)} to {number(wanted.max(), 2)}."
    )


def _end(grid: Case, side: int) -> str:
    """Why the dial ends where it does, on one side of 0."""
    used = grid.readable
    last = used[0] if side < 0 else used[-1]
    where, magnitude = "Downwards" if side < 0 else "Upwards", number(grid.magnitudes[last], signed=True)
    if last not in (0, len(grid.magnitudes) - 1):
        unread = float(np.isnan(grid.answers[grid.rows(FITTING)][:, last + side]).mean())
        return (
            f"{where} it ends at {magnitude}, since at the next magnitude {unread:.0%} of the answers are neither yes "
            "nor no: try another layer (--layer auto), or a prompt under which yes and no get more of the probability "
            "(--prompt; --show-prompt)."
        )
    own = used[used <= grid.unsteered] if side < 0 else used[used >= grid.unsteered]
    rates = np.nanmean(grid.answers[grid.rows(FITTING)][:, own], axis=0)
    quarter = max(2, -(-len(own) // 4))
    outer = rates[:quarter] if side < 0 else rates[-quarter:]
    if np.ptp(outer) < _STANDS:
        if _moves_on(np.nanmedian(grid.margins[grid.rows(FITTING)][:, own], axis=0)[:: 1 if side > 0 else -1], quarter):
            return (
                f"{where} the yes rate stands at {number(outer[-1 if side > 0 else 0], 2)} up to the last magnitude, "
                f"{magnitude}, but the margins behind it still move: give larger ones (--magnitudes)."
            )
        return f"{where} the yes rate has come to rest before the last magnitude, {magnitude}: try another layer."
    return f"{where} the last magnitude is {magnitude} and the yes rate still moves: give larger ones (--magnitudes)."


def _moves_on(margins: np.ndarray, quarter: int) -> bool:
    """Whether median margins, from 0 outwards, still move over the last quarter as they did before."""
    way, last = abs(margins[-1] - margins[0]), abs(margins[-1] - margins[-quarter])
    return bool(way > 0 and last >= _STILL * way)

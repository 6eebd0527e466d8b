"""What to try where a run cannot be judged: an unusable dial refutes nothing. The words are words.yaml's."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from onedial.panels.splits import FITTING
from onedial.report.meaning import WORDS
from onedial.show.columns import number
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.verdict import MIN_TARGETS, ONE_MODEL, REACH

_STANDS = 0.02
"""A yes rate that moves by less over the last quarter of a side has come to rest, unless its margins still move."""
_STILL = 0.1
"""Margins that make less than this share of their whole way in the last quarter of a side have come to rest, too."""


def what_to_try(verdict: Mapping[str, Any], grid: Case, matches: pd.DataFrame) -> list[str]:
    """A sentence for each thing that keeps the run from being judged, and what may fix it.

    Args:
        verdict: verdict.json. grid: the sweep under test. matches: index target.
    """
    said, told = WORDS["remedies"], []
    if verdict["n_eligible"] < MIN_TARGETS:
        counts = matches["status"].value_counts()
        cures = [said[f"cure_{status}"] for status in ("few", "constant", "flat") if status in counts]
        statuses = ", ".join(f"{n} {name}" for name, n in counts.items())
        numbers = {"n": verdict["n_eligible"], "statuses": statuses, "least": MIN_TARGETS}
        told.append(said["targets"].format(**numbers, cures=", or ".join(cures or [said["cure"]])))
    if ONE_MODEL in verdict.get("because", ""):
        told.append(said["one_model"])
    if verdict["reach"] < REACH:
        reached, wanted = rates(grid.answers[grid.fitting][:, grid.readable])[0], matches["yes_rate"].dropna()
        ends = [number(end, 2) for end in (reached.min(), reached.max(), wanted.min(), wanted.max())]
        told += [said["reach"].format(*ends), *(_end(grid, side) for side in (-1, 1))]
    return told


def _end(grid: Case, side: int) -> str:
    """Why the dial ends where it does, on one side of 0."""
    used, said = grid.readable, WORDS["remedies"]
    last = used[0] if side < 0 else used[-1]
    known = {"where": "Downwards" if side < 0 else "Upwards", "at": number(grid.magnitudes[last], signed=True)}
    answers, margins = grid.answers[grid.rows(FITTING)], grid.margins[grid.rows(FITTING)]
    if last not in (0, len(grid.magnitudes) - 1):
        return said["unread"].format(**known, unread=float(np.isnan(answers[:, last + side]).mean()))
    outwards = used[used <= grid.unsteered][::-1] if side < 0 else used[used >= grid.unsteered]
    yes, quarter = np.nanmean(answers[:, outwards], axis=0), max(2, -(-len(outwards) // 4))
    if np.ptp(yes[-quarter:]) >= _STANDS:
        return said["moves"].format(**known)
    moving = _moves_on(np.nanmedian(margins[:, outwards], axis=0), quarter)
    return said["margins_move" if moving else "rests"].format(**known, rate=number(yes[-1], 2))


def _moves_on(margins: np.ndarray, quarter: int) -> bool:
    """Whether median margins, from 0 outwards, still move over the last quarter as they did before."""
    way, last = abs(margins[-1] - margins[0]), abs(margins[-1] - margins[-quarter])
    return bool(way > 0 and last >= _STILL * way)

"""What to try where a run cannot be judged: an unusable dial refutes nothing. The words are words.yaml's."""

import numpy as np
import pandas as pd

from onedial.report.meaning import WORDS
from onedial.show.columns import number
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.verdict import MIN_TARGETS, ONE_MODEL, REACH, Verdict


def what_to_try(verdict: Verdict, grid: Case, matches: pd.DataFrame) -> list[str]:
    """Name each thing that keeps the run from being judged, and what may fix it.

    Args:
        grid: the sweep under test. matches: index target.
    """
    words, remedies = WORDS["remedies"], []
    if verdict.n_eligible < MIN_TARGETS:
        counts = matches["status"].value_counts()
        cures = [words[f"cure_{status}"] for status in ("few", "constant", "flat") if status in counts]
        statuses = ", ".join(f"{n} {name}" for name, n in counts.items())
        numbers = {"n": verdict.n_eligible, "statuses": statuses, "least": MIN_TARGETS}
        remedies.append(words["targets"].format(**numbers, cures=", or ".join(cures or [words["cure"]])))
    if ONE_MODEL in verdict.because:
        remedies.append(words["one_model"])
    if verdict.reach < REACH:
        reached, wanted = rates(grid.answers[grid.fitting][:, grid.readable])[0], matches["yes_rate"].dropna()
        ends = [number(end, 2) for end in (reached.min(), reached.max(), wanted.min(), wanted.max())]
        remedies += [words["reach"].format(*ends), *(_end(grid, side) for side in (-1, 1))]
    return remedies


def _end(grid: Case, side: int) -> str:
    """Say where the dial ends on one side of 0, and why."""
    words, last = WORDS["remedies"], int(grid.readable[0 if side < 0 else -1])
    known = {"where": "Downwards" if side < 0 else "Upwards", "at": number(grid.magnitudes[last], signed=True)}
    answers = grid.answers[grid.fitting]
    if last not in (0, len(grid.magnitudes) - 1):
        return words["unread"].format(**known, unread=float(np.isnan(answers[:, last + side]).mean()))
    return words["ends"].format(**known, rate=number(float(rates(answers[:, last])[0]), 2))

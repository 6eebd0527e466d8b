"""What matching finds where nothing is shared, a dial wanders, its answers break, or two runs are compared.

Told in docs/method_evidence.md and docs/report.md.

    python scripts/simulate_matching.py                      # the figures of the page; six minutes on a core
    python scripts/simulate_matching.py path --sets 20       # one of the studies, on fewer simulations
    python scripts/simulate_matching.py --table found.csv    # kept as it grows, and gone on with

    unrelated   19 targets that follow a difficulty unknown to the subject, 1,000 questions, 41 magnitudes: how many end
                at an edge of the range, how well magnitude follows threshold, and how far the best magnitude agrees
    falls       yes rates along 41 magnitudes of 400 questions: about a plateau they only wander; how often do two
                magnitudes differ by two standard errors, and how often is the rate said to fall?
    path        a subject that follows the targets' difficulty with some noise of its own (400 questions, 9 targets):
                how often does the 95% interval of its loading's change along the dial leave out 0?
    comparison  two runs that agree with six targets of three models on two thirds of 120 questions, half of what makes
                a question easy being common to all: how often is the paired difference told from 0 (p < .05), where
                there is none and where the first agrees on 6 percentage points more?

Of every number the mean over simulations, its standard error, and the 5%, 50% and 95% points.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from growing_table import GrowingTable

from onedial.core import positive, program_parser, run_command

POINTS = (0.05, 0.5, 0.95)
Simulation = Callable[[int], dict[str, float] | None]
"""Seed -> what was found; None where nothing can be said."""


def unrelated(seed: int) -> dict[str, float]:
    from onedial.verdict import EDGE, MIN_TARGETS, judge, match_targets
    from onedial.verdict.criteria.status import OK
    from onedial.verdict.simulation import simulate_sweep, unrelated_targets

    rng = np.random.default_rng([1, seed])
    sweep = simulate_sweep(rng, 1000)
    matches = match_targets(sweep, unrelated_targets(rng, sweep, 19), n_bootstrap=19, seed=seed)
    line = judge(matches, 19, 19, seed=seed, line_permutations=19).line
    table = matches.table
    return {
        "targets at an edge": (table["status"] == EDGE).sum(),
        "fewer than five are ok": (table["status"] == OK).sum() < MIN_TARGETS,
        "R² of magnitude on threshold": np.corrcoef(table["magnitude"], table["threshold"])[0, 1] ** 2,
        "R² of the line as told": line.r2,
        "agreement": table["agreement"].mean(),
        "majority": table["majority"].mean(),
    }


def wandering(turn: float) -> Simulation:
    """400 questions, a tenth of which answers anew at every magnitude, about a rate of .8 from the middle on.

    Args:
        turn: by how much the plateau falls from its middle to its end.
    """

    def one(seed: int) -> dict[str, float]:
        from onedial.verdict.criteria.status import falls

        rng = np.random.default_rng([2, seed])
        place, steps = rng.standard_normal((400, 1)), np.linspace(-1, 1, 41)
        rate = np.where(steps < 0, 0.8 + 0.7 * steps, 0.8 - turn * steps)
        cuts = np.quantile(rng.standard_normal(100_000), 1 - rate)
        answers = (0.9**0.5 * place + 0.1**0.5 * rng.standard_normal((400, 41)) > cuts).astype(float)
        plateau = answers[:, steps >= 0]
        to_no = ((plateau[:, :, None] == 1) & (plateau[:, None, :] == 0)).sum(axis=0)
        fall = (to_no - to_no.T) / np.sqrt(np.maximum(to_no + to_no.T, 1))
        return {"two standard errors somewhere": np.triu(fall, 1).max() >= 2, "said to fall": falls(answers)}

    return one


def path(breaking: float, reordering: float) -> Simulation:
    def one(seed: int) -> dict[str, float] | None:
        from onedial.panels import ResponseMatrix
        from onedial.verdict import dial_path, sweep_grid
        from onedial.verdict.simulation import framings_of, moved_cut_targets, simulate_sweep, with_own_difficulty

        rng = np.random.default_rng([3, seed])
        sweep = simulate_sweep(rng, reordering=reordering)
        answers = moved_cut_targets(rng, sweep, 9)
        sweep = with_own_difficulty(rng, sweep, breaking=breaking)
        found = dial_path(sweep_grid(sweep), ResponseMatrix(answers, framings_of(answers.columns)))
        if found is None:
            return None
        return {"the change leaves out 0": not found.change.low <= 0 <= found.change.high}

    return one


def comparison(more: float) -> Simulation:
    """Args: more: on how large a share of the questions, beyond two thirds, the first of the two runs agrees."""

    def one(seed: int) -> dict[str, float]:
        from scipy.stats import norm

        from onedial.verdict import paired_difference

        rng = np.random.default_rng([4, seed])
        ease = rng.standard_normal((120, 1))
        first, second = (
            ((ease + rng.standard_normal((120, 6))) / 2**0.5 < norm.ppf(share)).astype(float)
            for share in (2 / 3 + more, 2 / 3)
        )
        difference, _, _, p = paired_difference(first, second, list("aabbcc"))
        return {"difference": difference, "p < .05": p < 0.05}

    return one


STUDIES: dict[str, tuple[dict[str, Simulation], int]] = {
    "unrelated": ({"unrelated": unrelated}, 200),
    "falls": ({"a plateau": wandering(0.0), "a plateau that falls by .1": wandering(0.1)}, 300),
    "path": (
        {"a pure shift": path(0.0, 0.0), "it reorders": path(0.0, 0.4), "answers break": path(1.0, 0.0)},
        200,
    ),
    "comparison": ({"two equal runs": comparison(0.0), "one agrees 6 points more": comparison(0.06)}, 2000),
}


def summary(case: str, sets: int, one: Simulation) -> list[dict[str, str | float]]:
    """A row for each number that a simulation tells."""
    found = pd.DataFrame([told for seed in range(sets) if (told := one(seed)) is not None], dtype=float)
    rows: list[dict[str, str | float]] = []
    for what, column in found.items():
        low, middle, high = column.quantile([0.05, 0.5, 0.95])
        about = {"n": len(column), "mean": column.mean(), "se": column.sem()}
        rows.append(
            {"case": case, "sets": sets, "what": str(what), **about, "low": low, "median": middle, "high": high}
        )
    return rows


def main() -> None:
    options = parse_options()
    table = GrowingTable(options.table, ("case", "sets"))
    for name in options.studies or STUDIES:
        cases, sets = STUDIES[name]
        for case, one in cases.items():
            n = options.sets or sets
            if (case, n) in table:
                continue
            rows = summary(case, n, one)
            table.add(rows)
            for row in rows:
                print(" | ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()))


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"of {', '.join(STUDIES)} (default: all)")
    parser.add_argument("--sets", type=positive, help="simulations of each case (default: as on the page)")
    parser.add_argument("--table", type=Path, help="also keep the rows there, as CSV; what it holds is not made anew")
    options = parser.parse_args()
    if unknown := set(options.studies) - set(STUDIES):
        parser.error(f"no study is called {', '.join(sorted(unknown))}; choose of {', '.join(STUDIES)}")
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))

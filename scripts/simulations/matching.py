"""Count what matching finds where nothing is shared or a dial wanders (docs/evidence.md).

    unrelated   19 targets that follow a difficulty unknown to the subject, 1,000 questions, 41 magnitudes: how many end
                at an edge of the range, how well magnitude follows threshold, and how far the best magnitude agrees
    falls       yes rates along 41 magnitudes of 400 questions: about a plateau they only wander; how often do two
                magnitudes differ by two standard errors, and how often is the rate said to fall?

Of every number the mean over simulations, its standard error, and the 5%, 50% and 95% points.
"""

from functools import partial

import numpy as np
import pandas as pd
from simulated_panels import simulate_sweep, unrelated_targets

from onedial.verdict.case import sweep_grid
from onedial.verdict.criteria.status import EDGE, OK, falls
from onedial.verdict.line import line_of
from onedial.verdict.verdict import MIN_TARGETS
from simulations.frame import Cell, Rows, Simulation, by_cell


def unrelated(seed: int) -> dict[str, float]:
    rng = np.random.default_rng([1, seed])
    sweep = simulate_sweep(rng, 1000)
    case = sweep_grid(sweep).beside(unrelated_targets(rng, sweep, 19), n_resamples=19, seed=seed)
    table, line = case.matches, line_of(case)
    return {
        "targets at an edge": (table["status"] == EDGE).sum(),
        "fewer than five are ok": (table["status"] == OK).sum() < MIN_TARGETS,
        "R² of magnitude on threshold": line.r2,
        "R² with the panel's rows permuted": line.r2_null_median,
        "agreement": table["agreement"].mean(),
        "majority": table["majority"].mean(),
    }


def wandering(turn: float, seed: int) -> dict[str, float]:
    """Draw 400 questions, a tenth of which answers anew at every magnitude, about a rate of .8 from the middle on.

    Args:
        turn: by how much the plateau falls from its middle to its end.
    """
    rng = np.random.default_rng([2, seed])
    place, steps = rng.standard_normal((400, 1)), np.linspace(-1, 1, 41)
    rate = np.where(steps < 0, 0.8 + 0.7 * steps, 0.8 - turn * steps)
    cuts = np.quantile(rng.standard_normal(100_000), 1 - rate)
    answers = (0.9**0.5 * place + 0.1**0.5 * rng.standard_normal((400, 41)) > cuts).astype(float)
    plateau = answers[:, steps >= 0]
    to_no = ((plateau[:, :, None] == 1) & (plateau[:, None, :] == 0)).sum(axis=0)
    fall = (to_no - to_no.T) / np.sqrt(np.maximum(to_no + to_no.T, 1))
    return {"two standard errors somewhere": np.triu(fall, 1).max() >= 2, "said to fall": falls(answers)}


STUDIES = {
    "unrelated": [Cell("unrelated", 200, unrelated)],
    "falls": [
        Cell("a plateau", 300, partial(wandering, 0.0)),
        Cell("a plateau that falls by .1", 300, partial(wandering, 0.1)),
    ],
}


def told(draws: pd.DataFrame) -> Rows:
    """Give each number that a simulation tells a row."""
    points = draws.quantile([0.05, 0.5, 0.95]).T.set_axis(["low", "median", "high"], axis=1)
    about = draws.agg(["count", "mean", "sem"]).T.set_axis(["n", "mean", "se"], axis=1).astype({"n": int})
    return about.join(points).rename_axis("what").reset_index().to_dict("records")


SIMULATION = Simulation(STUDIES, by_cell(told, "case", "sets"))

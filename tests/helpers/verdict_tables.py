"""Sweeps and panels with a known truth, for the tests of match and verdict."""

import numpy as np
import pandas as pd

from onedial.verdict import simulation


def simulated(kind="steered", seed=0, n_questions=400, n_targets=9, **options):
    """A sweep and a panel (`onedial.verdict.simulation`)."""
    rng = np.random.default_rng([seed, 7])
    sweep = simulation.simulate_sweep(rng, n_questions, **options)
    return sweep, simulation.TARGETS[kind](rng, sweep, n_targets)


def plain_sweep(margins, splits, magnitudes=(-1.0, 0.0, 1.0), mass=0.9):
    """margins: question x magnitude."""
    n = len(margins)
    ids = [f"q{number}" for number in range(n)]
    return pd.DataFrame(
        {
            "question_id": np.repeat(ids, len(magnitudes)),
            "split": np.repeat(splits, len(magnitudes)),
            "magnitude": np.tile(magnitudes, n),
            "margin": np.ravel(margins),
            "mass": np.broadcast_to(mass, np.shape(margins)).ravel(),
        }
    )

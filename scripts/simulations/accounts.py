"""What is made of answers at random: parabolas and second factors from one scale (docs/evidence.md).

Each panel has one scale, 1,000 questions and 19 respondents of loading .8 with yes rates from 10% to 90%, before some
answers are given at random; the last two have something to find besides. A line is the share of panels in which a
finding has p <= .05 on a normal scale alone, on one of any distribution, and under every account of `rival_accounts`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from onedial.scale.checks.accounts import rival_accounts
from simulations.frame import Cell, Simulation, by_cell, means
from simulations.structure import at_random, grouped_scales, panel

N, RATES = 1000, np.linspace(0.1, 0.9, 19)
SETS, B = 60, 99
Make = Callable[[np.random.Generator], np.ndarray]


def one_scale(kind: str, share: float, yes: float) -> Make:
    def make(rng: np.random.Generator) -> np.ndarray:
        return at_random(panel(kind, N, rng.permutation(RATES), 0.8, rng)[0], share, yes, rng)

    return make


def half_at_random(rng: np.random.Generator) -> np.ndarray:
    answers = panel("normal", N, rng.permutation(RATES), 0.8, rng)[0]
    return np.where(np.arange(len(RATES)) % 2, at_random(answers, 0.2, 0.5, rng), answers)


def bent(rng: np.random.Generator) -> np.ndarray:
    limits = np.linspace(-1.3, 1.3, len(RATES))
    loading = 0.9 - 0.15 * limits**2
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((N, len(RATES)))
    return at_random(loading * rng.standard_normal((N, 1)) + noise > limits, 0.05, 0.5, rng)


def two_scales(rng: np.random.Generator) -> np.ndarray:
    return at_random(grouped_scales(N, len(RATES), 2, 0.8, rng), 0.05, 0.5, rng)


PANELS: dict[str, Make] = {
    "one normal scale": one_scale("normal", 0, 0),
    "exponential scale": one_scale("exponential", 0, 0),
    "5% random yes or no": one_scale("normal", 0.05, 0.5),
    "10% guessed yes": one_scale("normal", 0.1, 1),
    "25% guessed yes": one_scale("normal", 0.25, 1),
    "half answer 20% at random": half_at_random,
    "exponential scale, 5% random": one_scale("exponential", 0.05, 0.5),
    "loadings fall from .90 to .65, 5% random": bent,
    "two scales that correlate .8, 5% random": two_scales,
}


def judged(name: str, make: Make, seed: int) -> dict[str, float]:
    """What is concluded from one panel."""
    found = rival_accounts(make(np.random.default_rng([len(name), seed])), n_replicates=B, seed=seed)
    table = found.table
    row = {"mean_r2": found.r2}
    for finding, p in (("parabola", "r2_p"), ("second", "second_p")):
        row[f"{finding}_normal_scale"] = table[p]["normal scale"] <= 0.05
        row[f"{finding}_any_scale"] = table[p]["any scale"] <= 0.05
        row[f"{finding}_every_account"] = found.stands(finding)
    row["mean_random_answers"] = table["random_answers"]["random answers, each its own"]
    return row


SIMULATION = Simulation(
    {"accounts": [Cell(name, SETS, partial(judged, name, make)) for name, make in PANELS.items()]},
    by_cell(means, "panel", "sets"),
)

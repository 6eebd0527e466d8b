"""Count what is made of answers at random: parabolas and second factors from one scale (docs/evidence.md).

Each panel has one scale, 1,000 questions and 19 respondents of loading .8 with yes rates from 10% to 90%, before some
answers are given at random; the last two have something to find besides. A line is the share of panels in which a
finding has p <= .05 beside panels of one normal scale, of one of any distribution, and of one of any distribution with
answers at random, which is the null of the page.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from onedial.scale.factor.nulls import Nulls
from onedial.scale.factor.structure import one_factor_bootstrap, quadratic_fit_test
from onedial.scale.likelihood import AsymptoteKind, ScaleKind
from simulations.frame import Cell, Simulation, by_cell, means
from simulations.structure import at_random, grouped_scales, panel

N, RATES = 1000, np.linspace(0.1, 0.9, 19)
SETS, B = 20, 99
ACCOUNTS: dict[str, tuple[ScaleKind, AsymptoteKind]] = {
    "normal_scale": ("normal", "none"),
    "any_scale": ("histogram", "none"),
    "and_random_answers": ("histogram", "common"),
}
Make = Callable[[np.random.Generator], np.ndarray]


def one_scale(kind: str, share: float, yes: float) -> Make:
    def make(rng: np.random.Generator) -> np.ndarray:
        return at_random(panel(kind, N, rng.permutation(RATES), 0.8, rng)[0], share, yes, rng)

    return make


def bent(rng: np.random.Generator) -> np.ndarray:
    limits = np.linspace(-1.3, 1.3, len(RATES))
    loading = 0.9 - 0.15 * limits**2
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((N, len(RATES)))
    return at_random(loading * rng.standard_normal((N, 1)) + noise > limits, 0.05, 0.5, rng)


def two_scales(rng: np.random.Generator) -> np.ndarray:
    return at_random(grouped_scales(N, len(RATES), 2, 0.8, rng), 0.05, 0.5, rng)


PANELS: dict[str, Make] = {
    "one normal scale": one_scale("normal", 0, 0),
    "5% random yes or no": one_scale("normal", 0.05, 0.5),
    "exponential scale, 5% random": one_scale("exponential", 0.05, 0.5),
    "loadings fall from .90 to .65, 5% random": bent,
    "two scales that correlate .8, 5% random": two_scales,
}


def judged(name: str, make: Make, seed: int) -> dict[str, float]:
    """Judge one panel."""
    nulls, row = Nulls.of(make(np.random.default_rng([len(name), seed])), B, seed), {}
    for account, (scale, asymptotes) in ACCOUNTS.items():
        row[f"parabola_{account}"] = quadratic_fit_test(nulls, scale=scale, asymptotes=asymptotes).p <= 0.05
        row[f"second_{account}"] = one_factor_bootstrap(nulls, scale=scale, asymptotes=asymptotes).second.p <= 0.05
    row["mean_r2"] = float(nulls.observed.r2[0])
    row["mean_random_answers"] = float(1 - np.mean(nulls.fits.null().curves.attentive))
    return row


SIMULATION = Simulation(
    {"accounts": [Cell(name, SETS, partial(judged, name, make)) for name, make in PANELS.items()]},
    by_cell(means, "panel", "sets"),
)

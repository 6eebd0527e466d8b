"""Count how often a panel is said to hold something of a model's own, by what was planted (docs/evidence.md).

Models in families answer 1,500 questions. Correctness and confidence follow one scale or two, and what a
family shares beside it, in confidence, in correctness and in both; a model's own part is in both of one model alone.
Confidence is cut into two to six levels at random places, accuracies are .6 to .95, 6% is missing.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.confidence.shared_or_own import NOT_OWN, OWN, shared_or_own
from simulations.frame import Cell, Rows, Simulation, by_cell

FAMILIES = {
    "7 families of 33": np.repeat(list("abcdefg"), [8, 3, 7, 5, 5, 4, 1]),
    "5 families of 10": np.repeat(list("abcde"), 2),
    "3 families of 12": np.repeat(list("abc"), 4),
}
KINDS: dict[str, dict[str, Any]] = {
    "one scale": {},
    "families that know themselves": {"family": 0.45},
    "two scales": {"scales": 2, "family": 0.3},
    "each scale followed by half of the models": {"halves": True, "family": 0.3},
    ".2 of its own": {"family": 0.3, "own_part": 0.2},
    ".2 of its own, two scales": {"scales": 2, "family": 0.3, "own_part": 0.2},
    ".3 of its own": {"family": 0.3, "own_part": 0.3},
}
N, SETS, RESAMPLES = 1500, 24, 60


def panel(
    kin: np.ndarray[Any, Any], n: int, seed: int, scales: int = 1, halves: bool = False, family: float = 0.0,
    own_part: float = 0.0,
) -> tuple[pd.DataFrame, pd.DataFrame, "pd.Series[Any]"]:  # fmt: skip
    """Draw confidence, correctness and families, with loadings as named."""
    rng = np.random.default_rng([7, seed])
    m = len(kin)
    sure_loads, right_loads = np.zeros((m, 2)), np.zeros((m, 2))
    sure_loads[:, 0], right_loads[:, 0] = rng.uniform(0.3, 0.85, m), rng.uniform(0.3, 0.8, m)
    if scales > 1:
        sure_loads[:, 1], right_loads[:, 1] = rng.uniform(-0.1, 0.6, (2, m))
    if halves:
        first = (rng.permutation(m) % 2)[:, None] == 0
        sure_loads = np.where(first, [0.75, 0.25], [0.25, 0.75])
        right_loads = 0.9 * sure_loads
    ease = rng.standard_normal((n, 2))
    sides = [ease @ loads.T for loads in (sure_loads, right_loads)]
    used = [(loads**2).sum(axis=1) for loads in (sure_loads, right_loads)]
    for name in dict.fromkeys(kin):
        members = np.flatnonzero(kin == name)
        known = rng.standard_normal((n, 1))
        for side, variance in zip(sides, used, strict=True):
            weight = family * rng.uniform(0.3, 1.7, len(members))
            style = 0.4 * rng.uniform(0.3, 1, len(members))
            side[:, members] += known * weight + rng.standard_normal((n, 1)) * style
            variance[members] += weight**2 + style**2
    private = rng.standard_normal((n, m))
    for side, variance in zip(sides, used, strict=True):
        rest = np.maximum(1 - variance - own_part**2, 0.1)
        side += own_part * private + rng.standard_normal((n, m)) * np.sqrt(rest)
        side /= np.sqrt(variance + own_part**2 + rest)
    right = (sides[1] + ndtri(rng.uniform(0.6, 0.95, m)) > 0).astype(float)
    sure = np.column_stack(
        [np.searchsorted(np.sort(rng.normal(-0.8, 0.8, rng.integers(1, 6))), side) for side in sides[0].T]
    ).astype(float)
    gone = rng.random((n, m)) < 0.06
    sure[gone], right[gone] = np.nan, np.nan
    names = [f"{name}{place}" for place, name in enumerate(kin)]
    return pd.DataFrame(sure, columns=names), pd.DataFrame(right, columns=names), pd.Series(kin, names)


def judged(layout: str, planted: str, seed: int) -> dict[str, float]:
    """Judge one panel."""
    given = panel(FAMILIES[layout], N, seed, **KINDS[planted])
    result = shared_or_own(*given, n_bootstrap=RESAMPLES, seed=seed)
    p, conclusion = result.models["p_adjusted"].dropna(), result.mean["verdict"]
    about = {"own": conclusion == OWN, "shared": conclusion == NOT_OWN, "mean": result.mean["own"]}
    return about | {"n_models": len(p), "models": (p <= 0.05).sum()}


def shares(draws: pd.DataFrame) -> Rows:
    """Give the shares of panels, and of the models of all panels together."""
    row = draws[["own", "shared", "mean"]].mean().to_dict()
    return [{**row, "models": draws["models"].sum() / draws["n_models"].sum()}]


SIMULATION = Simulation(
    {layout: [Cell(planted, SETS, partial(judged, layout, planted)) for planted in KINDS] for layout in FAMILIES},
    by_cell(shares, "layout", "planted", "sets"),
)

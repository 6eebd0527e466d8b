"""Ask whether the rule of the dial's profile says what is so, of simulated subjects with a known truth.

An instrument's item scores have standard deviation 1 unsteered. A push d in a setting m = -2, -1, 1, 2 moves item i by

    (m / 1.5) (g_d + h_di) + e        so that `together` is g_d on average

g_d: what the push does to all items, drawn with standard deviation `random pushes` for the random directions; h_di (.3)
what it does to an item besides; e (.1) what a setting adds. The vector's own g is drawn like the others' (effect "as
random") or planted. Printed: share of subjects in which each verdict is given, as in "0.1, 0.5": pushes of .1, an
effect of .5.
"""

from functools import partial

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import VECTOR
from onedial.verdict.comparing.dial_profile import PROFILE_COLUMNS, PROFILE_VERDICTS, profile_of
from simulations.frame import Cell, Found, Simulation, by_cell, means

SETTINGS = (-2.0, -1.0, 1.0, 2.0)
PER_ITEM, NOISE = 0.3, 0.1
SCENARIOS: tuple[tuple[float, float | None], ...] = (
    *((0.0, 0.0), (0.1, None), (0.5, None), (2.0, None)),
    *((0.1, 0.2), (0.1, 0.5), (0.1, 1.0), (0.5, 0.5), (0.5, 1.0), (0.5, 2.0)),
)
"""(standard deviation of what random pushes do, what the vector does; None = drawn as they are)"""


N_ITEMS, N_CONTROLS, N_REPLICATES, SUBJECTS = 40, 19, 399, 120


def said(number: int, subject: int) -> Found:
    """Say which verdict is given of a subject of a scenario."""
    verdict = one_verdict(*SCENARIOS[number], number * 10_007 + subject)
    return {name.replace(" ", "_"): name == verdict for name in PROFILE_VERDICTS}


def one_verdict(pushes: float, effect: float | None, seed: int, n_replicates: int = N_REPLICATES) -> str:
    """Apply the rule to one simulated subject's one instrument."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=N_ITEMS)
    ids = np.array([f"q{item}" for item in range(N_ITEMS)], dtype=object)
    frames = []
    for number in range(N_CONTROLS + 1):
        g = rng.normal(0, pushes) if number or effect is None else effect
        per_item = g + rng.normal(0, PER_ITEM, N_ITEMS)
        for magnitude in (0.0, *SETTINGS) if number == 0 else SETTINGS:
            moved = magnitude / 1.5 * per_item + (rng.normal(0, NOISE, N_ITEMS) if magnitude else 0)
            frames.append(
                pd.DataFrame(
                    {
                        "report": "instrument",
                        "form": "plain",
                        "question_id": ids,
                        "intervention_id": "dial" if number == 0 else f"random {number}",
                        "role": VECTOR if number == 0 else "random",
                        "magnitude": magnitude,
                        "score": base + moved,
                        "truth": np.nan,
                    },
                    columns=PROFILE_COLUMNS,
                )
            )
    profile = profile_of(pd.concat(frames, ignore_index=True), n_replicates, seed)
    return str(profile.reports["verdict"].iloc[0])


NAMES = [f"{pushes:g}, {'as random' if effect is None else f'{effect:g}'}" for pushes, effect in SCENARIOS]
SIMULATION = Simulation(
    {"profile": [Cell(name, SUBJECTS, partial(said, number)) for number, name in enumerate(NAMES)]},
    by_cell(means, "case", "sets"),
)

"""Count how often C_A's 95% interval leaves out 0 on panels that have nothing in common with the subject.

Quicker than whole verdicts: one bootstrap of one number, 499 resamples. Seeds begin after those of the verdicts.
"""

from functools import partial

import pandas as pd
from simulated_panels import SCENARIOS, framings_of

from onedial.stats.roc import auc, auc_resampled
from onedial.stats.shares import wilson_interval
from onedial.verdict.case import sweep_grid
from onedial.verdict.numbers import panel_estimate
from simulations.frame import Cell, Found, Simulation
from simulations.verdicts import N_QUESTIONS, N_TARGETS

NOTHING_SHARED = ("unrelated", "unrelated, by topic", "base rates")
FIRST_SEED, SETS = 20_000, 261


def drawn(name: str, place: int) -> Found:
    """Ask whether the interval lies above 0 (towards the targets) or below (away)."""
    seed = FIRST_SEED + place
    sweep, panel = SCENARIOS[name].draw(seed, N_QUESTIONS, N_TARGETS)
    case = sweep_grid(sweep).beside(panel)
    orders, given = case.orders, case.given[case.ordered]
    models = framings_of(panel.columns)["model"].to_numpy()
    of_order, other = (auc(order, given) for order in orders)
    drawn, others = (auc_resampled(order, given, 499, seed) for order in orders)
    number = panel_estimate(of_order - other, drawn - others, None, models)
    return {"towards": number.low > 0, "away": number.high < 0}


def told(table: pd.DataFrame) -> pd.DataFrame:
    """Count by scenario and over all: panels, shares towards, away and either, and Wilson's interval of that."""
    table = table.rename(columns={"cell": "scenario"}).assign(either=table["towards"] | table["away"])
    parts = {**dict(iter(table.groupby("scenario", sort=False))), "all": table}
    shares = pd.DataFrame({name: part[["towards", "away", "either"]].mean() for name, part in parts.items()}).T
    shares.insert(0, "n", pd.Series({name: len(part) for name, part in parts.items()}))
    shares["low"], shares["high"] = wilson_interval(shares["either"] * shares["n"], shares["n"])
    return shares.rename_axis("scenario").reset_index().round(5)


SIMULATION = Simulation({"orders": [Cell(name, SETS, partial(drawn, name)) for name in NOTHING_SHARED]}, told)

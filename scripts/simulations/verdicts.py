"""Count how often the verdict says what is true of subjects and panels that are known (docs/evidence.md).

Margins and answers are synthetic (`simulated_panels.SCENARIOS` says how each is made): what is studied is the
procedure, no model. Told are, for each scenario, how often each answer was given to each of the three questions; size
and power of S, G, C_A and of the rank among controls; and how often an interval held the mean over seeds, which stands
for the truth. What is wanted:

    S      p <= .05 in at most 7.5% where subject and targets have nothing in common, in at least 80% where they have
    C_A    said to reorder in at most 7.5% where nothing is reordered; said to reorder the wrong way in at most 7.5%
    alike  "a threshold shift" in at most 7.5% of dials that truly reorder, by .02 or more of C_A
    push   p <= .05 in at most 7.5% where vector and controls are drawn from one urn, of which the targets know nothing;
           in at least 80% among weak controls, and in one urn where the targets follow the vector's own order
    95%    intervals hold the truth in at least 92.5%: C_A's in this panel where the dial reorders (under a pure shift
           the two orders are one, and there is no width to speak of), all three for models like these where they differ
"""

from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pandas as pd
from simulated_panels import SCENARIOS, framings_of, simulated_controls

from onedial.core.run.configuration import flat
from onedial.stats.level import LEVEL
from onedial.verdict.case import sweep_grid
from onedial.verdict.controls import control_table
from onedial.verdict.verdict import AWAY, RULE, THRESHOLD_SHIFT, TOWARDS, judge
from simulations.frame import Cell, Found, Simulation, one_line_each

ANSWERS = ("reproduced", "dial", "push")
NUMBERS = ("signal", "gain", "order")
WITH_CONTROLS = ("pure shift", "away", "towards, much")
SETS, N_QUESTIONS, N_TARGETS, N_PERMUTATIONS = 60, 400, 18, 999


def judged(name: str, seed: int) -> Found:
    """Judge one simulated subject and panel, and its push among controls that are like it."""
    scenario = SCENARIOS[name]
    sweep, panel = scenario.draw(seed, N_QUESTIONS, N_TARGETS)
    topics = sweep.drop_duplicates("question_id").set_index("question_id")["topic"]
    known = {"n_resamples": N_PERMUTATIONS, "seed": seed}
    grid, respondents = sweep_grid(sweep), framings_of(panel.columns)
    case = grid.beside(panel, respondents, about=topics.to_frame(), **known)
    tables = {}
    if name in WITH_CONTROLS:
        rng, reordering = np.random.default_rng([seed, 11]), scenario.sweep["reordering"]
        for alike in (True, False):
            controls = simulated_controls(rng, sweep, reordering=reordering, alike=alike)
            tables[alike] = control_table(replace(case, controls=controls))
    verdict = judge(case, controls=tables.get(False))
    row = {"reproduced": verdict.reproduced, "dial": verdict.dial, "flags": "; ".join(verdict.flags)}
    row |= {"push": None, "push_p": np.nan, "push_p_alike": np.nan}
    for number in NUMBERS:
        parts = flat(asdict(getattr(verdict, number)))
        row |= {f"{number}_{part}".replace(".", "_"): value for part, value in parts}
    if tables:
        by = verdict.direction.by
        of_vector, others = verdict.direction.vector[by], tables[True][by]
        as_good = (others <= of_vector) if by == "push" else (others >= of_vector)
        p_alike = (1 + as_good.sum()) / (1 + len(others))
        row |= {"push": verdict.push, "push_p": verdict.direction.p, "push_p_alike": p_alike}
    return row


def told(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count by scenario how often each answer was given, rates, and what intervals held."""
    verdicts = verdicts.rename(columns={"cell": "scenario"})
    given = [pd.crosstab(verdicts["scenario"], verdicts[name]).add_prefix(f"{name}: ") for name in ANSWERS]
    counted = verdicts.groupby("scenario", sort=False).size().rename("n")
    significant = (verdicts[["signal_p", "push_p", "push_p_alike"]] <= LEVEL).groupby(verdicts["scenario"]).sum()
    parts = [counted, *given, significant.add_suffix(" found"), rates_of(verdicts), coverage_of(verdicts)]
    return one_line_each(pd.concat([part.reindex(counted.index) for part in parts], axis=1))


def rates_of(table: pd.DataFrame) -> pd.DataFrame:
    """Average the numbers per scenario, and count how often each part claimed something."""
    claims = {
        "S": table["signal_value"],
        "G": table["gain_value"],
        "C_A": table["order_value"],
        "rho": table["order_rho_value"],
        "S: p <= .05": (table["signal_p"] <= LEVEL).astype(float),
        "G: low > 0": (table["gain_low"] > 0).astype(float),
        "C_A: low > 0": (table["order_low"] > 0).astype(float),
        "towards": (table["dial"] == TOWARDS).astype(float),
        "away": (table["dial"] == AWAY).astype(float),
        "threshold shift": (table["dial"] == THRESHOLD_SHIFT).astype(float),
        "push": (table["push_p"] <= LEVEL).astype(float).where(table["push_p"].notna()),
        "push, alike": (table["push_p_alike"] <= LEVEL).astype(float).where(table["push_p_alike"].notna()),
        "unread decide": table["flags"].fillna("").str.contains("unread").astype(float),
    }
    return pd.DataFrame(claims).groupby(table["scenario"], sort=False).mean()


def coverage_of(table: pd.DataFrame) -> pd.DataFrame:
    """Count per scenario the 95% intervals that hold the mean over seeds, in both scopes."""
    held = {}
    for name, of_scenario in table.groupby("scenario", sort=False):
        held[name] = {}
        for number in (*NUMBERS, "rho"):
            prefix = "order_rho" if number == "rho" else number
            truth = of_scenario[f"{prefix}_value"].mean()
            held[name][f"{number}, panel"] = (
                of_scenario[f"{prefix}_low"].le(truth).mul(of_scenario[f"{prefix}_high"].ge(truth)).mean()
            )
            if number != "rho":
                low, high = of_scenario[f"{prefix}_low_models"], of_scenario[f"{prefix}_high_models"]
                held[name][f"{number}, models"] = (low.le(truth) & high.ge(truth))[low.notna()].mean()
    return pd.DataFrame(held).T


SIMULATION = Simulation(
    {"scenarios": [Cell(name, SETS, partial(judged, name)) for name in SCENARIOS]},
    told,
    lambda: {
        "rule": RULE, "n_questions": N_QUESTIONS, "n_targets": N_TARGETS, "n_permutations": N_PERMUTATIONS,
    },
)  # fmt: skip

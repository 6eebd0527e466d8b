"""Sweeps and panels with a known truth, for the tests of match and verdict."""

from dataclasses import replace

import numpy as np
import pandas as pd
import simulated_panels

from onedial.verdict.case import sweep_grid
from onedial.verdict.verdict import judge as judge_case


def simulated(kind="steered", seed=0, n_questions=400, n_targets=9, **options):
    """A sweep and a panel (`simulated_panels`)."""
    rng = np.random.default_rng([seed, 7])
    sweep = simulated_panels.simulate_sweep(rng, n_questions, **options)
    return sweep, simulated_panels.TARGETS[kind](rng, sweep, n_targets)


def case_of(sweep, panel, splits=None, respondents=None, topics=None, texts=None, wordings=(), direct=None, **known):
    """A sweep beside a panel, and what is known of the questions; 19 resamples where nothing else is asked for."""
    grid = sweep_grid(sweep, splits, direct=direct)
    about = pd.DataFrame(index=grid.questions)
    if topics is not None:
        about["topic"] = topics.reindex(about.index)
    if texts is not None:
        about["question"] = texts
    if wordings:
        about["wording_of"] = pd.Series({name: group[0] for group in wordings for name in group}).reindex(about.index)
    return grid.beside(panel, respondents, about=about, **{"n_resamples": 19} | known)


def judge(case, n_resamples=99, prediction=None, controls=None, facts=None, bias=None, **known):
    """The verdict with so many resamples; `known` changes the case."""
    changed = replace(case, n_resamples=n_resamples, **known)
    return judge_case(changed, prediction, controls=controls, facts=facts, bias=bias)


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

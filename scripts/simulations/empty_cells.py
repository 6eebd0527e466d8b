"""Measure what a correction for empty cells does to answers of one factor (docs/evidence.md).

19 respondents follow one scale with the same loading. Seven say yes to 20-80% of the questions, six to 1-5% and six to
95-99%. Each column is a rule for empty cells and a number of questions; every number is a mean over
the repeats.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.structure import one_factor_bootstrap, permutation_null
from onedial.scale.response_model import response_model
from onedial.stats.answers import PsychometricsWarning
from simulations.frame import Cell, Found, Simulation, by_cell, mean_and_error

LOADING = 0.8
RATES = np.concatenate([np.linspace(0.01, 0.05, 6), np.linspace(0.2, 0.8, 7), np.linspace(0.95, 0.99, 6)])
EXTREME = np.abs(ndtri(RATES)) > 1.5
RULES, SETS, N_REPLICATES = ("half", "none"), 10, 49


def simulate(n_questions: int, rng: np.random.Generator) -> np.ndarray:
    """Draw (question, respondent) answers of one factor; a draw with a constant respondent is drawn again."""
    while True:
        easiness = rng.standard_normal((n_questions, 1))
        noise = rng.standard_normal((n_questions, len(RATES)))
        answers = LOADING * easiness + np.sqrt(1 - LOADING**2) * noise > -ndtri(RATES)
        if (answers.any(axis=0) & ~answers.all(axis=0)).all():
            return answers


def analyse(answers: np.ndarray, rule: str) -> dict[str, float]:
    """Analyse one simulated matrix: a column of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)  # Heywood cases of the rule `none` are part of the point
        model = fit_factor_model(answers, zero_cells=rule)
        shuffled = permutation_null(answers, n_replicates=N_REPLICATES, zero_cells=rule, seed=0)
        one_factor = one_factor_bootstrap(
            answers, n_replicates=N_REPLICATES, zero_cells=rule, seed=0, asymptotes="none"
        )
    loading = model.loadings["factor_1"]
    m = len(loading)
    return {
        "pairs with an empty cell, of 171": model.tetrachoric.n_zero_cell_pairs,
        "first eigenvalue's share": model.eigenvalues[1] / m,
        "second eigenvalue's share": model.eigenvalues[2] / m,
        "the same, answers shuffled": shuffled.mean[1] / m,
        "the same, simulated from one factor": one_factor.second.mean / m,
        "R² of the parabola, first loadings on thresholds": model.quadratic_fit.r2,
        "smallest eigenvalue": model.eigenvalues.iloc[-1],
        "mean loading of the twelve extreme respondents (true: .80)": loading[EXTREME].mean(),
        "mean p of a second factor against one-factor simulations": one_factor.second.p,
    }


def drawn(rule: str, n_questions: int, seed: int) -> Found:
    """Apply one rule to a matrix of this many questions; that of a seed is the same for every rule."""
    answers = simulate(n_questions, np.random.default_rng([0, n_questions, seed]))
    marginal = response_model(answers).respondents["loading"][EXTREME].mean()
    return analyse(answers, rule) | {"the same by marginal likelihood": marginal}


def told(draws: pd.DataFrame) -> pd.DataFrame:
    """Set rules and numbers of questions side by side, a column each."""
    table = by_cell(mean_and_error, "rule", "sets")(draws)
    beside = table.pivot(index="what", columns="rule", values="found")
    return beside.reindex(table["what"].unique())[table["rule"].unique()].reset_index()


SIMULATION = Simulation(
    {str(n): [Cell(f"{rule}_{n}", SETS, partial(drawn, rule, n)) for rule in RULES] for n in (200, 1000, 5000)}, told
)

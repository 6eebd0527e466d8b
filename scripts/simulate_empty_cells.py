"""What a correction for empty cells does to answers of one factor (docs/psychometrics_evidence.md).

    python scripts/simulate_empty_cells.py              # prints the table of the page; two minutes
    python scripts/simulate_empty_cells.py --repeats 3 --table cells.csv     # also writes it

19 respondents follow one scale with the same loading. Seven say yes to 20-80% of the questions, six to 1-5% and six to
95-99%. Each column is a rule for empty cells and a number of questions; every number is a mean over
the repeats.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core import atomic_path, natural, positive, program_parser, run_command
from onedial.scale import fit_factor_model, one_factor_bootstrap, permutation_null, quadratic_fit, response_model
from onedial.stats import PsychometricsWarning

LOADING = 0.8
RATES = np.concatenate([np.linspace(0.01, 0.05, 6), np.linspace(0.2, 0.8, 7), np.linspace(0.95, 0.99, 6)])
EXTREME = np.abs(ndtri(RATES)) > 1.5
RULES = ("half", "none", "exclude")


def simulate(n_questions: int, rng: np.random.Generator) -> np.ndarray:
    """(question, respondent) answers of the one-factor model; a draw with a constant respondent is drawn again."""
    while True:
        easiness = rng.standard_normal((n_questions, 1))
        noise = rng.standard_normal((n_questions, len(RATES)))
        answers = LOADING * easiness + np.sqrt(1 - LOADING**2) * noise > -ndtri(RATES)
        if (answers.any(axis=0) & ~answers.all(axis=0)).all():
            return answers


def analyse(answers: np.ndarray, rule: str, seed: int, n_replicates: int = 49) -> dict[str, float]:
    """A column of the table, of one simulated matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)  # Heywood cases of the rule `none` are part of the point
        model = fit_factor_model(answers, extraction="principal", n_factors=2, zero_cells=rule)
        loading = fit_factor_model(answers, zero_cells=rule).loadings["factor_1"]
        shuffled = permutation_null(answers, n_replicates, zero_cells=rule, seed=seed)
        one_factor = one_factor_bootstrap(answers, n_replicates, zero_cells=rule, seed=seed)
    m = len(loading)
    line = np.corrcoef(model.loadings["factor_2"], model.thresholds)[0, 1] ** 2
    return {
        "pairs with an empty cell, of 171": model.tetrachoric.n_zero_cell_pairs,
        "first eigenvalue's share": model.eigenvalues[1] / m,
        "second eigenvalue's share": model.eigenvalues[2] / m,
        "the same, answers shuffled": shuffled.mean[1] / m,
        "the same, simulated from one factor": one_factor.second.mean / m,
        "R² of the parabola, first loadings on thresholds": quadratic_fit(loading, model.thresholds).r2,
        "R² of the line, second component on thresholds": line,
        "smallest eigenvalue": model.eigenvalues.iloc[-1],
        "mean loading of the twelve extreme respondents (true: .80)": loading[EXTREME].mean(),
        "mean p of a second factor against one-factor simulations": one_factor.second.p,
    }


def table(sizes: list[int], repeats: int, seed: int = 0) -> pd.DataFrame:
    """Index: what is told; columns: RULE_QUESTIONS. Means over the repeats."""
    columns = {}
    for n_questions in sizes:
        drawn = [simulate(n_questions, np.random.default_rng([seed, n_questions, repeat])) for repeat in range(repeats)]
        marginal = [response_model(answers).respondents["loading"][EXTREME].mean() for answers in drawn]
        for rule in RULES:
            column = pd.DataFrame([analyse(answers, rule, seed) for answers in drawn]).mean()
            column["the same by marginal likelihood"] = np.mean(marginal)
            columns[f"{rule}_{n_questions}"] = column
            print(f"{n_questions} questions, {rule}", file=sys.stderr)
    return pd.DataFrame(columns).rename_axis("what")


def main() -> None:
    options = parse_options()
    found = table(options.questions, options.repeats, options.seed)
    print(found.round(2).to_string())
    if options.table:
        with atomic_path(options.table) as path:
            found.round(5).to_csv(path, lineterminator="\n")


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--questions", type=positive, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--repeats", type=positive, default=10)
    parser.add_argument("--seed", type=natural, default=0)
    parser.add_argument("--table", type=Path, help="also write the means there, as CSV")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main))

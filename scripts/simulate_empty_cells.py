"""What a correction for empty cells does to answers that have one factor and nothing else (docs/psychometrics.md).

    python scripts/simulate_empty_cells.py              # prints the table of the page; two minutes
    python scripts/simulate_empty_cells.py --repeats 3

19 respondents follow one scale with the same loading. Seven say yes to 20-80% of the questions, six to 1-5% and six to
95-99%. Each row is a number of questions and a rule for empty cells; every number is a mean over the repeats.
"""

import warnings

import numpy as np
import pandas as pd
from scipy.special import ndtri

from common import program_parser
from psychometrics import (
    PsychometricsWarning,
    fit_factor_model,
    one_factor_bootstrap,
    permutation_null,
    quadratic_fit,
    two_parameter_irt,
)

LOADING = 0.8
RATES = np.concatenate([np.linspace(0.01, 0.05, 6), np.linspace(0.2, 0.8, 7), np.linspace(0.95, 0.99, 6)])
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
    """One row of the table, from one simulated matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)  # Heywood cases of the rule `none` are part of the point
        model = fit_factor_model(answers, extraction="principal", n_factors=2, zero_cells=rule)
        loading = fit_factor_model(answers, zero_cells=rule).loadings["factor_1"]
        shuffled = permutation_null(answers, n_replicates, zero_cells=rule, seed=seed)
        one_factor = one_factor_bootstrap(answers, n_replicates, zero_cells=rule, seed=seed)
    m = len(loading)
    return {
        "pairs with an empty cell": model.tetrachoric.n_zero_cell_pairs,
        "first": model.eigenvalues[1] / m,
        "second": model.eigenvalues[2] / m,
        "second, answers shuffled": shuffled.mean[1] / m,
        "second, one factor": one_factor.second.mean / m,
        "R² first": quadratic_fit(loading, model.thresholds).r2,
        "R² second": np.corrcoef(model.loadings["factor_2"], model.thresholds)[0, 1] ** 2,
        "smallest eigenvalue": model.eigenvalues.iloc[-1],
        "loading at extremes": loading[np.abs(ndtri(RATES)) > 1.5].mean(),
        "p of a second factor": one_factor.second.p,
    }


def table(sizes: list[int], repeats: int, seed: int = 0) -> pd.DataFrame:
    """Index (questions, rule), one column per number, means over the repeats."""
    rows = []
    for n_questions in sizes:
        for repeat in range(repeats):
            answers = simulate(n_questions, np.random.default_rng([seed, n_questions, repeat]))
            marginal = two_parameter_irt(answers).respondents["loading"]
            extreme = marginal[np.abs(ndtri(RATES)) > 1.5].mean()
            for rule in RULES:
                row = analyse(answers, rule, seed)
                rows.append({"questions": n_questions, "rule": rule, **row, "marginal loading at extremes": extreme})
    return pd.DataFrame(rows).groupby(["questions", "rule"], sort=False).mean()


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--questions", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(table(options.questions, options.repeats, options.seed).round(2).T.to_string())


if __name__ == "__main__":
    main()

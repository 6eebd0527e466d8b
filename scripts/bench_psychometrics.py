"""Time of each piece of the psychometrics, for a panel of ordinary size and for a very large one.

    python scripts/bench_psychometrics.py                            # 19 respondents x 1,000 questions
    python scripts/bench_psychometrics.py --size 28 12000            # some minutes
    python scripts/bench_psychometrics.py --table seconds.csv        # also writes it
    python scripts/bench_psychometrics.py --size 1000 100000         # two to four minutes, 1.4 GiB
    OMP_NUM_THREADS=2 python scripts/bench_psychometrics.py --size 1000 100000

Answers are simulated from one factor with 10% missing. ordinalcorr, which solves one pair after the other, stands
beside in the same run: it gets a few pairs, and its time for all of them is extrapolated. Above 100 respondents nulls
and bootstraps are left out. Times are those of the processor, and each is also given as a multiple of the tetrachoric
correlations, which compares machines and runs better than seconds do. Memory is the peak of the process, simulation
included.
"""

import argparse
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core import atomic_path, program_parser, run_command

_NULLS_UP_TO = 100
_PAIRS_FOR_THE_OTHER = 20
_BLOCK = 4096
_UNIT = "tetrachoric, pairwise"
_LONG = 3.0  # seconds, from which on once is enough


def simulate(n_respondents: int, n_questions: int, missing: float, seed: int) -> np.ndarray:
    """(question, respondent) float32 answers of the one-factor model, nan where missing."""
    rng = np.random.default_rng(seed)
    limits = -ndtri(np.linspace(0.05, 0.95, n_respondents)).astype(np.float32)
    loadings = rng.uniform(0.5, 0.95, n_respondents).astype(np.float32)
    answers = np.empty((n_questions, n_respondents), dtype=np.float32)
    for start in range(0, n_questions, _BLOCK):
        block = answers[start : start + _BLOCK]
        shared = rng.standard_normal((len(block), 1), dtype=np.float32)
        noise = rng.standard_normal(block.shape, dtype=np.float32)
        block[:] = loadings * shared + np.sqrt(1 - loadings**2) * noise > limits
        block[rng.random(block.shape, dtype=np.float32) < missing] = np.nan
    return answers


def pieces(answers: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, what to time) in the order in which an analysis needs them."""
    from onedial.confidence import metacognition_table
    from onedial.scale import (
        analyse_panel,
        bootstrap_questions,
        cluster_structure,
        correlation_intervals,
        factor_fit,
        factor_scores,
        fit_factor_model,
        graded_response_model,
        one_factor_bootstrap,
        permutation_null,
        polychoric,
        quadratic_fit_test,
        question_invariance,
        rasch_test,
        residual_correlations,
        respondent_invariance,
        revised_parallel_analysis,
        rotate,
        scale_distribution,
        schmid_leiman,
        sensitivity_table,
        tetrachoric,
        threshold_table,
        two_parameter_irt,
    )
    from onedial.scale.correlations.pair_counts import count_pairs
    from onedial.scale.factor.minres import minres_one_factor
    from onedial.stats import as_answers

    panel = as_answers(answers)
    yield "check the input", lambda: as_answers(answers)
    yield "count the 2 x 2 tables", lambda: count_pairs(panel)
    correlation = tetrachoric(panel).correlation
    yield "tetrachoric, pairwise", lambda: tetrachoric(panel)
    yield "tetrachoric, global", lambda: tetrachoric(panel, "global")
    loadings = minres_one_factor(correlation.to_numpy())
    yield "eigenvalues", lambda: np.linalg.eigvalsh(correlation)
    yield "minres", lambda: minres_one_factor(correlation.to_numpy())
    thresholds = threshold_table(panel)["threshold"]
    yield "scores", lambda: factor_scores(panel, loadings, thresholds)
    yield "fit_factor_model from the raw matrix", lambda: fit_factor_model(answers)
    yield "correlation_intervals", lambda: correlation_intervals(panel)
    if answers.shape[1] > _NULLS_UP_TO:
        return
    groups = np.arange(len(answers)) % 3
    models = np.arange(answers.shape[1]) % 4
    right = (np.random.default_rng(1).random(answers.shape) < 0.5).astype(int)
    confidence = 1 / (1 + np.exp(-np.where(answers == 1, 1, -1) * np.random.default_rng(2).random(answers.shape) * 3))
    graded = np.where(np.isnan(answers), np.nan, 2 * np.nan_to_num(answers) + right)
    yield "two_parameter_irt", lambda: two_parameter_irt(panel)
    yield "two_parameter_irt, histogram", lambda: two_parameter_irt(panel, scale="histogram")
    yield "scale_distribution", lambda: scale_distribution(panel)
    yield "rasch_test", lambda: rasch_test(panel)
    yield "permutation_null, 1000", lambda: permutation_null(panel, 1000)
    yield "permutation_null, 1000, no gaps", lambda: permutation_null(np.nan_to_num(answers), 1000)
    yield "one_factor_bootstrap, 1000", lambda: one_factor_bootstrap(panel, 1000)
    yield "revised_parallel_analysis, 1000", lambda: revised_parallel_analysis(panel, n_replicates=1000)
    yield "quadratic_fit_test, 1000", lambda: quadratic_fit_test(panel, 1000)
    yield "bootstrap_questions, 1000", lambda: bootstrap_questions(panel, 1000)
    yield "sensitivity_table, 199", lambda: sensitivity_table(panel)
    yield "factor_fit", lambda: factor_fit(panel)
    yield "residual_correlations, 199", lambda: residual_correlations(panel)
    yield "cluster_structure, 199, 4 models", lambda: cluster_structure(panel, models)
    yield "respondent_invariance, 3 groups", lambda: respondent_invariance(panel, groups)
    yield "question_invariance, 4 models", lambda: question_invariance(panel, models)
    yield "rotate, 3 factors", lambda: rotate(fit_factor_model(panel, 3).loadings)
    yield "schmid_leiman, 3 factors", lambda: schmid_leiman(correlation, 3)
    yield "polychoric, 4 categories", lambda: polychoric(graded)
    yield "graded_response_model, 4 categories", lambda: graded_response_model(graded)
    yield "metacognition_table, 200", lambda: metacognition_table(pd.DataFrame(confidence), pd.DataFrame(right))
    yield "analyse_panel, 999", lambda: analyse_panel(panel)


def per_pair_seconds(answers: np.ndarray, n_pairs: int) -> tuple[float, int]:
    """Mean seconds of ordinalcorr for one pair, and the number of pairs that it could not solve."""
    from ordinalcorr import tetrachoric

    rng = np.random.default_rng(0)
    pairs = [rng.choice(answers.shape[1], 2, replace=False) for _ in range(n_pairs)]
    failed = 0
    start = time.process_time()
    for i, j in pairs:
        both = ~(np.isnan(answers[:, i]) | np.isnan(answers[:, j]))
        try:
            tetrachoric(answers[both, i].astype(int), answers[both, j].astype(int))
        except AssertionError:  # its cdf gives a probability of -1e-16 for some pairs at extreme yes rates
            failed += 1
    return (time.process_time() - start) / n_pairs, failed


def main() -> None:
    options = parse_options()
    warnings.simplefilter("ignore")
    m, n = options.size
    print(f"{m} respondents x {n} questions, {options.missing:.0%} missing; OMP_NUM_THREADS="
          f"{os.environ.get('OMP_NUM_THREADS', 'not set')}")  # fmt: skip
    answers = simulate(m, n, options.missing, options.seed)
    repeats = options.repeats if m <= _NULLS_UP_TO else 1
    unit, table = None, {}
    for name, piece in pieces(answers):
        seconds: list[float] = []
        while len(seconds) < repeats and (not seconds or min(seconds) < _LONG):
            start = time.process_time()
            piece()
            seconds.append(time.process_time() - start)
        unit = min(seconds) if name == _UNIT else unit
        table[name] = min(seconds)
        ratio = f"{min(seconds) / unit:10.1f} x" if unit else ""
        print(f"{name:40s} {min(seconds):10.4f} s {ratio}", flush=True)
    one, failed = per_pair_seconds(answers, _PAIRS_FOR_THE_OTHER)
    n_pairs = m * (m - 1) // 2
    print(f"{'ordinalcorr, pair by pair':40s} {one * n_pairs:10.4f} s   "
          f"({one:.4f} s a pair, {_PAIRS_FOR_THE_OTHER} of {n_pairs} tried, {failed} failed)")  # fmt: skip
    in_gib = 2**30 if sys.platform == "darwin" else 2**20
    table |= {"ordinalcorr": one * n_pairs, "peak memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / in_gib}
    print(f"{'peak memory':40s} {table['peak memory']:10.2f} GiB")
    if options.table:
        with atomic_path(options.table) as path:
            column = pd.Series(table, name="measured").rename_axis("what")
            column.to_csv(path, float_format="%.4g", lineterminator="\n")


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--size", type=int, nargs=2, default=[19, 1000], metavar=("RESPONDENTS", "QUESTIONS"))
    parser.add_argument("--missing", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=3, help="the shortest is printed; large panels run once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=Path, help="also write what was measured there, as CSV")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main))

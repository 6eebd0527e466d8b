"""Tetrachoric correlation of every pair of respondents, with gaps and empty cells in plain sight."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.correlations.latent_correlation import (
    MIN_SHARED,
    ThresholdMode,
    ZeroCellRule,
    check_modes,
    correlations,
    enough_answers,
    has_empty_cell,
)
from onedial.scale.correlations.pair_counts import count_pairs
from onedial.scale.correlations.thresholds import threshold_table, thresholds_of
from onedial.stats.answers import Answers, as_answers, names, one_kind_of_answer, warn


@dataclass(frozen=True)
class TetrachoricResult:
    """Latent correlations and everything that a reader needs to doubt them.

    Attributes:
        correlation: (respondent, respondent), never smoothed.
        thresholds: (respondent,) Phi^-1 of the yes rate over all answers; higher = more often yes.
        threshold_se: (respondent,) standard errors.
        n_answers: (respondent,) questions answered.
        n_pairwise: (respondent, respondent) questions that both answered.
        zero_cells: (respondent, respondent) True where one of the four answer patterns never occurs in the pair.
        n_zero_cell_pairs: how many pairs that is.
        min_eigenvalue: of the correlation matrix; nan where the matrix has nan.
        threshold_mode, zero_cell_rule: how the correlations were estimated.
    """

    correlation: pd.DataFrame
    thresholds: pd.Series
    threshold_se: pd.Series
    n_answers: pd.Series
    n_pairwise: pd.DataFrame
    zero_cells: pd.DataFrame
    n_zero_cell_pairs: int
    min_eigenvalue: float
    threshold_mode: ThresholdMode
    zero_cell_rule: ZeroCellRule

    __repr__ = one_line


def tetrachoric(
    matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half"
) -> TetrachoricResult:
    """The correlation of the two normal variables whose thresholding gives each pair's yes/no answers.

    Formula: rho that solves Phi2(h, k; rho) = p11, with p11 the share of shared questions to which both say yes and
    h, k = Phi^-1 of the yes rates; with `thresholds="global"` the rho of greatest likelihood given h and k (Pearson,
    1900, Philosophical Transactions A 195, 1-47; Olsson, 1979, Psychometrika 44, 443-460, two-step estimation).

    Args:
        matrix: question x respondent, 1 / 0 / nan; an array, a DataFrame, or anything with `to_frame()`. Every pair
            uses the questions that both answered.
        thresholds: `pairwise`, from the questions that the pair shares, or `global`, from all answers of each
            respondent. Without gaps the two agree but for pairs with an empty cell.
        zero_cells: what happens where an answer pattern (yes-yes, yes-no, no-yes, no-no) never occurs in a pair.
            `half` puts 0.5 into the empty cells of that pair only (two identical respondents get a little less than 1,
            as in psych); `none` leaves them, and rho is where the likelihood is greatest: with thresholds of the pair
            exactly 1 (no disagreement of one kind) or -1 (no agreement of one kind), with global ones often inside;
            `exclude` gives nan. At extreme yes rates this choice decides everything: see
            docs/psychometrics.md.

    Returns:
        TetrachoricResult. Sign: positive where two respondents say yes to the same questions. nan, and a
        `PsychometricsWarning` that names the respondents, for a respondent with only one kind of answer and for
        pairs that share fewer than three answers (or, unless filled, answers of only one kind).

    Raises:
        InputError: the matrix cannot be read, or an option does not exist.

    R: `psych::tetrachoric(x, correct = .5, smooth = FALSE, global = FALSE)` for the defaults, `global = TRUE` for
    global thresholds; `polycor::polychor(x, y)` for one pair without empty cells.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> round(float(tetrachoric(answers).correlation.iloc[0, 1]), 2)  # true: .5
    0.46
    """
    check_modes(thresholds, zero_cells)
    answers = as_answers(matrix)
    tables = count_pairs(answers)
    values = correlations(tables, thresholds_of(answers), thresholds, zero_cells)
    first, second = tables.pairs
    empty = has_empty_cell(tables.tables) & answers.varies[first] & answers.varies[second]
    _warn_of_gaps(answers, values, empty if zero_cells == "exclude" else np.zeros_like(empty), tables.tables)
    labels = answers.respondents
    shared = _symmetric(tables.tables.sum(axis=0), answers.n_answered, labels)
    table = threshold_table(answers)
    return TetrachoricResult(
        correlation=pd.DataFrame(values, labels, labels),
        thresholds=table["threshold"],
        threshold_se=table["se"],
        n_answers=table["n"],
        n_pairwise=shared,
        zero_cells=_symmetric(empty, np.zeros(len(labels), dtype=bool), labels),
        n_zero_cell_pairs=int(empty.sum()),
        min_eigenvalue=float("nan") if np.isnan(values).any() else float(np.linalg.eigvalsh(values)[0]),
        threshold_mode=thresholds,
        zero_cell_rule=zero_cells,
    )


def _symmetric(upper: np.ndarray, diagonal: np.ndarray, labels: pd.Index) -> pd.DataFrame:
    first, second = np.triu_indices(len(labels), 1)
    square = np.diag(diagonal)
    square[first, second] = upper
    square[second, first] = upper
    return pd.DataFrame(square, labels, labels)


def _warn_of_gaps(answers: Answers, values: np.ndarray, excluded: np.ndarray, tables: np.ndarray) -> None:
    if not answers.varies.all():
        warn(one_kind_of_answer(names(answers.respondents[~answers.varies])))
    first, second = np.triu_indices(answers.n_respondents, 1)
    both_vary = answers.varies[first] & answers.varies[second]
    few = both_vary & ~enough_answers(tables)
    if few.any():
        warn(f"fewer than {MIN_SHARED} questions are shared by {_pair_names(answers, few)}; their correlation is nan")
    one_kind = both_vary & ~few & ~excluded & np.isnan(values[first, second])
    if one_kind.any():
        warn(
            f"over the questions that they share, one gave only one kind of answer: {_pair_names(answers, one_kind)}; "
            "their correlation is nan"
        )


def _pair_names(answers: Answers, which: np.ndarray) -> str:
    first, second = np.triu_indices(answers.n_respondents, 1)
    labels = answers.respondents
    return names(f"{labels[i]} and {labels[j]}" for i, j in zip(first[which], second[which], strict=True))

"""Tetrachoric correlations of every pair of respondents: yes and no are cuts through two normal variables.

    P(yes, yes) = Phi2(h, k; rho)

with the cuts h, k from the margins; rho maximises the likelihood of the pair's 2 x 2 table (two-step estimation,
`onedial.scale.correlations.two_by_two`). Gaps and empty cells stay in plain sight, and nothing is smoothed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.correlations.two_by_two import (
    MIN_SHARED,
    ThresholdMode,
    ZeroCellRule,
    check_modes,
    correlations,
    count_pairs,
)
from onedial.stats.answers import as_answers, names, one_kind_of_answer, warn


@dataclass(frozen=True)
class Tetrachoric:
    """Tetrachoric correlations and everything that a reader needs to doubt them.

    Attributes:
        correlation: (respondent, respondent), never smoothed.
        thresholds: (respondent,) Phi^-1 of the yes rate; higher = more often yes.
        n_pairwise: (respondent, respondent) questions that both answered.
        zero_cells: (respondent, respondent) True where one of the four answer patterns never occurs.
        threshold_mode, zero_cell_rule: how the correlations were estimated.
    """

    correlation: pd.DataFrame
    thresholds: pd.Series
    n_pairwise: pd.DataFrame
    zero_cells: pd.DataFrame
    threshold_mode: ThresholdMode
    zero_cell_rule: ZeroCellRule

    __repr__ = one_line

    @property
    def n_zero_cell_pairs(self) -> int:
        """How many pairs lack an answer pattern."""
        return int(np.triu(self.zero_cells.to_numpy(), 1).sum())

    @property
    def min_eigenvalue(self) -> float:
        """The smallest of the correlation matrix; nan where it has nan."""
        values = self.correlation.to_numpy()
        return float("nan") if np.isnan(values).any() else float(np.linalg.eigvalsh(values)[0])


def tetrachoric(matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half") -> Tetrachoric:
    """The correlation of the two normal variables whose cutting gives each pair's answers.

    Formula: above (Pearson, 1900, Philosophical Transactions A 195, 1-47; Olsson, 1979, Psychometrika 44, 443-460).

    Args:
        matrix: question x respondent, 1 / 0 / nan; an array, a DataFrame, or anything with `to_frame()`. Every pair
            uses the questions that both answered.
        thresholds: `pairwise`, from the questions that the pair shares, or `global`, from all answers of each
            respondent. Without gaps the two agree but for pairs with an empty cell.
        zero_cells: what happens where an answer pattern never occurs in a pair. `half` puts 0.5 into the empty cells of
            that pair only (two identical respondents get a little less than 1, as in psych); `none` leaves them, and
            rho is where the likelihood is greatest: with thresholds of the pair exactly 1 or -1, with global ones often
            inside. At extreme yes rates this choice decides everything (docs/psychometrics.md).

    Returns:
        Tetrachoric. Sign: positive where two respondents say yes to the same questions. nan, and a
        `PsychometricsWarning` that names them, for a respondent with only one kind of answer and for pairs that share
        fewer than three answers (or, unless filled, answers of only one kind).

    Raises:
        InputError: the matrix cannot be read, or an option does not exist.

    R: `psych::tetrachoric(x, correct = .5, smooth = FALSE, global = FALSE)$rho` with the defaults; `correct = 0` for
    `none`; `polycor::polychor(x, y)` for one pair.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> round(float(tetrachoric(answers).correlation.iloc[0, 1]), 2)  # true: .5
    0.46
    """
    check_modes(thresholds, zero_cells)
    answers = as_answers(matrix)
    labels, limits, pairs = answers.respondents, thresholds_of(answers), count_pairs(answers)
    rho = correlations(pairs, limits, thresholds, zero_cells)
    first, second = pairs.pairs
    shared, empty = pairs.tables.sum(axis=0), (pairs.tables == 0).any(axis=0)
    both_vary = answers.varies[first] & answers.varies[second]
    empty &= both_vary & (shared >= MIN_SHARED)
    if not answers.varies.all():
        warn(one_kind_of_answer(names(labels[~answers.varies])))
    few = both_vary & (shared < MIN_SHARED)
    for lacking, reason in (
        (few, f"fewer than {MIN_SHARED} questions are shared"),
        (
            both_vary & ~few & np.isnan(rho[first, second]),
            "over the questions that they share, one gave only one kind of answer",
        ),
    ):
        if lacking.any():
            each = (f"{labels[i]} and {labels[j]}" for i, j in zip(first[lacking], second[lacking], strict=True))
            warn(f"{reason}: {names(each)}; their correlation is nan")

    def square(upper: Any, diagonal: Any) -> pd.DataFrame:
        values = np.diag(diagonal)
        values[first, second] = values[second, first] = upper
        return pd.DataFrame(values, labels, labels)

    return Tetrachoric(
        correlation=pd.DataFrame(rho, labels, labels),
        thresholds=pd.Series(limits, labels, name="threshold"),
        n_pairwise=square(shared, answers.n_answered),
        zero_cells=square(empty, np.zeros(len(labels), dtype=bool)),
        threshold_mode=thresholds,
        zero_cell_rule=zero_cells,
    )

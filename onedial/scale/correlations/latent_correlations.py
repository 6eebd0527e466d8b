"""Latent correlations of every pair of respondents: answers are cuts through normal variables.

    P_kl(rho) = Phi2(a_k, b_l) - Phi2(a_k-1, b_l) - Phi2(a_k, b_l-1) + Phi2(a_k-1, b_l-1)

with the cuts a, b from the margins; rho maximises the sum of n_kl log P_kl (two-step estimation). Of yes and no they
are the tetrachoric correlations, whose maximum is known (`onedial.scale.correlations.two_by_two`), of more categories
the polychoric ones. Gaps and empty cells stay in plain sight, and nothing is smoothed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers, as_graded
from onedial.scale.correlations.bivariate_normal import bivariate_normal_cdf, solve_increasing
from onedial.scale.correlations.thresholds import normal_quantile, thresholds_of
from onedial.scale.correlations.two_by_two import (
    MIN_SHARED,
    ThresholdMode,
    ZeroCellRule,
    check_modes,
    correlations,
    count_pairs,
)
from onedial.stats.answers import Answers, names, one_kind_of_answer, warn
from onedial.stats.arrays import Booleans, Floats, Integers

_LAST_ANGLE = np.pi / 2
_FAR = 12.0  # a cut beyond which nothing lies


@dataclass(frozen=True)
class LatentCorrelations:
    """Latent correlations and everything that a reader needs to doubt them.

    Attributes:
        correlation: (respondent, respondent), never smoothed.
        thresholds: (respondent, category above the lowest) Phi^-1 of the share of answers at or above that category;
            higher = more often so high. nan above the highest category that a respondent used.
        n_pairwise: (respondent, respondent) questions that both answered.
        zero_cells: (respondent, respondent) True where a combination of two used categories never occurs.
        threshold_mode, zero_cell_rule: how the correlations were estimated.
    """

    correlation: pd.DataFrame
    thresholds: pd.DataFrame
    n_pairwise: pd.DataFrame
    zero_cells: pd.DataFrame
    threshold_mode: ThresholdMode
    zero_cell_rule: ZeroCellRule

    __repr__ = one_line

    @property
    def n_zero_cell_pairs(self) -> int:
        """How many pairs lack a combination."""
        return int(np.triu(self.zero_cells.to_numpy(), 1).sum())

    @property
    def min_eigenvalue(self) -> float:
        """The smallest of the correlation matrix; nan where it has nan."""
        values = self.correlation.to_numpy()
        return float("nan") if np.isnan(values).any() else float(np.linalg.eigvalsh(values)[0])


def latent_correlations(
    matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half"
) -> LatentCorrelations:
    """The correlation of the two normal variables whose cutting gives each pair's answers.

    Formula: above (Pearson, 1900, Philosophical Transactions A 195, 1-47; Olsson, 1979, Psychometrika 44, 443-460).

    Args:
        matrix: question x respondent, 1 / 0 / nan, or ordered numbers (at most twenty different ones); an array, a
            DataFrame, or anything with `to_frame()`. Every pair uses the questions that both answered.
        thresholds: `pairwise`, from the questions that the pair shares, or `global`, from all answers of each
            respondent. Without gaps the two agree but for pairs with an empty cell.
        zero_cells: what happens where a combination of answers never occurs in a pair. `half` puts 0.5 into the empty
            cells of that pair only (two identical respondents get a little less than 1, as in psych); `none` leaves
            them, and rho is where the likelihood is greatest: of yes and no with thresholds of the pair exactly 1 or
            -1, with global ones often inside; `exclude` gives nan. At extreme yes rates this choice decides everything
            (docs/psychometrics.md); with three or more categories it seldom decides anything.

    Returns:
        LatentCorrelations. Sign: positive where two respondents are high on the same questions. nan, and a
        `PsychometricsWarning` that names them, for a respondent with only one kind of answer and for pairs that share
        fewer than three answers (or, unless filled, answers of only one kind).

    Raises:
        InputError: the matrix cannot be read, or an option does not exist.

    R: `psych::tetrachoric(x, correct = .5, smooth = FALSE, global = FALSE)` for yes and no with the defaults;
    `psych::polychoric(x, smooth = FALSE, global = FALSE, correct = 0)` for `none` (with `correct = .5` its cuts come
    from a table that adds up to more than 1); `polycor::polychor(x, y)` for one pair.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> round(float(latent_correlations(answers).correlation.iloc[0, 1]), 2)  # true: .5
    0.46
    >>> latent_correlations(answers + (answers > 0) * (rng.random((400, 6)) < 0.5)).thresholds.shape
    (6, 2)
    """
    check_modes(thresholds, zero_cells)
    graded = as_graded(matrix)
    m, labels, varies = len(graded.respondents), graded.respondents, graded.varies
    first, second = np.triu_indices(m, 1)
    two, both_vary, limits = graded.n_used <= 2, varies[first] & varies[second], _limits(graded)
    rho = np.full((m, m), np.nan)
    tables: np.ndarray[Any, Any] = np.zeros((len(first), 0, 0), dtype=np.int64)
    if two.any():
        highest = Answers(
            (graded.codes == np.maximum(graded.codes.max(axis=0), 1)) & graded.answered, graded.answered,
            graded.questions, labels,
        ).select(two)  # fmt: skip
        binary = count_pairs(highest)
        rho[np.ix_(two, two)] = correlations(binary, thresholds_of(highest), thresholds, zero_cells)
    if two.all():
        shared, empty = binary.tables.sum(axis=0), (binary.tables == 0).any(axis=0)
    else:
        tables = _category_tables(graded)
        shared = tables.sum(axis=(1, 2))
        used = np.stack([(graded.codes == k).any(axis=0) for k in range(graded.n_categories)], axis=1)
        empty = ((tables == 0) & used[first][:, :, None] & used[second][:, None, :]).any(axis=(1, 2))
    empty &= both_vary & (shared >= MIN_SHARED)
    general = both_vary & (shared >= MIN_SHARED) & ~(two[first] & two[second])
    general &= ~empty if zero_cells == "exclude" else True
    if general.any():
        cuts = (limits[:, first[general]], limits[:, second[general]]) if thresholds == "global" else None
        rho[first[general], second[general]] = _solved(tables[general], cuts, zero_cells)
        rho[second[general], first[general]] = rho[first[general], second[general]]
    np.fill_diagonal(rho, np.where(varies, 1.0, np.nan))
    if not varies.all():
        warn(one_kind_of_answer(names(labels[~varies])))
    few = both_vary & (shared < MIN_SHARED)
    one_kind = both_vary & ~few & np.isnan(rho[first, second]) & ~(empty if zero_cells == "exclude" else False)
    for pairs, reason in (
        (few, f"fewer than {MIN_SHARED} questions are shared"),
        (one_kind, "over the questions that they share, one gave only one kind of answer"),
    ):
        if pairs.any():
            each = (f"{labels[i]} and {labels[j]}" for i, j in zip(first[pairs], second[pairs], strict=True))
            warn(f"{reason}: {names(each)}; their correlation is nan")
    return LatentCorrelations(
        correlation=pd.DataFrame(rho, labels, labels),
        thresholds=pd.DataFrame(limits.T, labels, graded.values[1:]),
        n_pairwise=_symmetric(shared, graded.answered.sum(axis=0), labels),
        zero_cells=_symmetric(empty, np.zeros(m, dtype=bool), labels),
        threshold_mode=thresholds,
        zero_cell_rule=zero_cells,
    )


def _symmetric(upper: Integers | Booleans, diagonal: Any, labels: pd.Index) -> pd.DataFrame:
    first, second = np.triu_indices(len(labels), 1)
    square = np.diag(diagonal)
    square[first, second] = square[second, first] = upper
    return pd.DataFrame(square, labels, labels)


def _limits(graded: GradedAnswers) -> Floats:
    """(cut, respondent) Phi^-1 of the share at or above each category; nan above the highest used one, but for yes and
    no, where it is minus infinity."""
    above = np.stack([(graded.codes >= k).sum(axis=0) for k in range(1, graded.n_categories)])
    limits = normal_quantile(above, graded.answered.sum(axis=0) - above)
    return limits if graded.n_categories == 2 else np.where(above > 0, limits, np.nan)


def _category_tables(graded: GradedAnswers) -> Integers:
    """(pair, category, category) counts over the questions that a pair shares."""
    k, m = graded.n_categories, len(graded.respondents)
    shown = np.concatenate([(graded.codes == category).astype(float) for category in range(k)], axis=1)
    first, second = np.triu_indices(m, 1)
    return np.rint((shown.T @ shown).reshape(k, m, k, m)[:, first, :, second]).astype(np.int64)


def _solved(tables: Integers, limits: tuple[Floats, Floats] | None, zero_cells: ZeroCellRule) -> Floats:
    """(pair,) correlations of greatest likelihood, with given (cut, pair) thresholds or those of the tables."""
    cells = tables.astype(float)
    if zero_cells == "half":
        rows, columns = tables.sum(axis=2) > 0, tables.sum(axis=1) > 0
        cells = np.where((cells == 0) & rows[:, :, None] & columns[:, None, :], 0.5, cells)
    n = cells.sum(axis=(1, 2))
    if limits is None:
        upto = [np.cumsum(cells.sum(axis=axis), axis=1)[:, :-1] / n[:, None] for axis in (2, 1)]
        a, b = (np.clip(ndtri(each), -_FAR, _FAR) for each in upto)
    else:
        a, b = (np.nan_to_num(-each.T, nan=_FAR, posinf=_FAR, neginf=-_FAR) for each in limits)

    def falling_score(angle: Floats, of: Integers) -> tuple[Floats, Floats]:
        p, slope = _cell_probabilities(a[of], b[of], np.sin(angle)[:, None, None])
        share = cells[of] / n[of, None, None]
        return -(share * slope / p).sum(axis=(1, 2)), (slope**2 / p).sum(axis=(1, 2))

    edge = np.full(len(n), _LAST_ANGLE)
    found = np.sin(solve_increasing(falling_score, -edge, edge, np.zeros(len(n)), tolerance=1e-11))
    return np.where(np.abs(found) > 1 - 1e-9, np.sign(found), found)


def _cell_probabilities(a: Floats, b: Floats, rho: Floats) -> tuple[Floats, Floats]:
    """P_kl and d P_kl / d asin(rho), (pair, category, category)."""
    x, y = a[:, :, None], b[:, None, :]
    corner = bivariate_normal_cdf(x, y, rho)
    density = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * (1 - rho**2))) / (2 * np.pi)
    pairs, rows, columns = corner.shape
    whole, steep = np.zeros((2, pairs, rows + 2, columns + 2))
    whole[:, 1:-1, 1:-1], steep[:, 1:-1, 1:-1] = corner, density
    whole[:, -1, 1:-1], whole[:, 1:-1, -1], whole[:, -1, -1] = ndtr(b), ndtr(a), 1.0
    difference = [np.diff(np.diff(part, axis=1), axis=2) for part in (whole, steep)]
    return np.maximum(difference[0], 1e-15), difference[1]

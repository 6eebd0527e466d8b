"""From 2 x 2 tables to the correlation of the two normal variables behind them, for thousands of panels at once.

A table has cells n11 (both yes), n10, n01, n00, and thresholds h and k. Given h and k the likelihood of rho is

    sum over cells of n_cell log P_cell(rho),   P11 = Phi2(h, k; rho), P10 = Phi(h) - P11, P01 = Phi(k) - P11, ...

Its score in P11 is n11/P11 - n10/P10 - n01/P01 + n00/P00, strictly falling, so the maximum is unique. With the
thresholds of the table's own margins it lies at P11 = n11/n, so that an empty cell puts rho at -1 or 1. With others
(thresholds over all answers, while the table holds only the shared questions) the score is solved first, and an empty
cell may leave the maximum inside. Then Phi2 is inverted.

Every table is reflected to h <= k <= 0 before anything is computed: exchanging respondents or yes and no therefore
gives bitwise the same number. Tables are counted as matrix products: with Y the yes answers and A the answered
questions (0/1), Y'Y counts the questions that both said yes to, Y'A those that one said yes to and the other answered,
A'A those that both answered; the rest are differences.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr

from onedial.core.errors import InputError
from onedial.scale.correlations.bivariate_normal import correlation_from_corner, solve_increasing
from onedial.scale.correlations.thresholds import normal_quantile
from onedial.stats.answers import Answers
from onedial.stats.arrays import Booleans, Floats, Integers

ThresholdMode = Literal["pairwise", "global"]
ZeroCellRule = Literal["half", "none"]

MIN_SHARED = 3  # answers that a pair must share
_LARGEST_PACKED = 2**15
_CLOSE = 1e-6  # of replicates, whose correlations are then right to 1e-11
_BLOCK = 8192  # questions at once: the products are exact in float32 and the memory stays small


def check_modes(thresholds: str, zero_cells: str) -> None:
    """Raise InputError for a threshold mode or an empty-cell rule that does not exist."""
    if thresholds not in get_args(ThresholdMode):
        raise InputError(f"thresholds={thresholds!r}; choose one of {', '.join(get_args(ThresholdMode))}")
    if zero_cells not in get_args(ZeroCellRule):
        raise InputError(f"zero_cells={zero_cells!r}; choose one of {', '.join(get_args(ZeroCellRule))}")


@dataclass(frozen=True)
class PairTables:
    """Tables of all pairs of respondents.

    Attributes:
        tables: (..., 4, pair) counts in the order yes-yes, yes-no, no-yes, no-no, where the first word is the
            respondent with the lower position; leading axes are replicates.
        n_respondents: how many respondents the pairs are made of.
    """

    tables: Integers
    n_respondents: int

    @property
    def pairs(self) -> tuple[Integers, Integers]:
        """(pair,), (pair,): the lower and the higher position of each pair."""
        return np.triu_indices(self.n_respondents, 1)


def count_pairs(answers: Answers) -> PairTables:
    """The tables of one matrix of answers."""
    m = answers.n_respondents
    both_yes, yes_answered, both_answered = np.zeros((3, m, m))
    for start in range(0, answers.n_questions, _BLOCK):
        yes, answered = (part[start : start + _BLOCK].astype(np.float32) for part in (answers.yes, answers.answered))
        both_yes += yes.T @ yes
        if answers.is_complete:
            yes_answered += yes.sum(axis=0, dtype=np.float64)[:, None]
            both_answered += len(yes)
        else:
            yes_answered += yes.T @ answered
            both_answered += answered.T @ answered
    return _tables(both_yes, yes_answered, both_answered)


def count_pairs_of_replicates(yes: Floats, answered: Floats, weights: Floats | None = None) -> PairTables:
    """The tables of many matrices, or of many resamples of one.

    Args:
        yes, answered: ((replicate,) question, respondent) 0/1; an axis that one lacks is the same in all replicates.
        weights: (replicate, question) how often each question was drawn; None = once.
    """
    sides = [np.swapaxes(part, -1, -2) * (1 if weights is None else weights[:, None]) for part in (yes, answered)]
    both_yes = sides[0] @ yes
    return _tables(both_yes, sides[0] @ answered, np.broadcast_to(sides[1] @ answered, both_yes.shape))


def _tables(both_yes: Floats, yes_answered: Floats, both_answered: Floats) -> PairTables:
    """Tables from (..., respondent, respondent) counts: both yes, the first yes where the second answered, both
    answered."""
    first, second = np.triu_indices(both_yes.shape[-1], 1)
    yes_yes = both_yes[..., first, second]
    yes_no = yes_answered[..., first, second] - yes_yes
    no_yes = yes_answered[..., second, first] - yes_yes
    no_no = both_answered[..., first, second] - yes_yes - yes_no - no_yes
    tables = np.rint(np.stack([yes_yes, yes_no, no_yes, no_no], axis=-2)).astype(np.int64)
    return PairTables(tables, both_yes.shape[-1])


def has_empty_cell(tables: Integers) -> Booleans:
    """(..., pair) True where enough questions are shared, yet one of the four answer patterns never occurs."""
    return enough_answers(tables) & (tables == 0).any(axis=-2)


def enough_answers(tables: Integers) -> Booleans:
    """(..., pair) True where the pair shares at least three answers."""
    return tables.sum(axis=-2) >= MIN_SHARED


def correlations(
    tables: PairTables, overall: Floats, thresholds: ThresholdMode, zero_cells: ZeroCellRule, repeats: bool = False
) -> Floats:
    """Correlation matrices from tables.

    Args:
        tables: (..., 4, pair). overall: (respondent,) or (..., respondent) thresholds over all answers of each
            respondent, used in mode `global`; where they are not finite, the row and column are nan.
        repeats: many tables are expected to be equal (replicates): solve each distinct one once.

    Returns:
        (..., respondent, respondent) with unit diagonal; nan for respondents that do not vary, and for pairs with fewer
        than three shared answers.
    """
    counts = tables.tables
    first, second = tables.pairs
    lead = counts.shape[:-2]
    usable = enough_answers(counts)
    finite = np.broadcast_to(np.isfinite(overall), (*lead, tables.n_respondents))
    usable &= finite[..., first] & finite[..., second]
    cells = np.moveaxis(counts, -2, 0)[:, usable]
    if thresholds == "pairwise":
        rho = _from_distinct(cells, zero_cells) if repeats else _from_own_margins(cells.astype(float), zero_cells)
    else:
        limits = np.broadcast_to(overall, (*lead, tables.n_respondents))
        rho = _from_given_thresholds(
            cells.astype(float), limits[..., first][usable], limits[..., second][usable], zero_cells
        )
    upper = np.full((*lead, len(first)), np.nan)
    upper[usable] = rho
    matrix = np.empty((*lead, tables.n_respondents, tables.n_respondents))
    matrix[..., first, second] = upper
    matrix[..., second, first] = upper
    diagonal = np.arange(tables.n_respondents)
    matrix[..., diagonal, diagonal] = np.where(finite, 1.0, np.nan)
    return matrix


def _from_distinct(cells: Integers, zero_cells: ZeroCellRule) -> Floats:
    """Solve each distinct table once; tables beyond 32,767 questions are rarely equal and are solved as they are."""
    if cells.size == 0 or cells.max() >= _LARGEST_PACKED:
        return _from_own_margins(cells.astype(float), zero_cells, _CLOSE)
    shifts = np.array([0, 15, 30, 45]).reshape(4, 1)
    keys, where = np.unique((cells << shifts).sum(axis=0), return_inverse=True)
    distinct = (keys >> shifts) & (_LARGEST_PACKED - 1)
    return _from_own_margins(distinct.astype(float), zero_cells, _CLOSE)[where]


def _from_own_margins(cells: Floats, zero_cells: ZeroCellRule, tolerance: float = 1e-9) -> Floats:
    """(pair,) correlations with the thresholds of each table's own (corrected) margins."""
    n11, n10, n01, n00 = cells = _filled(cells, zero_cells)
    n = cells.sum(axis=0)
    h = normal_quantile(n11 + n10, n01 + n00)
    k = normal_quantile(n11 + n01, n10 + n00)
    cells, h, k, sign = _reflected(cells, h, k)
    rho = np.full(len(n), np.nan)
    solvable = np.isfinite(h) & np.isfinite(k)
    probability = np.where(cells[1] == 0, 1.0, cells[0] / n)  # no discordance towards k: rho is exactly 1
    rho[solvable] = correlation_from_corner(probability[solvable], h[solvable], k[solvable], tolerance)
    return sign * rho


def _from_given_thresholds(cells: Floats, h: Floats, k: Floats, zero_cells: ZeroCellRule) -> Floats:
    """(pair,) correlations of greatest likelihood with thresholds h and k held fixed (two-step estimation)."""
    cells, h, k, sign = _reflected(_filled(cells, zero_cells), h, k)
    n11, n10, n01, n00 = cells / cells.sum(axis=0)
    p_h, p_k = ndtr(h), ndtr(k)
    rho = np.full(len(h), np.nan)
    vary = ((n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)) > 0

    def falling_score(p11: Floats, of: Integers) -> tuple[Floats, Floats]:
        p10, p01 = p_h[of] - p11, p_k[of] - p11
        p00 = 1 - p_h[of] - p01
        value = n11[of] / p11 - n10[of] / p10 - n01[of] / p01 + n00[of] / p00
        slope = n11[of] / p11**2 + n10[of] / p10**2 + n01[of] / p01**2 + n00[of] / p00**2
        return -value, slope

    start = np.clip(n11, p_h * 1e-3, p_h * (1 - 1e-3))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        probability = solve_increasing(falling_score, np.zeros_like(p_h), p_h, start, tolerance=1e-17)
    probability = np.where(probability >= p_h * (1 - 1e-12), 1.0, np.where(probability <= 1e-15, 0.0, probability))
    rho[vary] = correlation_from_corner(probability[vary], h[vary], k[vary])
    return sign * rho


def _filled(cells: Floats, zero_cells: ZeroCellRule) -> Floats:
    return np.where(cells == 0, 0.5, cells) if zero_cells == "half" else cells


def _reflected(cells: Floats, h: Floats, k: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The same tables with h <= k <= 0, and the sign that rho takes back."""
    n11, n10, n01, n00 = cells
    flip = h > 0
    n11, n01, n10, n00 = (
        np.where(flip, n01, n11), np.where(flip, n11, n01), np.where(flip, n00, n10), np.where(flip, n10, n00),
    )  # fmt: skip
    sign = np.where(flip, -1.0, 1.0)
    flip = k > 0
    n11, n10, n01, n00 = (
        np.where(flip, n10, n11), np.where(flip, n11, n10), np.where(flip, n00, n01), np.where(flip, n01, n00),
    )  # fmt: skip
    sign = np.where(flip, -sign, sign)
    h, k = -np.abs(h), -np.abs(k)
    swap = h > k
    n10, n01 = np.where(swap, n01, n10), np.where(swap, n10, n01)
    return np.stack([n11, n10, n01, n00]), np.minimum(h, k), np.maximum(h, k), sign


def cell_influences(cells: Floats, rho: Floats) -> Floats:
    """(4, pair) what a question of each answer pattern (yes-yes, yes-no, no-yes, no-no) adds to rho, up to a constant.

    With P11 = Phi2(h, k; rho), h = Phi^-1(p1), k = Phi^-1(p2), a change of the three shares changes rho by

        d rho = (d p11 - A d p1 - B d p2) / phi2(h, k; rho),   A = Phi((k - rho h) / s),  B = Phi((h - rho k) / s),

    s = sqrt(1 - rho^2) and phi2 the bivariate normal density. Its variance over the pair's table is n times that of
    rho.

    Args:
        cells: (4, pair) counts. rho: (pair,) correlations strictly between -1 and 1.
    """
    n11, n10, n01, n00 = cells
    h, k = normal_quantile(n11 + n10, n01 + n00), normal_quantile(n11 + n01, n10 + n00)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(1 - rho**2)
        density = np.exp(-(h**2 - 2 * rho * h * k + k**2) / (2 * root**2)) / (2 * np.pi * root)
        a, b = ndtr((k - rho * h) / root), ndtr((h - rho * k) / root)
        return np.stack([1 - a - b, -a, -b, np.zeros_like(a)]) / density

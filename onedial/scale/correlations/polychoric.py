"""Polychoric correlations: answers in ordered categories are cuts through normal variables.

    P_kl(rho) = Phi2(a_k, b_l) - Phi2(a_k-1, b_l) - Phi2(a_k, b_l-1) + Phi2(a_k-1, b_l-1)

with the cuts a, b from the margins; rho maximises the sum of n_kl log P_kl (two-step estimation).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers, as_graded
from onedial.scale.correlations.bivariate_normal import bivariate_normal_cdf, solve_increasing
from onedial.scale.correlations.latent_correlation import MIN_SHARED, ThresholdMode, ZeroCellRule, check_modes
from onedial.scale.correlations.tetrachoric import tetrachoric
from onedial.scale.evidence import MISSING, Codes
from onedial.stats.answers import names, warn
from onedial.stats.arrays import Booleans, Floats, Integers

_LAST_ANGLE = np.pi / 2
_FAR = 12.0  # a cut beyond which nothing lies


@dataclass(frozen=True)
class PolychoricResult:
    """Latent correlations of ordered categories.

    Attributes:
        correlation: (respondent, respondent), never smoothed.
        thresholds: (respondent, category above the lowest) Phi^-1 of the share of answers at or above that category;
            higher = more often so high. nan above the highest category that a respondent used.
        n_pairwise: (respondent, respondent) questions that both answered.
        zero_cells: (respondent, respondent) True where a combination of two used categories never occurs.
        n_zero_cell_pairs: how many pairs that is. min_eigenvalue: of the correlation matrix; nan where it has nan.
        threshold_mode, zero_cell_rule: how the correlations were estimated.
    """

    correlation: pd.DataFrame
    thresholds: pd.DataFrame
    n_pairwise: pd.DataFrame
    zero_cells: pd.DataFrame
    n_zero_cell_pairs: int
    min_eigenvalue: float
    threshold_mode: ThresholdMode
    zero_cell_rule: ZeroCellRule

    __repr__ = one_line


def polychoric(
    matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half"
) -> PolychoricResult:
    """The correlation of the two normal variables whose cutting gives each pair's ordered categories.

    Formula: above (Olsson, 1979, Psychometrika 44, 443-460). A pair in which both use two categories is the tetrachoric
    case and is solved by `tetrachoric` itself, to the last bit.

    Args:
        matrix: question x respondent, ordered numbers (at most twenty different ones), nan = missing. thresholds: from
            the questions that a pair shares (`pairwise`) or from all of a respondent's answers (`global`).
        zero_cells: `half` puts 0.5 into every empty cell of a pair's table, `none` leaves them, `exclude` gives nan.
            With three or more categories an empty cell seldom decides anything.

    Returns:
        PolychoricResult. Sign: positive where two respondents are high on the same questions. nan, with a warning, for
        a respondent that used one category only and for pairs that share fewer than three answers.

    Raises:
        InputError: the matrix cannot be read, or an option does not exist.

    R: `psych::polychoric(x, smooth = FALSE, global = FALSE, correct = 0)` for `none` (with `correct = .5` its cuts come
    from a table that adds up to more than 1); `polycor::polychor(x, y)` for one pair.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> polychoric(answers + (answers > 0) * (rng.random((400, 6)) < 0.5)).correlation.shape
    (6, 6)
    """
    check_modes(thresholds, zero_cells)
    graded = as_graded(matrix)
    m, labels = len(graded.respondents), graded.respondents
    if not graded.varies.all():
        warn(f"{names(labels[~graded.varies])} used one category only (or none), so that their correlations are nan")
    first, second = np.triu_indices(m, 1)
    tables = pair_tables(graded)
    shared = tables.sum(axis=(1, 2))
    usable = (shared >= MIN_SHARED) & graded.varies[first] & graded.varies[second]
    empty = usable & _has_hole(tables, graded, first, second)
    if zero_cells == "exclude":
        usable &= ~empty
    rho = np.full(len(first), np.nan)
    limits = cumulative_thresholds(graded)
    two = graded.n_used == 2
    binary = two[first] & two[second]
    for place in np.flatnonzero(usable & binary):
        rho[place] = _as_yes_no(graded.codes[:, [first[place], second[place]]], thresholds, zero_cells)
    general = usable & ~binary
    if general.any():
        rho[general] = _solved(tables[general], limits, first[general], second[general], thresholds, zero_cells)
    values = np.diag(np.where(graded.varies, 1.0, np.nan))
    values[first, second] = values[second, first] = rho
    n_pairwise = np.diag(graded.answered.sum(axis=0))
    n_pairwise[first, second] = n_pairwise[second, first] = shared
    holes = np.zeros((m, m), dtype=bool)
    holes[first, second] = holes[second, first] = empty
    return PolychoricResult(
        correlation=pd.DataFrame(values, labels, labels),
        thresholds=pd.DataFrame(limits.T, labels, graded.values[1:]),
        n_pairwise=pd.DataFrame(n_pairwise.astype(int), labels, labels),
        zero_cells=pd.DataFrame(holes, labels, labels),
        n_zero_cell_pairs=int(empty.sum()),
        min_eigenvalue=float("nan") if np.isnan(values).any() else float(np.linalg.eigvalsh(values)[0]),
        threshold_mode=thresholds,
        zero_cell_rule=zero_cells,
    )


def pair_tables(graded: GradedAnswers) -> Integers:
    """(pair, category, category) counts over the questions that a pair shares."""
    k, m = graded.n_categories, len(graded.respondents)
    shown = np.concatenate([(graded.codes == category).astype(np.float32) for category in range(k)], axis=1)
    counts = np.zeros((k * m, k * m))
    for start in range(0, len(shown), 8192):
        counts += shown[start : start + 8192].T @ shown[start : start + 8192]
    first, second = np.triu_indices(m, 1)
    return np.rint(counts.reshape(k, m, k, m)[:, first, :, second]).astype(np.int64)


def cumulative_thresholds(graded: GradedAnswers) -> Floats:
    """(cut, respondent) Phi^-1 of the share at or above each category; nan above the highest used one."""
    above = np.stack([(graded.codes >= k).sum(axis=0) for k in range(1, graded.n_categories)])
    with np.errstate(divide="ignore", invalid="ignore"):
        limits = ndtri(above / graded.answered.sum(axis=0))
    return np.where(above > 0, limits, np.nan)


def _has_hole(tables: Integers, graded: GradedAnswers, first: Integers, second: Integers) -> Booleans:
    """(pair,) True where a combination of categories that the two use, on whatever questions, never occurs."""
    used = np.stack([(graded.codes == k).any(axis=0) for k in range(graded.n_categories)], axis=1)
    rows, columns = used[first], used[second]
    return ((tables == 0) & rows[:, :, None] & columns[:, None, :]).any(axis=(1, 2))


def _as_yes_no(codes: Codes, thresholds: ThresholdMode, zero_cells: ZeroCellRule) -> float:
    """The tetrachoric correlation of two respondents that each use two categories."""
    pair = np.where(codes == MISSING, np.nan, codes == codes.max(axis=0))
    return float(tetrachoric(pair, thresholds, zero_cells).correlation.to_numpy()[0, 1])


def _solved(
    tables: Integers,
    limits: Floats,
    first: Integers,
    second: Integers,
    thresholds: ThresholdMode,
    zero_cells: ZeroCellRule,
) -> Floats:
    """(pair,) correlations of greatest likelihood."""
    cells = tables.astype(float)
    if zero_cells == "half":
        rows, columns = tables.sum(axis=2) > 0, tables.sum(axis=1) > 0
        cells = np.where((cells == 0) & rows[:, :, None] & columns[:, None, :], 0.5, cells)
    if thresholds == "pairwise":
        a, b = _cuts(cells.sum(axis=2)), _cuts(cells.sum(axis=1))
    else:
        a, b = (np.nan_to_num(-limits.T[who], nan=_FAR, posinf=_FAR, neginf=-_FAR) for who in (first, second))
    n = cells.sum(axis=(1, 2))

    def falling_score(angle: Floats, of: Integers) -> tuple[Floats, Floats]:
        rho = np.sin(angle)[:, None, None]
        p, slope = _cell_probabilities(a[of], b[of], rho)
        share = cells[of] / n[of, None, None]
        return -(share * slope / p).sum(axis=(1, 2)), (slope**2 / p).sum(axis=(1, 2))

    edge = np.full(len(n), _LAST_ANGLE)
    found = np.sin(solve_increasing(falling_score, -edge, edge, np.zeros(len(n)), tolerance=1e-11))
    return np.where(np.abs(found) > 1 - 1e-9, np.sign(found), found)


def _cuts(margin: Floats) -> Floats:
    """(pair, cut) between neighbouring categories, from counts (pair, category)."""
    upto = np.cumsum(margin, axis=1)[:, :-1] / margin.sum(axis=1, keepdims=True)
    return np.clip(ndtri(upto), -_FAR, _FAR)


def _cell_probabilities(a: Floats, b: Floats, rho: Floats) -> tuple[Floats, Floats]:
    """P_kl and d P_kl / d asin(rho), (pair, category, category)."""
    x, y = a[:, :, None], b[:, None, :]
    corner = bivariate_normal_cdf(x, y, rho)
    square = 1 - rho**2
    density = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * square)) / (2 * np.pi)
    pairs, rows, columns = corner.shape
    whole, steep = np.zeros((pairs, rows + 2, columns + 2)), np.zeros((pairs, rows + 2, columns + 2))
    whole[:, 1:-1, 1:-1], steep[:, 1:-1, 1:-1] = corner, density
    whole[:, -1, 1:-1], whole[:, 1:-1, -1], whole[:, -1, -1] = ndtr(b), ndtr(a), 1.0
    difference = [np.diff(np.diff(part, axis=1), axis=2) for part in (whole, steep)]
    return np.maximum(difference[0], 1e-15), difference[1]

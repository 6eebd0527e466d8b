"""Does one factor reproduce the correlations within their sampling error?

    F = sum over pairs of (r_ij - lambda_i lambda_j)^2 / Gamma_ij,ij,     T = (n - 1) F

Gamma is the covariance of root n times the correlations, from the influence of every question on each of them, and its
diagonal weighs the residuals (diagonally weighted least squares). T is not chi-squared; a T + b is, nearly, with
a = sqrt(df / tr[(U Gamma)^2]) and b = df - a tr(U Gamma), U the weights less what the loadings take up (the mean and
variance adjustment of Asparouhov and Muthen, 2010, Mplus technical note, which lavaan calls scaled and shifted).

    RMSEA = sqrt(max(0, T / df - 1) / (n - 1)),   CFI = 1 - max(0, T - df) / max(0, T0 - df0),   0 = no shared factor
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq, least_squares
from scipy.special import chdtrc, chndtr, ndtr

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.bivariate_normal import bivariate_normal_cdf
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.correlations.two_by_two import (
    ThresholdMode,
    ZeroCellRule,
    cell_influences,
    check_modes,
    correlations,
    count_pairs,
    has_empty_cell,
)
from onedial.scale.factor.minres import minres_one_factor
from onedial.scale.factor.usable import usable_answers
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text

FEWEST_FITTED, MOST_FITTED = 4, 71
"""Respondents that vary whose correlations a factor is fitted to."""


@dataclass(frozen=True)
class FactorFit:
    """How well one factor reproduces the correlations.

    Attributes:
        statistic, df, p: adjusted T, its degrees of freedom, upper tail of chi-squared.
        rmsea, rmsea_low, rmsea_high: with 90% interval. cfi: comparative fit. srmr: root mean square residual
            (the diagonal's zeros counted).
        unadjusted: T before the adjustment. baseline, baseline_df: adjusted T without a factor.
        loadings: (respondent,) of the weighted fit. n_questions, n_pairs: what went in; pairs without a correlation, or
            with one of exactly +-1, are left out.
    """

    statistic: float
    df: int
    p: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float
    cfi: float
    srmr: float
    unadjusted: float
    baseline: float
    baseline_df: int
    loadings: pd.Series
    n_questions: int
    n_pairs: int

    __repr__ = one_line

    def sentence(self) -> str:
        """What the fit is, and of how many pairs."""
        m = len(self.loadings)
        of = f"One factor on a normal scale, by {self.n_pairs} of {m * (m - 1) // 2} pairs"
        if not np.isfinite(self.rmsea) or self.n_pairs < m * (m - 1) / 4:
            return f"{of}: too few to judge its fit."
        chance = "no more than chance gives" if self.p > LEVEL else "more than chance gives"
        return (
            f"{of}: RMSEA {self.rmsea:.3f} ({self.rmsea_low:.3f} to {self.rmsea_high:.3f}), CFI {self.cfi:.3f}, SRMR "
            f"{self.srmr:.3f}; the misfit is {chance} ({p_text(self.p)})."
        )

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        return {name: value for name, value in vars(self).items() if name != "loadings"}


def factor_fit(matrix: Any, thresholds: ThresholdMode = "pairwise", zero_cells: ZeroCellRule = "half") -> FactorFit:
    """Limited-information fit of one factor, from the tables of all pairs.

    Formula: above.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least four respondents that vary, at most 71.
        thresholds, zero_cells: as in `tetrachoric`. Gaps may differ from pair to
            pair; if they fall on hard questions, so do the correlations, and the fit is that of such pairs.

    Returns:
        FactorFit. Sign: smaller RMSEA and SRMR, larger CFI and p are better.

    Raises:
        InputError: too few or too many respondents, or an option does not exist.

    R: `lavaan::cfa(f, x, ordered = names(x), std.lv = TRUE, estimator = "WLSMV", missing = "pairwise")`, the measures
    `rmsea.scaled` and `cfi.scaled`, with `thresholds="global"` here.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> factor_fit(answers).rmsea < 0.1
    True
    """
    check_modes(thresholds, zero_cells)
    answers = usable_answers(as_answers(matrix))
    m = answers.n_respondents
    if not FEWEST_FITTED <= m <= MOST_FITTED:
        raise InputError(
            f"{m} respondents that vary; the fit needs {FEWEST_FITTED} to {MOST_FITTED}, so choose among them"
        )
    rho, influence, kept = correlation_influences(answers, thresholds, zero_cells)
    gamma = influence.T @ influence / len(influence)
    first, second = (part[kept] for part in np.triu_indices(m, 1))
    weight = 1 / np.diag(gamma)
    matrix_of_rho = np.full((m, m), np.nan)
    matrix_of_rho[first, second] = matrix_of_rho[second, first] = rho
    np.fill_diagonal(matrix_of_rho, 1.0)
    start = np.clip(np.nan_to_num(minres_one_factor(matrix_of_rho)), -0.98, 0.98)

    def residual(loadings: Floats) -> Floats:
        return np.sqrt(weight) * (rho - loadings[first] * loadings[second])

    def jacobian(loadings: Floats) -> Floats:
        return -np.sqrt(weight)[:, None] * _derivatives(loadings, first, second)

    best = least_squares(residual, start, jacobian, method="lm" if len(rho) >= m else "trf")
    loadings, slopes = best.x, _derivatives(best.x, first, second)
    n = answers.n_questions - 1
    unadjusted = n * float((best.fun**2).sum())
    taken = slopes @ np.linalg.pinv((slopes * weight[:, None]).T @ slopes) @ slopes.T
    u = np.diag(weight) - weight[:, None] * taken * weight
    df, df0 = len(rho) - m, len(rho)
    statistic = _adjusted(unadjusted, df, u @ gamma)
    baseline = _adjusted(n * float((weight * rho**2).sum()), df0, weight[:, None] * gamma)
    low, high = (_rmsea_at(statistic, df, n, tail) for tail in (0.95, 0.05))
    off = rho - loadings[first] * loadings[second]
    worse = max(baseline - df0, statistic - df, 0.0)
    return FactorFit(
        statistic=statistic,
        df=df,
        p=float(chdtrc(df, max(statistic, 0.0))) if df > 0 else float("nan"),
        rmsea=float(np.sqrt(max(0.0, statistic / df - 1) / n)) if df > 0 else float("nan"),
        rmsea_low=low,
        rmsea_high=high,
        cfi=1 - max(statistic - df, 0.0) / worse if worse > 0 else 1.0,
        srmr=float(np.sqrt((off**2).sum() / (len(off) + m))),
        unadjusted=unadjusted,
        baseline=baseline,
        baseline_df=df0,
        loadings=pd.Series(loadings * (-1 if loadings.sum() < 0 else 1), answers.respondents),
        n_questions=n + 1,
        n_pairs=len(rho),
    )


def correlation_influences(
    answers: Answers, thresholds: ThresholdMode, zero_cells: ZeroCellRule
) -> tuple[Floats, Floats, Booleans]:
    """(pair,) correlations, (question, pair) the influence of every question on each, and (all pairs,) which are kept.

    The mean of the outer product of influences is the covariance of root n times the correlations.
    """
    tables = count_pairs(answers)
    first, second = tables.pairs
    limits = thresholds_of(answers)
    rho = correlations(tables, limits, thresholds, zero_cells)[first, second]
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(rho) & (np.abs(rho) < 1 - 1e-9)
    if thresholds == "pairwise":
        kept &= ~has_empty_cell(tables.tables)
    first, second, rho = first[kept], second[kept], rho[kept]
    cells = tables.tables[:, kept].astype(float)
    if zero_cells == "half":
        cells = np.where(cells == 0, 0.5, cells)
    shared = cells.sum(axis=0)
    if thresholds == "pairwise":
        weights = cell_influences(cells, rho)
        weights = weights - (weights * cells).sum(axis=0) / shared
        return rho, influences_over_questions(answers, weights, shared, first, second), kept
    scores, by_first, by_second, information = _scores_at(limits[first], limits[second], rho, tables.tables[:, kept])
    rate = answers.n_yes / answers.n_answered
    density = np.exp(-(limits**2) / 2) / np.sqrt(2 * np.pi)
    of_limits = (
        np.where(answers.answered, answers.yes - rate, 0.0) * (answers.n_questions / answers.n_answered) / density
    )
    by_question = influences_over_questions(answers, scores, shared, first, second)
    return rho, (by_question - by_first * of_limits[:, first] - by_second * of_limits[:, second]) / information, kept


def influences_over_questions(answers: Answers, weights: Floats, shared: Floats, first: Any, second: Any) -> Floats:
    """(question, pair) the weight (4, pair) of its answer pattern, scaled to all questions; 0 where one is missing."""
    yes, answered = answers.yes, answers.answered
    pattern = 2 * ~yes[:, first] + ~yes[:, second]
    values = np.take_along_axis(weights, pattern.astype(np.intp), axis=0)
    return np.where(answered[:, first] & answered[:, second], values * (answers.n_questions / shared), 0.0)


def _scores_at(h: Floats, k: Floats, rho: Floats, cells: Integers) -> tuple[Floats, Floats, Floats, Floats]:
    """(4, pair) d log P / d rho of each pattern; its mean product over the table with those by h, by k, by rho."""
    root = np.sqrt(1 - rho**2)
    both = bivariate_normal_cdf(h, k, rho)
    p = np.maximum(np.stack([both, ndtr(h) - both, ndtr(k) - both, 1 - ndtr(h) - ndtr(k) + both]), 1e-12)
    density = np.exp(-(h**2 - 2 * rho * h * k + k**2) / (2 * root**2)) / (2 * np.pi * root)
    sign = np.array([[1.0], [-1.0], [-1.0], [1.0]])
    scores = sign * density / p
    a, b = ndtr((k - rho * h) / root), ndtr((h - rho * k) / root)
    at_h, at_k = (np.exp(-(limit**2) / 2) / np.sqrt(2 * np.pi) for limit in (h, k))
    by_h = at_h * np.stack([a, 1 - a, -a, a - 1]) / p
    by_k = at_k * np.stack([b, -b, 1 - b, b - 1]) / p
    share = cells / cells.sum(axis=0)
    return scores, *((share * scores * other).sum(axis=0) for other in (by_h, by_k, scores))


def _derivatives(loadings: Floats, first: Any, second: Any) -> Floats:
    """(pair, respondent) of lambda_i lambda_j."""
    slopes, pairs = np.zeros((len(first), len(loadings))), np.arange(len(first))
    slopes[pairs, first] = loadings[second]
    slopes[pairs, second] = loadings[first]
    return slopes


def _adjusted(value: float, df: int, u_gamma: Floats) -> float:
    """a T + b with the mean and variance of chi-squared."""
    if df <= 0:
        return float("nan")
    a = np.sqrt(df / (u_gamma * u_gamma.T).sum())
    return float(a * value + df - a * np.trace(u_gamma))


def _rmsea_at(statistic: float, df: int, n: int, tail: float) -> float:
    """The RMSEA at which P(chi-squared <= statistic) is `tail`; 0 where even no misfit gives less."""
    if df <= 0 or not np.isfinite(statistic):
        return float("nan")
    if statistic <= 0 or chndtr(statistic, df, 0) < tail:  # the adjustment can take a small T below 0
        return 0.0
    top = brentq(lambda noncentrality: chndtr(statistic, df, noncentrality) - tail, 0, 10 * statistic + 100)
    return float(np.sqrt(top / (df * n)))

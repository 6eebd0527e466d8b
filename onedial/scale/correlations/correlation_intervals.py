"""How well a tetrachoric correlation is known from the answers that a pair shares.

With P11 = Phi2(h, k; rho), h = Phi^-1(p1), k = Phi^-1(p2), a change of the three shares changes rho by

    d rho = (d p11 - A d p1 - B d p2) / phi2(h, k; rho),   A = Phi((k - rho h) / s),  B = Phi((h - rho k) / s),

s = sqrt(1 - rho^2) and phi2 the bivariate normal density: the influence of one question on rho, given its answers. Its
variance over the pair's table is n times the variance of rho.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from onedial.core.cards import one_line
from onedial.scale.correlations.latent_correlation import correlations, has_empty_cell
from onedial.scale.correlations.pair_counts import count_pairs
from onedial.scale.correlations.thresholds import normal_quantile, thresholds_of
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Floats, Integers
from onedial.stats.level import Z_95


@dataclass(frozen=True)
class CorrelationIntervals:
    """Every correlation with its standard error and 95% interval.

    Attributes:
        correlation, se, low, high: (respondent, respondent); nan where a pair gives no correlation, and, for the last
            three, where one of the four answer patterns never occurs: such a table does not bound rho on one side.
    """

    correlation: pd.DataFrame
    se: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame

    __repr__ = one_line


def correlation_intervals(matrix: Any) -> CorrelationIntervals:
    """Standard errors and intervals of tetrachoric correlations, thresholds from the pair's own margins.

    Formula: the delta method above; the interval is symmetric in atanh(rho), whose error is se / (1 - rho^2) (Olsson,
    1979, Psychometrika 44, 443-460, gives the same information matrix).

    Args:
        matrix: question x respondent, 1 / 0 / nan.

    Returns:
        CorrelationIntervals. Sign: as in `tetrachoric`.

    Raises:
        InputError: the matrix cannot be read, or the rule does not exist.

    R: `polycor::polychor(x, y, std.err = TRUE)` (which treats the thresholds as known unless `ML = TRUE`).

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> found = correlation_intervals(answers)
    >>> bool(found.low.iloc[0, 1] < 0.5 < found.high.iloc[0, 1])  # the true correlation is .5
    True
    """
    answers = as_answers(matrix)
    tables = count_pairs(answers)
    correlation = correlations(tables, thresholds_of(answers), "pairwise", "half")
    first, second = tables.pairs
    rho = correlation[first, second]
    cells = tables.tables.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights, n = cell_influences(cells, rho), cells.sum(axis=0)
        share = cells / n
        variance = (share * weights**2).sum(axis=0) - (share * weights).sum(axis=0) ** 2
        error = np.sqrt(variance / n)
        error[has_empty_cell(tables.tables)] = np.nan
        on_scale = np.arctanh(rho)
        reach = Z_95 * error / (1 - rho**2)
    columns = (rho, error, np.tanh(on_scale - reach), np.tanh(on_scale + reach))
    return CorrelationIntervals(
        *(_square(values, answers, first, second, place) for place, values in enumerate(columns))
    )


def cell_influences(cells: Floats, rho: Floats) -> Floats:
    """(4, pair) what a question of each answer pattern (yes-yes, yes-no, no-yes, no-no) adds to rho, up to a constant.

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


def _square(values: Floats, answers: Answers, first: Integers, second: Integers, place: int) -> pd.DataFrame:
    diagonal = np.where(answers.varies, (1.0, 0.0, 1.0, 1.0)[place], np.nan)
    square = np.diag(diagonal)
    square[first, second] = square[second, first] = values
    return pd.DataFrame(square, answers.respondents, answers.respondents)

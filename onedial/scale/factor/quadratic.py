"""Does the loading of a respondent follow its threshold along a parabola?

    loading_i = a + b threshold_i + c threshold_i^2 + error

A high R^2 says that respondents with extreme yes rates load less. It does not say why: an empty-cell correction
alone produces it (docs/evidence.md), so read it beside its null (`quadratic_fit_test`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import fdtrc

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats

_MIN_POINTS = 4
_LEAST_FREEDOM = 3
_WIDEST_SCATTER = 4.0  # variance of loadings, which lie between -1 and 1


@dataclass(frozen=True)
class QuadraticFit:
    """Least squares parabola of loading on threshold.

    Attributes:
        intercept, linear, quadratic: the coefficients.
        r2: share of the loadings' variance that the parabola explains; nan with under four respondents.
        n: respondents in the fit.
        r2_without: (respondent,) R^2 with that respondent left out.
    """

    intercept: float
    linear: float
    quadratic: float
    r2: float
    n: int
    r2_without: pd.Series

    __repr__ = one_line

    @property
    def r2_range(self) -> tuple[float, float]:
        """Smallest and largest R^2 over the leave-one-out fits."""
        return float(self.r2_without.min()), float(self.r2_without.max())

    def predict(self, thresholds: ArrayLike) -> Floats:
        """The parabola at `thresholds`, of their shape."""
        t = np.asarray(thresholds, dtype=float)
        return self.intercept + self.linear * t + self.quadratic * t**2


def quadratic_fit(loadings: Any, thresholds: Any) -> QuadraticFit:
    """Fit the parabola.

    Formula: ordinary least squares on 1, t, t^2; R^2 = 1 - SS_residual / SS_total.

    Args:
        loadings, thresholds: (respondent,), higher = more often yes. Respondents with a value that is not finite are
            left out.

    Returns:
        QuadraticFit. Sign: quadratic < 0 when extreme thresholds go with low loadings.

    R: `summary(lm(loading ~ threshold + I(threshold^2)))`.

    >>> round(quadratic_fit([0.5, 0.8, 0.9, 0.8, 0.5], [-2, -1, 0, 1, 2]).r2, 2)
    1.0
    """
    table = pd.DataFrame({"y": loadings, "t": np.asarray(thresholds, dtype=float)}, dtype=float)
    table = table.loc[np.isfinite(table.to_numpy()).all(axis=1)]
    y, t = table.to_numpy().T
    enough = len(y) >= _MIN_POINTS and np.ptp(y) > 0
    quadratic, linear, intercept = map(float, np.polyfit(t, y, 2)) if enough else [float("nan")] * 3
    everyone = np.arange(len(y))
    r2, *without = [_r2(y[everyone != i], t[everyone != i]) for i in (-1, *everyone)]
    return QuadraticFit(intercept, linear, quadratic, r2, len(y), pd.Series(without, table.index, dtype=float))


def parabola_r2(loadings: Floats, thresholds: Floats) -> Floats:
    """R^2 of many parabolas at once.

    Args:
        loadings, thresholds: (replicate, respondent).

    Returns:
        (replicate,); nan where the loadings do not vary, or a value is not finite.
    """
    design = np.stack([np.ones_like(thresholds), thresholds, thresholds**2], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        basis, _ = np.linalg.qr(design)
        fitted = (basis @ (np.swapaxes(basis, -1, -2) @ loadings[..., None]))[..., 0]
        total = ((loadings - loadings.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
        return np.where(total > 0, 1 - ((loadings - fitted) ** 2).sum(axis=-1) / total, np.nan)


def bend_among(loadings: Floats, thresholds: Floats, covariance: Floats) -> float:
    """p of a parabola among estimated loadings: that neither t nor t^2 tells anything of them.

    Formula: generalised least squares on 1, t, t^2 with covariance V + tau^2 I, tau^2 >= 0 where the weighted residuals
    are as large as they should be (Paule and Mandel, 1982, Journal of Research of the National Bureau of Standards 87,
    377-385); F(2, m - 3), the scale factor at least 1 (Knapp and Hartung, 2003, Statistics in Medicine 22, 2693-2710).

    Args:
        loadings, thresholds: (respondent,). covariance: (respondent, respondent) V of the loadings; nan for those that
            are left out.

    Returns:
        p; nan with fewer than six respondents.
    """
    known = np.isfinite(np.diag(covariance))
    y, t, error = loadings[known], thresholds[known], covariance[np.ix_(known, known)]
    freedom = len(y) - 3
    if freedom < _LEAST_FREEDOM:
        return float("nan")
    t = (t - t.mean()) / t.std()
    design = np.stack([np.ones_like(t), t, t**2], axis=1)

    def fitted(scatter: float) -> tuple[Floats, Floats, float]:
        weight = np.linalg.inv(error + scatter * np.eye(len(y)))
        spread = np.linalg.inv(design.T @ weight @ design)
        found = spread @ design.T @ weight @ y
        residual = y - design @ found
        return found, spread, float(residual @ weight @ residual)

    scatter = 0.0
    if fitted(0.0)[2] > freedom:
        scatter = float(brentq(lambda tau: fitted(tau)[2] - freedom, 0.0, _WIDEST_SCATTER, xtol=1e-10))
    found, spread, left = fitted(scatter)
    ratio = found[1:] @ np.linalg.solve(spread[1:, 1:], found[1:]) / 2 / max(1.0, left / freedom)
    return float(fdtrc(2, freedom, ratio))


def _r2(y: Floats, t: Floats) -> float:
    return float(parabola_r2(y[None], t[None])[0]) if len(y) >= _MIN_POINTS else float("nan")

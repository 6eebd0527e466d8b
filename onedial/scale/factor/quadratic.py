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

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats

FEWEST_FOR_PARABOLA = 8
"""Respondents under which nothing is said of a parabola."""
_MIN_POINTS = 4


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
    enough = len(y) >= _MIN_POINTS and np.ptp(y) > 0 and len(np.unique(t.round(9))) > 2
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


def _r2(y: Floats, t: Floats) -> float:
    return float(parabola_r2(y[None], t[None])[0]) if len(y) >= _MIN_POINTS else float("nan")

"""Does the loading of a respondent follow its threshold along a parabola?

    loading_i = a + b threshold_i + c threshold_i^2 + error

A high R^2 says that respondents with extreme yes rates load less. It does not say why: an empty-cell correction
alone produces it (docs/psychometrics.md), so read it beside its null (`onedial.scale.quadratic_fit_test`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.core import InputError, one_line
from onedial.stats import Floats, unmasked

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
        t = unmasked(thresholds).astype(float)
        return self.intercept + self.linear * t + self.quadratic * t**2

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        low, high = self.r2_range
        return {
            "intercept": self.intercept,
            "linear": self.linear,
            "quadratic": self.quadratic,
            "r2": self.r2,
            "n": self.n,
            "r2_without_low": low,
            "r2_without_high": high,
        }


def quadratic_fit(loadings: Any, thresholds: Any) -> QuadraticFit:
    """Fit the parabola.

    Formula: ordinary least squares on 1, t, t^2; R^2 = 1 - SS_residual / SS_total.

    Args:
        loadings: (respondent,) or one column; a Series or DataFrame keeps its names. thresholds: (respondent,),
            higher = more often yes. Respondents with a value that is not finite are left out.

    Returns:
        QuadraticFit. Sign: quadratic < 0 when extreme thresholds go with low loadings.

    Raises:
        InputError: the two do not have the same length.

    R: `summary(lm(loading ~ threshold + I(threshold^2)))`.
    """
    y = unmasked(loadings).astype(float).reshape(-1)
    t = unmasked(thresholds).astype(float).reshape(-1)
    if len(y) != len(t):
        raise InputError(f"{len(y)} loadings and {len(t)} thresholds; give one of each per respondent")
    index = loadings.index if isinstance(loadings, pd.Series | pd.DataFrame) else pd.RangeIndex(len(y))
    known = np.isfinite(y) & np.isfinite(t)
    y, t, index = y[known], t[known], index[known]
    coefficients, r2 = _parabola(y, t)
    everyone = np.arange(len(y))
    without = [_parabola(y[everyone != i], t[everyone != i])[1] for i in everyone]
    intercept, linear, quadratic = map(float, coefficients)
    return QuadraticFit(intercept, linear, quadratic, r2, len(y), pd.Series(without, index, dtype=float))


def parabola_r2(loadings: Floats, thresholds: Floats) -> Floats:
    """R^2 of many parabolas at once.

    Args:
        loadings, thresholds: (replicate, respondent), finite.

    Returns:
        (replicate,); nan where the loadings do not vary.
    """
    design = np.stack([np.ones_like(thresholds), thresholds, thresholds**2], axis=-1)
    basis, _ = np.linalg.qr(design)
    fitted = (basis @ (np.swapaxes(basis, -1, -2) @ loadings[..., None]))[..., 0]
    total = ((loadings - loadings.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, 1 - ((loadings - fitted) ** 2).sum(axis=-1) / total, np.nan)


def _parabola(y: Floats, t: Floats) -> tuple[Floats, float]:
    if len(y) < _MIN_POINTS or np.ptp(y) == 0:
        return np.full(3, np.nan), float("nan")
    design = np.stack([np.ones_like(t), t, t**2], axis=1)
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ coefficients
    return coefficients, float(1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum())

"""Fit the factor of every reading of one panel: does the scale hang on where numbers are cut into yes and no?"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.panels.panel_scores import stated_confidence
from onedial.panels.panels import ResponseMatrix
from onedial.scale.factor.factor_fit import FEWEST_FITTED, MOST_FITTED, factor_fit
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.factor.nulls import Nulls
from onedial.scale.factor.quadratic import FEWEST_FOR_PARABOLA
from onedial.scale.factor.structure import permutation_null, quadratic_fit_test, revised_parallel_analysis
from onedial.scale.fits import Fits
from onedial.scale.response_model import described
from onedial.scale.study.factor_figures import eigenvalue_table

CUTS = (80.0, 90.0, 95.0, 100.0)
"""In hundredths of the panel's top."""
AS_ANSWERED = "as answered"
_FEWEST_FOR_P = 19  # below, no p is .05 or less
MOST_REPLICATES = 99
"""Of the nulls of every other reading."""


@dataclass(frozen=True)
class Reading:
    """The factor of one way to read a panel, and its nulls (None without replicates).

    Attributes:
        fits: of those that say both yes and no. shuffled: `permutation_null`; parallel:
            `revised_parallel_analysis`; parabola: `quadratic_fit_test`.
    """

    fits: Fits
    model: FactorModel
    shuffled: Any = None
    parallel: Any = None
    parabola: Any = None

    @classmethod
    def of(cls, answers: pd.DataFrame, n_replicates: int, seed: int) -> "Reading":
        """Fit the factor, and draw the nulls."""
        varied = answers.loc[:, answers.nunique() > 1]
        fits, model = Fits.of(varied), fit_factor_model(varied)
        if not n_replicates:
            return cls(fits, model)
        nulls = Nulls(fits, n_replicates, seed)
        parallel = revised_parallel_analysis(nulls)
        return cls(fits, model, permutation_null(nulls), parallel, quadratic_fit_test(nulls))

    def row(self) -> dict[str, float]:
        """What the table of readings says of it."""
        values, n = self.model.eigenvalues.to_numpy(), len(self.model.eigenvalues)
        row: dict[str, float] = {"n_models": n, "first": values[0] / n, "second": values[1] / n}
        row |= described(self.fits.null("normal", "none"), self.fits).share.columns("share")
        if self.shuffled is not None and self.parallel is not None:
            row["first_shuffled"] = float(np.nanmean(self.shuffled.simulated[:, 0])) / n
            second = self.parallel.simulated[:, 1]  # nan where the first is no more than chance: one scale makes none
            row["second_expected"] = float(np.nanmean(second)) if np.isfinite(second).any() else np.nan
            row["n_factors"] = self.parallel.n_above() if self.shuffled.n_replicates >= _FEWEST_FOR_P else np.nan
        fit = factor_fit(self.fits.answers) if FEWEST_FITTED <= len(self.fits.codes.T) <= MOST_FITTED else None
        row |= {index: np.nan if fit is None else getattr(fit, index) for index in ("rmsea", "cfi", "srmr")}
        if n < FEWEST_FOR_PARABOLA:
            return row
        row["parabola_r2"] = self.model.quadratic_fit.r2
        if self.parabola is not None:
            row |= {"parabola_p": self.parabola.p, "parabola_unrelated": self.parabola.mean}
        return row

    def eigenvalues(self) -> pd.DataFrame:
        """Eigenvalues beside both nulls; see `eigenvalue_table`."""
        return eigenvalue_table(self.model.eigenvalues.to_numpy(), self.shuffled, self.parallel)


def other_readings(as_answered: Reading, panel: ResponseMatrix, n_replicates: int, seed: int) -> pd.DataFrame:
    """One row for each way to read the panel: as answered, and where numbers were stated at every cut.

    Args:
        n_replicates: of the nulls, at most 99 but as answered; 0 = none.

    Returns:
        Index reading; n_models (that vary), first, second (shares of the variance: eigenvalue over their number),
        share (by marginal likelihood) with its 95% interval, first_shuffled, second_expected (eigenvalue that one scale
        makes), n_factors (parallel analysis; nan where so few replicates cannot tell), rmsea, cfi, srmr, parabola_r2,
        parabola_p and parabola_unrelated (R^2 where loadings have nothing to do with thresholds; nan under
        `FEWEST_FOR_PARABOLA`); nan where fewer than `FEWEST_FITTED` vary.
    """
    rows = {AS_ANSWERED: as_answered.row()}
    numbers = stated_confidence(panel)
    if numbers is not None and numbers.source == "stated":
        cuts = {f"at least {cut:g}": numbers.values >= cut / 100 - 1e-9 for cut in CUTS}
        cuts["at least its median"] = numbers.values >= numbers.values.median()
        for name, at_least in cuts.items():
            yes = at_least.astype(float).where(numbers.values.notna())
            n_varied = int((yes.nunique() > 1).sum())
            if yes.equals(panel.answers):
                rows[name] = rows[AS_ANSWERED]
                continue
            rows[name] = {"n_models": n_varied}
            if n_varied >= FEWEST_FITTED:  # else, cut there, nearly everybody says one thing
                with suppress(InputError):  # a reading beside the panel's, of which nothing can be said, is a dash
                    rows[name] = Reading.of(yes, min(n_replicates, MOST_REPLICATES), seed).row()
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table if "parabola_r2" in table else table.assign(parabola_r2=np.nan)

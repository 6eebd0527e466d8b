"""The shared factor: loadings and thresholds of the respondents, difficulties of the questions.

The model behind it: respondent i says yes to a question when lambda_i z + sqrt(1 - lambda_i^2) e > -t_i, where z is
the question's easiness, shared by all, e is the respondent's own noise, and t_i its threshold.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from onedial.core.calls import says_how
from onedial.core.cards import html_card, one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.tetrachoric import Tetrachoric, tetrachoric
from onedial.scale.correlations.thresholds import threshold_table
from onedial.scale.correlations.two_by_two import ThresholdMode, ZeroCellRule
from onedial.scale.factor import factor_file
from onedial.scale.factor.minres import (
    MAX_COMMUNALITY,
    eigenvalues,
    fill_gaps,
    minres,
    minres_one_factor,
)
from onedial.scale.factor.nulls import Simulated
from onedial.scale.factor.quadratic import QuadraticFit, quadratic_fit
from onedial.scale.factor.scores import factor_scores
from onedial.scale.factor.structure import permutation_null
from onedial.scale.factor.usable import in_threes, require_usable
from onedial.stats.answers import as_answers, names, warn
from onedial.stats.arrays import Booleans, Floats


@dataclass(frozen=True)
class FactorModel:
    """A fitted factor model.

    Attributes:
        loadings: (respondent, factor); the sum of each column is positive.
        thresholds, threshold_se: (respondent,) Phi^-1(yes rate) and its standard error; higher = more often yes.
        difficulty, difficulty_se: (question,) -EAP score of a one-factor model and its posterior standard deviation.
        eigenvalues: (rank from 1,) of the unsmoothed correlation matrix of the respondents that vary.
        explained: (factor, denominator) shares between 0 and 1 under three names: `eigenvalue_of_total_variance` =
            eigenvalue / m, unique variance included; `squared_loadings_of_total_variance` = sum of squared loadings
            / m; `squared_loadings_of_common_variance` = sum of squared loadings / sum of the positive eigenvalues of
            the correlation matrix with communalities in its diagonal.
        heywood: respondents whose uniqueness sits at its bound .005; their loadings may exceed 1, as in psych.
        n_filled_pairs: pairs without a correlation, filled by the one-factor model for the eigenvalues only.
        residual_rms: root mean square of the off-diagonal residuals.
        quadratic_fit: parabola of the first factor's loadings on the thresholds.
        tetrachoric: the correlations and counts behind all this.
        null: permutation null of the eigenvalues, if asked for.
    """

    loadings: pd.DataFrame
    thresholds: pd.Series
    threshold_se: pd.Series
    difficulty: pd.Series
    difficulty_se: pd.Series
    eigenvalues: pd.Series
    explained: pd.DataFrame
    heywood: list[Any]
    n_filled_pairs: int
    residual_rms: float
    quadratic_fit: QuadraticFit
    tetrachoric: Tetrachoric
    null: Simulated | None = None

    __repr__ = one_line

    def _repr_html_(self) -> str:
        """In Jupyter: how much one factor explains, and each respondent's loadings and threshold."""
        first = self.eigenvalues.iloc[0]
        shown = self.loadings.assign(threshold=self.thresholds).round(2)
        return html_card(
            f"factor model of {len(self.loadings)} respondents and {len(self.difficulty)} questions",
            {
                "eigenvalues": ", ".join(f"{value:.2f}" for value in self.eigenvalues.iloc[:4]) + ", ...",
                "first eigenvalue": f"{first / self.eigenvalues.clip(lower=0).sum():.0%} of the total variance",
                "residual correlations": f"root mean square {self.residual_rms:.3f}",
                "parabola of loadings on thresholds": f"R^2 {self.quadratic_fit.r2:.2f}",
                "at their bound": ", ".join(map(str, self.heywood)) or None,
            },
            shown.to_html(),
        )

    def save(self, path: Path | str) -> None:
        """Write everything as JSON (the simulated eigenvalues of the null included), all or nothing."""
        factor_file.save(self, path)

    @classmethod
    def load(cls, path: Path | str) -> "FactorModel":
        """Read what `save` wrote.

        Raises:
            InputError: the file is missing, or is not a saved factor model.
        """
        model: FactorModel = factor_file.load(cls, (Simulated, QuadraticFit, Tetrachoric), path)
        return model


@says_how
def fit_factor_model(
    matrix: Any,
    n_factors: int = 1,
    thresholds: ThresholdMode = "pairwise",
    zero_cells: ZeroCellRule = "half",
    n_permutations: int = 0,
    seed: int = 0,
) -> FactorModel:
    """Factor the tetrachoric correlations and score the questions.

    Formula: minres minimises the sum over pairs of (r_ij - lambda_i . lambda_j)^2 (`onedial.scale.factor.minres`).
    Scores are EAP (`factor_scores`). Pairs without a correlation have weight 0. Nothing is smoothed.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_factors: unrotated, in principal position; at most a third of the respondents that vary.
        thresholds, zero_cells: as in `tetrachoric`.
        n_permutations, seed: of the permutation null; 0 = none.

    Returns:
        FactorModel; respondents that do not vary have loading nan and a warning names them, as it does Heywood cases.
        Sign: each factor's loadings have a positive sum; difficulty rises as fewer respondents say yes.

    Raises:
        InputError: the matrix cannot be read, too few respondents vary or have correlations, or an option does not
            exist.

    R: `psych::fa(psych::tetrachoric(x, smooth = FALSE)$rho, n_factors, fm = "minres", rotate = "none")`, which does not
    smooth a matrix that it is given.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> model = fit_factor_model(answers)
    >>> model.loadings.round(1).to_numpy().ravel().tolist()  # true: .71
    [0.7, 0.8, 0.7, 0.7, 0.7, 0.8]
    """
    answers = as_answers(matrix)
    usable = require_usable(answers)
    if not 1 <= n_factors <= usable.n_respondents // 3:
        raise InputError(
            f"n_factors={n_factors} for {usable.n_respondents} respondents that vary; choose 1 to "
            f"{usable.n_respondents // 3}"
        )
    result, limits = tetrachoric(answers, thresholds, zero_cells), threshold_table(answers)
    correlation = result.correlation.to_numpy()[np.ix_(answers.varies, answers.varies)]
    linked = _linked(correlation, usable.respondents)
    complete = fill_gaps(correlation)
    spectrum = eigenvalues(complete)
    one_factor = _signed_within_parts(minres_one_factor(correlation), correlation, usable.respondents)
    loadings = one_factor[:, None] if n_factors == 1 else minres(correlation, n_factors)
    loadings = np.where(linked[:, None], loadings, np.nan)
    at_bound = (loadings**2).sum(axis=1) >= MAX_COMMUNALITY - 1e-6
    heywood = list(usable.respondents[at_bound])
    _warn_of_fit(usable.respondents[~linked], heywood)
    null = None
    if n_permutations:
        null = permutation_null(usable, n_permutations, seed, zero_cells)
    scores = factor_scores(usable, np.where(linked, one_factor, np.nan), limits["threshold"][answers.varies])
    every_loading = np.full((answers.n_respondents, n_factors), np.nan)
    every_loading[answers.varies] = loadings
    factors = [f"factor_{number}" for number in range(1, n_factors + 1)]
    table = pd.DataFrame(every_loading, answers.respondents, factors)
    return FactorModel(
        loadings=table,
        thresholds=limits["threshold"],
        threshold_se=limits["se"],
        difficulty=scores["difficulty"],
        difficulty_se=scores["se"],
        eigenvalues=pd.Series(spectrum, pd.RangeIndex(1, len(spectrum) + 1, name="eigenvalue")),
        explained=explained_variance(complete, loadings, factors),
        heywood=heywood,
        n_filled_pairs=int(np.isnan(correlation[np.triu_indices(len(correlation), 1)]).sum()),
        residual_rms=_residual_rms(correlation, loadings),
        quadratic_fit=quadratic_fit(table["factor_1"], limits["threshold"]),
        tetrachoric=result,
        null=null,
    )


def explained_variance(complete: Floats, loadings: Floats, factors: list[str]) -> pd.DataFrame:
    """Shares of variance under three denominators (see `FactorModel.explained`).

    Args:
        complete: (respondent, respondent) without nan. loadings: (respondent, factor). factors: their names.
    """
    m = len(complete)
    known = np.nan_to_num(loadings)
    squared = (known**2).sum(axis=0)
    reduced = complete.copy()
    np.fill_diagonal(reduced, (known**2).sum(axis=1))
    common = np.linalg.eigvalsh(reduced)
    return pd.DataFrame(
        {
            "eigenvalue_of_total_variance": eigenvalues(complete)[: len(factors)] / m,
            "squared_loadings_of_total_variance": squared / m,
            "squared_loadings_of_common_variance": squared / common[common > 0].sum(),
        },
        index=pd.Index(factors, name="factor"),
    )


def _signed_within_parts(loading: Floats, correlation: Floats, respondents: pd.Index) -> Floats:
    """One-factor loadings, each unconnected part of the panel with a positive sum; a warning names the parts."""
    n_parts, part = connected_components(np.isfinite(correlation), directed=False)
    sizes = np.bincount(part)
    if (sizes > 1).sum() > 1:
        parts = [names(respondents[part == number]) for number in range(n_parts) if sizes[number] > 1]
        warn(
            f"the panel falls into parts that share too few questions ({' | '.join(parts)}); loadings compare within a "
            "part only"
        )
    for number in range(n_parts):
        inside = part == number
        if loading[inside].sum() < 0:
            loading = np.where(inside, -loading, loading)
    return loading


def _linked(correlation: Floats, respondents: pd.Index) -> Booleans:
    """(respondent,) True for those that correlations tie to at least two others.

    Raises:
        InputError: that is nobody.
    """
    linked = in_threes(np.isfinite(correlation))
    if not linked.any():
        raise InputError(
            f"no three of {names(respondents)} have correlations with one another, so there is no shared factor to "
            "estimate; give respondents that answered the same questions"
        )
    return linked


def _residual_rms(correlation: Floats, loadings: Floats) -> float:
    residual = (correlation - loadings @ loadings.T)[np.triu_indices(len(correlation), 1)]
    return float(np.sqrt(np.nanmean(residual**2)))


def _warn_of_fit(unplaced: pd.Index, heywood: list[Any]) -> None:
    if len(unplaced):
        warn(f"{names(unplaced)} could not be correlated with two others, as a loading needs; loading nan")
    if heywood:
        warn(
            f"Heywood case: the uniqueness of {names(heywood)} is at its bound {1 - MAX_COMMUNALITY:.3f}; do not read "
            "these loadings to the second digit"
        )

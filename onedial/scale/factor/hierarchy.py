"""One general factor and what groups of respondents share besides: Schmid-Leiman loadings and omega.

Correlated factors with pattern P and correlations Phi have a general factor of their own: Phi = g g' + D^2, D^2 =
diag(1 - g^2). Then

    general loading_i = sum over factors of P_if g_f,     group loading_if = P_if sqrt(1 - g_f^2)

(Schmid and Leiman, 1957, Psychometrika 22, 53-61). Of the variance of the number of yes (standardised, one hidden
variable for each respondent),

    omega_h = (sum of general loadings)^2 / sum of r_ij         what the general factor makes
    omega   = 1 - sum of unique variances / sum of r_ij         what all common factors make

(McDonald, 1999, Test Theory, chapter 6; Revelle and Zinbarg, 2009, Psychometrika 74, 145-154).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.core import InputError, one_line
from onedial.scale.checks.replicates import fill_gaps
from onedial.scale.factor.minres import minres, minres_one_factor
from onedial.scale.factor.rotation import rotate
from onedial.stats import Floats


@dataclass(frozen=True)
class Hierarchy:
    """A general factor over group factors.

    Attributes:
        loadings: (respondent, `general` and group factors). communality: (respondent,).
        correlation: (factor, factor) of the oblique group factors. general: (factor,) their loadings on the general
            one; of two factors, whose general loadings are not determined, both are the root of their correlation.
        omega_hierarchical, omega_total: shares of the variance of a sum of answers. explained_common: share of the
            common variance that is general (sum of squared general loadings over sum of communalities).
        share_general: (respondent,) general loading squared over communality.
    """

    loadings: pd.DataFrame
    communality: pd.Series
    correlation: pd.DataFrame
    general: pd.Series
    omega_hierarchical: float
    omega_total: float
    explained_common: float
    share_general: pd.Series

    __repr__ = one_line

    def sentence(self) -> str:
        """What the hierarchy says."""
        n = self.loadings.shape[1] - 1
        return (
            f"Over {n} group factors, one general factor makes {self.explained_common:.0%} of the common variance "
            f"(omega hierarchical {self.omega_hierarchical:.2f} of omega total {self.omega_total:.2f})."
        )


def schmid_leiman(correlation: pd.DataFrame | Floats, n_factors: int = 3, seed: int = 0) -> Hierarchy:
    """Schmid-Leiman loadings and omega from a correlation matrix.

    Formula: above, with minres factors rotated by oblimin, and minres again on their correlations.

    Args:
        correlation: (respondent, respondent), such as `tetrachoric(panel).correlation`; nan = weight 0. n_factors:
            group factors, at least 2 and at most a third of the respondents. seed: of the rotation's random starts.

    Returns:
        Hierarchy. Sign: the general loadings have a positive sum; a group factor that runs against the general one has
        a negative `general`.

    Raises:
        InputError: not square, or too few respondents for that many factors.

    R: `psych::schmid(r, n_factors, fm = "minres", rotate = "oblimin")`, `psych::omega(r, n_factors, flip = FALSE)`.

    >>> correlation = np.kron(0.2 * np.eye(3), np.ones((3, 3))) + np.full((9, 9), 0.3) + 0.5 * np.eye(9)
    >>> round(schmid_leiman(correlation).omega_hierarchical, 2)
    0.71
    """
    frame = correlation if isinstance(correlation, pd.DataFrame) else pd.DataFrame(np.asarray(correlation, dtype=float))
    values = frame.to_numpy(dtype=float)
    if values.shape[0] != values.shape[1]:
        raise InputError(f"a correlation matrix is square, and this one is {values.shape[0]} x {values.shape[1]}")
    known = np.asarray(np.isfinite(np.where(np.eye(len(values), dtype=bool), np.nan, values)).any(axis=1))
    m = int(known.sum())
    if not 2 <= n_factors <= m // 3:
        raise InputError(f"n_factors={n_factors} for {m} respondents with correlations; choose 2 to {max(2, m // 3)}")
    part = values[np.ix_(known, known)]
    rotated = rotate(minres(part, n_factors), "oblimin", seed)
    pattern, between = rotated.loadings.to_numpy(), rotated.correlation.to_numpy()
    general = np.clip(_general_of(between), -1, 1)
    of_general, of_groups = pattern @ general, pattern * np.sqrt(1 - general**2)
    if of_general.sum() < 0:
        general, of_general = -general, -of_general
    communality = ((pattern @ between) * pattern).sum(axis=1)
    whole = fill_gaps(part)
    total = whole.sum()
    columns = ["general", *(f"group_{f}" for f in range(1, n_factors + 1))]
    names, factors = frame.index[known], columns[1:]
    return Hierarchy(
        loadings=pd.DataFrame(np.column_stack([of_general, of_groups]), names, columns).reindex(frame.index),
        communality=pd.Series(communality, names).reindex(frame.index),
        correlation=pd.DataFrame(between, factors, factors),
        general=pd.Series(general, factors),
        omega_hierarchical=float(of_general.sum() ** 2 / total),
        omega_total=float(1 - (1 - communality).sum() / total),
        explained_common=float((of_general**2).sum() / communality.sum()),
        share_general=pd.Series(of_general**2 / communality, names).reindex(frame.index),
    )


def _general_of(between: Floats) -> Floats:
    """(factor,) loadings of the factors on the general one."""
    if len(between) == 2:
        rho = between[0, 1]
        return np.sqrt(abs(rho)) * np.array([1.0, np.sign(rho)])
    return minres_one_factor(between)

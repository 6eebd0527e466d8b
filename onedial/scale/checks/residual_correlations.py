"""What two respondents still have in common once the shared scale is accounted for: Yen's Q3.

    Q3_ij = correlation over questions of  x_qi - E_i(z_q)  and  x_qj - E_j(z_q),     z_q = EAP of the question

With one factor and nothing else Q3 is not 0 but slightly negative, because each respondent's own answer has moved z_q,
and differently for every pair. It is therefore compared with its distribution in answers simulated from the model. That
distribution is skewed where one of a pair hardly ever says yes, or no. With v and k the variance and the third central
moment of an answer at z_q, summed over the questions that both answered,

    sd^2 = sum v_i v_j / (sum v_i sum v_j)        skewness = sum k_i k_j / (sum v_i v_j)^1.5

and z is the normal score of Pearson's type III distribution of these moments, never larger than the plain ratio. Spread
and skewness are the model's, so that z does not hang on which answers were drawn. Of hundreds of pairs the largest is
always large: a pair counts where it lies beyond the largest of all simulated pairs, and is not too small to matter.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import pearson3

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.evidence import MISSING, Codes
from onedial.scale.factor.nulls import Simulated, one_factor_categories
from onedial.scale.fits import Fits
from onedial.scale.likelihood import AsymptoteKind, MarginalFit
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.level import LEVEL, p_value
from onedial.stats.power import POWER

RESIDUAL_OF_INTEREST = 0.2  # where the literature begins to speak of local dependence
FLOOR = 0.1  # below which a residual is no finding, however certain it is: a hundredth of what the scale leaves open


@dataclass(frozen=True)
class ResidualCorrelations:
    """Q3 of every pair beside its null.

    Attributes:
        pairs: one row per pair, the strongest first: `first, second, n` (questions both answered), `q3`, `null_mean`
            (of simulated and observed values together), `null_sd`, `z`, `p` (two-sided, of z), `q` (of the largest |z|
            in each simulated matrix, so that the whole table errs in 5%).
        largest: largest |z| of all pairs against that of each simulated matrix.
    """

    pairs: pd.DataFrame
    largest: Simulated

    __repr__ = one_line

    def violations(self) -> pd.DataFrame:
        """Pairs with something in common, or something opposed, beyond the scale: certain, and not below FLOOR."""
        size = (self.pairs["q3"] - self.pairs["null_mean"]).abs()
        return self.pairs[(self.pairs["q"] <= LEVEL) & (size >= FLOOR)]

    @property
    def least(self) -> float:
        """The residual correlation of a pair, in the middle of all, that would be found with a power of 80%."""
        critical = float(np.quantile(self.largest.simulated, 1 - LEVEL))
        return max(FLOOR, (critical + float(ndtri(POWER))) * float(self.pairs["null_sd"].median()))


def residual_correlations(
    matrix: Any, n_replicates: int = 199, seed: int = 0, asymptotes: AsymptoteKind = "common"
) -> ResidualCorrelations:
    """Q3 of every pair of respondents, with its null.

    Formula: above (Yen, 1984, Applied Psychological Measurement 8, 125-145). Null: answers simulated from the fitted
    model, places from the posterior, gaps kept, and scored again. q = (1 + #{largest |z| of a simulated matrix >= |z|})
    / (B + 1) (Westfall and Young, 1993, Resampling-Based Multiple Testing; Christensen, Makransky and Horton, 2017,
    Applied Psychological Measurement 41, 178-194, on why no fixed limit for Q3 will do).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
        n_replicates: B. seed: of the simulation. asymptotes: answers at random, as in `response_model`.

    Returns:
        ResidualCorrelations. Sign: positive = the two say yes to the same questions beyond what the scale makes them.

    Raises:
        InputError: fewer than three respondents vary or hang together, or B < 1.

    R: `mirt::residuals(fit, type = "Q3")` for the values.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> residual_correlations(answers, 19).pairs.shape[0]
    15
    """
    if n_replicates < 1:
        raise InputError(f"n_replicates={n_replicates}; ask for at least 1")
    fits = Fits.of(matrix)
    used, codes, fit = fits.answers, fits.codes, fits.null("histogram", asymptotes)
    drawn = one_factor_categories(fit, n_replicates, np.random.default_rng(seed))
    first, second = np.triu_indices(codes.shape[1], 1)
    observed = [q3_of(one, fit)[first, second] for one in (*drawn, codes)]
    values, mean = np.stack(observed), np.nanmean(observed, axis=0)
    sd, skewness = (moment[first, second] for moment in null_moments(codes, fit))
    every_z = normal_scores((values - mean) / sd, skewness)
    largest_z, z = np.nanmax(np.abs(every_z), axis=1), every_z[-1]
    largest = Simulated.beside(largest_z[-1], largest_z[:-1])
    answered = used.answered.astype(float)
    pairs = pd.DataFrame(
        {
            "first": used.respondents[first],
            "second": used.respondents[second],
            "n": (answered.T @ answered)[first, second].astype(int),
            "q3": values[-1],
            "null_mean": mean,
            "null_sd": sd,
            "z": z,
            "p": 2 * ndtr(-np.abs(z)),
            "q": [p_value(size, largest.simulated) if np.isfinite(size) else np.nan for size in np.abs(z)],
        }
    )
    pairs = pairs.reindex(pairs["z"].abs().sort_values(ascending=False).index).reset_index(drop=True)
    return ResidualCorrelations(pairs, largest)


def q3_of(codes: Codes, fit: MarginalFit) -> Floats:
    """(respondent, respondent) correlations of residuals over the questions that a pair shares.

    nan under three of them, or where residuals do not vary.
    """
    answered = codes != MISSING
    expected = _at_least(codes, fit).sum(axis=0)
    return _pairwise_correlation(np.where(answered, codes - expected, 0.0), answered)


def null_moments(codes: Codes, fit: MarginalFit) -> tuple[Floats, Floats]:
    """(respondent, respondent) standard deviation and skewness of Q3 with one factor and nothing else: above."""
    at_least, answered = _at_least(codes, fit), (codes != MISSING).astype(float)
    k = np.arange(1, len(at_least) + 1)[:, None, None]
    mean, square, cube = ((weight * at_least).sum(axis=0) for weight in (1, 2 * k - 1, 3 * k**2 - 3 * k + 1))
    variance = (square - mean**2) * answered
    third = (cube - 3 * mean * square + 2 * mean**3) * answered
    both, of_one = variance.T @ variance, variance.T @ answered
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(both / (of_one * of_one.T)), third.T @ third / both**1.5


def normal_scores(values: Floats, skewness: Floats) -> Floats:
    """Normal scores of standardised values that have these skewnesses; a value's own size is the most it can get.

    >>> normal_scores(np.array([4.0, 4.0, -4.0]), np.array([0.0, 1.0, 1.0])).round(1)
    array([ 4. ,  2.8, -4. ])
    """
    smaller = ndtri(np.stack([pearson3.cdf(values, skewness), pearson3.sf(values, skewness)]).min(axis=0))
    return np.sign(values) * np.minimum(-smaller, np.abs(values))


def _at_least(codes: Codes, fit: MarginalFit) -> Floats:
    """(category but the first, question, respondent) probability of an answer in it or above, at a question's place."""
    joint = fit.log_likelihoods(codes) + fit.log_weight
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    place = joint @ fit.nodes / joint.sum(axis=1)
    at_least = ndtr(place[:, None] * fit.curves.slope + fit.curves.cuts[:, None])
    if fit.curves.floors is not None:
        from_floor = fit.curves.floors[::-1].cumsum(axis=0)[::-1][1:]
        at_least = from_floor[:, None] + fit.curves.attentive * at_least
    return at_least


def _pairwise_correlation(values: Floats, known: Booleans) -> Floats:
    seen = known.astype(float)
    n = seen.T @ seen
    total, squared = values.T @ seen, (values**2).T @ seen
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        covariance = (values.T @ values) / n - mean * mean.T
        variance = squared / n - mean**2
        found = covariance / np.sqrt(variance * variance.T)
    return np.where((n >= 3) & np.isfinite(found), found, np.nan)

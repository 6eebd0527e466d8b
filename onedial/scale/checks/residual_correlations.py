"""What two respondents still have in common once the shared scale is accounted for: a score test of every pair.

Under the response model the hidden answers of two respondents are independent given where a question lies. If those of
i and j correlate by rho beyond it, the log likelihood of question q rises with rho at 0 by

    u_q = E[s_i s_j | answers to q],    s_i = d log P_i(x_qi | z) / d cut_i

(for two normal variables d Phi2 / d rho = phi2). What curves and scale would take up is taken off: with S_q the
question's scores for all other parameters and B the regression of u on S, r_q = u_q - B S_q,

    rho = sum(r) / (n v),    se = 1 / sqrt(n v),    z = rho / se,    v = variance of r

rho is what a free residual correlation would be expected to become (the expected parameter change beside a modification
index). So a pair to which the scale itself has turned is found too: fitted residuals of such a pair are small, and its
score is not. B, v and the skewness of r, which is large where one of a pair hardly ever says yes, or no, are those of
answers drawn from the model, since observed scores are too few beside so many parameters; v is that of the observed
ones where it is larger. z is the normal score of Pearson's type III distribution, never larger than the plain ratio. A
pair whose variance comes from fewer than ten questions, sum(r^2)^2 / sum(r^4), tells nothing. Of hundreds of pairs the
largest is always large: p values are adjusted, and a pair counts where its correlation is not too small to matter.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import pearson3

from onedial.core.cards import one_line
from onedial.scale.drawn_answers import drawn_answers
from onedial.scale.fits import Fits
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, Model, ScaleKind
from onedial.scale.response_curves import Chances
from onedial.scale.standard_errors import free_parameters, nuisance_scores
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, least_z
from onedial.stats.multiple_tests import holm

RESIDUAL_OF_INTEREST, FLOOR = 0.3, 0.15
"""Of hidden answers: of yes and no .2, where the literature begins to speak of local dependence, and .1, below which a
residual is no finding, however certain it is."""
_CELLS_AT_ONCE = 4_000_000
_ROWS_PER_PARAMETER = 40  # that are drawn: B costs a fortieth of the variance
_FEWEST = 10  # questions that a pair's variance comes from, in effect


@dataclass(frozen=True)
class ResidualCorrelations:
    """Every pair beyond the scale.

    Attributes:
        pairs: one row per pair, the strongest first: `first, second, n` (questions both answered), `residual`
            (correlation of their hidden answers that the scale leaves open, at most 1 in size), `se, z, p` (two-sided),
            `q` (Holm, so that the whole table errs in 5%); nan from `z` on where so few answers tell nothing.
    """

    pairs: pd.DataFrame

    __repr__ = one_line

    def violations(self) -> pd.DataFrame:
        """Pairs with something in common, or something opposed, beyond the scale: certain, and not below FLOOR."""
        return self.pairs[(self.pairs["q"] <= LEVEL) & (self.pairs["residual"].abs() >= FLOOR)]

    def power(self, residual: float) -> float:
        """How often a pair with this residual correlation would be found, wherever it is; 0 where none was tested."""
        tested = self.pairs[self.pairs["q"].notna()]
        needed = np.maximum(least_z(len(tested), 0.5) * tested["se"], FLOOR)
        return float(ndtr((residual - needed) / tested["se"]).mean()) if len(tested) else 0.0


def residual_correlations(
    matrix: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none", seed: int = 0
) -> ResidualCorrelations:
    """Test every pair of respondents for a correlation beyond the scale.

    Formula: above (Rao, 1948, Proceedings of the Cambridge Philosophical Society 44, 50-57; on local dependence Glas
    and Suarez Falcon, 2003, Applied Psychological Measurement 27, 87-106). Adjustment: Holm (1979, Scandinavian Journal
    of Statistics 6, 65-70).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. scale, asymptotes: of the
            model, as in `response_model`. seed: of the answers that are drawn.

    Returns:
        ResidualCorrelations. Sign: positive = the two say yes to the same questions beyond what the scale makes them.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `lavaan::modindices(fit)`, columns `mi` (z squared) and `epc`.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((800, 8))
    >>> noise[:, 1] = 0.6 * noise[:, 0] + 0.8 * noise[:, 1]  # something that only these two share
    >>> named = residual_correlations(rng.standard_normal((800, 1)) + noise > 0).violations()
    >>> named[["first", "second"]].iloc[0].tolist()
    [0, 1]
    """
    fits = Fits.of(matrix)
    fit, names = fits.fit(Model(scale, asymptotes)), fits.answers.respondents
    first, second = np.triu_indices(len(names), 1)
    free, n = free_parameters(fit), len(fit.codes)
    observed = _scores(fit, free)
    n_draws = -(-_ROWS_PER_PARAMETER * (observed.shape[1] - len(first)) // n)
    draws = drawn_answers(fit, n_draws, np.random.default_rng(seed))
    drawn = np.concatenate([_scores(replace(fit, codes=codes), free) for codes in draws])
    other, scores = np.split(drawn, [-len(first)], axis=1)
    slopes = np.linalg.pinv(other.T @ other) @ (other.T @ scores)
    left, here = scores - other @ slopes, observed[:, -len(first) :] - observed[:, : -len(first)] @ slopes
    total, variance = here.sum(axis=0), np.maximum((left**2).mean(axis=0), (here**2).mean(axis=0))
    answered = fits.answers.answered.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        se = 1 / np.sqrt(n * variance)
        enough = np.minimum(_questions_behind(left) / n_draws, _questions_behind(here)) >= _FEWEST
        z = normal_scores(total * se, (left**3).mean(axis=0) / np.sqrt(n * variance**3))
        z = np.where(enough, z, np.nan)
        pairs = pd.DataFrame(
            {
                "first": names[first],
                "second": names[second],
                "n": (answered.T @ answered)[first, second].astype(int),
                "residual": np.clip(total * se**2, -1, 1),
                "se": se,
                "z": z,
                "p": 2 * ndtr(-np.abs(z)),
            }
        )
    pairs["q"] = holm(pairs["p"].to_numpy())
    return ResidualCorrelations(pairs.sort_values("z", key=np.abs, ascending=False, ignore_index=True))


def normal_scores(values: Floats, skewness: Floats) -> Floats:
    """Normal scores of standardised values that have these skewnesses; a value's own size is the most it can get.

    >>> normal_scores(np.array([4.0, 4.0, -4.0]), np.array([0.0, 1.0, 1.0])).round(1)
    array([ 4. ,  2.8, -4. ])
    """
    smaller = ndtri(np.stack([pearson3.cdf(values, skewness), pearson3.sf(values, skewness)]).min(axis=0))
    return np.sign(values) * np.minimum(-smaller, np.abs(values))


def _questions_behind(left: Floats) -> Floats:
    """(pair,) of how many questions each variance is, in effect."""
    return (left**2).sum(axis=0) ** 2 / (left**4).sum(axis=0)


def _scores(fit: MarginalFit, free: Floats) -> Floats:
    """(question, parameter and then pair)."""
    return np.column_stack([nuisance_scores(fit, free), pair_scores(fit)])


def pair_scores(fit: MarginalFit) -> Floats:
    """(question, pair) by how much each question's log likelihood rises with the residual correlation of each pair."""
    chances, m = Chances.of(fit.curves, fit.nodes), len(fit.curves.slope)
    rise = np.exp(np.minimum(chances.log_rise[0] - chances.log_p, 600.0))  # (answer, respondent, node)
    by_cut = np.stack([-rise[0], rise[1], np.zeros_like(rise[0])])  # the last where there is no answer
    first, second = np.triu_indices(m, 1)
    scores_of_pairs, size = np.empty((len(fit.codes), len(first))), max(1, _CELLS_AT_ONCE // rise[0].size)
    for start in range(0, len(scores_of_pairs), size):
        rows = slice(start, start + size)
        shown = by_cut[fit.codes[rows], np.arange(m)]  # MISSING, -1, is the last
        both = (shown * fit.posterior[rows, None]) @ shown.transpose(0, 2, 1)
        scores_of_pairs[rows] = both[:, first, second]
    return scores_of_pairs

"""What two respondents still have in common once the shared scale is accounted for: Yen's Q3.

    Q3_ij = correlation over questions of  x_qi - P_i(z_q)  and  x_qj - P_j(z_q),     z_q = EAP of the question

With one factor and nothing else Q3 is not 0 but slightly negative, because each respondent's own answer has moved z_q,
and differently for every pair. It is therefore compared with its distribution in answers simulated from the model. That
distribution has heavier tails than a normal one where a pair's cells are few, and of hundreds of pairs the largest is
always large: a pair counts where it lies beyond the largest of all simulated pairs, and is not too small to matter.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from onedial.core.cards import one_line
from onedial.scale.checks.draws import one_factor_answers
from onedial.scale.checks.simulation import Simulated, checked_for_simulation
from onedial.scale.evidence import MISSING, Codes, Data, codes_of
from onedial.scale.gap_model import null_model
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, ScaleKind
from onedial.stats.answers import Answers
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.level import LEVEL, p_value
from onedial.stats.multiple_tests import p_text
from onedial.stats.power import POWER

RESIDUAL_OF_INTEREST = 0.2  # where the literature begins to speak of local dependence
FLOOR = 0.1  # below which a residual is no finding, however certain it is: a hundredth of what the scale leaves open


@dataclass(frozen=True)
class ResidualCorrelations:
    """Q3 of every pair beside its null.

    Attributes:
        pairs: one row per pair, the strongest first: `first, second, n` (questions both answered), `q3`, `null_mean`,
            `null_sd`, `z` (by mean and spread of simulated and observed values together), `p` (two-sided, of the pair's
            own simulated values), `q` (of the largest |z| in each simulated matrix, so that the whole table errs in
            5%).
        matrix: (respondent, respondent) q3 - null_mean.
        largest: largest |z| of all pairs against that of each simulated matrix.
        spread: standard deviation of q3 - null_mean over the pairs against the simulated ones: many small residuals.
        seed: of the simulation.
    """

    pairs: pd.DataFrame
    matrix: pd.DataFrame
    largest: Simulated
    spread: Simulated
    seed: int

    __repr__ = one_line

    def violations(self, alpha: float = LEVEL) -> pd.DataFrame:
        """Pairs with something in common, or something opposed, beyond the scale: certain, and not below FLOOR."""
        size = (self.pairs["q3"] - self.pairs["null_mean"]).abs()
        return self.pairs[(self.pairs["q"] <= alpha) & (size >= FLOOR)]

    @property
    def least(self) -> float:
        """The residual correlation of a pair, in the middle of all, that would be found with a power of 80%."""
        critical = float(np.quantile(self.largest.simulated, 1 - LEVEL))
        return max(FLOOR, (critical + float(ndtri(POWER))) * float(self.pairs["null_sd"].median()))

    def sentence(self) -> str:
        """What the residuals say."""
        found = self.violations()
        if not len(found) and not self.least <= RESIDUAL_OF_INTEREST:
            return (
                f"No pair of respondents was found to share something beyond the scale, but {RESIDUAL_OF_INTEREST:g} "
                f"would be missed more often than in 20% (found in 80%: {self.least:.2f})."
            )
        if not len(found):
            return (
                f"No pair of respondents has {FLOOR:g} or more in common beyond the scale (largest |z| "
                f"{self.largest.observed:.1f}, {p_text(self.largest.p)}; {self.least:.2f} would be found in 80%)."
            )
        first = found.iloc[0]
        most = f"{first['first']} and {first['second']} (residual {first['q3'] - first['null_mean']:+.2f})"
        return (
            f"{len(found)} of {len(self.pairs)} pairs have {FLOOR:g} or more in common, or opposed, beyond the scale, "
            f"most of all {most}."
        )


def residual_correlations(
    matrix: Any,
    n_replicates: int = 199,
    seed: int = 0,
    scale: ScaleKind = "histogram",
    asymptotes: AsymptoteKind = "none",
) -> ResidualCorrelations:
    """Q3 of every pair of respondents, with its null.

    Formula: above (Yen, 1984, Applied Psychological Measurement 8, 125-145). Null: answers simulated from the fitted
    model, places from the posterior, gaps kept, and scored again. q = (1 + #{largest |z| of a simulated matrix >= |z|})
    / (B + 1) (Westfall and Young, 1993, Resampling-Based Multiple Testing; Christensen, Makransky and Horton, 2017,
    Applied Psychological Measurement 41, 178-194, on why no fixed limit for Q3 will do).

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. n_replicates: B. seed: of the
            simulation. scale, asymptotes: distribution of the questions and answers at random, as in
            `response_model`.

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
    answers = checked_for_simulation(matrix, n_replicates, "pairwise", "half")
    fit = null_model(answers, scale, asymptotes=asymptotes)
    draws = one_factor_answers(fit, n_replicates, np.random.default_rng(seed))
    simulated = np.concatenate([_batch_q3(yes, answers, fit) for yes, _ in draws])
    return beside_simulated(codes_of(answers), fit, simulated, answers.respondents, seed)


def beside_simulated(
    codes: Codes, fit: MarginalFit, simulated: Floats, respondents: pd.Index, seed: int
) -> ResidualCorrelations:
    """Q3 of answers in any number of categories beside that of matrices simulated from `fit`.

    Args:
        simulated: (replicate, respondent, respondent) of `q3_of`.
    """
    observed, answered = q3_of(codes, fit), (codes != MISSING).astype(float)
    first, second = np.triu_indices(len(respondents), 1)
    values, null = observed[first, second], simulated[:, first, second]
    mean, sd, b = np.nanmean(null, axis=0), np.nanstd(null, axis=0, ddof=1), len(null)
    # the observed values help to set their own unit: left out, the largest of hundreds errs in 15% with 99 replicates
    together = np.concatenate([null, values[None]])
    width = np.nanstd(together, axis=0, ddof=1)
    off = together - np.nanmean(together, axis=0)
    every_z = off / np.where(width > 0, width, np.nan)
    z, null_size, size = every_z[-1], np.abs(every_z[:-1]), np.abs(every_z[-1])
    null_largest = np.nanmax(null_size, axis=1)
    p = np.where(np.isfinite(z), (1 + (null_size >= size).sum(axis=0)) / (b + 1), np.nan)
    q = np.where(np.isfinite(z), (1 + (null_largest[:, None] >= size).sum(axis=0)) / (b + 1), np.nan)
    pairs = pd.DataFrame(
        {
            "first": respondents[first], "second": respondents[second],
            "n": (answered.T @ answered)[first, second].astype(int),
            "q3": values, "null_mean": mean, "null_sd": sd, "z": z, "p": p, "q": q,
        }
    )  # fmt: skip
    excess = np.zeros_like(observed)
    excess[first, second] = excess[second, first] = values - mean
    largest = np.nanmax(size)
    spreads = np.nanstd(off, axis=1)
    return ResidualCorrelations(
        pairs=pairs.reindex(pairs["z"].abs().sort_values(ascending=False).index).reset_index(drop=True),
        matrix=pd.DataFrame(excess, respondents, respondents),
        largest=Simulated(float(largest), null_largest, p_value(largest, null_largest)),
        spread=Simulated(float(spreads[-1]), spreads[:-1], p_value(spreads[-1], spreads[:-1])),
        seed=seed,
    )


def q3_of(codes: Codes, fit: MarginalFit) -> Floats:
    """(respondent, respondent) correlations of residuals over the questions that a pair shares; nan under three."""
    posterior = Data(codes).evidence(fit.curves, fit.nodes, fit.log_weight).posterior
    place = posterior @ fit.nodes
    expected = ndtr(place[:, None] * fit.curves.slope + fit.curves.cuts[:, None]).sum(axis=0)
    if fit.curves.floors is not None:
        expected = np.arange(len(fit.curves.floors)) @ fit.curves.floors + fit.curves.attentive * expected
    answered = codes != MISSING
    return _pairwise_correlation(np.where(answered, codes - expected, 0.0), answered)


def _pairwise_correlation(values: Floats, known: Booleans) -> Floats:
    seen = known.astype(float)
    n = seen.T @ seen
    total, squared = values.T @ seen, (values**2).T @ seen
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        covariance = (values.T @ values) / n - mean * mean.T
        variance = squared / n - mean**2
        found = covariance / np.sqrt(variance * variance.T)
    return np.where(n >= 3, found, np.nan)


def _batch_q3(yes: Floats, answers: Answers, fit: MarginalFit) -> Floats:
    codes = np.where(answers.answered, yes, MISSING).astype(np.int8)
    return np.stack([q3_of(one, fit) for one in codes])

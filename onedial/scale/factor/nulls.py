"""Random panels of every account of a panel, each drawn once, for all that is asked of them.

shuffled     each respondent's answers stand in another order; yes rates and gaps are kept exactly
one factor   the place of every question is drawn from its posterior, and each answer from its respondent's curve there,
             z_q ~ p(z | answers to q),    x_qi = 1 with probability Phi(a_i z_q + d_i),    where i answered q
unrelated    the same with loadings dealt out at random, and cuts that keep every yes rate

Drawing places from the posterior, not afresh, keeps the gaps where they are on the scale: if answers are missing on
hard questions, they are missing on hard questions in the random matrices too. The curves are those of the whole scale
(`Fits.null`), so that a respondent with gaps on hard questions is not taken for an eager one.

A source yields batches of 0/1 answers, of which only the tables of pairs are kept; they become correlation matrices in
one call, and all are decomposed together. Gaps in a correlation matrix (respondents that became constant) are filled
with the product of the replicate's own one-factor loadings before eigenvalues are taken, exactly as for the observed
matrix.

The account of one factor is one for the whole house: a scale of any shape, and answers at random that all give equally
often (a guess, a lapse). Both bend loadings along thresholds and leave a second eigenvalue behind, so that a finding
must be more than they make.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.bivariate_normal import solve_increasing
from onedial.scale.correlations.thresholds import normal_quantile, thresholds_of
from onedial.scale.correlations.two_by_two import (
    PairTables,
    ZeroCellRule,
    check_modes,
    correlations,
    count_pairs,
    count_pairs_of_replicates,
)
from onedial.scale.drawn_answers import equally_likely_places
from onedial.scale.expectation import MISSING
from onedial.scale.factor.minres import MAX_COMMUNALITY, eigenvalues, fill_gaps, minres_one_factor
from onedial.scale.factor.quadratic import parabola_r2
from onedial.scale.fits import Fits
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, ScaleKind
from onedial.scale.response_curves import slope_of
from onedial.scale.standard_errors import loading_errors
from onedial.stats.answers import Answers
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import LEVEL, interval_95, p_value

Batch = tuple[Floats, Floats]
"""yes (replicate, question, respondent) and answered, which may lack the first axis; 0/1."""
Kind = Literal["shuffled", "one factor", "unrelated"]
Probabilities = NDArray[np.uint16]  # in units of 2^-16, the last but one standing for 1
_CELLS_AT_ONCE = 20_000_000  # 80 MB
_ROOT = np.sqrt(2 * np.pi)
_FURTHEST_CUT = 200.0
_LARGEST_PART = 0.9  # of the answers of one kind that can be at random


@dataclass(frozen=True)
class Simulated:
    """A number, or the eigenvalues of a matrix, beside the same of simulated matrices: every null has this form.

    Attributes:
        observed: the number, or (rank,) falling eigenvalues. simulated: (replicate,) or (replicate, rank), nan where a
            replicate gave none or where the null says nothing of a rank. p: (1 + k) / (B + 1), of each rank; nan where
            nothing was simulated.
    """

    observed: Any
    simulated: Floats
    p: Any

    __repr__ = one_line

    @classmethod
    def beside(cls, observed: float, simulated: Floats, larger: bool = True) -> "Simulated":
        """One number with its p: `larger` values speak against chance, or smaller ones."""
        return cls(float(observed), simulated, p_value(float(observed), simulated, larger))

    @property
    def mean(self) -> Any:
        """Of the simulated numbers, of each rank."""
        return self._over_replicates(np.mean)

    @property
    def upper(self) -> Any:
        """The 95% point of the simulated numbers, of each rank."""
        return self._over_replicates(lambda known: np.quantile(known, 0.95))

    @property
    def n_replicates(self) -> int:
        return len(self.simulated)

    @property
    def n_defined(self) -> int:
        """Of how many simulated matrices the number exists: those alone stand behind mean, interval and p."""
        return int(np.isfinite(self.simulated).sum())

    def n_above(self) -> int:
        """How many leading eigenvalues stand above the null, counted until the first with p above `LEVEL`."""
        return int(np.cumprod(np.asarray(self.p) <= LEVEL).sum())

    def to_frame(self) -> pd.DataFrame:
        """One row per eigenvalue: observed, null_mean, null_95, p."""
        columns = {"observed": self.observed, "null_mean": self.mean, "null_95": self.upper, "p": self.p}
        return pd.DataFrame(columns, pd.RangeIndex(1, len(self.observed) + 1, name="eigenvalue"))

    def to_dict(self) -> dict[str, Any]:
        """One number in plain numbers, for JSON."""
        low, high = interval_95(self.simulated)
        counts = {"n_replicates": self.n_defined, "n_undefined": len(self.simulated) - self.n_defined}
        means = {"null_mean": float(self.mean), "null_low": low, "null_high": high}
        return {"observed": self.observed, "p": self.p} | means | counts

    def _over_replicates(self, summary: Callable[[Floats], Any]) -> Any:
        """Of each rank over the replicates that have it; nan where none has."""
        columns = self.simulated.reshape(len(self.simulated), -1).T
        known = [column[np.isfinite(column)] for column in columns]
        summaries = np.array([summary(column) if len(column) else np.nan for column in known])
        return summaries[0] if self.simulated.ndim == 1 else summaries


@dataclass(frozen=True)
class Counted:
    """A batch of which only the counts are kept.

    Attributes:
        n_yes: (replicate, respondent). n_answered: (respondent,). tables: of the pairs, of every replicate.
    """

    n_yes: Floats
    n_answered: Floats
    tables: PairTables

    @classmethod
    def of(cls, batch: Batch, weights: Floats | None = None) -> "Counted":
        """Of a batch, or of (replicate, question) resamples of it."""
        yes, answered = batch
        if weights is None:
            n_yes, n = (part.sum(axis=-2, dtype=float) for part in batch)
        else:
            n_yes, n = ((weights @ part).astype(float) for part in batch)
        return cls(n_yes, n, count_pairs_of_replicates(yes, answered, weights))


@dataclass(frozen=True)
class Replicates:
    """What was computed from each random matrix.

    Attributes:
        correlation: (replicate, respondent, respondent), with nan where a pair gives none.
        thresholds: (replicate, respondent).
    """

    correlation: Floats
    thresholds: Floats

    @classmethod
    def of(cls, batches: Iterable[Counted], zero_cells: ZeroCellRule) -> "Replicates":
        """Correlation matrices of all batches, with thresholds of each pair."""
        matrices, limits = [], []
        for counted in batches:
            limits.append(normal_quantile(counted.n_yes, counted.n_answered - counted.n_yes))
            matrices.append(correlations(counted.tables, limits[-1], "pairwise", zero_cells, repeats=True))
        return cls(np.concatenate(matrices), np.concatenate(limits))

    @cached_property
    def loadings(self) -> Floats:
        """(replicate, respondent) minres one-factor loadings."""
        return minres_one_factor(self.correlation, 1e-6)

    @cached_property
    def eigenvalues(self) -> Floats:
        """(replicate, respondent) in falling order."""
        return eigenvalues(fill_gaps(self.correlation))

    @cached_property
    def residual(self) -> Floats:
        """(replicate,) root mean square of what one factor leaves of the correlations of pairs."""
        first, second = np.triu_indices(self.correlation.shape[-1], 1)
        left = self.correlation[:, first, second] - self.loadings[:, first] * self.loadings[:, second]
        return np.sqrt(np.nanmean(left**2, axis=1))

    @cached_property
    def r2(self) -> Floats:
        """(replicate,) of the parabola of loading on threshold."""
        return parabola_r2(self.loadings, self.thresholds)


@dataclass(frozen=True)
class Nulls:
    """A panel with its random panels. Whatever is tested against a null takes a matrix, or `Nulls` of one.

    Attributes:
        fits: of the panel's respondents that can be compared. n_replicates: B. seed: of all draws. zero_cells: as in
            `tetrachoric`, the same for observed and random panels.
    """

    fits: Fits
    n_replicates: int = 199
    seed: int = 0
    zero_cells: ZeroCellRule = "half"
    _kept: dict[Hashable, Replicates] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, matrix: Any, n_replicates: int = 199, seed: int = 0, zero_cells: ZeroCellRule = "half") -> "Nulls":
        """Of a question x respondent matrix, 1 / 0 / nan; `Nulls` of one bring their own choices.

        Raises:
            InputError: an option does not exist, B < 1, or fewer than three respondents can be compared.
        """
        if isinstance(matrix, cls):
            return matrix
        check_modes("pairwise", zero_cells)
        if n_replicates < 1:
            raise InputError(f"n_replicates={n_replicates}; ask for at least 1")
        return cls(Fits.of(matrix), n_replicates, seed, zero_cells)

    @property
    def answers(self) -> Answers:
        """Of those that can be compared."""
        return self.fits.answers

    @cached_property
    def observed(self) -> Replicates:
        """The panel itself, as the only replicate."""
        limits = thresholds_of(self.answers)
        matrix = correlations(count_pairs(self.answers), limits, "pairwise", self.zero_cells)
        return Replicates(matrix[None], limits[None])

    def drawn(self, kind: Kind, scale: ScaleKind = "histogram", asymptotes: AsymptoteKind = "common") -> Replicates:
        """Random panels of a kind and an account."""
        account = (kind, scale, asymptotes) if kind != "shuffled" else (kind,)
        if account not in self._kept:
            batches = map(Counted.of, self._batches(kind, scale, asymptotes))
            self._kept[account] = Replicates.of(batches, self.zero_cells)
        return self._kept[account]

    def _batches(self, kind: Kind, scale: ScaleKind, asymptotes: AsymptoteKind) -> Iterator[Batch]:
        if kind == "shuffled":
            return shuffled(self.answers, self.n_replicates, np.random.default_rng(self.seed))
        draw, stream = {"one factor": (one_factor_answers, 1), "unrelated": (_unrelated_answers, 2)}[kind]
        return draw(self.fits.null(scale, asymptotes), self.n_replicates, np.random.default_rng([self.seed, stream]))


def shuffled(answers: Answers, n_permutations: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches in which each respondent's answers stand in another order; gaps stay where they are."""
    answered = answers.answered.astype(np.float32)
    for size in batch_sizes(n_permutations, answered.size):
        yes = np.zeros((answers.n_respondents, size, answers.n_questions), dtype=np.float32)
        for i in range(answers.n_respondents):
            given = slice(None) if answers.answered[:, i].all() else answers.answered[:, i]
            yes[i][:, given] = _dealt(int(answers.n_yes[i]), int(answers.n_answered[i]), size, rng)
        yield yes.transpose(1, 2, 0), answered


def one_factor_answers(fit: MarginalFit, n_replicates: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Batches of random answers of the fitted model, with the gaps of the answers that it was fitted to."""
    table = _as_probabilities(np.exp(fit.log_p[1]).T)
    return _answers_from(fit, lambda _: table, n_replicates, rng)


def several_factor_answers(nulls: Nulls, loadings: Floats, rng: np.random.Generator) -> Iterator[Batch]:
    """Random answers of several factors, yes rates and gaps kept exactly.

    Places on the first factor are drawn as for one, those on the others afresh; whoever said yes to n questions does so
    to the n for which it is readiest.

    Args:
        loadings: (respondent, factor) in principal position; communalities beyond .995 are drawn back to it.
    """
    answers, fit = nulls.answers, nulls.fits.null()
    size = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    loadings = loadings * np.minimum(1, np.sqrt(MAX_COMMUNALITY) / np.maximum(size, 1e-12))
    noise, everyone = np.sqrt(1 - (loadings**2).sum(axis=1)), np.arange(answers.n_respondents)
    places, questions = equally_likely_places(fit.posterior), np.arange(answers.n_questions)
    for _ in range(nulls.n_replicates):
        first = fit.nodes[places[questions, rng.integers(0, places.shape[1], len(places))]]
        factors = np.column_stack([first, rng.standard_normal((len(places), loadings.shape[1] - 1))])
        ready = factors @ loadings.T + noise * rng.standard_normal(answers.yes.shape)
        ready = np.where(answers.answered, ready, -np.inf)
        least = np.sort(ready, axis=0)[len(places) - answers.n_yes, everyone]
        yield (ready >= least)[None].astype(np.float32), answers.answered.astype(np.float32)


def batch_sizes(n_replicates: int, n_cells: int) -> Iterator[int]:
    """Sizes of batches of panels of so many cells that keep the memory of one small."""
    size = max(1, min(n_replicates, _CELLS_AT_ONCE // max(1, n_cells)))
    for start in range(0, n_replicates, size):
        yield min(size, n_replicates - start)


def shrunken_loadings(fit: MarginalFit) -> Floats:
    """(respondent,) loadings drawn towards their mean, so that they differ by no more than true ones must."""
    loading, errors, freedom = fit.curves.loading, loading_errors(fit), len(fit.curves.loading) - 1
    error = np.nanmean(errors**2) * chdtri(freedom, LEVEL) / freedom if np.isfinite(errors).any() else np.nan
    variance = loading.var(ddof=1)
    share = np.sqrt(max(0.0, 1 - error / variance)) if variance > 0 and np.isfinite(error) else 1.0
    return np.asarray(loading.mean() + share * (loading - loading.mean()))


def _dealt(n_yes: int, n: int, size: int, rng: np.random.Generator) -> Booleans:
    """(replicate, answer) True for n_yes answers of each row, all choices equally likely: those of the lowest keys."""
    if n_yes in (0, n):
        return np.full((size, n), n_yes > 0)
    keys = rng.integers(0, 2**32, (size, n), dtype=np.uint32)
    yes = keys < np.partition(keys, n_yes, axis=1)[:, n_yes, None]
    for row in np.flatnonzero(yes.sum(axis=1) != n_yes):  # two equal keys at the border
        yes[row] = rng.permutation(n) < n_yes
    return yes


def _answers_from(
    fit: MarginalFit, table_of: Callable[[int], Probabilities], n_replicates: int, rng: np.random.Generator
) -> Iterator[Batch]:
    """Random answers of (node, respondent) probabilities, which each replicate may have of its own."""
    places, answered = equally_likely_places(fit.posterior), fit.codes != MISSING
    questions, start = np.arange(len(places)), 0
    for size in batch_sizes(n_replicates, answered.size):
        yes = np.empty((size, *answered.shape), dtype=np.float32)
        for replicate in range(size):
            node = places[questions, rng.integers(0, places.shape[1], len(places), dtype=np.uint16)]
            chance = rng.integers(0, 2**16, answered.shape, dtype=np.uint16)
            np.logical_and(chance < table_of(start + replicate)[node], answered, out=yes[replicate], casting="unsafe")
        yield yes, answered.astype(np.float32)
        start += size


def _unrelated_answers(fit: MarginalFit, n_replicates: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Random answers in which loadings have nothing to do with yes rates."""
    slopes, answered = slope_of(shrunken_loadings(fit)), (fit.codes != MISSING).astype(float)
    weight = (answered.T @ fit.posterior) / answered.sum(axis=0)[:, None]  # where the questions lie that each answered
    wanted = np.einsum("iq,iq->i", weight, np.exp(fit.log_p[1]))
    no, yes = np.zeros((2, len(slopes))) if fit.curves.floors is None else fit.curves.floors
    no, yes = np.clip(no, 0, _LARGEST_PART * (1 - wanted)), np.clip(yes, 0, _LARGEST_PART * wanted)
    # the cut that keeps the yes rate of respondent i when it gets the slope of respondent j, for every i and j
    tables = np.stack([_as_probabilities(_with_rates(slope, wanted, weight, fit, no, yes)) for slope in slopes])
    dealt = rng.permuted(np.tile(np.arange(len(slopes)), (n_replicates, 1)), axis=1)
    everyone = np.arange(len(slopes))
    return _answers_from(fit, lambda b: np.ascontiguousarray(tables[dealt[b], :, everyone].T), n_replicates, rng)


def _with_rates(slope: float, wanted: Floats, weight: Floats, fit: MarginalFit, no: Floats, yes: Floats) -> Floats:
    """(node, respondent) probabilities of yes with this slope, and cuts at which each respondent's yes rate is kept."""

    def excess(cut: Floats, of: Integers) -> tuple[Floats, Floats]:
        at = slope * fit.nodes + cut[:, None]
        rate = yes[of] + attentive[of] * (weight[of] * ndtr(at)).sum(axis=1)
        return rate - wanted[of], attentive[of] * (weight[of] * np.exp(-(at**2) / 2)).sum(axis=1) / _ROOT

    attentive = 1 - no - yes
    edge = np.full(len(wanted), _FURTHEST_CUT)
    cuts = solve_increasing(excess, -edge, edge, fit.curves.cuts[0], tolerance=1e-6)
    return yes + attentive * ndtr(slope * fit.nodes + cuts[:, None]).T


def _as_probabilities(values: Floats) -> Probabilities:
    return np.minimum(np.rint(values * 2**16), 2**16 - 1).astype(np.uint16)

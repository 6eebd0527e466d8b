"""Base models that answer so nearly alike that they count as one: fine-tunes of one model under names of their own.

Models that share one scale answer alike too, so agreement alone says nothing. What a shared scale explains is read off
the models outside: under one factor r_ij = l_i l_j, so that for any two models k and m outside of groups A and B

    r_AB r_km = r_Ak r_Bm      (a vanishing tetrad: Spearman, 1904)

and what A and B would correlate by is r_Ak r_Bm / r_km, with means over all k and m. Near-copies share more than
SHARED of what that leaves of each:

    (r_AB - expected) / (1 - expected) > s,   tested as   T = r_km (r_AB - s) / (1 - s) - r_Ak r_Bm > 0

with s = SHARED; T, unlike the share, has no denominator that may be nothing. r are tetrachoric correlations, means over
the respondents of two base models. Where one of the four answer patterns never occurs in a pair (.5 takes its place,
which makes r too small) it is left out of r_Ak and r_Bm, which would make T too large. The error of T is by the delta
method over questions, over groups of questions where they are given.

Models are joined as average linkage does, the closest first; each join with two models outside is tested, at LEVEL over
the number of pairs of base models, among which the closest was chosen. Whatever lies within a join that passes is one
group.

The same joins are tested the other way round, with s = KIN: a join of single models, or of kin, makes kin unless it is
shown, at LEVEL, to share less; two near-copies are no two models outside. So does every join that is estimated to share
over SHARED, or beside which no models correlate. Who are near-copies was shown; who are kin could be fine-tunes of one
model, for all that is known.

What cannot be seen: near-copies beside models that have nothing in common with each other (r_km = 0) are a scale that
only these share, and so are near-copies that are all of the panel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from scipy.special import ndtr

from onedial.core.cards import one_line
from onedial.scale.correlations.thresholds import thresholds_of
from onedial.scale.correlations.two_by_two import cell_influences, correlations, count_pairs, has_empty_cell
from onedial.scale.factor.factor_fit import influences_over_questions
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import LEVEL

SHARED, KIN = 2 / 3, 1 / 3
"""The closest two of 33 frontier models, versions of one model, share .69 of it and are not shown to share more."""
TURNED = -0.2
"""Mean correlation with most of the others, under which a model answers the other way round."""
LEAST_RATE = 0.05
"""Respondents that give one of the answers less often are left out: their correlations are hardly known."""
_BLOCK = 2_000_000  # questions x pairs at once


@dataclass(frozen=True)
class NearCopies:
    """Base models that count as one.

    Attributes:
        groups: names of base models, two or more in each, no model in two groups. kin: likewise of those that are not
            shown to share less than a third; near-copies are kin.
        joins: one row per tested join, the closest first: `models` (names, " + " between them), `correlation`,
            `expected` from the models outside, `shared` of what that leaves, `z`, `p` (one-sided, times the number of
            pairs of base models, at most 1), `z_kin` (nan: not tested).
        models: of each respondent, as given.
    """

    groups: tuple[tuple[str, ...], ...]
    kin: tuple[tuple[str, ...], ...]
    joins: pd.DataFrame
    models: tuple[str, ...]

    __repr__ = one_line

    @property
    def counted_as(self) -> list[str]:
        """What each respondent's base model counts as: its group's names with " + " between them, or its own name."""
        return self._as_one(self.groups)

    @property
    def kin_counted_as(self) -> list[str]:
        """The same where kin are one."""
        return self._as_one(self.kin)

    def _as_one(self, groups: tuple[tuple[str, ...], ...]) -> list[str]:
        names = {name: " + ".join(group) for group in groups for name in group}
        return [names.get(model, model) for model in self.models]


def near_copies(matrix: Any, models: Sequence[str], groups: Integers | None = None) -> NearCopies:
    """Find base models whose answers share more than two thirds of what the scale of all others leaves of each.

    Formula: above.

    Args:
        matrix: question x respondent, 1 / 0 / nan. models: the base model of each respondent.
        groups: question -> group, 0 to G - 1, of questions that are no independent witnesses; None: each by itself.

    Returns:
        NearCopies; no groups under four base models, since two must be outside.

    Raises:
        InputError: the matrix cannot be read.

    >>> draw = np.random.default_rng(0)
    >>> scale, parent = draw.standard_normal((2, 1000, 1))
    >>> of_parent = np.hstack([np.repeat(parent, 2, axis=1), draw.standard_normal((1000, 4))])
    >>> latent = 0.7 * scale + 0.6 * of_parent + 0.2 * draw.standard_normal((1000, 6))
    >>> near_copies(latent > 0, ["tune a", "tune b", "c", "d", "e", "f"]).groups
    (('tune a', 'tune b'),)
    """
    columns = ["models", "correlation", "expected", "shared", "z", "p", "z_kin"]
    if not len(models):
        return NearCopies((), (), pd.DataFrame(columns=columns), ())
    answers = as_answers(matrix)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = answers.n_yes / answers.n_answered
    used = np.minimum(rate, 1 - rate) >= LEAST_RATE
    answers = answers.select(used)
    names, model = np.unique(np.asarray(models, dtype=str)[used], return_inverse=True)
    if len(names) < 4:
        return NearCopies((), (), pd.DataFrame(columns=columns), tuple(models))
    pairs = _Pairs(answers, model, groups)
    n_pairs = len(names) * (len(names) - 1) // 2
    near: list[Integers] = []
    kin: list[Integers] = []
    rows = []
    for one, other in _closest_first(*pairs.every):
        if (pair := pairs.join(one, other, SHARED)) is None:
            continue
        *_, z_kin = pairs.join(one, other, KIN, near) or (np.nan,)
        correlation, expected, z = pair
        p = min(1.0, n_pairs * float(ndtr(-z)))
        members = np.sort(np.concatenate([one, other]))
        shared = (correlation - expected) / (1 - expected)
        rows.append([" + ".join(names[members]), correlation, expected, shared, z, p, z_kin])
        of_kin = all(len(part) == 1 or set(part) in map(set, kin) for part in (one, other))
        maybe = z > 0 or np.isnan(expected) or (of_kin and ndtr(z_kin) > LEVEL)
        for joined, passes in ((near, p <= LEVEL), (kin, p <= LEVEL or maybe)):
            if passes:
                joined[:] = [*(group for group in joined if not np.isin(group, members).all()), members]
    near_names, kin_names = (tuple(tuple(names[group].tolist()) for group in joined) for joined in (near, kin))
    return NearCopies(near_names, kin_names, pd.DataFrame(rows, columns=columns), tuple(models))


class _Pairs:
    """Mean correlations between base models, and how well what is computed from them is known.

    `full` are those without pairs that have an empty cell. Each is (mean, how many pairs), model x model. signs: -1 of
    a model that answers the other way round; r_AB r_km = r_Ak r_Bm holds whichever way k and m are turned.
    """

    def __init__(self, answers: Answers, model: Integers, groups: Integers | None) -> None:
        tables = count_pairs(answers)
        first, second = tables.pairs
        rho = correlations(tables, thresholds_of(answers), "pairwise", "half")[first, second]
        kept = np.isfinite(rho) & (np.abs(rho) < 1) & (model[first] != model[second])
        self.answers, self.groups = answers, groups
        self.first, self.second, self.rho = first[kept], second[kept], rho[kept]
        self.cells = np.where(tables.tables == 0, 0.5, tables.tables)[:, kept]
        self.has_all = ~has_empty_cell(tables.tables[:, kept])
        self.models = model[self.first], model[self.second]
        self.every, self.full = self._means(np.ones_like(self.has_all)), self._means(self.has_all)
        first_axis = np.linalg.eigh(self.every[0])[1][:, -1]
        most = first_axis * first_axis.sum() > 0
        self.signs = np.where(~most & (self.every[0] @ most < TURNED * most.sum()), -1.0, 1.0)

    def _means(self, used: Booleans) -> tuple[Floats, Floats]:
        n = 1 + int(max(part.max(initial=0) for part in self.models))
        total, times = np.zeros((n, n)), np.zeros((n, n))
        places = tuple(part[used] for part in self.models)
        np.add.at(total, places, self.rho[used])
        np.add.at(times, places, 1)
        total, times = total + total.T, times + times.T
        return np.divide(total, times, out=np.zeros_like(total), where=times > 0), times

    def join(
        self, one: Integers, other: Integers, bound: float, alike: Sequence[Integers] = ()
    ) -> tuple[float, float, float] | None:
        """Correlation of two groups of models, what models outside let expect (nan: nothing), and z of T for a bound;
        None where no two models outside, not of one group of those alike, are known to say it."""
        mean, known = self.every[0], self.every[1] > 0
        outside = np.setdiff1d(np.arange(len(mean)), np.concatenate([one, other]))
        (to_one, of_one), (to_other, of_other) = (self._towards(group, outside) for group in (one, other))
        apart = known.copy()
        for group in alike:
            apart[np.ix_(group, group)] = False
        usable = apart[np.ix_(outside, outside)] & (of_one.sum(axis=0)[:, None] > 0) & (of_other.sum(axis=0) > 0)
        n = usable.sum()
        if not n:
            return None
        usable = usable * np.outer(self.signs[outside], self.signs[outside])
        across = known[np.ix_(one, other)] / known[np.ix_(one, other)].sum()
        correlation = float((across * mean[np.ix_(one, other)]).sum())
        among = float((mean[np.ix_(outside, outside)] * usable).sum() / n)
        product = float((np.outer(to_one, to_other) * usable).sum() / n)
        left = (correlation - bound) / (1 - bound)
        slopes, cross = np.zeros_like(mean), np.zeros_like(mean)  # of T by the means of every pair, and of full ones
        slopes[np.ix_(one, other)] = among / (1 - bound) * across
        slopes[np.ix_(outside, outside)] = left * usable / n
        cross[np.ix_(one, outside)] = -of_one * (usable @ to_other) / n
        cross[np.ix_(other, outside)] = -of_other * (usable.T @ to_one) / n
        error = self._error(slopes + slopes.T, cross + cross.T)
        value = left * among - product
        return correlation, product / among if among > 0 else float("nan"), value / error if error > 0 else 0.0

    def _towards(self, group: Integers, outside: Integers) -> tuple[Floats, Floats]:
        """Mean correlation of a group's models with each model outside, and the weight of each of its models in it."""
        mean, times = (part[np.ix_(group, outside)] for part in self.full)
        weight = (times > 0) / np.maximum((times > 0).sum(axis=0), 1)
        return (weight * mean).sum(axis=0), weight

    def _error(self, slopes: Floats, of_full: Floats) -> float:
        """Standard error of a number whose slopes by the mean correlations of models are these."""
        slope = slopes[self.models] / self.every[1][self.models]
        slope += of_full[self.models] / np.maximum(self.full[1][self.models], 1) * self.has_all
        influence = np.zeros(self.answers.n_questions)
        size = max(1, _BLOCK // self.answers.n_questions)
        for start in range(0, len(slope), size):
            block = slice(start, start + size)
            cells = self.cells[:, block]
            weights = cell_influences(cells, self.rho[block])
            weights -= (weights * cells).sum(axis=0) / cells.sum(axis=0)
            pair = self.first[block], self.second[block]
            influence += influences_over_questions(self.answers, weights, cells.sum(axis=0), *pair) @ slope[block]
        by_group = influence if self.groups is None else np.bincount(self.groups, weights=influence)
        return float(np.sqrt((by_group**2).sum()) / self.answers.n_questions)


def _closest_first(mean: Floats, times: Floats) -> list[tuple[Integers, Integers]]:
    """The joins of average linkage by correlation; what no pair links is as far apart as can be."""
    distance = np.where(times > 0, 1 - mean, 2.0)
    np.fill_diagonal(distance, 0.0)
    members, joins = [np.array([number]) for number in range(len(mean))], []
    for one, other in linkage(squareform(distance, checks=False), "average")[:, :2].astype(int):
        joins.append((members[one], members[other]))
        members.append(np.concatenate(joins[-1]))
    return joins

"""Which share of the answers is everybody's, which a family's, and which a respondent's own: tests of the families."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import comb

from onedial.core.cards import one_line
from onedial.scale.fits import Fits
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, Model, ScaleKind, fit_marginal
from onedial.scale.response_model import PARTS, ResponseModel, described, family_labels
from onedial.stats.arrays import Booleans, number
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import adjusted, chi_squared_tail, p_text

_ENOUGH = 0.01  # of log likelihood, for a test: more moves no p


@dataclass(frozen=True)
class SpecificFactors:
    """Whether groups of respondents share something beside the scale, and how much.

    Attributes:
        model: with one slope for all of a group, so that its specific factor is what all of them share.
        tests: index group, those of at least two respondents; `ratio` (likelihood ratio against no factor of this
            group, all others as they are), `p`, `q` (adjusted), `share` with `low, high`, as in `model.families`.
        ratio, p: of all groups together against one factor.
    """

    model: ResponseModel
    tests: pd.DataFrame
    ratio: float
    p: float

    __repr__ = one_line

    def sentence(self, what: str = "group") -> str:
        """Which share is everybody's, which a group's, and whether the latter is beyond chance."""
        each = [_percent(self.model.shares, part) for part in PARTS]
        parts = f"{each[0]} of the variance is general, {each[1]} shared within a {what} only, {each[2]} own"
        found = self.tests[self.tests["q"] <= LEVEL].sort_values("share", ascending=False)
        if self.p > LEVEL:
            return f"{parts}: what is shared within a {what} is no more than chance gives ({p_text(self.p)})."
        if not len(found):
            return f"{parts}: something is shared within a {what} ({p_text(self.p)}), but not one can be named."
        most = ", ".join(f"{name} {row['share']:.0%}" for name, row in found.iloc[:4].iterrows())
        return f"{parts}: in {len(found)} of {len(self.tests)} beyond chance ({p_text(self.p)}; most: {most})."


def specific_factors(
    matrix: Any, groups: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none"
) -> SpecificFactors:
    """Test every group of respondents for a factor of its own beside the general one, and say how much it explains.

    Formula: likelihood ratios with one slope b for all of a group. It cannot be negative, so that p is half that of
    chi-squared(1) for one group, and for all G together that of the mixture sum_k C(G, k) 2^-G chi-squared(k) (Self and
    Liang, 1987, Journal of the American Statistical Association 82, 605-610). Adjustment: Benjamini and Hochberg.

    Args:
        matrix, scale, asymptotes: as in `response_model`. groups: label of each respondent, its `families`.

    Returns:
        SpecificFactors. Sign: larger ratio = the group shares more.

    Raises:
        InputError: as `response_model`.

    R: `mirt::anova(mirt::mirt(x, 1), mirt::bfactor(x, group))` for the idea.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> specific_factors(answers, list("aaabbb")).p > 0.05
    True
    """
    fits = Fits.of(matrix)
    labels = family_labels(groups, fits)
    number_of, group_names = pd.factorize(labels, sort=True)
    model = Model(scale, asymptotes, families=number_of, family_slopes="equal")
    shared = np.bincount(number_of) > 1
    full = fits.fit(model)

    def without(gone: Booleans) -> MarginalFit:
        """The model without some groups' factors, from where the full one ended."""
        curves = full.point.curves
        zero = np.where(gone[number_of], 0.0, np.asarray(curves.family_slope))
        start = replace(full, point=replace(full.point, curves=replace(curves, family_slope=zero)))
        own = np.arange(len(number_of)) + len(group_names)
        fewer = replace(model, families=np.where(gone[number_of], own, number_of))
        return fit_marginal(fits.codes, fewer, start=start, enough=_ENOUGH)

    every = np.arange(len(shared))
    fewer = {name: without(every == k) for k, name in enumerate(group_names) if shared[k]}
    none = without(np.ones_like(shared))
    best = max([*fewer.values(), none], key=lambda fit: fit.log_posterior)
    if best.log_posterior > full.log_posterior:  # the fuller model is never below one without a factor
        full = fit_marginal(fits.codes, model, start=best)
    ratios = {name: 2 * (full.log_posterior - fit.log_posterior) for name, fit in fewer.items()}
    ratio = max(0.0, 2 * (full.log_posterior - none.log_posterior))
    found = described(full, fits, labels)
    tests = pd.DataFrame({"ratio": pd.Series(ratios).clip(lower=0)}).rename_axis("group")
    tests["p"] = [_tail(value, 1) for value in tests["ratio"]]
    tests["q"] = adjusted(tests["p"].to_numpy())
    return SpecificFactors(found, tests.join(found.families), ratio, _tail(ratio, len(tests)))


def drawn_answers(fit: MarginalFit, n_draws: int, rng: np.random.Generator) -> Iterator[Booleans]:
    """(question, respondent) random yes/no answers of a model with families, every question where it probably lies."""
    data, (n, m) = fit.data, fit.codes.shape
    upto, last = np.cumsum(fit.posterior, axis=1), len(fit.nodes) - 1
    alone = np.exp(fit.log_p[1, data.alone])
    families = [
        (
            family.members,
            pattern,
            np.cumsum(within, axis=1),
            np.exp(one.log_p[1]).reshape(len(family.members), -1, last + 1),
        )
        for family, pattern, within, one in zip(
            data.families, data.pattern, fit.evidence.within, data.family_chances(fit.curves, fit.nodes), strict=True
        )
    ]
    for _ in range(n_draws):
        yes = np.empty((n, m), dtype=bool)
        node = np.minimum((upto < rng.random((n, 1))).sum(axis=1), last)
        yes[:, data.alone] = rng.random((n, len(data.alone))) < alone[:, node].T
        for members, pattern, within, chance in families:
            own = (within[pattern, :, node] < rng.random((n, 1))).sum(axis=1)
            here = chance[:, np.minimum(own, chance.shape[1] - 1), node].T
            yes[:, members] = rng.random(here.shape) < here
        yield yes


def _tail(ratio: float, n_groups: int) -> float:
    """P(ratio or more) where none of so many variances, none below 0, is above it."""
    if ratio <= 0:
        return 1.0
    weights = [float(comb(n_groups, k)) / 2**n_groups for k in range(1, n_groups + 1)]
    return float(sum(weight * chi_squared_tail(ratio, k) for k, weight in enumerate(weights, 1)))


def _percent(shares: pd.DataFrame, part: str) -> str:
    share, low, high = (number(shares, part, column) for column in ("share", "low", "high"))
    return f"{share:.0%} ({low:.0%} to {high:.0%})"

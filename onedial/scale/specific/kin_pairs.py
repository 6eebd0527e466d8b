"""Names for what is left beside the scale: are the pairs that share most of it pairs of one family?

Of the pairs with the strongest residual correlation (one in twenty) those within a group are counted, and counted again
with the labels permuted among the respondents. Nothing of the residuals is modelled: whatever makes them, labels
that have nothing to do with it stand within a strong pair as often as dealt ones do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.checks.residual_correlations import ResidualCorrelations
from onedial.scale.checks.simulation import Simulated
from onedial.stats.groups import labels_of
from onedial.stats.level import LEVEL, p_value
from onedial.stats.multiple_tests import p_text

_SHARE = 0.05
_FEWEST = 5
_SHOWN = 3


@dataclass(frozen=True)
class KinPairs:
    """The strongest residual pairs, by group.

    Attributes:
        strongest: the pairs that were counted, strongest first: `first, second, residual` (q3 less its mean under one
            factor), `z`, `group` of both, or None.
        groups: index group, those of at least two respondents; `pairs` within it, `strongest` among them, `residual`,
            mean of all its pairs.
        within: number of strongest pairs within groups, against permuted labels.
    """

    strongest: pd.DataFrame
    groups: pd.DataFrame
    within: Simulated

    __repr__ = one_line

    def sentence(self, what: str = "group") -> str:
        """How many of the strongest pairs are of one group, and which."""
        n, count = len(self.strongest), int(self.within.observed)
        text = (
            f"Of the {n} pairs that have most in common beyond the scale {count} are of one {what} "
            f"({self.within.mean:.1f} if labels are assigned at random, {p_text(self.within.p)})"
        )
        if self.within.p > LEVEL:
            return f"{text}: no name for what is left beside the scale."
        most = self.groups[self.groups["strongest"] > 0].sort_values("strongest", ascending=False)
        each = ", ".join(f"{name} {int(row['strongest'])}" for name, row in most.iterrows())
        first = self.strongest[self.strongest["group"].notna()].iloc[:_SHOWN]
        pairs = "; ".join(f"{a} and {b} {r:+.2f}" for a, b, r in first[["first", "second", "residual"]].to_numpy())
        return f"{text}: {each}; strongest: {pairs}."


def kin_pairs(residuals: ResidualCorrelations, groups: Any, n_permutations: int = 1999, seed: int = 0) -> KinPairs:
    """Count the strongest residual pairs within groups of respondents, against chance.

    Formula: p = (1 + #{count with dealt labels >= count}) / (B + 1), over one pair in twenty, five at least, those with
    the largest z > 0.

    Args:
        residuals: of `residual_correlations`. groups: label of each respondent (a Series or dictionary by name).
        n_permutations: B. seed: of the dealing.

    Returns:
        KinPairs. Sign: residual > 0 = the two say yes to the same questions beyond what the scale makes them.

    Raises:
        InputError: no group has two of the respondents, or all are of one group.

    >>> from onedial.scale import residual_correlations
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> kin_pairs(residual_correlations(answers, 19), list("aaabbb"), 99).within.p > 0.05
    True
    """
    respondents = residuals.matrix.index
    labels = labels_of(groups, residuals.matrix.notna().astype(float), respondents, "groups")
    code, found = pd.factorize(labels, sort=True)
    if len(found) < 2 or np.bincount(code).max() < 2:
        raise InputError(
            f"{len(found)} groups of {len(code)} respondents; give at least two, one of them of two or more"
        )
    pairs = residuals.pairs.assign(residual=residuals.pairs["q3"] - residuals.pairs["null_mean"])
    first, second = (respondents.get_indexer(pd.Index(pairs[end])) for end in ("first", "second"))
    n = max(_FEWEST, int(np.ceil(_SHARE * len(pairs))))
    top = np.flatnonzero(pairs["z"] > 0)[:n]  # pairs are sorted by the size of z
    rng = np.random.default_rng(seed)
    dealt = np.array([rng.permutation(code) for _ in range(n_permutations)])
    chance = (dealt[:, first[top]] == dealt[:, second[top]]).sum(axis=1).astype(float)
    same = code[first] == code[second]
    count = float(same[top].sum())
    strongest = pairs.iloc[top][["first", "second", "residual", "z"]].reset_index(drop=True)
    strongest["group"] = [found[code[one]] if kin else None for one, kin in zip(first[top], same[top], strict=True)]
    within = pairs[same].assign(group=found[code[first[same]]], top=np.isin(np.flatnonzero(same), top))
    of_groups = within.groupby("group").agg(
        pairs=("residual", "size"), strongest=("top", "sum"), residual=("residual", "mean")
    )
    return KinPairs(strongest, of_groups, Simulated(count, chance, p_value(count, chance)))

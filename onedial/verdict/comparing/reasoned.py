"""Reasoned answers beside direct ones: does the dial do to what is written what it does to the first token?

The direct sweep reads a yes or no from the logits; at a few of its settings the subject also wrote its reasons first.
Its line "Answer: ..." is its answer, or else the last sentence that holds a clear yes or no (`parse_yes_no`); where
neither is there, or the text was cut off, it is unread.

    rates      yes rate of either at each setting, over the questions that were read both ways there, with Wilson's 95%
               interval; kappa: Cohen's, between the two
    rho        Spearman's correlation of the two orders: the share of its settings at which a dial says yes to a
               question (`Turns.ease`), over the questions that both order, with its 95% interval

Written answers have no margin: as a table of a sweep (`as_sweep`) they have 1 and -1, and a cut is moved on the direct
unsteered margin. Where fewer than half of the texts can be read, nothing is judged by them.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import SWEEP_COLUMNS
from onedial.core.cards import one_line
from onedial.stats.agreement import count
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.shares import wilson_interval
from onedial.verdict.case import Case

READ_ENOUGH = 0.5
"""Share of the texts that must hold a yes or no before anything is judged by them."""


@dataclass(frozen=True)
class ReasonedComparison:
    """See the module's text.

    Attributes:
        settings: one row per setting: magnitude; n questions; n_unread, whose text holds no yes or no; n_both, read
            both ways; the rates reasoned and direct with their ends; kappa.
        rho: of the two orders; nan where one of them is constant.
        read: share of the texts that hold a yes or no.
    """

    settings: pd.DataFrame
    rho: Estimate
    read: float

    __repr__ = one_line

    @property
    def suffices(self) -> bool:
        """Whether anything can be judged by these answers."""
        return self.read >= READ_ENOUGH

    def sentence(self) -> str:
        """Say the result in one sentence."""
        n, unread = int(self.settings["n"].sum()), int(self.settings["n_unread"].sum())
        if not self.suffices:
            return f"{unread} of {n} reasoned answers hold no clear yes or no, so that nothing is judged by them."
        known = self.settings.dropna(subset=["reasoned"])
        ends = [f"{known[name].min():.2f} to {known[name].max():.2f}" for name in ("reasoned", "direct")]
        correlate = f"the two orders correlate {self.rho:.2f}"
        order = "their orders cannot be compared" if math.isnan(self.rho.value) else correlate
        return (
            f"After reasoning the yes rate runs over {ends[0]} where the first token's runs over {ends[1]}, and "
            f"{order}; {unread} of {n} texts could not be read."
        )


def as_sweep(reasoned: pd.DataFrame) -> pd.DataFrame:
    """Lay written answers out as a sweep: margin 1 for yes, -1 for no, mass 1; margin and mass 0 where unread.

    Args:
        reasoned: `onedial.asking.sweep_tables.REASONED_COLUMNS`.

    >>> about = {"question_id": "a", "intervention_id": "v"}
    >>> texts = [{**about, "magnitude": m, "said_yes": yes} for m, yes in ((0.0, 0.0), (1.0, 1.0), (2.0, float("nan")))]
    >>> as_sweep(pd.DataFrame(texts))["margin"].tolist()
    [-1.0, 1.0, 0.0]
    """
    margin = 2 * reasoned["said_yes"].astype(float) - 1
    return reasoned.assign(margin=margin.fillna(0.0), mass=margin.notna().astype(float))[SWEEP_COLUMNS]


def compare_reasoned(direct: Case, reasoned: Case) -> ReasonedComparison:
    """Set the two dials side by side.

    Args:
        direct: the sweep of the same intervention; the settings of `reasoned` are among its own.

    >>> from onedial.verdict import sweep_grid
    >>> sweep = pd.DataFrame({"question_id": list("aabb"), "magnitude": [0.0, 1.0] * 2, "margin": [-1.0, 1, 2, 3]})
    >>> grid = sweep_grid(sweep.assign(split="test", mass=0.9))
    >>> compare_reasoned(grid, grid).settings["kappa"].tolist()
    [1.0, 0.0]
    """
    rows = direct.questions.get_indexer(reasoned.questions)
    direct_answers = direct.answers[rows][:, np.searchsorted(direct.magnitudes, reasoned.magnitudes)]
    both, n, unread = count(reasoned.answers, direct_answers), len(rows), np.isnan(reasoned.answers)
    settings = pd.DataFrame({"magnitude": reasoned.magnitudes, "n": n, "n_unread": unread.sum(axis=0)})
    settings["n_both"] = both.n.astype(int)
    for name, yes in (("reasoned", both.predicted), ("direct", both.given)):
        low, high = wilson_interval(pd.Series(yes), pd.Series(both.n))
        rate = pd.Series(yes / np.where(both.n > 0, both.n, np.nan))
        settings = settings.assign(**{name: rate, f"{name}_low": low, f"{name}_high": high})
    rho = rank_correlation(direct.dial.ease[rows], reasoned.dial.ease)
    return ReasonedComparison(settings.assign(kappa=both.kappa()), rho, float((~unread).mean()))

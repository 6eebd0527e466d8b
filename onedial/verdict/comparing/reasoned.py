"""Reasoned answers beside direct ones: does the dial do to what is written what it does to the first token?

The direct sweep reads a yes or no from the logits; at a few of its settings the subject also wrote its reasons first.
The last sentence that holds a clear yes or no is its answer (`parse_yes_no`); where none does, or the
text was cut off, it is unread.

    rates      yes rate of either at each setting, over the questions that were read both ways there, with Wilson's 95%
               interval; kappa: Cohen's, between the two
    rho        Spearman's correlation of the two orders: the share of its settings at which a dial says yes to a
               question (`Dial.ease`), over the questions that both order, with its 95% interval

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
from onedial.verdict.verdict import Verdict

READ_ENOUGH = 0.5
"""Share of the texts that must hold a yes or no before anything is judged by them."""
SETTING_COLUMNS = [
    "magnitude", "n", "n_asked", "n_texts", "n_unread_texts", "n_unread", "n_both",
    "reasoned", "reasoned_low", "reasoned_high", "direct", "direct_low",
    "direct_high", "kappa",
]  # fmt: skip


@dataclass(frozen=True)
class ReasonedComparison:
    """See the module's text.

    Attributes:
        settings: one row per setting, `SETTING_COLUMNS`; n: questions, n_asked: those that were asked there, the others
            being known from their neighbours; n_texts: written; n_both: questions read both ways.
        ease: index question id; direct, reasoned.
        rho: of the two orders; nan where one of them is constant.
        read: share of the questions and settings at which a yes or no is known.
    """

    settings: pd.DataFrame
    ease: pd.DataFrame
    rho: Estimate
    read: float

    __repr__ = one_line

    @property
    def suffices(self) -> bool:
        """Whether anything can be judged by these answers."""
        return self.read >= READ_ENOUGH

    def sentence(self) -> str:
        """The result in one sentence."""
        n, unread = int(self.settings["n_texts"].sum()), int(self.settings["n_unread_texts"].sum())
        if not self.suffices:
            return f"{unread} of {n} reasoned answers hold no clear yes or no, so that nothing is judged by them."
        known = self.settings.dropna(subset=["reasoned"])
        ends = [f"{known[name].min():.2f} to {known[name].max():.2f}" for name in ("reasoned", "direct")]
        order = (
            "their orders cannot be compared"
            if math.isnan(self.rho.value)
            else f"the two orders correlate {self.rho:.2f}"
        )
        return (
            f"After reasoning the yes rate runs over {ends[0]} where the first token's runs over {ends[1]}, and "
            f"{order}; {unread} of {n} texts could not be read."
        )


def as_sweep(reasoned: pd.DataFrame) -> pd.DataFrame:
    """Written answers as the table of a sweep: margin 1 for yes, -1 for no, mass 1; mass 0 where unread.

    Of several samples the margin is their mean over those that could be read; a tie is unread. A setting at which a
    question was not asked, since its neighbours say the same (bisection), counts as they do.

    Args:
        reasoned: `onedial.asking.sweep_tables.REASONED_COLUMNS`.

    >>> asked = {"question_id": "a", "intervention_id": "v", "sample": 0}
    >>> written = pd.DataFrame([{**asked, "magnitude": m, "said_yes": said} for m, said in ((0.0, 1.0), (2.0, 1.0))])
    >>> other = pd.DataFrame([{**asked, "question_id": "b", "magnitude": 1.0, "said_yes": float("nan")}])
    >>> as_sweep(pd.concat([written, other])).loc[lambda table: table["mass"] == 1, "magnitude"].tolist()
    [0.0, 1.0, 2.0]
    """
    votes = reasoned.assign(vote=2 * reasoned["said_yes"] - 1)
    keys = ["intervention_id", "question_id"]
    means = votes.groupby([*keys, "magnitude"], sort=False)["vote"].mean().unstack().sort_index(axis=1)
    asked = votes.groupby([*keys, "magnitude"], sort=False).size().unstack().reindex_like(means).notna()
    read = means.where(means != 0)
    below, above = read.ffill(axis=1), read.bfill(axis=1)
    filled = read.where(asked, below.where(np.sign(below) == np.sign(above)))
    margins = pd.Series(filled.rename_axis(columns="magnitude").stack(future_stack=True), name="margin")
    long = margins.reset_index()
    return long.assign(mass=long["margin"].notna().astype(float), margin=long["margin"].fillna(0.0))[SWEEP_COLUMNS]


def compare_reasoned(direct: Case, reasoned: Case, texts: pd.DataFrame) -> ReasonedComparison:
    """Set the two dials side by side.

    Args:
        direct: the sweep of the same intervention; the settings of `reasoned` are among its own.
        texts: as they were written, `onedial.asking.sweep_tables.REASONED_COLUMNS`.

    >>> from onedial.verdict import sweep_grid
    >>> sweep = pd.DataFrame({"question_id": list("aabb"), "magnitude": [0.0, 1.0] * 2, "margin": [-1.0, 1, 2, 3]})
    >>> grid = sweep_grid(sweep.assign(split="test", mass=0.9))
    >>> texts = sweep.assign(said_yes=(sweep["margin"] > 0).astype(float))
    >>> compare_reasoned(grid, grid, texts).settings["kappa"].tolist()
    [1.0, 0.0]
    """
    places = pd.Index(direct.questions).get_indexer(reasoned.questions)
    first = direct.answers[places]
    columns = [int(np.flatnonzero(direct.magnitudes == m)[0]) for m in reasoned.magnitudes]
    written = texts[texts["question_id"].isin(reasoned.questions)].groupby("magnitude")
    counts = written.agg(asked=("question_id", "nunique"), texts=("said_yes", "size"), read=("said_yes", "count"))
    rows = []
    for place, (column, magnitude) in enumerate(zip(columns, reasoned.magnitudes, strict=True)):
        one, other = reasoned.answers[:, place], first[:, column]
        both = ~np.isnan(one) & ~np.isnan(other)
        kappa = float(count(one[both][:, None], other[both][:, None]).kappa()[0]) if both.any() else math.nan
        rows.append(
            (float(magnitude), len(one), *_counted(counts.loc[magnitude]), int(np.isnan(one).sum()), int(both.sum()),
             *_rate(one[both]), *_rate(other[both]), kappa)
        )  # fmt: skip
    order = pd.DataFrame(
        {"direct": direct.dial.ease[places], "reasoned": reasoned.dial.ease},
        index=pd.Index(reasoned.questions, name="question_id"),
    )
    rho = rank_correlation(order["direct"].to_numpy(), order["reasoned"].to_numpy())
    read = float((~np.isnan(reasoned.answers)).mean())
    return ReasonedComparison(pd.DataFrame(rows, columns=SETTING_COLUMNS), order, rho, read)


def _rate(answers: np.ndarray) -> tuple[float, float, float]:
    if not len(answers):
        return math.nan, math.nan, math.nan
    k, n = int((answers == 1).sum()), len(answers)
    low, high = wilson_interval(pd.Series([k]), pd.Series([n]))
    return k / n, float(low.iloc[0]), float(high.iloc[0])


def _counted(own: pd.Series) -> tuple[int, int, int]:
    """Questions asked at a setting, texts written, and those of them that could not be read."""
    return int(own["asked"]), int(own["texts"]), int(own["texts"] - own["read"])


def dials_beside(direct: Verdict, reasoned: Verdict) -> pd.DataFrame:
    """What is judged of either dial, each by its own answers: bits, S, G and C_A with rho_dial."""
    return pd.DataFrame(
        {
            name: {
                "reproduced": each.reproduced,
                **each.prediction.bits.columns("bits"),
                "share": each.prediction.share.value,
                **each.signal.columns("signal"),
                **each.gain.columns("gain"),
                **each.order.columns("order_gain"),
                "rho_dial": each.order.rho.value,
            }
            for name, each in (("first token", direct), ("after reasoning", reasoned))
        }
    ).T.rename_axis("dial")

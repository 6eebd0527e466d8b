"""Compute the AUROC of held-out scores, and its interval when topics, not questions, are what was sampled.

Each fold has its own probe, so scores are compared within a fold only. With c(i, j) = 1 where a question i of label 1
has the higher score than a question j of label 0 (1/2 for a tie), summed over pairs within folds,

    AUROC(w) = sum_ij w_t(i) w_t(j) c(i, j) / sum_ij w_t(i) w_t(j)

where w_t is how often topic t was drawn: 1 for the estimate itself, a multinomial draw of all topics for a bootstrap
replicate. The sums need one matrix of topics by topics, whatever the number of replicates; `roc_area`, the same for one
fold, would go through every question in each of them.

Intervals are percentiles of the replicates. With 17 topics, 340 questions and topic effects of label and score from
none to strong they covered .95 to .96 of 500 simulated truths, and .89 to .92 where there is one probe, whose scores
are compared over all topics (scripts/simulate.py probes). They speak of other topics, the probes as they are: that
other training questions would have given other probes is not in them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95, interval_95
from probes.fitting.folds import TopicFolds

N_BOOTSTRAP = 999


@dataclass(frozen=True)
class Area:
    """An AUROC with its 95% interval over topics; nan where no fold holds questions of both labels.

    Attributes:
        se: standard deviation of the bootstrap replicates.
        n_positive, n_negative: questions of label 1 and 0 that were scored.
    """

    auroc: float
    low: float
    high: float
    se: float
    n_positive: int
    n_negative: int

    def named(self, name: str = "") -> dict[str, float]:
        """As columns: NAME, NAME_low, NAME_high; auroc, low, high without a name."""
        return {name or "auroc": self.auroc, f"{name}_low".lstrip("_"): self.low, f"{name}_high".lstrip("_"): self.high}


@dataclass(frozen=True, eq=False)
class Concordance:
    """Pairs of one label's held-out scores, by topic.

    Attributes:
        agreeing: (topic, topic) concordant pairs, label 1 from the row's topic and label 0 from the column's.
        pairs: (topic, topic) all such pairs.
    """

    agreeing: Floats
    pairs: Floats
    n_positive: int
    n_negative: int

    __repr__ = one_line

    @classmethod
    def of(cls, score: Floats, truth: Floats, folds: TopicFolds) -> "Concordance":
        """From (question,) scores and labels 1 / 0 / nan; questions with nan in either are left out."""
        agreeing, pairs = np.zeros((folds.n_topics,) * 2), np.zeros((folds.n_topics,) * 2)
        known = np.isfinite(truth) & np.isfinite(score)
        for fold in range(folds.n_folds):
            in_fold = known & (folds.fold == fold)
            yes, no = np.flatnonzero(in_fold & (truth == 1)), np.flatnonzero(in_fold & (truth == 0))
            if not len(yes) or not len(no):
                continue
            above = (np.sign(score[yes][:, None] - score[no][None, :]) + 1) / 2
            rows, columns = folds.topic[yes], folds.topic[no]
            agreeing += _by_topic(above, rows, columns, folds.n_topics)
            pairs += np.outer(np.bincount(rows, minlength=folds.n_topics), np.bincount(columns, minlength=len(pairs)))
        return cls(agreeing, pairs, int((truth[known] == 1).sum()), int((truth[known] == 0).sum()))

    @property
    def auroc(self) -> float:
        """The estimate; nan without a pair."""
        total = self.pairs.sum()
        return float(self.agreeing.sum() / total) if total else float("nan")

    def replicates(self, draws: Floats) -> Floats:
        """(replicate,) AUROC for each draw of the topics (`unit_weights` of `np.arange(n_topics)`)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return ((draws @ self.agreeing) * draws).sum(axis=1) / ((draws @ self.pairs) * draws).sum(axis=1)

    def area(self, draws: Floats) -> Area:
        """The estimate with its interval."""
        drawn = self.replicates(draws)
        drawn = drawn[np.isfinite(drawn)]
        if not self.pairs.sum() or len(drawn) < 2:
            return Area(self.auroc, float("nan"), float("nan"), float("nan"), self.n_positive, self.n_negative)
        low, high = np.quantile(drawn, QUANTILES_95)
        return Area(self.auroc, float(low), float(high), float(drawn.std(ddof=1)), self.n_positive, self.n_negative)


def difference_interval(one: Concordance, other: Concordance, draws: Floats) -> tuple[float, float, float]:
    """AUROC of one minus that of the other, with its 95% interval over topics, both drawn together.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from onedial.stats.intervals import unit_weights
    >>> from probes import TopicFolds
    >>> from probes.fitting.concordance import Concordance
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> folds = TopicFolds.of(topics)
    >>> one, other = (Concordance.of(score, truth["knows"].to_numpy(), folds) for score in (rows[:, 0], rows[:, 1]))
    >>> low, high = difference_interval(one, other, unit_weights(np.arange(6), 99, 0))[1:]
    >>> bool(low > 0)
    True
    """
    drawn = one.replicates(draws) - other.replicates(draws)
    drawn = drawn[np.isfinite(drawn)]
    low, high = interval_95(drawn)
    return one.auroc - other.auroc, float(low), float(high)


def auroc_by_column(score: Floats, truth: Floats, fold: NDArray[np.intp]) -> Floats:
    """(column,) AUROC of many columns at once, pairs within folds only.

    Args:
        score: (question, column), finite. truth: (question, column) 1 / 0 / nan.
    """
    agreeing, pairs = np.zeros(score.shape[1]), np.zeros(score.shape[1])
    for number in np.unique(fold):
        inside = fold == number
        y = truth[inside]
        n_yes, n_no = (y == 1).sum(axis=0), (y == 0).sum(axis=0)
        # What is unknown ranks above all else, so that it moves no rank of what is known.
        rank = rankdata(np.where(np.isfinite(y), score[inside], np.inf), axis=0)
        agreeing += np.where(y == 1, rank, 0.0).sum(axis=0) - n_yes * (n_yes + 1) / 2
        pairs += n_yes * n_no
    with np.errstate(invalid="ignore", divide="ignore"):
        return agreeing / pairs


def _by_topic(above: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp], n_topics: int) -> Floats:
    left = np.eye(n_topics)[rows]
    right = np.eye(n_topics)[columns]
    return left.T @ above @ right

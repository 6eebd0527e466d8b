"""Take one label out of the activations, linearly, and see what else goes with it.

LEACE (Belrose et al., 2023, NeurIPS): of all affine maps after which no linear probe reads the label z any better than
its mean, the one that moves the activations least. With W = Cov(x)^(-1/2) and Q an orthonormal basis of W Cov(x, z),

    r(x) = x - W^-1 Q Q' W (x - mean(x))

Any invertible W leaves Cov(r(x), z) = 0 on the questions that it was fitted to; the covariance's own makes the change
smallest. With fewer questions than coordinates the covariance is shrunk (Ledoit and Wolf), in standardised coordinates.
What is erased on training questions may still read a little on others: the eraser, too, is an estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats
from onedial.stats.solvers import Training, ledoit_wolf
from probes.fitting.concordance import Concordance, difference_interval
from probes.fitting.controls import shuffled_within
from probes.fitting.crossfit import CrossFitted, Features, cross_fit
from probes.fitting.measure import ProbeTask


@dataclass(frozen=True, eq=False)
class Eraser:
    """An affine map that takes labels out; see the module's text.

    Attributes:
        mean, scale: (d_model,) of the training questions. out, into: (d_model, label) in standardised coordinates:
            r(z) = z - out (into' z).
    """

    mean: Floats
    scale: Floats
    out: Floats
    into: Floats

    __repr__ = one_line

    @classmethod
    def fit(cls, rows: Floats, labels: Floats) -> "Eraser":
        """From (question, d_model) activations and (question, label) 1 / 0 / nan; unknown labels count for nothing."""
        training = Training.of(rows)
        known = np.isfinite(labels)
        n_known = np.maximum(known.sum(axis=0), 1)
        value = np.where(known, np.nan_to_num(labels), 0.0)
        centred = np.where(known, value - value.sum(axis=0) / n_known, 0.0)
        shared = training.rows.T @ centred / n_known
        n, d = training.rows.shape
        shrinkage = ledoit_wolf(training)
        floor = shrinkage * float((training.singular**2).sum()) / n / d
        spectrum = (1 - shrinkage) * training.singular**2 / n + floor
        outside = floor if len(training.singular) < d else 1.0  # variance off the axes, where questions are few

        def times(matrix: Floats, power: float) -> Floats:
            along = training.axes.T @ matrix
            rest = matrix - training.axes @ along
            return training.axes @ (spectrum[:, None] ** power * along) + max(outside, 1e-12) ** power * rest

        basis, weights, _ = np.linalg.svd(times(shared, -0.5), full_matrices=False)
        basis = basis[:, weights > weights.max(initial=0.0) * 1e-9]
        return cls(training.mean, training.scale, times(basis, 0.5), times(basis, -0.5))

    def __call__(self, rows: Floats) -> Floats:
        """The same activations without the labels."""
        z = (rows - self.mean) / self.scale
        return (z - (z @ self.into) @ self.out.T) * self.scale + self.mean


def without(rows: Floats, labels: Floats) -> Features:
    """Features from which labels were erased by an eraser that saw no other questions than the probe may see."""

    def features(looked_at: NDArray[np.bool_]) -> tuple[Floats, bool]:
        return Eraser.fit(rows[looked_at], labels[looked_at])(rows), True

    return features


def erasure_table(
    rows: Floats,
    task: ProbeTask,
    before: CrossFitted,
    erased: Sequence[str],
    read: Sequence[str],
    method: str = "ridge",
) -> pd.DataFrame:
    """What still reads when a label is erased, beside what reads when a shuffled copy of it is.

    Args:
        before: held-out scores by the same method without erasure. erased: labels to take out, one at a time.
        read: labels to read afterwards.

    Returns:
        Columns `erased, label, before, after, after_low, after_high, lost, lost_low, lost_high, lost_by_shuffled`:
        lost = before - after, with its 95% interval over topics.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> from probes.fitting.crossfit import cross_fit, of_rows
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> before = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    >>> erasure_table(rows, task, before, ["knows"], ["knows"])[["before", "after"]].round(1).to_numpy().tolist()
    [[1.0, 0.5]]
    """
    places = [task.labels.index(name) for name in read]
    truth = task.values[:, places]
    shuffled = shuffled_within(task.values, task.folds.topic, task.seed + 104729, task.folds.group)
    lines = []
    for name in erased:
        column = task.labels.index(name)
        runs = [
            cross_fit(without(rows, source[:, [column]]), read, truth, task.folds, [method])[method]
            for source in (task.values, shuffled)
        ]
        for at, label in enumerate(read):
            was = Concordance.of(before.score[:, before.labels.index(label)], truth[:, at], task.folds)
            now, sham = (Concordance.of(run.score[:, at], truth[:, at], task.folds) for run in runs)
            lost, low, high = difference_interval(was, now, task.draws)
            lines.append(
                {
                    "erased": name,
                    "label": label,
                    "before": was.auroc,
                    **now.area(task.draws).named("after"),
                    "lost": lost,
                    "lost_low": low,
                    "lost_high": high,
                    "lost_by_shuffled": was.auroc - sham.auroc,
                }
            )
    return pd.DataFrame(lines)

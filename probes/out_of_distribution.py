"""Probes on activations that they were not fitted to, of another checkpoint, and how far from home these lie.

A probe always gives a number, also for a question that is like none of those it was fitted to. So beside each reading
stands the question's distance from the training questions (Mahalanobis', with a shrunk covariance), as the share of
held-out questions that lay at least as far off. The distances that it is compared with are those of questions whose
topics the covariance had not seen either.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from probes.directions.concordance import Concordance
from probes.fitting.crossfit import CrossFitted
from probes.fitting.measure import ProbeTask
from probes.fitting.solvers import METHODS, Training, ledoit_wolf

Floats = NDArray[np.float64]

FAR = 0.05
"""Share of held-out questions that lay as far off, under which a reading is far from home."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Where the training questions lie.

    Attributes:
        training: their standardised rows. spectrum: (rank,) shrunk variances along the axes. outside: off the axes.
        held_out: (question,) distances of training questions from those of other topics, ascending.
    """

    training: Training
    spectrum: Floats
    outside: float
    held_out: Floats

    __repr__ = one_line

    @classmethod
    def of(cls, rows: Floats, task: ProbeTask) -> "Surroundings":
        """From (question, d_model) activations of the task's questions."""
        return _shrunk(Training.of(rows), np.sort(held_out_distances(rows, task)))

    def distance(self, rows: Floats) -> Floats:
        """(row,) Mahalanobis distance per coordinate: about 1 for a question like the training questions."""
        z = self.training.standardised(rows)
        along = z @ self.training.axes
        rest = (z**2).sum(axis=1) - (along**2).sum(axis=1)
        squared = (along**2 / self.spectrum).sum(axis=1) + np.maximum(rest, 0) / self.outside
        return np.sqrt(squared / z.shape[1])

    def as_far(self, distance: Floats) -> Floats:
        """(row,) share of held-out training questions at least as far off; small = far from home."""
        n = len(self.held_out)
        return (1 + n - np.searchsorted(self.held_out, distance, side="left")) / (1 + n)


def held_out_distances(rows: Floats, task: ProbeTask) -> Floats:
    """(question,) distance of each question from those of the other folds."""
    distances = np.full(len(rows), np.nan)
    for fold in range(task.folds.n_folds):
        own = task.folds.inside(fold)
        distances[own] = _shrunk(Training.of(rows[~own])).distance(rows[own])
    return distances


def read_elsewhere(
    rows: Floats, other: Floats, task: ProbeTask, fitted: CrossFitted, other_truth: Floats | None = None,
    method: str = "logistic",
) -> pd.DataFrame:  # fmt: skip
    """Probes fitted to one checkpoint's activations, read on another's, topics held out on both sides.

    Args:
        rows, other: (question, d_model) of the same questions at the same layer of either checkpoint.
        fitted: held-out scores on the first, for the penalties that its folds chose.
        other_truth: (question, label) of the other checkpoint, where its labels differ (its own yes).

    Returns:
        Columns `label, at_home, elsewhere, elsewhere_low, elsewhere_high, recentred, n, far`. recentred: each
        checkpoint's own mean is taken off first, so that a shift of all activations costs nothing; far: share of the
        other checkpoint's questions that lie far off (`FAR`).

    Raises:
        InputError: the checkpoints have streams of different widths.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds, cross_fit, of_rows
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> fitted = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    >>> read_elsewhere(rows, rows + 1, task, fitted, method="ridge")["recentred"].round(1).tolist()
    [1.0, 1.0]
    """
    if rows.shape != other.shape:
        raise InputError(
            f"activations of shape {rows.shape} and {other.shape}; a probe is read on a checkpoint of the same width, "
            "at the same layer, with the same questions"
        )
    truth = task.values if other_truth is None else other_truth
    scores = {"elsewhere": np.full(truth.shape, np.nan), "recentred": np.full(truth.shape, np.nan)}
    for fold in range(task.folds.n_folds):
        own = task.folds.inside(fold)
        training = Training.of(rows[~own])
        penalty = fitted.penalty[fold]
        grid = sorted(set(penalty.tolist()))
        every = training.normalised(METHODS[method](training, task.values[~own], grid))
        chosen = [grid.index(value) if len(every) > 1 else 0 for value in penalty.tolist()]
        weight = np.stack([every[at, :, column] for column, at in enumerate(chosen)], axis=1)
        scores["elsewhere"][own] = training.standardised(other[own]) @ weight
        centred = other[own] - other[~own].mean(axis=0) + training.mean
        scores["recentred"][own] = training.standardised(centred) @ weight
    surroundings = Surroundings.of(rows, task)
    far = float((surroundings.as_far(surroundings.distance(other)) < FAR).mean())
    lines = []
    for at, label in enumerate(task.labels):
        home = Concordance.of(fitted.score[:, at], task.values[:, at], task.folds)
        away, recentred = (Concordance.of(score[:, at], truth[:, at], task.folds) for score in scores.values())
        lines.append(
            {
                "label": label,
                "at_home": home.auroc,
                **away.area(task.draws).named("elsewhere"),
                "recentred": recentred.auroc,
                "n": int(np.isfinite(truth[:, at]).sum()),
                "far": far,
            }
        )
    return pd.DataFrame(lines)


def _shrunk(training: Training, held_out: Floats | None = None) -> Surroundings:
    n, d = training.rows.shape
    shrinkage = ledoit_wolf(training)
    floor = max(shrinkage * float((training.singular**2).sum()) / n / d, 1e-9)
    spectrum = (1 - shrinkage) * training.singular**2 / n + floor
    return Surroundings(training, spectrum, floor, np.empty(0) if held_out is None else held_out)

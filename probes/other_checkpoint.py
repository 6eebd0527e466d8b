"""Read probes on activations that they were not fitted to: same questions and layer of another checkpoint."""

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.solvers import METHODS, Training
from probes.fitting.concordance import Concordance
from probes.fitting.crossfit import CrossFitted
from probes.fitting.measure import ProbeTask


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
        Columns `label, at_home, elsewhere, elsewhere_low, elsewhere_high, recentred, n`. recentred: each checkpoint's
        own mean is taken off first, so that a shift of all activations costs nothing.

    Raises:
        InputError: the checkpoints have streams of different widths.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> from probes.fitting.crossfit import cross_fit, of_rows
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
        held_out = task.folds.inside(fold)
        training = Training.of(rows[~held_out])
        penalty = fitted.penalty[fold]
        grid = sorted(set(penalty.tolist()))
        every = training.normalised(METHODS[method](training, task.values[~held_out], grid))
        chosen = [grid.index(value) if len(every) > 1 else 0 for value in penalty.tolist()]
        weight = np.stack([every[at, :, column] for column, at in enumerate(chosen)], axis=1)
        scores["elsewhere"][held_out] = training.standardised(other[held_out]) @ weight
        centred = other[held_out] - other[~held_out].mean(axis=0) + training.mean
        scores["recentred"][held_out] = training.standardised(centred) @ weight
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
            }
        )
    return pd.DataFrame(lines)

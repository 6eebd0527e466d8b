"""Compare directions: angles between probes, beside what chance gives at this covariance and what noise allows.

Two directions fitted to the same questions lean towards the same strong coordinates, and are never at right angles as
two random ones would be. So a cosine stands beside

    null          the cosine with directions of the other label shuffled within topics: same questions, same covariance.
                  It says what a label that means nothing would give; a label that reads well has less noise than that,
                  and may lie at a right angle more narrowly
    reliability   the cosine of the label's directions from two halves of the topics: two readings of the very same
                  label have no higher one, so that cosine / sqrt(reliability_a reliability_b) is what noise-free ones
                  might have (halves have half the questions, so that this overstates)

and beside the correlation of the two readings over questions, which is the cosine in the covariance's own metric: two
directions at a right angle in the stream may well read the same. Cross-evaluation asks for more than any angle: how
well the probe of one label ranks another label on topics that it has not seen. A label of other questions (the truth of
facts that have nothing to do with ability) is held against these by `transfer_table`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from einops import rearrange

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95
from onedial.stats.solvers import METHODS, Training
from probes.fitting.concordance import Concordance, auroc_by_column
from probes.fitting.controls import shuffled_within
from probes.fitting.crossfit import CrossFitted
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask

N_NULL, N_HALVES = 99, 5


@dataclass(frozen=True)
class LabelledRows:
    """One layer's activations of a set of questions, and which of its labels are looked at.

    Attributes:
        rows: (question, d_model). penalties: of each label, as its folds chose it.
    """

    rows: Floats
    task: ProbeTask
    penalties: Mapping[str, float]
    labels: Sequence[str]

    @property
    def truth(self) -> Floats:
        """(question, label) 1 / 0 / nan."""
        return self.task.values[:, [self.task.labels.index(name) for name in self.labels]]

    @property
    def strength(self) -> Floats:
        """(label,) penalties."""
        return np.array([self.penalties[name] for name in self.labels])


def direction_table(
    of: LabelledRows, method: str = "logistic", n_null: int = N_NULL, n_halves: int = N_HALVES
) -> pd.DataFrame:
    """Every pair of labels: cosine and correlation of readings, with their nulls and the directions' reliabilities.

    Args:
        n_null: shuffled copies of each label. n_halves: splits of the topics.

    Returns:
        Columns `label, other, cosine, null_low, null_high, p, reliability, other_reliability, cosine_corrected,
        correlation, correlation_null_low, correlation_null_high`. p: two-sided, the share of shuffled copies of either
        label with at least such a cosine. Sign: positive where both point towards label 1 on the same side.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> both = LabelledRows(rows, task, {"knows": 1.0, "sure": 1.0}, ["knows", "sure"])
    >>> table = direction_table(both, n_null=19, n_halves=2)
    >>> bool(table["cosine"].item() > 0.5)
    True
    """
    labels, truth, strength, training = of.labels, of.truth, of.strength, Training.of(of.rows)
    directions = directions_of(training, truth, strength, method)
    nulls = shuffled_directions(training, truth, of.task, strength, method, n_null)
    reliability = _reliability(of.rows, of.task, truth, strength, method, n_halves)
    lines = []
    for first, second in combinations(range(len(labels)), 2):
        cosine, correlation = _both(training, directions[:, first], directions[:, second])
        by_chance = np.array(
            [_both(training, directions[:, first], null[:, second]) for null in nulls]
            + [_both(training, null[:, first], directions[:, second]) for null in nulls]
        ).reshape(-1, 2)
        low, high = np.quantile(by_chance, QUANTILES_95, axis=0) if n_null else (np.full(2, np.nan),) * 2
        ceiling = reliability[first] * reliability[second]
        lines.append(
            {
                "label": labels[first],
                "other": labels[second],
                "cosine": cosine,
                "null_low": low[0],
                "null_high": high[0],
                "p": (1 + (np.abs(by_chance[:, 0]) >= abs(cosine)).sum()) / (1 + len(by_chance)),
                "reliability": reliability[first],
                "other_reliability": reliability[second],
                "cosine_corrected": float(np.clip(cosine / np.sqrt(ceiling), -1, 1)) if ceiling > 0 else np.nan,
                "correlation": correlation,
                "correlation_null_low": low[1],
                "correlation_null_high": high[1],
            }
        )
    return pd.DataFrame(lines)


def cross_evaluation(fitted: CrossFitted, draws: Floats, probes: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    """How well each probe ranks each label, on topics that the probe has not seen.

    Args:
        probes: labels whose probes are asked. labels: what they are held against.

    Returns:
        Columns `probe, label, auroc, low, high`; where both are the same, what the table of probes holds.

    >>> from probes import TopicFolds
    >>> from onedial.stats.intervals import unit_weights
    >>> from probes.fitting.crossfit import cross_fit, of_rows
    >>> rng = np.random.default_rng(0)
    >>> truth = (np.arange(80) % 2)[:, None] * 1.0
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> fitted = cross_fit(of_rows(rng.standard_normal((80, 8)) + truth), ["label"], truth, folds, ["lda"])["lda"]
    >>> cross_evaluation(fitted, unit_weights(np.arange(8), 9, 0), ["label"], ["label"]).shape[0]
    1
    """
    lines = []
    for probe in probes:
        for label in labels:
            score, truth = fitted.score[:, fitted.labels.index(probe)], fitted.truth[:, fitted.labels.index(label)]
            area = Concordance.of(score, truth, fitted.folds).area(draws)
            lines.append({"probe": probe, "label": label, **area.named()})
    return pd.DataFrame(lines)


def transfer_table(
    of: LabelledRows, other: LabelledRows, method: str = "logistic", n_null: int = N_NULL
) -> pd.DataFrame:
    """Probes of one set of questions, read on another set with labels of its own.

    The null are the same probes fitted to their labels shuffled within topics: what a direction of no meaning that was
    fitted to the same activations ranks. It may lie off one half, in either direction, where the two sets differ along
    strong coordinates, and is wider than the interval over topics.

    Args:
        of: the set that the probes are fitted to, all of it. other: that which they are read on, at the same layer.

    Returns:
        Columns `probe, label, auroc, low, high, null_low, null_high, p, n`: AUROC with its 95% interval over the other
        set's topics, a little narrow (`probes.fitting.concordance`); the middle 95% of the null; p, two-sided, the
        share of the null at least as far from its median.

    Raises:
        InputError: the two sets have streams of different widths.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> knows, sure = (LabelledRows(rows, task, {name: 1.0}, [name]) for name in ("knows", "sure"))
    >>> table = transfer_table(knows, sure, n_null=19)
    >>> bool(table["auroc"].item() > 0.7)
    True
    """
    if of.rows.shape[1] != other.rows.shape[1]:
        raise InputError(
            f"activations of width {of.rows.shape[1]} and {other.rows.shape[1]}; compare questions put to one model"
        )
    truth, strength, training = of.truth, of.strength, Training.of(of.rows)
    nulls = shuffled_directions(training, truth, of.task, strength, method, n_null)
    every = np.concatenate([directions_of(training, truth, strength, method)[None], nulls])
    scores = np.einsum("qd,kdl->qkl", other.rows - training.mean, every, optimize=True)
    folds = other.task.folds
    whole = TopicFolds(np.zeros(len(other.rows), dtype=np.intp), folds.topic, folds.names, 1)
    lines = []
    for place, probe in enumerate(of.labels):
        for label, known in zip(other.labels, other.truth.T, strict=True):
            area = Concordance.of(scores[:, 0, place], known, whole).area(other.task.draws)
            columns_of_known = np.repeat(known[:, None], scores.shape[1], axis=1)
            chance = auroc_by_column(scores[:, :, place], columns_of_known, whole.fold)[1:]
            middle = float(np.median(chance)) if n_null else np.nan
            low, high = np.quantile(chance, QUANTILES_95) if n_null else (np.nan, np.nan)
            as_far = np.abs(chance - middle) >= abs(area.auroc - middle) - 1e-12
            lines.append(
                {
                    "probe": probe,
                    "label": label,
                    **area.named(),
                    "null_low": low,
                    "null_high": high,
                    "p": (1 + as_far.sum()) / (1 + n_null),
                    "n": int(np.isfinite(known).sum()),
                }
            )
    return pd.DataFrame(lines)


def directions_of(training: Training, truth: Floats, penalties: Floats, method: str) -> Floats:
    """(d_model, label) directions in the stream's own coordinates, each with its label's penalty; of any length.

    Args:
        truth: (question, label). penalties: (label,).
    """
    directions = np.empty((training.rows.shape[1], truth.shape[1]))
    for value in np.unique(penalties):
        columns = penalties == value
        directions[:, columns] = METHODS[method](training, truth[:, columns], [float(value)])[0]
    return directions / training.scale[:, None]


def shuffled_directions(
    training: Training, truth: Floats, task: ProbeTask, penalties: Floats, method: str, n: int
) -> Floats:
    """(n, d_model, label) directions of the labels shuffled within topics."""
    if not n:
        return np.empty((0, training.rows.shape[1], truth.shape[1]))
    copies = [
        shuffled_within(truth, task.folds.topic, task.seed * 7919 + number, task.folds.group) for number in range(n)
    ]
    directions = directions_of(training, np.hstack(copies), np.tile(penalties, n), method)
    return rearrange(directions, "d_model (copy label) -> copy d_model label", copy=n)


def _both(training: Training, one: Floats, other: Floats) -> tuple[float, float]:
    """Cosine of two directions, and correlation of what they read."""
    readings = training.rows @ (np.stack([one, other], axis=1) * training.scale[:, None])
    return _cosine(one, other), _cosine(*readings.T)


def _cosine(one: Floats, other: Floats) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other / lengths) if lengths > 0 else float("nan")


def _reliability(rows: Floats, task: ProbeTask, truth: Floats, strength: Floats, method: str, n_halves: int) -> Floats:
    """(label,) mean cosine of the directions from two halves of the topics."""
    rng = np.random.default_rng(task.seed)
    cosines = np.full((n_halves, truth.shape[1]), np.nan)
    for number in range(n_halves):
        first = np.isin(task.folds.topic, rng.permutation(task.folds.n_topics)[: task.folds.n_topics // 2])
        halves = [directions_of(Training.of(rows[half]), truth[half], strength, method) for half in (first, ~first)]
        cosines[number] = [_cosine(one, other) for one, other in zip(*(half.T for half in halves), strict=True)]
    return cosines.mean(axis=0) if n_halves else np.full(truth.shape[1], np.nan)

"""Measure how well each label reads at one layer, with everything that the number must be held against.

One row per label and method:

    auroc, low, high     on held-out topics, with a 95% interval over topics
    shuffled             the same for the label shuffled within topics; selectivity = auroc - shuffled
    control              the same for coins per opening word: how well a property of no interest reads
    text                 the same from the words alone; over_text, over_text_low, over_text_high = auroc - text
    brier_skill, ece     of the calibrated probability: 0 = no better than the label's mean; 0 = perfectly calibrated
    penalty              the median of those that the folds chose

`text` is the number to hold every probe against. Difficulty can be read off the words of a question ("capital" is easy,
"1412" is hard), so that a probe may read them and nothing of the model's own. The baseline sees the words and pairs of
words (TF-IDF over those that stand in at least two training questions), the length in letters and in words, and goes
through the same folds and the same inner choice of the penalty as the probes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.confidence.calibration import expected_calibration_error
from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.intervals import unit_weights
from onedial.stats.solvers import METHODS
from probes.fitting.concordance import N_BOOTSTRAP, Concordance, auroc_by_column, difference_interval
from probes.fitting.controls import control_labels, shuffled_within
from probes.fitting.crossfit import (
    LEAST_OF_A_KIND,
    CrossFitted,
    Features,
    Job,
    best_penalties,
    cross_fit,
    cross_fit_jobs,
    of_rows,
)
from probes.fitting.folds import TopicFolds
from probes.fitting.linear import Probe, probes_of


def words_of(texts: Sequence[str]) -> Features:
    """The baseline's features; the vocabulary is that of the questions that may be looked at.

    Args:
        texts: of the questions.

    >>> words_of(["Who wrote Emma?", "Who wrote Dune?"])(np.array([True, True]))[0].shape
    (2, 5)
    """
    lengths = np.log1p([[len(text), len(text.split())] for text in texts])

    def features(looked_at: NDArray[np.bool_]) -> tuple[Floats, bool]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectoriser = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        seen = [text for text, inside in zip(texts, looked_at, strict=True) if inside]
        try:
            words = vectoriser.fit(seen).transform(texts).toarray()
        except ValueError:  # no word stands in two questions
            words = np.zeros((len(texts), 0))
        counts = lengths[looked_at]
        spread = counts.std(axis=0)
        # Each length weighs a tenth of the words, whose rows have length 1.
        numbers = (lengths - counts.mean(axis=0)) / np.where(spread > 0, spread, 1.0) * 0.1
        return np.hstack([words, numbers]), False

    return features


N_SHUFFLED, N_CONTROL = 5, 5
PROBE_COLUMNS = (
    "label", "method", "n", "n_positive", "n_unknown", "auroc", "low", "high", "se", "shuffled", "selectivity",
    "control", "text", "over_text", "over_text_low", "over_text_high", "brier_skill", "ece", "penalty",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProbeTask:
    """Questions, their labels, and everything that does not depend on a layer.

    Attributes:
        truth: index question_id, one column per label, 1 / 0 / nan.
        texts: of the questions. folds: of the questions.
        n_shuffled, n_control: how many such labels are read. n_bootstrap: of the intervals. seed: of all of them.
    """

    truth: pd.DataFrame
    texts: tuple[str, ...]
    folds: TopicFolds
    n_shuffled: int = N_SHUFFLED
    n_control: int = N_CONTROL
    n_bootstrap: int = N_BOOTSTRAP
    seed: int = 0

    __repr__ = one_line

    def __post_init__(self) -> None:
        if not len(self.truth) == len(self.texts) == len(self.folds):
            raise InputError(
                f"{len(self.truth)} questions with labels, {len(self.texts)} texts, and folds of {len(self.folds)}; "
                "give all three for the same questions"
            )

    @property
    def labels(self) -> list[str]:
        """Names of the labels."""
        return [str(name) for name in self.truth.columns]

    @cached_property
    def values(self) -> Floats:
        """(question, label) 1 / 0 / nan."""
        return self.truth.to_numpy(dtype=float)

    @cached_property
    def draws(self) -> Floats:
        """Topics drawn with replacement, the same for every number of the task."""
        return unit_weights(np.arange(self.folds.n_topics), self.n_bootstrap, self.seed)

    @cached_property
    def text(self) -> CrossFitted:
        """The words alone, by logistic regression."""
        return cross_fit(words_of(self.texts), self.labels, self.values, self.folds)["logistic"]

    @cached_property
    def meaningless(self) -> dict[str, Floats]:
        """Name -> (question,) labels that mean nothing: `shuffled <k>: <label>` and `control <k>`."""
        labels: dict[str, Floats] = {}
        for number in range(self.n_shuffled):
            shuffled = shuffled_within(self.values, self.folds.topic, self.seed * 1000 + number, self.folds.group)
            labels |= {f"shuffled {number}: {name}": shuffled[:, at] for at, name in enumerate(self.labels)}
        control = control_labels(self.texts, self.n_control, self.seed)
        yes = control.sum(axis=0)
        control = control[:, np.minimum(yes, len(control) - yes) >= LEAST_OF_A_KIND]  # of few questions, not all coins
        return labels | {f"control {number}": column for number, column in enumerate(control.T)}


@dataclass(frozen=True, eq=False)
class LayerReading:
    """What was found at one layer.

    Attributes:
        table: one row per label and method, `PROBE_COLUMNS`.
        fitted: method -> held-out scores of the labels.
        probes: method -> label -> the probe of all questions.
    """

    table: pd.DataFrame
    fitted: Mapping[str, CrossFitted]
    probes: Mapping[str, Mapping[str, Probe]]

    __repr__ = one_line


@says_how
def measure_layer(rows: Floats, task: ProbeTask, methods: Sequence[str] = tuple(METHODS)) -> LayerReading:
    """Fit, hold out, and compare; see the module's text.

    Args:
        rows: (question, d_model) activations of the task's questions, in their order.
        methods: keys of `METHODS`.

    Raises:
        InputError: the rows do not fit the questions, or a label has too few of a kind.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), 0, 0, n_bootstrap=19)
    >>> measure_layer(rows, task, ["ridge"]).table["auroc"].round(1).tolist()
    [1.0, 1.0]
    """
    jobs = [Job(name, tuple(task.labels), task.values) for name in methods]
    if task.meaningless:  # by ridge, which is quick: chance is the same for all
        jobs.append(Job("ridge", tuple(task.meaningless), np.column_stack(list(task.meaningless.values()))))
    cross_fits = cross_fit_jobs(of_rows(rows), jobs, task.folds)
    fitted = dict(zip(methods, cross_fits, strict=False))
    chance = _chance(task, cross_fits[-1] if task.meaningless else None)
    lines = []
    for name in methods:
        probability = fitted[name].probability()
        for at, label in enumerate(task.labels):
            probe = Concordance.of(fitted[name].score[:, at], task.values[:, at], task.folds)
            words = Concordance.of(task.text.score[:, at], task.values[:, at], task.folds)
            area, known = probe.area(task.draws), np.isfinite(task.values[:, at])
            over = difference_interval(probe, words, task.draws)
            line: dict[str, object] = {
                "label": label,
                "method": name,
                "n": int(known.sum()),
                "n_positive": area.n_positive,
                "n_unknown": int((~known).sum()),
                **area.named(),
                "se": area.se,
                "shuffled": chance[label],
                "selectivity": area.auroc - chance[label],
                "control": chance[""],
                "text": words.auroc,
                **dict(zip(("over_text", "over_text_low", "over_text_high"), over, strict=True)),
                "brier_skill": brier_skill_of(probability[known, at], task.values[known, at]),
                "ece": calibration_error(probability[known, at], task.values[known, at]),
                "penalty": float(best_penalties(fitted[name])[at]),
            }
            lines.append(line)
    table = pd.DataFrame(lines).reindex(columns=list(PROBE_COLUMNS))
    probes = {name: probes_of(rows, scores, name, task.draws) for name, scores in fitted.items()}
    return LayerReading(table, fitted, probes)


def brier_skill_of(probability: Floats, truth: Floats) -> float:
    """1 - mean (p - y)^2 / [m (1 - m)], m = the label's mean: 0 = no better than the mean; nan for a constant label."""
    rate = truth.mean() if len(truth) else float("nan")
    if not 0 < rate < 1:
        return float("nan")
    return float(1 - ((probability - truth) ** 2).mean() / (rate * (1 - rate)))


def calibration_error(probability: Floats, truth: Floats) -> float:
    """Expected calibration error over ten bins of equal mass; biased upwards in small samples."""
    return expected_calibration_error(probability, truth, bins="mass", n_bootstrap=1).value


def _chance(task: ProbeTask, scores: CrossFitted | None) -> dict[str, float]:
    """Mean AUROC of each label's shuffled copies, and under "" that of the control labels; nan where there are none."""
    aurocs: dict[str, list[float]] = {name: [] for name in [*task.labels, ""]}
    if scores is not None:
        area = auroc_by_column(scores.score, scores.truth, task.folds.fold)
        for name, value in zip(scores.labels, area, strict=True):
            aurocs["" if name.startswith("control ") else name.split(": ", 1)[1]].append(float(value))
    return {name: float(np.mean(values)) if values else float("nan") for name, values in aurocs.items()}

"""Answering with a guarantee: thresholds and sets of options that hold on new questions, through MAPIE.

Everything rests on calibration questions that are exchangeable with those that come later; questions of other topics
are not. What is stored are probabilities, so MAPIE is given a classifier that hands them through.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Booleans, Floats

FEWEST = 10


@dataclass(frozen=True)
class AnsweringThreshold:
    """Attributes:
    threshold: answer where the confidence is above it; nan where no threshold keeps the promise.
    accuracy, confidence: what is promised: at least this accuracy of the answers given, with this confidence over draws
        of the calibration questions.
    coverage, observed: share of the calibration questions answered, and how many of those are right.
    n: calibration questions.
    """

    threshold: float
    accuracy: float
    confidence: float
    coverage: float
    observed: float
    n: int


def answering_threshold(
    confidence: ArrayLike, correct: ArrayLike, accuracy: float = 0.8, promised: float = 0.9
) -> AnsweringThreshold:
    """Above which confidence may a respondent answer, so that its answers are right often enough?

    Formula: Learn then Test (Angelopoulos and others, arXiv 2110.01052) over thresholds on the grid of the observed
    confidences' percentiles, Bonferroni-Holm: P(accuracy of the answers given >= `accuracy`) >= `promised`; of the
    thresholds that hold, the one that answers most. `mapie.risk_control.BinaryClassificationController`, the precision
    of answering.

    Args:
        confidence: (question,), any numbers. correct: (question,) 1 / 0; questions with nan in either are left out.
        accuracy: wanted of the answers that are given. promised: with which confidence.

    Returns:
        AnsweringThreshold; its threshold is on the scale of `confidence`. Sign: higher = answers more rarely.

    Raises:
        InputError: fewer than ten questions, or a promise outside 0 and 1.

    >>> rng = np.random.default_rng(0)
    >>> sure = rng.random(500)
    >>> found = answering_threshold(sure, rng.random(500) < sure, accuracy=0.8)
    >>> 0.3 < found.threshold < 0.9
    True
    """
    from mapie.risk_control import BinaryClassificationController

    c, y = _known(confidence, correct)
    if not (0 < accuracy < 1 and 0 < promised < 1):
        raise InputError(f"accuracy {accuracy:g} promised with {promised:g}; give both between 0 and 1")
    grid = np.unique(np.quantile(c, np.linspace(0, 0.95, 20), method="lower"))
    # MAPIE thresholds probabilities: ranks stand in for them, and keep the order of any confidence.
    ranks = np.searchsorted(grid, c, side="right") / (len(grid) + 1)
    steps = np.arange(len(grid)) / (len(grid) + 1) + 0.5 / (len(grid) + 1)
    controller = BinaryClassificationController(
        predict_function=lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]),
        risk="precision",
        target_level=accuracy,
        confidence_level=promised,
        best_predict_param_choice="recall",
        list_predict_params=steps,
    )
    with _quietly():
        controller.calibrate(ranks[:, None], y.astype(int))
    best: Any = controller.best_predict_param
    if best is None:
        return AnsweringThreshold(float("nan"), accuracy, promised, 0.0, float("nan"), len(c))
    given = ranks >= float(np.ravel(best)[0])
    threshold = float(grid[int(np.argmin(np.abs(steps - float(np.ravel(best)[0]))))])
    return AnsweringThreshold(threshold, accuracy, promised, float(given.mean()), float(y[given].mean()), len(c))


@dataclass(frozen=True)
class OptionSets:
    """Attributes:
    sets: (question, option) True for the options that cannot be ruled out.
    coverage: share of the questions whose right option is in its set. promised: how many should be, at least.
    size: mean number of options in a set. alone: share of sets of one option: where the choice may be given.
    n, n_calibration.
    """

    sets: Booleans
    coverage: float
    promised: float
    size: float
    alone: float
    n: int
    n_calibration: int

    __repr__ = one_line


def option_sets(
    calibration: ArrayLike,
    calibration_right: ArrayLike,
    probabilities: ArrayLike,
    right: ArrayLike,
    promised: float = 0.8,
) -> OptionSets:
    """Sets of options that hold the right one as often as promised.

    Formula: split conformal sets: score 1 - p(right option) on the calibration questions, threshold at its ceil((n + 1)
    promised) / n quantile (`mapie.classification.SplitConformalClassifier`, "lac"; Sadinle, Lei and Wasserman, 2019).

    Args:
        calibration, probabilities: (question, option), rows adding up to 1. calibration_right, right: (question,) place
            of the right option. promised: the share of sets that hold it.

    Returns:
        OptionSets. Sign: smaller sets = more is known.

    Raises:
        InputError: fewer than ten calibration questions, or rows that are no probabilities.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.5] * 4, 200)
    >>> right = [rng.choice(4, p=row) for row in p]
    >>> option_sets(p[:100], right[:100], p[100:], right[100:]).coverage > 0.7
    True
    """
    from mapie.classification import SplitConformalClassifier

    first, second = (np.asarray(each, dtype=float) for each in (calibration, probabilities))
    known, truth = (np.asarray(each, dtype=int) for each in (calibration_right, right))
    for rows in (first, second):
        if rows.ndim != 2 or not np.allclose(rows.sum(axis=1), 1, atol=1e-3):
            raise InputError("the options' probabilities do not add up to 1; normalise each question's")
    if len(first) < FEWEST:
        raise InputError(f"{len(first)} calibration questions; give {FEWEST} or more")
    n_options = first.shape[1]
    conformal = SplitConformalClassifier(
        estimator=_handed_through(n_options), confidence_level=promised, conformity_score="lac", prefit=True
    )
    with _quietly():
        conformal.conformalize(first, known)
        _, found = conformal.predict_set(second)
    sets = np.asarray(found)[..., 0].astype(bool)
    return OptionSets(
        sets,
        float(sets[np.arange(len(truth)), truth].mean()),
        promised,
        float(sets.sum(axis=1).mean()),
        float((sets.sum(axis=1) == 1).mean()),
        len(second),
        len(first),
    )


@contextmanager
def _quietly() -> Iterator[None]:
    """MAPIE warns where every threshold holds, where none does, and where one place is always the right one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _handed_through(n_options: int) -> Any:
    from sklearn.base import BaseEstimator, ClassifierMixin

    class HandedThrough(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose rows are its probabilities."""

        def fit(self, rows: Floats, right: Any) -> "HandedThrough":
            self.classes_ = np.arange(n_options)
            self.n_features_in_ = n_options
            return self

        def predict_proba(self, rows: Floats) -> Floats:
            return np.asarray(rows)

        def predict(self, rows: Floats) -> Any:
            return np.asarray(rows).argmax(axis=1)

    return HandedThrough().fit(np.eye(n_options), np.arange(n_options))


def _known(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, Floats]:
    c, y = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if len(c) != len(y):
        raise InputError(f"{len(c)} confidences and {len(y)} outcomes; give one of each per question")
    known = np.isfinite(c) & np.isfinite(y)
    if known.sum() < FEWEST:
        raise InputError(f"{int(known.sum())} graded answers with a confidence; give {FEWEST} or more")
    return c[known], y[known]

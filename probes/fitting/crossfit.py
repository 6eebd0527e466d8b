"""Score questions whose topics the probe has not seen, with the penalty and the calibration chosen inside.

Every model that leaves out two folds serves twice: its scores of the one fold help to choose for the other. So the
questions that train the probe of a fold all have scores of their own that are held out as well, from which come

    the penalty           the one whose inner scores rank best (AUROC within folds); ties take the stronger one
    the calibration       probability = 1 / (1 + exp(-(a + b score))), fitted to the inner scores (Platt's scaling)

and nothing of the judged fold enters any of them. A model's scores are counted in standard deviations of its own
training questions, so that those of several models compare.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.solvers import METHODS, NO_PENALTY, PENALISED, PENALTIES, Training, fit_logistic
from probes.fitting.concordance import auroc_by_column
from probes.fitting.folds import TopicFolds

LEAST_OF_A_KIND = 20
"""Questions of either label that a probe needs: four in each of five folds."""


@dataclass(frozen=True, eq=False)
class Job:
    """Labels to be read by one method.

    Attributes:
        method: a key of `METHODS`. labels: names of the columns of `truth`, which is (question, label) 1 / 0 / nan.
    """

    method: str
    labels: tuple[str, ...]
    truth: Floats


Features = Callable[[NDArray[np.bool_]], tuple[Floats, bool]]
"""Given which questions may be looked at, the rows of all of them, and whether coordinates are to be standardised."""


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Held-out scores of several labels under one method.

    Attributes:
        labels: their names. truth: (question, label) 1 / 0 / nan.
        score: (question, label) by the probe that has not seen the question's fold.
        inner: (fold, question, label) scores of the questions that train a fold's probe, by probes that have seen
            neither the fold nor the question's own; nan at the fold's own questions.
        penalty: (fold, label) chosen; 0 for a method without one.
        folds: which questions were held out together.
    """

    labels: tuple[str, ...]
    truth: Floats
    score: Floats
    inner: Floats
    penalty: Floats
    folds: TopicFolds

    __repr__ = one_line

    def probability(self) -> Floats:
        """(question, label) calibrated by the inner scores of each fold's training questions."""
        calibrated = np.full(self.score.shape, np.nan)
        for fold in range(self.folds.n_folds):
            inside, others = self.folds.inside(fold), ~self.folds.inside(fold)
            shift, slope = platt(self.inner[fold][others], self.truth[others])
            calibrated[inside] = expit(shift + slope * self.score[inside])
        return calibrated

    def take(self, names: Sequence[str]) -> "CrossFitted":
        """The same scores for some of the labels."""
        places = [self.labels.index(name) for name in names]
        return replace(
            self,
            labels=tuple(names),
            truth=self.truth[:, places],
            score=self.score[:, places],
            inner=self.inner[:, :, places],
            penalty=self.penalty[:, places],
        )


def of_rows(rows: Floats) -> Features:
    """Features that are what they are whatever one looks at, such as activations; standardised on training questions.

    Raises:
        InputError: nan or infinite values.

    >>> of_rows(np.eye(3))(np.array([True, True, True]))[0].shape
    (3, 3)
    """
    if not np.isfinite(rows).all():
        bad = int((~np.isfinite(rows)).any(axis=1).sum())
        raise InputError(
            f"nan or infinite: the activations of {bad} of {len(rows)} questions; load the model in a wider dtype"
        )
    return lambda looked_at: (rows, True)


def cross_fit(
    features: Features,
    labels: Sequence[str],
    truth: Floats,
    folds: TopicFolds,
    methods: Sequence[str] = ("logistic",),
    penalties: Sequence[float] = PENALTIES,
    least: int = LEAST_OF_A_KIND,
) -> dict[str, CrossFitted]:
    """Held-out scores of every label under every method; see the module's text.

    Args:
        labels: names of the columns of `truth`. truth: (question, label) 1 / 0 / nan, see `check_truth`.
        methods: keys of `METHODS`. penalties: to choose among, in `Training.unit`.
        least: questions of either kind that a label needs.

    Raises:
        InputError: an unknown method, or labels that do not fit the questions.

    >>> rng = np.random.default_rng(0)
    >>> truth = (np.arange(80) % 2)[:, None] * 1.0
    >>> rows = rng.standard_normal((80, 8)) + truth
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> cross_fit(of_rows(rows), ["label"], truth, folds, ["lda"])["lda"].labels
    ('label',)
    """
    jobs = [Job(name, tuple(labels), truth) for name in methods]
    return dict(zip(methods, cross_fit_jobs(features, jobs, folds, penalties, least), strict=True))


def cross_fit_jobs(
    features: Features,
    jobs: Sequence[Job],
    folds: TopicFolds,
    penalties: Sequence[float] = PENALTIES,
    least: int = LEAST_OF_A_KIND,
) -> list[CrossFitted]:
    """Several methods and sets of labels on the same questions, which are standardised and factored once for all.

    Raises:
        InputError: as in `cross_fit`.
    """
    for job in jobs:
        if job.method not in METHODS:
            raise InputError(f"the method {job.method!r} is not known; choose among {', '.join(METHODS)}")
        check_truth(job.labels, job.truth, folds, least)
    grids = [tuple(penalties) if job.method in PENALISED else NO_PENALTY for job in jobs]
    shapes = [(len(folds), len(grid), len(job.labels)) for job, grid in zip(jobs, grids, strict=True)]
    inner = [np.full((folds.n_folds, *shape), np.nan) for shape in shapes]
    outer = [np.full(shape, np.nan) for shape in shapes]
    for left_out in [*combinations(range(folds.n_folds), 2), *((fold,) for fold in range(folds.n_folds))]:
        seen = ~folds.inside(*left_out)
        rows, standardise = features(seen)
        training = Training.of(rows[seen], standardise=standardise)
        asked, held = training.standardised(rows[~seen]), folds.fold[~seen]
        for number, (job, grid) in enumerate(zip(jobs, grids, strict=True)):
            directions = training.normalised(METHODS[job.method](training, job.truth[seen], grid))
            scores = np.tensordot(asked, directions, axes=(1, 1))
            if len(left_out) == 1:
                outer[number][~seen] = scores
                continue
            one, other = left_out
            for judge, judged in ((one, other), (other, one)):
                inner[number][judge][folds.inside(judged)] = scores[held == judged]
    return [_chosen(job, outer[at], inner[at], grids[at], folds) for at, job in enumerate(jobs)]


def best_penalties(fitted: CrossFitted) -> Floats:
    """(label,) one penalty for a probe of all questions: the median of those that the folds chose.

    >>> rng = np.random.default_rng(0)
    >>> truth = (np.arange(80) % 2)[:, None] * 1.0
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> fitted = cross_fit(of_rows(rng.standard_normal((80, 8)) + truth), ["label"], truth, folds, ["ridge"])
    >>> best_penalties(fitted["ridge"]).shape
    (1,)
    """
    return np.quantile(fitted.penalty, 0.5, axis=0, method="higher")


def platt(score: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """(label,) intercept and slope of the log-odds of label 1 on a score, by maximum likelihood with a faint prior.

    The prior is that of Platt (1999): targets (n_1 + 1) / (n_1 + 2) and 1 / (n_0 + 2) in place of 1 and 0, so that
    scores that separate the labels give no endless slope. A score that says nothing gets slope 0. Nan counts for
    nothing.

    >>> score = np.linspace(-2, 2, 40)[:, None]
    >>> intercept, slope = platt(score, (score > 0.1) * 1.0)
    >>> bool(slope[0] > 0)
    True
    """
    lines = []
    for column, label in zip(score.T, truth.T, strict=True):
        known = np.isfinite(column) & np.isfinite(label)
        y, n_yes = label[known], label[known].sum()
        target = np.where(y == 1, (n_yes + 1) / (n_yes + 2), 1 / (known.sum() - n_yes + 2))
        lines.append(fit_logistic(column[known][:, None], target, 1e-9))
    shift, slope = np.array(lines).reshape(-1, 2).T
    return shift, slope


def check_truth(labels: Sequence[str], truth: Floats, folds: TopicFolds, least: int = LEAST_OF_A_KIND) -> None:
    """Raise InputError unless every label is 1, 0 or nan, one per question, and has enough of either kind."""
    if truth.shape != (len(folds), len(labels)):
        raise InputError(f"labels of shape {truth.shape} for {len(folds)} questions and {len(labels)} labels")
    if not np.isin(truth[np.isfinite(truth)], (0.0, 1.0)).all() or np.isinf(truth).any():
        raise InputError("the labels hold other values than 1, 0 and nan; give 1 for yes, 0 for no, nan for unknown")
    for name, column in zip(labels, truth.T, strict=True):
        n_yes, n_no = int((column == 1).sum()), int((column == 0).sum())
        if min(n_yes, n_no) < least:
            raise InputError(
                f"label {name!r}: {n_yes} questions of label 1 and {n_no} of label 0; a probe needs {least} "
                "of each: ask more questions, or leave the label out"
            )


def _chosen(job: Job, outer: Floats, inner: Floats, grid: Sequence[float], folds: TopicFolds) -> CrossFitted:
    """Per fold and label, the scores of the penalty whose inner scores rank best."""
    truth = job.truth
    n_folds, n, n_penalties, n_labels = inner.shape
    score, kept, penalty = np.empty((n, n_labels)), np.empty((n_folds, n, n_labels)), np.empty((n_folds, n_labels))
    for fold in range(n_folds):
        inside, others = folds.inside(fold), ~folds.inside(fold)
        best = np.zeros(n_labels, dtype=int)
        if n_penalties > 1:
            columns = inner[fold][others].reshape(int(others.sum()), -1)
            area = auroc_by_column(columns, np.tile(truth[others], n_penalties), folds.fold[others])
            ranked = np.nan_to_num(area, nan=0.5).reshape(n_penalties, n_labels)[::-1]  # the strongest comes first
            best = n_penalties - 1 - ranked.argmax(axis=0)
        each = np.arange(n_labels)
        score[inside] = outer[inside][:, best, each]
        kept[fold] = inner[fold][:, best, each]
        penalty[fold] = np.asarray(grid)[best]
    return CrossFitted(job.labels, truth, score, kept, penalty, folds)

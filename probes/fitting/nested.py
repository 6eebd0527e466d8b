"""What one reading adds to others: nested models of held-out scores, and a test of what is added.

    base    log-odds(label) = a + B c        B: held-out scores of some probes, and numbers known of each question
    both    log-odds(label) = a + B c + d s  s: the held-out score of the probe in question

Both are fitted to the inner scores of a fold's training questions and judged on the fold's own
(`probes.fitting.crossfit`), so that nothing judged was seen at either stage.

The test asks whether s adds anything. With p the base model's probabilities, e what is left of s when B is taken out of
it (weighted by p (1 - p)), the score of d at 0 is the sum over topics of S_t = sum_i (y_i - p_i) e_i. Questions of a
topic hang together, so the signs of whole topics are flipped: p = (1 + number of draws with a sum at least as large) /
(1 + draws) (score wild bootstrap: Kline and Santos, 2012, Journal of Econometric Methods 1, 23-41). One-sided: a
reading that helps has d > 0. How often it errs is counted by scripts/simulate.py probes (docs/evidence.md); a
likelihood-ratio test, which takes every question for a draw of its own, would find too much where topics differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.solvers import fit_logistic
from probes.fitting.concordance import Concordance, difference_interval
from probes.fitting.crossfit import CrossFitted
from probes.fitting.folds import TopicFolds

N_FLIPS = 4999


@dataclass(frozen=True)
class Added:
    """What a reading adds to a base, for one label.

    Attributes:
        n: questions with a known label.
        base, both: AUROC on held-out topics.
        added, low, high: both - base, with its 95% interval over topics.
        p: of the test that nothing is added; see the module's text.
    """

    n: int
    base: float
    both: float
    added: float
    low: float
    high: float
    p: float


def what_is_added(
    label: str,
    reading: CrossFitted,
    base: Sequence[CrossFitted],
    draws: Floats,
    known: Floats | None = None,
    seed: int = 0,
) -> Added:
    """Compare the nested models for one label.

    Args:
        reading: whose score is added. base: probes of the same label and folds whose scores stand in the base.
        draws: of topics, see `unit_weights`. known: (question, number) what else is known of each question, in the
            base; questions with nan there are left out. seed: of the flips.

    Raises:
        InputError: a probe does not know the label, or was judged on other folds.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> from probes.fitting.crossfit import cross_fit, of_rows
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> fitted = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    >>> noise = of_rows(rng.standard_normal((120, 6)))
    >>> nothing = cross_fit(noise, task.labels, task.values, task.folds, ["ridge"])["ridge"]
    >>> bool(what_is_added("knows", fitted, [nothing], task.draws).added > 0.2)
    True
    """
    folds = reading.folds
    for other in base:
        if label not in other.labels or not np.array_equal(other.folds.fold, folds.fold):
            raise InputError(f"a base probe knows no label {label!r} on these folds; fit it on the same ones")
    column, place = reading.labels.index(label), [other.labels.index(label) for other in base]
    truth = reading.truth[:, column].copy()
    numbers = np.zeros((len(truth), 0)) if known is None else known
    truth[~np.isfinite(numbers).all(axis=1)] = np.nan
    usable = np.isfinite(truth)
    outer = np.column_stack([numbers, *(other.score[:, at] for other, at in zip(base, place, strict=True))])
    scores = {"base": np.full(len(truth), np.nan), "both": np.full(len(truth), np.nan)}
    for fold in range(folds.n_folds):
        train, judged = usable & ~folds.inside(fold), usable & folds.inside(fold)
        inner = np.column_stack([numbers, *(other.inner[fold][:, at] for other, at in zip(base, place, strict=True))])
        for name, more_inner, more_outer in (
            ("base", inner, outer),
            ("both", np.c_[inner, reading.inner[fold][:, column]], np.c_[outer, reading.score[:, column]]),
        ):
            weight = fit_logistic(more_inner[train], truth[train])
            scores[name][judged] = weight[0] + more_outer[judged] @ weight[1:]
    pairs = {name: Concordance.of(score, truth, folds) for name, score in scores.items()}
    added, low, high = difference_interval(pairs["both"], pairs["base"], draws)
    return Added(
        n=int(usable.sum()),
        base=pairs["base"].auroc,
        both=pairs["both"].auroc,
        added=added,
        low=low,
        high=high,
        p=added_test(truth, outer, reading.score[:, column], folds, seed=seed),
    )


def added_test(
    truth: Floats, base: Floats, score: Floats, folds: TopicFolds, n_flips: int = N_FLIPS, seed: int = 0
) -> float:
    """One-sided p that a held-out score adds nothing to a base; see the module's text.

    Args:
        truth: (question,) 1 / 0 / nan. base: (question, number). score: (question,).

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(80) < 0.5
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> added_test(truth * 1.0, np.zeros((80, 1)), truth + rng.standard_normal(80), folds, 199) < 0.05
    True
    """
    y, s, design, topic = _nested_design(truth, base, score, folds)
    weight = fit_logistic(design[:, 1:], y, penalty=1e-6)
    p = 1 / (1 + np.exp(-(weight[0] + design[:, 1:] @ weight[1:])))
    variance = p * (1 - p)
    weighted = design * variance[:, None]
    left = s - design @ np.linalg.lstsq(design.T @ weighted, weighted.T @ s, rcond=None)[0]
    by_topic = np.bincount(topic, (y - p) * left, minlength=folds.n_topics)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (n_flips, folds.n_topics))
    return float((1 + (signs @ by_topic >= by_topic.sum() - 1e-12).sum()) / (1 + n_flips))


def _nested_design(
    truth: Floats, base: Floats, score: Floats, folds: TopicFolds
) -> tuple[Floats, Floats, Floats, NDArray[np.intp]]:
    """Label, score, columns of the base model and topic of the questions of which everything is known."""
    usable = np.isfinite(truth) & np.isfinite(score) & np.isfinite(base).all(axis=1)
    # Each fold has a probe of its own, whose scores have their own origin: the base knows the folds.
    fold = (folds.fold[usable][:, None] == np.arange(1, folds.n_folds)).astype(float)
    design = np.c_[np.ones(int(usable.sum())), base[usable], fold]
    return truth[usable], score[usable], design, folds.topic[usable]


def brier_skill_of(probability: Floats, truth: Floats) -> float:
    """1 - mean (p - y)^2 / [m (1 - m)], m = the label's mean: 0 = no better than the mean; nan for a constant label."""
    rate = truth.mean() if len(truth) else float("nan")
    if not 0 < rate < 1:
        return float("nan")
    return float(1 - ((probability - truth) ** 2).mean() / (rate * (1 - rate)))

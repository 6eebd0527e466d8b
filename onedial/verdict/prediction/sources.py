"""What can put a target's questions in an order: the dial, what is known without steering, and other models.

Each source gives every question of every target a score, higher where a yes is likelier. Those that need the target's
own answers are trained on its fitting answers, and are an account of that one target; the others are one order that the
target is placed on (but for leaving out its base model, where they are made of other models).

    the dial                        the order in which the subject's answers turn
    unsteered margin                the subject with another cut
    length                          characters, longer or shorter first, as the other base models answer
    level                           `baselines`: the data set's own label
    topics, from other models       the other base models' yes rate in the topic, outside the test split
    text, from other models         `baselines`; shared difficulty (the shared scale) and mean of other models likewise
    topic means, text               `baselines`, trained on the target's fitting answers
    own base model, otherwise asked the base model's other framings: no baseline, but what a retest might give
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.panels.splits import EXTRACTION
from onedial.verdict.baselines.baselines import (
    BASELINES,
    LEVEL_LABEL,
    MEAN,
    no_scores,
    others_means,
    same_for_all,
    scores_of,
    topic_means,
    turned_as_others_answer,
)
from onedial.verdict.case import Case

DIAL, MARGIN, LENGTH = "the dial", "unsteered margin", "length"
TOPICS, SHARED = "topics, from other models", "shared difficulty"
OWN_FRAMINGS = "own base model, otherwise asked"
SURFACE_SOURCES = (LENGTH, LEVEL_LABEL, TOPICS)
"""What can be said of a question without any model that reads it: a dial that does no better has learnt no more."""
ACCOUNTS = (MEAN, SHARED)
"""Made of the other base models' answers to the very questions: the best of them marks what can be predicted."""

_FOLDS = 5


def known_of_targets(case: Case) -> Case:
    """The case without the answers outside of fitting and test questions: all that is known of a target are its fitting
    answers."""
    return case.knowing(np.where((case.splits == EXTRACTION)[:, None], np.nan, case.given))


def _dial(case: Case) -> np.ndarray:
    return same_for_all(case.dial.ease, case)


def _length(case: Case) -> np.ndarray:
    lengths = np.array([len(text) for text in case.texts], dtype=float)
    return turned_as_others_answer(lengths, case) if case.texts else no_scores(case)


def _topics_of_others(case: Case) -> np.ndarray:
    topics = case.topics.astype(str)
    scores = no_scores(case)
    if len(set(topics)) < 2:
        return scores
    for targets, mean in others_means(case):
        known = np.where(case.test, np.nan, mean)
        by_topic = pd.Series(known).groupby(topics).transform("mean")
        scores[:, targets] = by_topic.to_numpy()[:, None]
    return scores


def _topic_means(case: Case) -> np.ndarray:
    """Score as in `baselines`; a fitting question's is made of the other folds' answers, its own left out."""
    known = known_of_targets(case)
    scores = topic_means(known)
    fitting = np.flatnonzero(case.fitting)
    fold = np.random.default_rng(0).integers(_FOLDS, size=len(fitting))
    for number in range(_FOLDS):
        left = fitting[fold == number]
        given = known.given.copy()
        given[left] = np.nan
        scores[left] = topic_means(case.knowing(given))[left]
    return scores


def _own_framings(case: Case) -> np.ndarray:
    means = no_scores(case)
    answers, models = case.given, case.models
    for target, model in enumerate(models):
        same = (models == model) & (np.arange(len(models)) != target)
        if same.any():
            means[:, target] = _mean(answers[:, same])
    return means


def _mean(answers: np.ndarray) -> np.ndarray:
    known = ~np.isnan(answers)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(answers).sum(axis=1) / known.sum(axis=1)


@dataclass(frozen=True)
class Source:
    """Scores of every question for every target, and whether they are trained on the target's own fitting answers,
    and so need all of them."""

    scores: Callable[[Case], np.ndarray]
    own_answers: bool = False


def every_source() -> dict[str, Source]:
    """Name to source: the dial, what is known of the questions, every baseline, the target's own kin."""
    sources = {
        DIAL: Source(_dial),
        MARGIN: _of_baseline(MARGIN),
        LENGTH: Source(_length),
        LEVEL_LABEL: _of_baseline(LEVEL_LABEL),
    }
    sources[TOPICS] = Source(_topics_of_others)
    sources |= {name: _of_baseline(name) for name in BASELINES if name not in sources}
    return sources | {"topic means": Source(_topic_means, True), OWN_FRAMINGS: Source(_own_framings)}


def _of_baseline(name: str) -> Source:
    baseline = BASELINES[name]

    def scores(case: Case) -> np.ndarray:
        made = scores_of(name, known_of_targets(case) if baseline.own_answers else case)
        return no_scores(case) if made is None else made

    return Source(scores, baseline.own_answers)

"""What can put a target's questions in an order: the dial, what is known without steering, and other models.

Each source gives every question of every target a score, higher where a yes is likelier. Those that need the target's
own answers are trained on all of its fitting answers, and are an account of that one target; the others are one order
that a few answers place the target on (but for leaving out its base model, where they are made of other models).

    the dial                        the order in which the subject's answers turn
    unsteered margin                the subject with another cut
    length                          characters, longer or shorter first, as the other base models answer
    level                           `rivals`: the data set's own label
    topics, from other models       the other base models' yes rate in the topic, outside the test split
    text, from other models         `rivals`; shared difficulty (the shared scale) and mean of other models likewise
    topic means, text               `rivals`, trained on the target's fitting answers
    own base model, otherwise asked the base model's other framings: no rival, but what a retest might give
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from onedial.panels import EXTRACTION, FITTING, TEST
from onedial.verdict.match import TargetMatches
from onedial.verdict.rivals.rivals import (
    LEVEL_LABEL,
    MEAN,
    RIVALS,
    Material,
    others_means,
    topic_means,
    turned_as_others_answer,
)

DIAL, MARGIN, LENGTH = "the dial", "unsteered margin", "length"
TOPICS, SHARED = "topics, from other models", "shared difficulty"
OWN_FRAMINGS = "own base model, otherwise asked"
SURFACE_SOURCES = (LENGTH, LEVEL_LABEL, TOPICS)
"""What can be said of a question without any model that reads it: a dial that does no better has learnt no more."""
ACCOUNTS = (MEAN, SHARED)
"""Made of the other base models' answers to the very questions: the best of them marks what can be predicted."""

_FOLDS = 5


@dataclass(frozen=True)
class Ground:
    """What sources are made of.

    Attributes:
        material: `rivals.Material`, of all of the sweep's questions. ease: question, the dial's order.
    """

    material: Material
    ease: np.ndarray

    @property
    def own(self) -> Material:
        """The material with the answers outside of fitting and test questions taken out: all that is known of a target
        are its fitting answers."""
        given = self.material.given.copy()
        given[self.material.splits == EXTRACTION] = np.nan
        return replace(self.material, given=given)


def ground_of(matches: TargetMatches, material: Material | None = None, texts: Sequence[str] = ()) -> Ground:
    """From the matches, and what else is known of the questions: the whole material, or their texts.

    >>> from onedial.verdict import match_targets
    >>> from onedial.verdict.simulation import dial_order_targets, simulate_sweep
    >>> rng = np.random.default_rng(0)
    >>> sweep = simulate_sweep(rng, 200, 11)
    >>> panel = dial_order_targets(rng, sweep, 6)
    >>> ground_of(match_targets(sweep, panel, n_bootstrap=99)).ease.shape
    (200,)
    """
    evidence = matches.evidence
    if material is None:
        splits = np.full(len(evidence.answers), EXTRACTION, dtype=object)
        splits[evidence.fitting_rows], splits[evidence.test_rows] = FITTING, TEST
        given = pd.DataFrame(evidence.answers, evidence.dial.questions, matches.table.index)
        models = matches.table["model"].astype(str).to_numpy()
        material = Material(
            list(texts), evidence.all_topics, splits, given, models, evidence.margins, wordings=evidence.wordings
        )
    return Ground(material, evidence.dial.ease)


def _same_for_all(scores: np.ndarray, ground: Ground) -> np.ndarray:
    return np.repeat(scores[:, None], ground.material.given.shape[1], axis=1)


def _dial(ground: Ground) -> np.ndarray:
    return _same_for_all(ground.ease, ground)


def _length(ground: Ground) -> np.ndarray:
    texts = ground.material.texts
    lengths = np.array([len(text) for text in texts], dtype=float)
    return turned_as_others_answer(lengths, ground.material) if texts else _nothing(ground)


def _topics_of_others(ground: Ground) -> np.ndarray:
    topics = ground.material.topics.astype(str)
    found = _nothing(ground)
    if len(set(topics)) < 2:
        return found
    for own, mean in others_means(ground.material):
        known = np.where(ground.material.splits != TEST, mean, np.nan)
        by_topic = pd.Series(known).groupby(topics).transform("mean")
        found[:, own] = by_topic.to_numpy()[:, None]
    return found


def _topic_means(ground: Ground) -> np.ndarray:
    """As in `rivals`; a fitting question's is made of the other folds' answers, so that its own is not among them."""
    material = ground.own
    found = topic_means(material)
    fitting = np.flatnonzero(material.splits == FITTING)
    fold = np.random.default_rng(0).integers(_FOLDS, size=len(fitting))
    for number in range(_FOLDS):
        left = fitting[fold == number]
        given = material.given.copy()
        given.iloc[left] = np.nan
        found[left] = topic_means(replace(material, given=given))[left]
    return found


def _own_framings(ground: Ground) -> np.ndarray:
    found = _nothing(ground)
    answers, models = ground.material.given.to_numpy(float), ground.material.models
    for target, model in enumerate(models):
        same = (models == model) & (np.arange(len(models)) != target)
        if same.any():
            found[:, target] = _mean(answers[:, same])
    return found


def _mean(answers: np.ndarray) -> np.ndarray:
    known = ~np.isnan(answers)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(answers).sum(axis=1) / known.sum(axis=1)


def _nothing(ground: Ground) -> np.ndarray:
    return np.full(ground.material.given.shape, np.nan)


@dataclass(frozen=True)
class Source:
    """Scores of every question for every target, and whether they are trained on the target's own fitting answers,
    and so need all of them."""

    scores: Callable[[Ground], np.ndarray]
    own_answers: bool = False


def every_source() -> dict[str, Source]:
    """Name to source: the dial, what is known of the questions, every rival, the target's own kin."""
    found = {
        DIAL: Source(_dial),
        MARGIN: _of_rival(MARGIN),
        LENGTH: Source(_length),
        LEVEL_LABEL: _of_rival(LEVEL_LABEL),
    }
    found[TOPICS] = Source(_topics_of_others)
    found |= {name: _of_rival(name) for name in RIVALS if name not in found}
    return found | {"topic means": Source(_topic_means, True), OWN_FRAMINGS: Source(_own_framings)}


def _of_rival(name: str) -> Source:
    rival = RIVALS[name]

    def scores(ground: Ground) -> np.ndarray:
        found = (ground.own if rival.own_answers else ground.material).scores(name)
        return _nothing(ground) if found is None else found

    return Source(scores, rival.own_answers)

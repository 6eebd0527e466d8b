"""Activations with planted directions: topics that move activations and rates, labels along known directions."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask

WORDS = ["which", "who", "what", "where", "how"]


@dataclass(frozen=True)
class Planted:
    """Rows (question, d), labels, the unit direction of each label, topics, texts."""

    rows: np.ndarray
    truth: pd.DataFrame
    directions: dict[str, np.ndarray]
    topics: list[str]
    texts: tuple[str, ...]

    def task(self, **options) -> ProbeTask:
        return ProbeTask(self.truth, self.texts, TopicFolds.of(self.topics), n_bootstrap=199, **options)


def planted(shifts, n=340, d=60, n_topics=17, seed=0, topic_effect=0.5, unknown=0.0, cosine=0.0) -> Planted:
    """Label k is moved by shifts[k] standard deviations along its own direction.

    Args:
        shifts: name -> distance between the two means. topic_effect: of the topics on the activations.
        unknown: share of labels that are nan. cosine: between the directions of the first two labels.
    """
    rng = np.random.default_rng(seed)
    raw = rng.standard_normal((len(shifts), d))
    if cosine and len(shifts) > 1:
        first = raw[0] / np.linalg.norm(raw[0])
        across = raw[1] - (raw[1] @ first) * first
        raw[1] = cosine * first + np.sqrt(1 - cosine**2) * across / np.linalg.norm(across)
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    topic = np.arange(n) % n_topics
    scale = np.exp(rng.normal(0, 0.5, d))
    rows = rng.standard_normal((n, d)) + topic_effect * rng.standard_normal((n_topics, d))[topic] + 3
    truth = {}
    for name, direction, shift in zip(shifts, raw, shifts.values(), strict=True):
        label = (rng.random(n) < 0.45).astype(float)
        rows += shift * label[:, None] * direction
        truth[name] = np.where(rng.random(n) < unknown, np.nan, label)
    openings = rng.integers(len(WORDS), size=n)
    texts = tuple(
        f"{WORDS[o]} river number {i} of topic {t}?" for i, (o, t) in enumerate(zip(openings, topic, strict=True))
    )
    directions = {name: direction * scale for name, direction in zip(shifts, raw, strict=True)}
    return Planted(rows * scale, pd.DataFrame(truth), directions, [f"topic {t}" for t in topic], texts)

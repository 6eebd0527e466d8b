"""One number of the verdict, averaged over targets, with what can be said of it in two scopes.

in this panel          the targets as given; only the questions are drawn: 95% and 90% percentile intervals of a
                       bootstrap over questions, and one over whole topics where there are ten or more
for models like these  base models are drawn too: variance over questions plus that between base models over their
                       number M, and Student's t with M - 1 degrees of freedom; not given under five base models
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from onedial.stats.agreement import Counts, count, count_resampled, interval
from onedial.stats.estimate import NAN, Estimate
from onedial.stats.level import QUANTILES_95
from onedial.stats.roc import auc, auc_resampled

FEWEST_MODELS = 5
"""Under which nothing is said of models like these."""

Drawn = tuple[int, int, np.ndarray | None]
"""How questions are drawn: how often, the seed, and what is drawn together."""


@dataclass(frozen=True)
class PanelEstimate(Estimate):
    """An average over targets of one base model first, then over base models.

    Attributes:
        low, high, low_90, high_90, se: over questions.
        low_topics, high_topics: 95% over topics; nan under ten of them.
        low_models, high_models: 95% for models like these; nan under five base models.
        detectable: the true value that a panel of this size would find 4 times in 5; nan where that is not asked.
    """

    low_90: float = NAN
    high_90: float = NAN
    low_topics: float = NAN
    high_topics: float = NAN
    low_models: float = NAN
    high_models: float = NAN
    detectable: float = NAN

    def over(self, scope: str) -> Estimate:
        """Return the same number with its interval over "topics", or for "models" like these."""
        return Estimate(self.value, getattr(self, f"low_{scope}"), getattr(self, f"high_{scope}"), n=self.n)

    def within(self, bound: float) -> bool:
        """Whether the 90% interval lies within +-bound: two one-sided tests at 5%."""
        return bool(self.low_90 > -bound and self.high_90 < bound)


def average_within_models(values: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Average over targets of one base model, then over base models, along the last axis; nan is left out.

    A model that stands in the panel under ten framings thus counts as one.

    >>> float(average_within_models(np.array([1.0, 0.0, 0.0]), np.array(["a", "b", "b"])))
    0.5
    """
    means = model_means(values, models)
    known = ~np.isnan(means)
    with np.errstate(invalid="ignore"):
        return np.where(known, means, 0).sum(axis=-1) / known.sum(axis=-1)


def model_means(values: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Average over the targets of each base model, in the order of `numpy.unique`: ... x model; nan is left out.

    >>> model_means(np.array([1.0, 0.0, 0.5]), np.array(["b", "a", "b"])).tolist()
    [0.0, 0.75]
    """
    names = models.astype(str)
    each, first = np.unique(names, return_index=True)
    if len(each) == len(names):
        return np.asarray(values, float)[..., first]
    known = ~np.isnan(values)
    filled = np.where(known, values, 0)
    masks = [names == name for name in each]
    with np.errstate(invalid="ignore"):
        return np.stack([filled[..., mask].sum(-1) / known[..., mask].sum(-1) for mask in masks], axis=-1)


def panel_estimate(
    values: np.ndarray, resampled: np.ndarray, by_topic: np.ndarray | None, models: np.ndarray, n: int = 0
) -> PanelEstimate:
    """Average over targets, with all intervals.

    Args:
        values: target. resampled: resample x target, over questions. by_topic: the same over topics, None where there
            are too few. models: base model of each target. n: questions, to state.

    >>> number = panel_estimate(np.array([1.0, 0.5]), np.array([[0.9, 0.4], [1.0, 0.6]]), None, np.array(["a", "b"]))
    >>> number.value
    0.75
    """
    value = float(average_within_models(values, models))
    drawn = average_within_models(resampled, models)
    low, high = (float(end) for end in interval(drawn))
    low_90, high_90 = (float(end) for end in interval(drawn, 0.90))
    scopes: dict[str, Any] = {}
    if by_topic is not None:
        ends = interval(average_within_models(by_topic, models))
        scopes = {"low_topics": float(ends[0]), "high_topics": float(ends[1])}
    se = float(np.nanstd(drawn, ddof=1))
    means = model_means(values, models)
    means = means[~np.isnan(means)]
    if len(means) >= FEWEST_MODELS:
        spread = np.sqrt(se**2 + means.var(ddof=1) / len(means))
        reach = float(stats.t.ppf(QUANTILES_95[1], len(means) - 1) * spread)
        scopes |= {"low_models": value - reach, "high_models": value + reach}
    return PanelEstimate(value, low, high, se, n, low_90=low_90, high_90=high_90, **scopes)


def without_each_model(values: np.ndarray, models: np.ndarray) -> dict[str, float]:
    """Compute the number without each base model in turn; nan where it is the only one.

    >>> without_each_model(np.array([1.0, 0.0, 0.5]), np.array(["a", "b", "c"]))
    {'a': 0.25, 'b': 0.75, 'c': 0.5}
    """
    names = np.unique(models.astype(str))
    left = {}
    for name in names:
        others = models.astype(str) != name
        left[str(name)] = float(average_within_models(values[others], models[others])) if others.any() else NAN
    return left


def counts(answers: np.ndarray, given: np.ndarray, drawn: Drawn | None = None) -> Counts:
    """Count two question x target arrays: (target,), of drawn questions (resample, target)."""
    return count(answers, given) if drawn is None else count_resampled(answers, given, *drawn)


def areas(scores: np.ndarray, given: np.ndarray, drawn: Drawn | None = None) -> np.ndarray:
    """Measure how well an order of the questions puts each target's yes above its no: as `counts`."""
    return auc(scores, given) if drawn is None else auc_resampled(scores, given, *drawn)

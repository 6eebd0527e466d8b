"""Is what the dial tells of a question about the question, or about its topic? Where no question names a topic, or the
names have nothing to do with the texts, the questions that read alike say so.

    own    covariance of the dial's order with what the targets say to the very question
    near   the same with what they say to the questions whose text is nearest, NEAREST each way
    told   near / own

If topics are all that is shared, told is the share of such pairs that are of one topic (.3 to .45 in three sets with
topics); if a topic tells nothing, told is 0. Where its interval ends under MOST, topics are not all that
is shared, unless texts that read alike are of one topic in under a quarter.
"""

import numpy as np
from scipy import sparse

from onedial.panels import FITTING, TEST
from onedial.stats import (
    LEVEL,
    QUANTILES_95,
    average_within_models,
    groups_among,
    nearest_texts,
    p_value,
    resampled_weights,
    strata_of,
)
from onedial.verdict.prediction.placing import normal_scores
from onedial.verdict.prediction.sources import Ground

NEAREST, MOST, N_DEALT = 5, 0.25, 199


def told_of_alike(
    ground: Ground, judged: np.ndarray, n_bootstrap: int, seed: int, within: bool = False
) -> tuple[float, float, float]:
    """told, with its 95% interval over questions; both questions of a pair are drawn.

    Over fitting and test questions. What targets say is averaged within base models, then over them, each target's yes
    rate taken out.

    Args:
        judged: targets, as positions. within: named topics, whose means are taken out of order and answers: named ones
            may be coarser than those that are shared.

    Returns:
        nan throughout where the texts are not known or too few, or where own is not above 0; infinite ends where own is
        not above 0 in that part of the resamples.
    """
    material, used = ground.material, _used(ground)
    if not material.texts or len(used) <= NEAREST:
        return np.nan, np.nan, np.nan
    z = normal_scores(ground.ease[used, None])[:, 0]
    given = material.given.to_numpy(float)[np.ix_(used, judged)]
    said = average_within_models(given - np.nanmean(given, axis=0), material.models[judged])
    said = np.nan_to_num(said)  # a question that nobody answered
    if within:
        topics = strata_of(material.topics[used])
        z, said = (own - (np.bincount(topics, own) / np.bincount(topics))[topics] for own in (z, said))
    groups, near = groups_among(material.wordings, used), _nearest(ground, used)
    ends = np.repeat(np.arange(len(used)), NEAREST), near.ravel()
    pairs = sparse.csr_matrix((np.ones(near.size), ends), shape=(len(used), len(used)))
    pairs = (pairs + pairs.T).tocsr()

    def told(weights: np.ndarray) -> np.ndarray:
        own = (weights @ (z * said)) / weights.sum(axis=1)
        across = ((weights * said) * (pairs @ (weights * z).T).T).sum(axis=1)
        across = across / (weights * (pairs @ weights.T).T).sum(axis=1)
        return np.where(own > 0, across / np.where(own > 0, own, 1.0), np.inf)

    estimate = float(told(np.ones((1, len(used))))[0])
    if not np.isfinite(estimate):
        return np.nan, np.nan, np.nan
    drawn = np.concatenate([told(weights) for weights in resampled_weights(len(used), n_bootstrap, seed, groups)])
    low, high = np.quantile(drawn, QUANTILES_95, method="inverted_cdf")
    return estimate, float(low), float(high)


def texts_know_topics(ground: Ground, seed: int) -> bool:
    """Whether the questions that read alike are of one named topic more often than where topics are dealt out anew:
    names that no text knows may stand for anything. True where texts are not known or too few to say.

    Over fitting and test questions; one-sided permutation test at `LEVEL`.
    """
    used = _used(ground)
    if not ground.material.texts or len(used) <= NEAREST:
        return True
    topics = np.unique(ground.material.topics[used].astype(str), return_inverse=True)[1]
    near = _nearest(ground, used)

    def of_one_topic(own: np.ndarray) -> float:
        return float((own[near] == own[:, None]).mean())

    rng = np.random.default_rng(seed)
    dealt = np.array([of_one_topic(rng.permutation(topics)) for _ in range(N_DEALT)])
    return p_value(of_one_topic(topics), dealt) <= LEVEL


def _used(ground: Ground) -> np.ndarray:
    return np.flatnonzero(np.isin(ground.material.splits, (FITTING, TEST)))


def _nearest(ground: Ground, used: np.ndarray) -> np.ndarray:
    """Question x NEAREST: places among those used."""
    texts, wordings = ground.material.texts, ground.material.wordings
    return nearest_texts([texts[place] for place in used], NEAREST, groups_among(wordings, used))

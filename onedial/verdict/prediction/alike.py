"""Is what the dial tells of a question about the question, or about its topic? Where no question names a topic, or the
names have nothing to do with the texts, the questions that read alike say so.

    own    covariance of the dial's order with what the targets say to the very question
    near   the same with what they say to the questions whose text is nearest, NEAREST each way
    told   near / own

If topics are all that is shared, told is the share of such pairs that are of one topic (.3 to .45 in three sets with
topics); if a topic tells nothing, told is 0. Where its interval ends under MOST, topics are not all that
is shared, unless texts that read alike are of one topic in under a quarter.

Which questions read alike: by their characters in threes to fives, weighted as TF-IDF weighs words. Of the five
nearest of each of 300 questions 29 to 45% were of its topic in three sets with topics, 6 to 17% by chance. Clusters of
the texts held 13 to 30% of what differs between topics, and permuting within them left the p value as wrong as it was.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from onedial.panels.splits import FITTING, TEST
from onedial.stats.estimate import Estimate
from onedial.stats.level import LEVEL, QUANTILES_95, p_value
from onedial.stats.resampling import resampled_weights, strata_of
from onedial.verdict.case import Case
from onedial.verdict.numbers import average_within_models
from onedial.verdict.prediction.placing import normal_scores

NEAREST, MOST, N_DEALT = 5, 0.25, 199
_CHUNK = 500


def told_of_alike(case: Case, within: bool = False) -> Estimate:
    """Estimate what is told, with its 95% interval over questions; both questions of a pair are drawn.

    Over fitting and test questions. What targets say is averaged within base models, then over them, each target's yes
    rate taken out.

    Args:
        within: named topics, whose means are taken out of order and answers: named ones
            may be coarser than those that are shared.

    Returns:
        nan throughout where the texts are not known or too few, or where own is not above 0; infinite ends where own is
        not above 0 in that part of the resamples.
    """
    used = _used(case)
    if not case.texts or len(used) <= NEAREST:
        return Estimate()
    z = normal_scores(case.dial.ease[used, None])[:, 0]
    given = case.given[np.ix_(used, case.judged)]
    answers = average_within_models(given - np.nanmean(given, axis=0), case.models[case.judged])
    answers = np.nan_to_num(answers)  # a question that nobody answered
    if within:
        topics = strata_of(case.topics[used])
        z, answers = (values - (np.bincount(topics, values) / np.bincount(topics))[topics] for values in (z, answers))
    near = _nearest(case, used)
    ends = np.repeat(np.arange(len(used)), NEAREST), near.ravel()
    pairs = sparse.csr_matrix((np.ones(near.size), ends), shape=(len(used), len(used)))
    pairs = (pairs + pairs.T).tocsr()

    def told(weights: np.ndarray) -> np.ndarray:
        at_home = (weights @ (z * answers)) / weights.sum(axis=1)
        across = ((weights * answers) * (pairs @ (weights * z).T).T).sum(axis=1)
        across = across / (weights * (pairs @ weights.T).T).sum(axis=1)
        return np.where(at_home > 0, across / np.where(at_home > 0, at_home, 1.0), np.inf)

    estimate = float(told(np.ones((1, len(used))))[0])
    if not np.isfinite(estimate):
        return Estimate()
    pieces = resampled_weights(len(used), case.n_resamples, case.seed, case.groups(used))
    low, high = np.quantile(np.concatenate([told(piece) for piece in pieces]), QUANTILES_95, method="inverted_cdf")
    return Estimate(estimate, float(low), float(high), n=len(used))


def texts_know_topics(case: Case) -> bool:
    """Whether the questions that read alike are of one named topic more often than where topics are dealt out anew:
    names that no text knows may stand for anything. True where texts are not known or too few to say.

    Over fitting and test questions; one-sided permutation test at `LEVEL`.
    """
    used = _used(case)
    if not case.texts or len(used) <= NEAREST:
        return True
    topics = np.unique(case.topics[used].astype(str), return_inverse=True)[1]
    near = _nearest(case, used)

    def of_one_topic(labels: np.ndarray) -> float:
        return float((labels[near] == labels[:, None]).mean())

    rng = np.random.default_rng(case.seed)
    dealt = np.array([of_one_topic(rng.permutation(topics)) for _ in range(N_DEALT)])
    return p_value(of_one_topic(topics), dealt) <= LEVEL


def _used(case: Case) -> np.ndarray:
    return np.flatnonzero(np.isin(case.splits, (FITTING, TEST)))


def _nearest(case: Case, used: np.ndarray) -> np.ndarray:
    """Find question x NEAREST: places among those used."""
    return nearest_texts([case.texts[place] for place in used], NEAREST, case.groups(used))


def text_vectors(texts: Sequence[str]) -> sparse.csr_matrix:
    """Measure question x run of three to five characters within words: TF-IDF with logarithmic counts, of length 1."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    shown = [text if text.strip() else "-" for text in texts]
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit_transform(shown).tocsr()


def nearest_texts(texts: Sequence[str], k: int, groups: np.ndarray | None = None) -> np.ndarray:
    """Find the k questions that read most like each, the nearest first, itself left out: question x k positions.

    Args:
        k: at most one less than there are texts.
        groups: question -> group (wordings of one question), which are not near each other; None: each is its own.

    >>> nearest_texts(["Who wrote Emma?", "Name a moon of Mars.", "Who wrote Dune?", "A moon of Mars?"], 1).tolist()
    [[2], [3], [0], [1]]
    """
    vectors = text_vectors(texts)
    groups = np.arange(len(texts)) if groups is None else groups
    nearest = np.empty((len(texts), k), dtype=int)
    for start in range(0, len(texts), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(texts)))
        likeness = (vectors[rows] @ vectors.T).toarray()
        likeness[groups[rows, None] == groups] = -1
        nearest[rows] = np.argsort(-likeness, axis=1, kind="stable")[:, :k]
    return nearest

"""Measure what can be read off a question's words: length, digits, its first word, and its words by TF-IDF."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

ALPHAS = np.logspace(-1, 4, 11)
FOLDS = 5
_MIN_TO_TRAIN = 10


def surface_features(texts: Sequence[str]) -> np.ndarray:
    """Measure question x (characters, words, mean length of a word, digits, capitals, superlatives, "first").

    >>> surface_features(["Who was first?", "Name the tallest tower."]).shape
    (2, 7)
    """
    rows = []
    for text in texts:
        words = text.split()
        lowered = [word.strip("?,.").lower() for word in words]
        rows.append(
            [
                len(text),
                len(words),
                len(text) / max(len(words), 1),
                sum(character.isdigit() for character in text),
                sum(word[:1].isupper() for word in words[1:]),
                sum(word.endswith("est") or word == "most" for word in lowered),
                float("first" in lowered),
            ]
        )
    features = np.array(rows, dtype=float)
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)


def text_features(texts: Sequence[str]) -> sparse.csr_matrix:
    """Measure question x (surface features and TF-IDF of words and pairs of words that stand in two questions or more).

    >>> text_features(["Who wrote Emma?", "Who wrote Dune?"]).shape
    (2, 10)
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=min(2, len(texts)), sublinear_tf=True).fit_transform(texts)
    return sparse.hstack([sparse.csr_matrix(surface_features(texts)), words]).tocsr()


def ridge_scores(features: np.ndarray | sparse.csr_matrix, wanted: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Predict values for every question; those of the questions trained on come from models that did not see them.

    The penalty is chosen for each column by generalised cross-validation within what it is trained on. Columns whose
    values are known for the same questions share the decomposition of the features.

    Args:
        wanted: (question, column), nan where unknown. train: mask of the questions to learn from (those with a value
            count).

    Returns:
        (question, column); nan throughout where fewer than ten values are known or all are alike.

    >>> x = np.arange(40.0)[:, None]
    >>> ridge_scores(x, 2 * x, np.arange(40) < 30).shape
    (40, 1)
    """
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold

    if features.shape[1] > len(wanted):
        features = _turned(features)
    scores = np.full(wanted.shape, np.nan)
    has_value = train[:, None] & ~np.isnan(wanted)
    varies = [
        bool(has.sum() >= _MIN_TO_TRAIN and np.ptp(values[has]))
        for has, values in zip(has_value.T, wanted.T, strict=True)
    ]
    patterns, alike = np.unique(has_value, axis=1, return_inverse=True)
    for place, pattern in enumerate(patterns.T):
        known, columns = np.flatnonzero(pattern), np.flatnonzero((alike == place) & varies)
        if not len(columns):
            continue

        def fitted(rows: np.ndarray, columns: np.ndarray = columns) -> Any:
            return RidgeCV(ALPHAS, alpha_per_target=True).fit(features[rows], wanted[np.ix_(rows, columns)])

        scores[:, columns] = fitted(known).predict(features).reshape(len(scores), len(columns))
        for seen, left in KFold(FOLDS, shuffle=True, random_state=0).split(known):
            predicted = fitted(known[seen]).predict(features[known[left]])
            scores[np.ix_(known[left], columns)] = predicted.reshape(len(left), len(columns))
    return scores


def _turned(features: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    """Make as many features as questions at most, with the same inner products, which are all that a ridge knows."""
    products = features @ features.T
    values, vectors = np.linalg.eigh(products.toarray() if sparse.issparse(products) else products)
    kept = values > 1e-12 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])

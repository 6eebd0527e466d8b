"""Labels of respondents or questions: one border for everything that compares groups.

Which questions read alike: by their characters in threes to fives, weighted as TF-IDF weighs words.

What is near in this measure is often about the same thing, and only often: of the five nearest of each of 300 questions
29 to 45% were of its topic in three sets with topics, 6 to 17% by chance. Clusters of the texts held 13 to 30% of what
differs between topics, and permuting within them left the p value as wrong as it was: they are no topics.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from onedial.core import InputError
from onedial.stats.answers import as_answers, names
from onedial.stats.arrays import unmasked

_CHUNK = 500


def text_vectors(texts: Sequence[str]) -> sparse.csr_matrix:
    """Question x run of three to five characters within words: TF-IDF with logarithmic counts, of length 1."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    shown = [text if text.strip() else "-" for text in texts]
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit_transform(shown).tocsr()


def nearest_texts(texts: Sequence[str], k: int, groups: np.ndarray | None = None) -> np.ndarray:
    """The k questions that read most like each, the nearest first and itself left out: question x k, as positions.

    Args:
        k: at most one less than there are texts.
        groups: question -> group (wordings of one question), which are not near each other; None: each is its own.

    >>> nearest_texts(["Who wrote Emma?", "Name a moon of Mars.", "Who wrote Dune?", "A moon of Mars?"], 1).tolist()
    [[2], [3], [0], [1]]
    """
    vectors = text_vectors(texts)
    groups = np.arange(len(texts)) if groups is None else groups
    found = np.empty((len(texts), k), dtype=int)
    for start in range(0, len(texts), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(texts)))
        likeness = (vectors[rows] @ vectors.T).toarray()
        likeness[groups[rows, None] == groups] = -1
        found[rows] = np.argsort(-likeness, axis=1, kind="stable")[:, :k]
    return found


def labels_of(labels: Any, matrix: Any, wanted: pd.Index, what: str, axis: str = "respondents") -> np.ndarray:
    """Labels in the order of `wanted`.

    Args:
        labels: a Series indexed by name, a dictionary, or a sequence in the order of the matrix. matrix: the answers
            that a sequence runs along. wanted: names of the respondents or questions that are used. what: how a message
            calls the labels. axis: `respondents` or `questions`.

    Raises:
        InputError: one of the wanted has no label, or a sequence has another length than the matrix.

    >>> labels_of({"a": "x", "b": "y"}, None, pd.Index(["b", "a"]), "families").tolist()
    ['y', 'x']
    """
    if isinstance(labels, dict):
        labels = pd.Series(labels)
    if not isinstance(labels, pd.Series):
        order = getattr(as_answers(matrix), axis)
        values = unmasked(labels)
        if values.ndim != 1 or len(values) != len(order):
            raise InputError(f"{values.size} {what} for {len(order)} {axis}; give one of each, or a Series by name")
        labels = pd.Series(values, index=order)
    if not labels.index.is_unique:
        raise InputError(f"the {what} name {names(labels.index[labels.index.duplicated()].unique())} more than once")
    found = labels.reindex(wanted)
    blank = found.isna().to_numpy()
    if blank.any():
        raise InputError(f"the {what} say nothing of {names(wanted[blank])}; give every one of the {axis} a label")
    return found.to_numpy()

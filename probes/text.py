"""What the question's words alone say about a label: the number to hold every probe against.

Difficulty can be read off the words of a question ("capital" is easy, "1412" is hard), so that a probe may read them
and nothing of the model's own. The baseline sees the words and pairs of words (TF-IDF over those that stand in at least
two training questions), the length in letters and in words, and goes through the same folds and the same inner choice
of the penalty as the probes. With the optional package sentence-transformers it sees a sentence embedding too.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from onedial.core import InputError
from probes.fitting.crossfit import Features

Floats = NDArray[np.float64]


def words_of(texts: Sequence[str], embedding: Floats | None = None) -> Features:
    """The baseline's features; the vocabulary is that of the questions that may be looked at.

    Args:
        texts: of the questions. embedding: (question, dimension) of each text, beside the words.

    >>> words_of(["Who wrote Emma?", "Who wrote Dune?"])(np.array([True, True]))[0].shape
    (2, 5)
    """
    lengths = np.log1p([[len(text), len(text.split())] for text in texts])
    extra = lengths if embedding is None else np.hstack([lengths, embedding])

    def features(looked_at: NDArray[np.bool_]) -> tuple[Floats, bool]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectoriser = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        seen = [text for text, inside in zip(texts, looked_at, strict=True) if inside]
        try:
            words = vectoriser.fit(seen).transform(texts).toarray()
        except ValueError:  # no word stands in two questions
            words = np.zeros((len(texts), 0))
        own = extra[looked_at]
        spread = own.std(axis=0)
        # An embedding of d numbers weighs as much as the words, whose rows have length 1; each length a tenth of that.
        weight = np.r_[np.full(2, 0.1), np.full(extra.shape[1] - 2, 1 / np.sqrt(max(extra.shape[1] - 2, 1)))]
        numbers = (extra - own.mean(axis=0)) / np.where(spread > 0, spread, 1.0) * weight
        return np.hstack([words, numbers]), False

    return features


def sentence_embeddings(texts: Sequence[str], model: str) -> Floats:
    """(question, dimension) embeddings by a sentence-transformers model: a name on the hub, or a folder.

    Raises:
        InputError: the package is not installed, or the model cannot be loaded.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError(
            "sentence embeddings need the package sentence-transformers; run `pip install sentence-transformers`, or "
            "leave --embedding out"
        ) from None
    try:
        loaded = SentenceTransformer(model)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the sentence-transformers model {model!r} cannot be loaded ({reason}); check it") from error
    return np.asarray(loaded.encode(list(texts)), dtype=float)

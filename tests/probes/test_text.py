"""The words alone, and sentence embeddings beside them."""

import sys
import types

import numpy as np
import pytest

from onedial.core import InputError
from probes import sentence_embeddings, words_of

TEXTS = ("who sang of the sea", "who sang of the river", "which king built the bridge", "which king lost the war")


def test_only_words_of_the_questions_that_may_be_looked_at_are_known():
    all_but_last = np.array([True, True, True, False])
    features, standardised = words_of(TEXTS)(all_but_last)
    assert not standardised
    without_lengths = features[:, :-2]
    # "who", "sang", "of", "the" stand in two of the first three, with the pairs of them; "which king" in one.
    assert np.linalg.norm(without_lengths[:2], axis=1) == pytest.approx(1)
    assert np.count_nonzero(without_lengths[3]) == 1


def test_an_embedding_weighs_as_much_as_the_words():
    embedding = 1000 * np.random.default_rng(0).standard_normal((4, 50))
    every = np.ones(4, dtype=bool)
    plain, beside = words_of(TEXTS)(every)[0], words_of(TEXTS, embedding)(every)[0]
    np.testing.assert_array_equal(beside[:, : plain.shape[1]], plain)
    assert (beside[:, plain.shape[1] :] ** 2).sum(axis=1).mean() == pytest.approx(1)


def test_without_the_optional_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="pip install sentence-transformers"):
        sentence_embeddings(TEXTS, "anything")


def test_a_model_that_is_not_there_is_named(monkeypatch):
    def missing(name):
        raise OSError(f"{name} is not a local folder\nand much more")

    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=missing))
    with pytest.raises(InputError, match=r"model 'nowhere' cannot be loaded \(nowhere is not a local folder\)"):
        sentence_embeddings(TEXTS, "nowhere")


def test_a_folder_of_a_plain_model_is_an_embedding_where_the_package_is_installed(tmp_path):
    """A decoder from the disk will do; which of its states is taken is the package's choice."""
    pytest.importorskip("sentence_transformers")
    from tiny_models import save_outspoken

    save_outspoken(tmp_path / "model", "llama", 1)
    found = sentence_embeddings([*TEXTS, TEXTS[0]], str(tmp_path / "model"))
    assert found.shape == (5, 48)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[4], found[0], atol=1e-5)
    assert np.linalg.norm(found[1] - found[0]) > 1e-3

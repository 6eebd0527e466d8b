"""Words that tell difficulty replace a dial; words that do not, and topics that were never seen, replace nothing."""

import numpy as np
import pandas as pd
import pytest

from onedial.core import InputError
from onedial.verdict import replacement_table

N, TOPICS = 240, 12


def panel(ease, seed=0):
    """Three base models of three framings each, with thresholds of their own."""
    rng = np.random.default_rng(seed)
    cuts = np.linspace(-0.7, 0.7, 9)
    columns = {f"t{place}": (ease + 0.5 * rng.standard_normal(N) > cut).astype(float) for place, cut in enumerate(cuts)}
    return pd.DataFrame(columns, index=[f"q{place}" for place in range(N)]), [f"m{place % 3}" for place in range(9)]


@pytest.fixture(scope="module")
def material():
    rng = np.random.default_rng(1)
    topics = np.arange(N) % TOPICS
    return topics, topics % 4, rng.standard_normal(N)


def texts_of(ease, topics):
    """The words give away how easy a question is, and its topic."""
    kinds = ["remote", "odd", "plain", "famous"]
    bins = np.digitize(ease, [-0.7, 0.0, 0.7])
    return [
        f"Which {kinds[b]} river number {i} lies in land{t}?" for i, (b, t) in enumerate(zip(bins, topics, strict=True))
    ]


def test_words_that_tell_difficulty_stand_in_for_a_dial(material):
    topics, folds, ease = material
    answers, models = panel(ease)
    dial = ease + 2.0 * np.random.default_rng(2).standard_normal(N)
    table, by_target = replacement_table(
        answers, models, texts_of(ease, topics), folds, topics, {"dial": dial}, n_bootstrap=99
    )
    table = table.set_index("order")
    assert table.loc["text", "low"] > 0.4
    assert table.loc["shared difficulty", "kappa"] > table.loc["text", "kappa"] - 0.1
    assert table.loc["dial", "over_text_high"] < 0
    assert table.loc["majority", "kappa"] == 0
    assert table.loc["text", "over_text"] == 0
    assert (by_target["n"] == N).all()
    assert by_target.groupby("order").size().eq(9).all()


def test_words_that_tell_nothing_replace_nothing(material):
    topics, folds, ease = material
    answers, models = panel(ease)
    kappas = []
    for seed in range(6):
        words = texts_of(np.random.default_rng(seed).standard_normal(N), topics)
        table, _ = replacement_table(answers, models, words, folds, topics, n_bootstrap=9)
        kappas.append(table.set_index("order").loc["text", "kappa"])
    assert np.mean(kappas) == pytest.approx(0, abs=0.07)


def test_what_only_the_topic_tells_is_not_known_of_a_topic_that_was_not_seen(material):
    topics, folds, _ = material
    level = np.random.default_rng(4).standard_normal(TOPICS)[topics] * 2
    answers, models = panel(level)
    words = [f"Which river lies in land{topic}?" for topic in topics]
    table, _ = replacement_table(answers, models, words, folds, topics, n_bootstrap=99)
    assert table.set_index("order").loc["text", "kappa"] < 0.2
    mixed, _ = replacement_table(answers, models, words, np.arange(N) // TOPICS % 4, topics, n_bootstrap=99)
    assert mixed.set_index("order").loc["text", "kappa"] > 0.5  # had the topics been seen


def test_an_embedding_is_a_second_text_order(material):
    topics, folds, ease = material
    answers, models = panel(ease)
    table, _ = replacement_table(
        answers,
        models,
        ["Which river?"] * N,
        folds,
        topics,
        embedding=np.stack([ease, ease**2], axis=1),
        n_bootstrap=99,
    )
    table = table.set_index("order")
    assert table.loc["text and embedding", "over_text_low"] > 0.3


def test_missing_answers_are_counted_and_one_base_model_is_refused(material):
    topics, folds, ease = material
    answers, models = panel(ease)
    answers.iloc[:10, 0] = np.nan
    table, by_target = replacement_table(answers, models, texts_of(ease, topics), folds, topics, n_bootstrap=19)
    assert table.set_index("order").loc["text", "n_missing"] == 10
    assert by_target.set_index(["order", "target"]).loc[("text", "t0"), "n"] == N - 10
    with pytest.raises(InputError, match="all targets are of one base model"):
        replacement_table(answers, ["m"] * 9, texts_of(ease, topics), folds, topics)
    with pytest.raises(InputError, match="give one of each"):
        replacement_table(answers, models, ["?"], folds, topics)

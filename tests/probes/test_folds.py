"""No topic is on both sides."""

import numpy as np
import pytest

from onedial.core import InputError, Notice
from probes import TopicFolds


def test_every_question_of_a_topic_lies_in_one_fold_and_folds_are_about_equal():
    rng = np.random.default_rng(0)
    topics = [f"t{number}" for number in rng.zipf(1.6, 400).clip(max=40)]
    folds = TopicFolds.of(topics)
    for name in set(topics):
        assert len({int(folds.fold[place]) for place, topic in enumerate(topics) if topic == name}) == 1
    even = TopicFolds.of([f"t{place % 17}" for place in range(533)])
    assert set(np.bincount(even.fold)) <= set(range(90, 130))


def test_another_seed_deals_anew_and_the_same_seed_alike():
    topics = [f"t{place % 12}" for place in range(120)]
    first, again, other = (TopicFolds.of(topics, seed=seed).fold.tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_questions_without_a_topic_are_topics_of_their_own_and_that_is_said():
    with pytest.warns(Notice, match="3 of 9 questions have no topic"):
        folds = TopicFolds.of([None, "a", "b", None, "c", "d", "e", "a", None], n_folds=4)
    assert folds.n_topics == 8


@pytest.mark.parametrize(("topics", "n"), [(["a", "b"] * 5, 5), (["a", "b", "c"], 2)])
def test_too_few_topics_or_folds_are_refused(topics, n):
    with pytest.raises(InputError, match="give at least three folds, and no fewer topics than folds"):
        TopicFolds.of(topics, n)

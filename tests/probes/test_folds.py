"""No topic is on both sides."""

import numpy as np
import pytest

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from probes.fitting.folds import TopicFolds


def test_a_topic_lies_in_one_fold():
    """Every question of a topic lies in one fold and folds are about equal."""
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


def test_questions_without_a_topic_are_their_own():
    """Questions without a topic are topics of their own and that is said."""
    with pytest.warns(Notice, match="3 of 9 questions have no topic"):
        folds = TopicFolds.of([None, "a", "b", None, "c", "d", "e", "a", None], n_folds=4)
    assert folds.n_topics == 8


@pytest.mark.parametrize(("topics", "n"), [(["a", "b"] * 5, 5), (["a", "b", "c"], 2)])
def test_too_few_topics_or_folds_are_refused(topics, n):
    with pytest.raises(InputError, match="give at least three folds, and no fewer topics than folds"):
        TopicFolds.of(topics, n)


def test_wordings_of_one_question_are_never_parted_even_across_topics():
    topics = [f"t{place % 12}" for place in range(120)]
    groups = [None] * 120
    groups[0] = groups[5] = groups[7] = "who wrote it"
    folds = TopicFolds.of(topics, groups=groups)
    assert len({int(folds.fold[place]) for place in (0, 5, 7, 12, 17, 19)}) == 1
    assert folds.n_topics == 12
    assert folds.group[0] == folds.group[5]
    assert len(set(folds.group.tolist())) == 118
    assert folds.take(np.arange(6)).group.tolist() == folds.group[:6].tolist()


def test_groups_that_join_all_topics_or_of_another_number_are_refused():
    topics = [f"t{place % 6}" for place in range(60)]
    with pytest.raises(InputError, match="1 sets of topics that share no group for 5 folds"):
        TopicFolds.of(topics, groups=["same"] * 60)
    with pytest.raises(InputError, match="59 groups for 60 questions"):
        TopicFolds.of(topics, groups=[None] * 59)

"""Splits: shares, stability, and what happens to tiny topics."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.panels.splits import assign_splits, wordings_of


def questions(topic_sizes: list[int]) -> pd.DataFrame:
    topics = [f"topic {number}" for number, size in enumerate(topic_sizes) for _ in range(size)]
    return pd.DataFrame({"id": [f"q{row}" for row in range(len(topics))], "topic": topics})


def test_every_topic_and_the_whole_keep_their_shares_to_within_one_round():
    frame = questions([200, 37, 60, 5])
    split = assign_splits(frame, seed=3)
    for group in [frame["id"], *(part["id"] for _, part in frame.groupby("topic"))]:
        share = split[group].value_counts()
        assert abs(share.get("extraction", 0) - len(group) / 4) < 1.01
        assert abs(share.get("fitting", 0) - len(group) / 4) < 1.01
        assert abs(share.get("test", 0) - len(group) / 2) < 1.51


def test_a_question_keeps_its_split_when_the_rows_are_reordered():
    frame = questions([50, 3, 20])
    split = assign_splits(frame, seed=0)
    shuffled = assign_splits(frame.sample(frac=1, random_state=1), seed=0)
    pd.testing.assert_series_equal(split, shuffled[split.index])
    named = frame.assign(question=[f"Question {row}?" for row in range(len(frame))])
    pd.testing.assert_series_equal(split, assign_splits(named, seed=0))
    assert (split != assign_splits(frame, seed=1)).any()


def test_a_topic_of_two_falls_into_each_split():
    """A topic of two questions falls into each split as often as it should."""
    seen = [assign_splits(questions([2, 30]), seed=seed).iloc[0] for seed in range(400)]
    share = pd.Series(seen).value_counts(normalize=True)
    assert np.allclose(share[["extraction", "fitting", "test"]], [0.25, 0.25, 0.5], atol=0.08)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"id": ["a", "b", "a", "c"]}), "1 questions have no id of their own, first 'a'"),
        (pd.DataFrame({"id": ["a", None, "b", "c"]}), "1 questions have no id of their own"),
        (pd.DataFrame({"name": ["a"]}), "no column 'id'"),
        (pd.DataFrame({"id": ["a", "b", "c"]}), "give at least 4"),
        (questions([20, 20, 20]), r"3 topic\(s\).*takes 4"),
    ],
)
def test_unusable_questions_are_refused_in_one_sentence(frame, words):
    with pytest.raises(InputError, match=words):
        assign_splits(frame, seed=0, hold_out_topics="topic" in frame)


def test_held_out_topics_are_tested_on_and_nothing_else_is_done_with_them():
    frame = questions([40, 30, 25, 20, 20, 12, 9, 4])
    for seed in range(5):
        split = assign_splits(frame, seed, hold_out_topics=True)
        of_topic = split.groupby(frame.set_index("id")["topic"]).unique().map(set)
        assert all(splits_of_topic == {"test"} or "test" not in splits_of_topic for splits_of_topic in of_topic)
        counts = split.value_counts()
        assert abs(counts["extraction"] - counts["fitting"]) <= 1
        assert 0.3 < counts["test"] / len(frame) < 0.7
        shuffled = assign_splits(frame.sample(frac=1, random_state=1), seed, hold_out_topics=True)
        pd.testing.assert_series_equal(split, shuffled[split.index])


def test_the_seed_alone_says_which_topics_are_held_out():
    """The same in every version, so that a run that is made again tests on the same questions."""
    frame = questions([40, 30, 25, 20, 20, 12, 9, 4]).set_index("id", drop=False)
    split = assign_splits(frame, seed=0, hold_out_topics=True)
    assert set(frame["topic"][split == "test"]) == {"topic 1", "topic 2", "topic 4", "topic 6"}


@pytest.mark.parametrize("hold_out", [False, True])
def test_one_text_under_several_ids_never_stands_in_two_splits(hold_out):
    frame = questions([40, 30, 20, 25, 30])
    frame["question"] = [f"Question {row % 50}?" if row % 3 else f"QUESTION  {row % 50}" for row in range(len(frame))]
    split = assign_splits(frame, seed=2, hold_out_topics=hold_out)
    by_text = split.groupby([row % 50 for row in range(len(frame))])
    assert (by_text.nunique() == 1).all()
    assert set(split) == {"extraction", "fitting", "test"}
    shuffled = assign_splits(frame.sample(frac=1, random_state=1), seed=2, hold_out_topics=hold_out)
    pd.testing.assert_series_equal(split, shuffled[split.index])


def test_wordings_stay_in_one_split():
    """Wordings of one question are those that say so and those of the same words and stay in one split."""
    frame = questions([40]).assign(question=[f"Who wrote book {row}?" for row in range(40)])
    frame.loc[[3, 17], "question"] = ["Who invented printing?", "who was it that invented the Printing"]
    frame.loc[[5, 6], "question"] = ["What is 12 minus 7?", "What is 7 minus 12?"]
    frame["wording_of"] = [None] * 10 + ["a"] * 5 + [None] * 2 + ["a"] + [None] * 22
    result = [set(group) for group in wordings_of(frame)]
    assert result == [{"q3", "q10", "q11", "q12", "q13", "q14", "q17"}]
    for seed in range(9):
        split = assign_splits(frame, seed)
        assert split[list(result[0])].nunique() == 1
        pd.testing.assert_series_equal(split, assign_splits(frame.sample(frac=1, random_state=1), seed)[split.index])


@pytest.mark.parametrize(("n", "alone", "made_of"), [(30, True, 10), (39, True, 13), (40, True, 10), (30, False, 7)])
def test_few_questions_without_a_panel_are_dealt_in_thirds(n, alone, made_of):
    """A vector takes ten, so that thirty questions suffice where nothing is judged."""
    split = assign_splits(pd.DataFrame({"id": [f"q{place}" for place in range(n)]}), seed=0, alone=alone)
    assert abs((split == "extraction").sum() - made_of) <= (not alone)

"""The AUROC is scikit-learn's within folds, and its replicates are those of a sample in which topics are repeated."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from onedial.stats.intervals import unit_weights
from probes.fitting.concordance import Concordance, auroc_by_column, difference_interval
from probes.fitting.folds import TopicFolds

N, TOPICS = 240, [f"t{place % 12}" for place in range(240)]


def scores(seed=0, shift=0.8):
    rng = np.random.default_rng(seed)
    truth = (rng.random(N) < 0.4).astype(float)
    return rng.standard_normal(N).round(1) + shift * truth, truth, TopicFolds.of(TOPICS)  # rounded: ties


def by_hand(score, truth, folds, weight):
    """Every pair within a fold, a topic drawn twice counting twice."""
    agreeing = pairs = 0.0
    for i in np.flatnonzero(truth == 1):
        for j in np.flatnonzero(truth == 0):
            if folds.fold[i] == folds.fold[j]:
                both = weight[folds.topic[i]] * weight[folds.topic[j]]
                pairs += both
                agreeing += both * (float(score[i] > score[j]) + 0.5 * float(score[i] == score[j]))
    return agreeing / pairs


def test_one_fold_gives_scikit_learns_number():
    """One fold gives scikit learns number and several the share of pairs within folds."""
    score, truth, folds = scores()
    inside = folds.fold == 2
    kept = np.where(inside, truth, np.nan)
    assert Concordance.of(score, kept, folds).auroc == pytest.approx(roc_auc_score(truth[inside], score[inside]))
    assert Concordance.of(score, truth, folds).auroc == pytest.approx(by_hand(score, truth, folds, np.ones(12)))


def test_a_replicate_is_the_sample_in_which_topics_stand_as_often_as_drawn():
    score, truth, folds = scores()
    draws = unit_weights(np.arange(12), 3, 1)
    result = Concordance.of(score, truth, folds).replicates(draws)
    np.testing.assert_allclose(result, [by_hand(score, truth, folds, weight) for weight in draws], atol=1e-12)


def test_many_columns_give_what_each_gives():
    """Many columns at once give what each gives and unknown labels count for nothing."""
    score, truth, folds = scores()
    labels = np.column_stack([truth, np.where(np.arange(N) % 5 == 0, np.nan, truth), 1 - truth])
    result = auroc_by_column(np.repeat(score[:, None], 3, axis=1), labels, folds.fold)
    expected = [Concordance.of(score, column, folds).auroc for column in labels.T]
    np.testing.assert_allclose(result, expected, atol=1e-12)
    assert result[2] == pytest.approx(1 - result[0])


def test_a_score_and_itself_differ_by_nothing():
    """A difference is drawn together so that a score and itself differ by nothing."""
    score, truth, folds = scores()
    one, other = Concordance.of(score, truth, folds), Concordance.of(scores(1)[0], truth, folds)
    draws = unit_weights(np.arange(12), 199, 0)
    assert difference_interval(one, one, draws) == (0.0, 0.0, 0.0)
    value, low, high = difference_interval(one, other, draws)
    assert low < value < high
    assert value == pytest.approx(one.auroc - other.auroc)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Two hundred samples of 17 topics whose rates differ: .95 +- .015; the whole table: docs/evidence.md."""
    rng = np.random.default_rng(0)
    folds, draws = TopicFolds.of([f"t{place % 17}" for place in range(340)]), unit_weights(np.arange(17), 399, 0)
    truth_rate = rng.normal(0, 0.5, 17)
    result = []
    for _ in range(200):
        truth = (rng.random(340) < 1 / (1 + np.exp(-truth_rate[folds.topic]))).astype(float)
        area = Concordance.of(rng.standard_normal(340) + truth, truth, folds).area(draws)
        result.append((area.auroc, area.low, area.high))
    expected = 0.7602  # Phi(1 / sqrt 2)
    covered = np.mean([low < expected < high for _, low, high in result])
    assert 0.91 <= covered <= 0.995
    assert np.mean([auroc for auroc, *_ in result]) == pytest.approx(expected, abs=0.01)


def test_without_a_pair_there_is_no_number():
    score, _, folds = scores()
    area = Concordance.of(score, np.ones(N), folds).area(unit_weights(np.arange(12), 19, 0))
    assert np.isnan(area.auroc)
    assert (area.n_positive, area.n_negative) == (N, 0)

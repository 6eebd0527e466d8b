"""What is the subject's own is found beside what all share, and badly measured difficulty is not taken for it."""

import numpy as np
import pytest

from onedial.core.errors import InputError
from probes.fitting.folds import TopicFolds
from probes.residualise import beyond_known, beyond_shared

N, D = 340, 20
FOLDS = TopicFolds.of([f"t{place % 17}" for place in range(N)])


def planted(seed, private, noise=2.0):
    """A stream that holds the shared ease, and what only the subject knows; two measures of the ease, full of noise."""
    rng = np.random.default_rng(seed)
    ease, secret, rows = rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal((N, D))
    rows[:, 0] += 2 * ease
    rows[:, 1] += 2 * private * secret
    truth = (ease + private * secret + 0.5 * rng.standard_normal(N) > 0).astype(float)
    return rows, truth, ease[:, None] + noise * rng.standard_normal((N, 2))


def test_badly_measured_difficulty_is_no_own_knowledge():
    """Difficulty that is measured badly passes for own knowledge when held constant and not when taken off."""
    constant, off = [], []
    for seed in range(30):
        rows, truth, shared = planted(seed, private=0.0)
        off.append(beyond_shared(rows, truth, shared, FOLDS, n_shuffles=99, seed=seed).p)
        if seed < 6:
            constant.append(beyond_known(rows, truth, shared, FOLDS, n_shuffles=99, seed=seed).p)
    assert np.mean(np.array(constant) <= 0.05) > 0.7
    assert np.mean(np.array(off) <= 0.05) <= 0.2


def test_what_only_the_subject_knows_is_recovered():
    """What only the subject knows is found however badly the rest is measured."""
    result = [beyond_shared(*planted(seed, private=1.0), FOLDS, n_shuffles=99) for seed in range(10)]
    assert np.mean([each.p <= 0.05 for each in result]) >= 0.9
    assert np.mean([each.correlation for each in result]) > 0.2


@pytest.mark.long
def test_the_slope_is_that_of_the_ease_itself():
    """The slope is that of the ease itself and not the one that noise flattens."""
    rng = np.random.default_rng(0)
    topic = np.arange(4000) % 20
    ease, rows = rng.standard_normal(4000), rng.standard_normal((4000, 5))
    rows[:, 0] += 2 * ease
    truth = (ease + 0.5 * rng.standard_normal(4000) > 0).astype(float)
    shared = (ease + 2 * rng.standard_normal(4000))[:, None]
    result = beyond_shared(rows, truth, shared, TopicFolds.of([f"t{at}" for at in topic]), n_shuffles=19)
    covariance, noisy, clean = np.cov(ease, truth)[0, 1], shared.var(), ease.var()
    assert result.slopes[0] == pytest.approx(covariance / clean, rel=0.1)
    assert result.slopes[0] > 3 * covariance / noisy


def test_unknown_answers_are_left_out_and_topics_of_one_question_do():
    rows, truth, shared = planted(1, private=1.0)
    truth[:40] = np.nan
    assert beyond_shared(rows, truth, shared, FOLDS, n_shuffles=99).n == 300
    alone = TopicFolds.of([f"t{place}" for place in range(N)])
    assert beyond_shared(rows, truth, shared, alone, n_shuffles=99).p <= 0.05


def test_the_same_seed_gives_the_same_p():
    """The same seed gives the same p and the unit of a measure does not matter."""
    rows, truth, shared = planted(2, private=0.3)
    one, same = (beyond_shared(rows, truth, shared, FOLDS, n_shuffles=99) for _ in range(2))
    other = beyond_shared(rows, truth, shared * 50 + 7, FOLDS, n_shuffles=99)
    assert one == same
    assert other.correlation == pytest.approx(one.correlation, abs=1e-9)


def test_a_label_that_never_varies_within_topics_is_refused():
    rows, _, shared = planted(3, private=0.0)
    with pytest.raises(InputError, match="does not vary within topics"):
        beyond_shared(rows, (FOLDS.topic % 2).astype(float), shared, FOLDS)
    with pytest.raises(InputError, match="leave nothing to test"):
        beyond_shared(rows, np.where(np.arange(N) < 3, 1.0, np.nan), shared, FOLDS)

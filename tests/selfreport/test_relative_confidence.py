"""Pairs: designs hang together, planted scales come back, circles are counted."""

import numpy as np
import pytest

from onedial.core.errors import InputError
from onedial.selfreport.score.relative_confidence import bradley_terry, circular_triads, paired_design


@pytest.mark.parametrize(("n_items", "n_each"), [(3, 2), (10, 4), (12, 10), (40, 6)])
def test_a_design_is_connected_and_meets_each_item_alike(n_items, n_each):
    pairs = paired_design(n_items, n_each, seed=1)
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == n_items * n_each // 2
    reached, todo = {0}, [0]
    while todo:
        here = todo.pop()
        for pair in pairs:
            if here in pair:
                other = pair[1] if pair[0] == here else pair[0]
                if other not in reached:
                    reached.add(other)
                    todo.append(other)
    assert len(reached) == n_items
    with pytest.raises(InputError, match="even number"):
        paired_design(10, 3)


def played(scores, n_each, seed=0):
    rng = np.random.default_rng(seed)
    pairs = []
    for one, other in paired_design(len(scores), n_each, seed):
        wins = rng.random() < 1 / (1 + np.exp(scores[other] - scores[one]))
        pairs.append((one, other) if wins else (other, one))
    return pairs


def test_planted_scores_come_back_with_errors_of_the_right_size():
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 1.5, 30)
    truth -= truth.mean()
    scores, errors = bradley_terry([pair for seed in range(6) for pair in played(truth, 10, seed)], 30)
    assert np.corrcoef(scores, truth)[0, 1] > 0.95
    z = (scores - truth) / errors
    assert 0.6 < np.sqrt((z**2).mean()) < 1.5


def test_coins_have_no_scale_and_one_circle_in_four_triads():
    rng = np.random.default_rng(5)
    pairs = [(a, b) if rng.random() < 0.5 else (b, a) for a in range(30) for b in range(a)]
    n_triads, circular = circular_triads(pairs)
    assert n_triads == 30 * 29 * 28 // 6
    assert circular / n_triads == pytest.approx(0.25, abs=0.03)
    assert np.abs(bradley_terry(pairs, 30)[0]).max() < 1.6


def test_a_circle_is_counted_and_an_order_has_none():
    assert circular_triads([(0, 1), (1, 2), (2, 0)]) == (1, 1)
    assert circular_triads([(0, 1), (1, 2), (0, 2)]) == (1, 0)
    assert circular_triads([(0, 1), (1, 2)]) == (0, 0)
    assert circular_triads([(0, 1), (1, 0), (1, 2), (2, 0)]) == (0, 0)  # a tie decides nothing

"""Abstention: the score's ends and its break-even, discrimination with a control, and coverage."""

import numpy as np
import pytest

from onedial.confidence.abstention import (
    break_even,
    distributional_correctness,
    selective_auc,
    unknowable_discrimination,
)
from onedial.core.errors import InputError


def test_the_distributional_score_is_0_for_not_knowing():
    """The distributional score runs from minus one to one and is 0 for not knowing."""
    scores = distributional_correctness([1, 0, 0, 0.5, np.nan], [0, 1, 0, 0.3, 1], [0, 0, 1, 0.2, 0])
    assert scores[:4] == pytest.approx([1, -1, 0, 0.2 * 0.8])
    assert np.isnan(scores[4])
    with pytest.raises(InputError, match="do not add up to 1"):
        distributional_correctness([0.5], [0.3], [0.3])
    with pytest.raises(InputError, match="loadings"):
        distributional_correctness([1], [0], [0], gain=0.5, loss=1)


@pytest.mark.parametrize(("gain", "loss"), [(1, 1), (1, 0.5), (2, 0.5)])
def test_at_the_break_even_answering_scores_what_not_knowing_scores(gain, loss):
    q = break_even(gain, loss)
    for dont_know in (0.0, 0.4):
        share = 1 - dont_know
        assert distributional_correctness([q * share], [(1 - q) * share], [dont_know], gain, loss) == pytest.approx([0])
    assert distributional_correctness([q + 0.01], [1 - q - 0.01], [0.0], gain, loss)[0] > 0


def test_who_always_abstains_discriminates_nothing():
    always = unknowable_discrimination([1] * 20, [1] * 10 + [0] * 10)
    assert (always.hits, always.false_alarms, always.d_prime) == (1.0, 1.0, 0.0)
    assert always.criterion < 0
    knows = unknowable_discrimination([1] * 10 + [0] * 9 + [np.nan], [1] * 10 + [0] * 10)
    assert knows.d_prime > 3
    assert knows.n_unread == 1
    with pytest.raises(InputError, match="give both kinds"):
        unknowable_discrimination([1, 0], [1, 1])


def test_ties_in_coverage_do_not_depend_on_order():
    """Ties in coverage do not depend on order and a planted area is found."""
    assert selective_auc([0.9, 0.8, 0.1, np.nan], [1, 1, 0, 1]) == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert selective_auc([0.5] * 4, [1, 0, 0, 0]) == selective_auc([0.5] * 4, [0, 0, 0, 1]) == 0.25
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    y = (rng.random(4000) < p).astype(float)
    assert selective_auc(p, y) == pytest.approx(0.75, abs=0.02)  # planted: mean over k of E[p | p among the top k]

"""Answers drawn 64 at a time have the probabilities and the tables that answers drawn one at a time have."""

import numpy as np
import pandas as pd
import pytest

from onedial.scale.checks.draws import _MANY_QUESTIONS, one_factor_answers, one_factor_counts
from onedial.scale.checks.replicates import Counted, correlate
from onedial.scale.correlations.packed_answers import packed_draw, pairs_in_common
from onedial.scale.gap_model import null_model
from onedial.stats import as_answers


@pytest.mark.parametrize("with_gaps", [False, True])
def test_every_answer_is_a_yes_as_often_as_its_place_says(with_gaps: bool) -> None:
    rng = np.random.default_rng(0)
    nodes = rng.integers(0, 5, 20_000).astype(np.uint16)
    chance = np.array([[0, 1, 2**15], [2**16 - 1, 655, 40_000], [9, 99, 999], [3**9, 3**8, 7], [1, 2**14, 64]])
    answered = rng.random((3, 20_000)) < 0.9 if with_gaps else None
    yes, kept = packed_draw(nodes, chance.astype(np.uint16), answered, rng)
    there = np.ones((3, 20_000), dtype=bool) if answered is None else answered
    assert (np.bitwise_count(kept).sum(axis=1) == there.sum(axis=1)).all()
    p = chance[nodes].T / 2**16
    spread = np.sqrt((p * (1 - p) * there).sum(axis=1))
    assert (np.abs(np.bitwise_count(yes).sum(axis=1) - (p * there).sum(axis=1)) < 4 * spread + 1).all()


def test_bits_in_common_are_counted_as_a_product_of_matrices_counts_them() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 4, 256)) < 0.4
    packed = [np.packbits(bits, axis=1).view(np.uint64) for bits in (first, second)]
    assert (pairs_in_common(*packed) == first.astype(int) @ second.T.astype(int)).all()


def test_many_questions_give_the_correlations_that_answers_one_by_one_give() -> None:
    rng = np.random.default_rng(2)
    n = _MANY_QUESTIONS
    hidden = 0.8 * rng.standard_normal((n, 1)) + 0.6 * rng.standard_normal((n, 5))
    values = np.where(rng.random((n, 5)) < 0.1, np.nan, hidden > np.linspace(-1, 1, 5))
    answers = as_answers(pd.DataFrame(values))
    fit = null_model(answers)
    draws = [source(answers, fit, 60, np.random.default_rng(3)) for source in (one_factor_counts, one_factor_answers)]
    packed, plain = (correlate(draw, "pairwise", "half") for draw in draws)
    assert isinstance(next(one_factor_counts(answers, fit, 1, rng)), Counted)
    upper = np.triu_indices(5, 1)
    spread = np.sqrt((packed.correlation.var(axis=0) + plain.correlation.var(axis=0)) / 60)[upper]
    off = (packed.correlation.mean(axis=0) - plain.correlation.mean(axis=0))[upper]
    assert (np.abs(off) < 4 * spread).all()
    assert np.abs(packed.thresholds.mean(axis=0) - plain.thresholds.mean(axis=0)).max() < 0.02

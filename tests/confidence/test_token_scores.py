"""Confidence from token probabilities: against hand computation, on planted knowledge and on none."""

import numpy as np
import pytest
from psychometric_data import token_statistics

from onedial.confidence.tokens import TokenStatistics, question_lift, shown_lift, token_scores
from onedial.core.errors import InputError


def tokens(log_p):
    log_p = np.asarray(log_p, dtype=float)
    return TokenStatistics(log_p, np.zeros_like(log_p), np.zeros_like(log_p), np.ones_like(log_p))


def test_every_number_is_that_of_its_formula():
    p = np.array([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]])
    result = token_statistics(np.log(p) + 3, [1, 0])  # a constant on all logits changes nothing
    np.testing.assert_allclose(result.log_p, np.log([0.2, 0.5]))
    np.testing.assert_allclose(result.entropy, -(p * np.log(p)).sum(axis=1))
    uniform = np.full(3, 1 / 3)
    np.testing.assert_allclose(result.self_certainty, (uniform * np.log(uniform / p)).sum(axis=1))
    np.testing.assert_allclose(result.margin, np.log([0.7 / 0.2, 2.0]))
    scores = token_scores(result, [False, True])
    assert scores["mean log-probability"] == pytest.approx(np.log(0.1) / 2)
    assert scores["perplexity"] == pytest.approx(0.1**-0.5)
    assert scores["least log-probability"] == pytest.approx(np.log(0.2))
    assert scores["answer span"] == pytest.approx(0.5)
    assert scores["first margin"] == pytest.approx(np.log(3.5))
    assert scores["branching"] == 1  # .80 nats and 1.04


def test_a_text_without_tokens_has_no_scores():
    """A text without tokens has no scores and an empty span is the whole."""
    assert all(np.isnan(value) for value in token_scores(tokens([])).values())
    assert token_scores(tokens([-1, -2]), [False, False])["answer span"] == pytest.approx(np.exp([-1, -2]).mean())
    with pytest.raises(InputError, match="a span over 1 tokens for a text of 2"):
        token_scores(tokens([-1, -2]), [True])


def test_lifts_tell_what_question_and_hint_do_for_an_answer():
    alone, without, shown = tokens([-1.0, -1.0]), tokens([-2.0, -4.0]), tokens([-0.5, -0.25])
    assert question_lift(alone, without)["question lift"] == pytest.approx(2)
    assert question_lift(alone, without)["self-aligned"] == pytest.approx(1 - np.exp(1) / np.exp(3))
    assert question_lift(alone, alone) == {"question lift": 0, "self-aligned": 0}
    assert question_lift(without, tokens([0, 0]))["self-aligned"] == -1  # clipped
    assert shown_lift(alone, shown) == pytest.approx(-1.25)
    with pytest.raises(InputError, match="texts of 2 and 1 tokens"):
        shown_lift(alone, tokens([-1]))

"""Promises on new questions: kept where something is known, refused where nothing is."""

import numpy as np
import pytest

from onedial.confidence.conformal import answering_threshold, option_sets
from onedial.core.errors import InputError


def panel(rng, n, knows=1.0, base=0.0):
    confidence = rng.normal(size=n)
    right = (rng.random(n) < 1 / (1 + np.exp(-(2.5 * knows * confidence + base)))).astype(float)
    return confidence, right


def test_the_promised_accuracy_is_kept_on_new_questions_as_often_as_promised():
    rng = np.random.default_rng(0)
    new, outcome = panel(rng, 20000)
    kept, answered = [], []
    for _ in range(40):
        found = answering_threshold(*panel(rng, 300), accuracy=0.8, promised=0.9)
        given = new >= found.threshold
        kept.append(not given.any() or outcome[given].mean() >= 0.8)
        answered.append(found.coverage)
    assert np.mean(kept) >= 0.85
    assert np.mean(answered) > 0.2


def test_where_confidence_knows_nothing_no_threshold_is_promised():
    rng = np.random.default_rng(1)
    found = [answering_threshold(*panel(rng, 200, knows=0.0), accuracy=0.8).threshold for _ in range(20)]
    assert np.isnan(found).mean() >= 0.85


def test_sets_hold_the_right_option_as_often_as_promised_and_shrink_with_knowledge():
    rng = np.random.default_rng(2)

    def options(n, strength):
        logits = rng.normal(size=(n, 4))
        logits[:, 0] += strength
        p = np.exp(logits)
        return p / p.sum(axis=1, keepdims=True), np.zeros(n, int)

    for strength, size in ((4.0, 1.5), (0.0, 4.0)):
        found = option_sets(*options(400, strength), *options(2000, strength), promised=0.8)
        assert 0.74 < found.coverage < 0.87
        assert found.size < size
    assert found.size > 2.5  # knowing nothing takes nearly all four


def test_few_questions_and_impossible_promises_are_refused():
    with pytest.raises(InputError, match="3 graded answers"):
        answering_threshold([0.1, 0.2, 0.3], [1, 0, 1])
    with pytest.raises(InputError, match="give both between 0 and 1"):
        answering_threshold(np.arange(20.0), np.ones(20), accuracy=1.0)
    with pytest.raises(InputError, match="do not add up to 1"):
        option_sets(np.ones((20, 4)), np.zeros(20), np.ones((5, 4)), np.zeros(5))

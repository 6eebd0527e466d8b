"""The words alone."""

import numpy as np
import pytest

from probes import words_of

TEXTS = ("who sang of the sea", "who sang of the river", "which king built the bridge", "which king lost the war")


def test_only_words_of_the_questions_that_may_be_looked_at_are_known():
    all_but_last = np.array([True, True, True, False])
    features, standardised = words_of(TEXTS)(all_but_last)
    assert not standardised
    without_lengths = features[:, :-2]
    # "who", "sang", "of", "the" stand in two of the first three, with the pairs of them; "which king" in one.
    assert np.linalg.norm(without_lengths[:2], axis=1) == pytest.approx(1)
    assert np.count_nonzero(without_lengths[3]) == 1

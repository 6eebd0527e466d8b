"""Agreement of samples by meaning: clusters, semantic entropy, and what others' code gives for the same."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from onedial.confidence.samples import intransitive, meaning_agreement, meaning_clusters
from onedial.core.errors import InputError

CASES = json.loads((Path(__file__).parent.parent / "reference" / "semantic_entropy.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['clusters'])} samples")
def test_clusters_and_entropies_are_those_of_lm_polygraph_and_uqlm(case):
    """Some of these entailments go one way only, and some judgements are not transitive."""
    entails = np.array(case["entails"], dtype=bool)
    clusters = meaning_clusters(len(entails), lambda one, other: bool(entails[one, other] and entails[other, one]))
    assert clusters == case["clusters"]
    result = meaning_agreement(clusters, case["log_p"])
    assert result.discrete_semantic_entropy == pytest.approx(case["discrete"])
    assert result.discrete_semantic_entropy == pytest.approx(case["discrete_uqlm"])
    assert result.semantic_entropy == pytest.approx(case["weighted_uqlm"])


def test_transitive_meanings_hang_on_no_order():
    """What is transitive gives the same meanings in any order and what is not is counted."""
    meanings = [0, 0, 1, 2, 2]
    for order in permutations(range(5)):
        drawn = [meanings[place] for place in order]
        clusters = meaning_clusters(5, lambda one, other, drawn=drawn: drawn[one] == drawn[other])
        assert [[a == b for a in clusters] for b in clusters] == [[a == b for a in drawn] for b in drawn]
    chain = lambda one, other: other - one == 1  # noqa: E731
    assert meaning_clusters(3, chain) == [0, 0, 1]
    assert intransitive(3, chain) == (1, 1)
    assert intransitive(4, lambda one, other: True) == (0, 4)


def test_wordings_of_one_meaning_have_no_entropy():
    """Wordings of one meaning have no entropy and all else at most the logarithm of their number."""
    assert meaning_agreement([0] * 5).discrete_semantic_entropy == 0
    spread = meaning_agreement(range(5), [-1.0] * 5)
    assert (spread.largest, spread.n_meanings) == (0.2, 5)
    assert spread.semantic_entropy == pytest.approx(np.log(5)) == spread.discrete_semantic_entropy


def test_a_likelier_sample_weighs_more():
    """A likelier sample weighs more and without probabilities only numbers count."""
    sure = meaning_agreement([0, 1], [-0.01, -9.0])
    assert sure.semantic_entropy < 0.01 < sure.discrete_semantic_entropy == pytest.approx(np.log(2))
    assert np.isnan(meaning_agreement([0, 1]).semantic_entropy)
    assert np.isnan(meaning_agreement([]).largest)
    with pytest.raises(InputError, match="1 log-probabilities for 2 samples"):
        meaning_agreement([0, 1], [-1.0])

"""Whose knowledge is it: planted self-knowledge is found, shared knowledge is called shared, however noisy."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence import whose_knowledge
from onedial.confidence.knowledge import OWN, SHARED, _rank_one
from onedial.core import InputError


def planted(own, n=300, m=8, seed=0, missing=0.0):
    """Confidence follows what is hard for all, and by `own` what only its owner knows; everything is noisy."""
    rng = np.random.default_rng(seed)
    ease, private = rng.normal(size=n), rng.normal(size=(n, m))
    follows, skill, cut = rng.uniform(0.4, 1.2, m), rng.uniform(0.5, 1.5, m), rng.normal(0, 0.5, m)
    correct = (skill * ease[:, None] + private > cut).astype(float)
    confidence = follows * ease[:, None] + own * private + rng.normal(size=(n, m))
    confidence[rng.random((n, m)) < missing] = np.nan
    names = [f"m{place}" for place in range(m)]
    return pd.DataFrame(confidence, columns=names), pd.DataFrame(correct, columns=names)


def verdicts(own, n_runs):
    return [whose_knowledge(*planted(own, seed=seed), n_bootstrap=99).targets for seed in range(n_runs)]


def test_planted_self_knowledge_is_found_and_shared_knowledge_is_called_shared():
    """docs/instruments.md has the full simulation; the shared null holds difficulty and its noise."""
    found = verdicts(0.4, 12)
    assert sum(table.loc["mean", "verdict"] == OWN for table in found) >= 11
    shared = verdicts(0.0, 24)
    assert sum(table.loc["mean", "verdict"] == SHARED for table in shared) >= 20
    rows = pd.concat(table.drop(index="mean") for table in shared)
    assert (rows["verdict"] == OWN).mean() <= 0.07
    assert (rows["p_own"] < 0.05).mean() > 0.1  # why the likelihood ratio does not give the verdict


def test_a_confidence_that_follows_one_of_two_kinds_is_found_in_that_respondent_alone():
    confidence, correct = planted(0.0, n=600)
    rng = np.random.default_rng(9)
    confidence["m3"] = confidence["m3"] + 1.5 * (correct["m3"] - correct["m3"].mean()) + 0.1 * rng.normal(size=600)
    table = whose_knowledge(confidence, correct, 199).targets
    assert table.loc["m3", "verdict"] == OWN
    assert table.loc["m3", "advantage"] > 5 * table.drop(index=["m3", "mean"])["advantage"].abs().median()


def test_what_is_expected_of_oneself_is_told_by_the_others_cells_alone():
    """Cells r_pt = a_p b_t off the diagonal, whatever stands on it: a_t b_t is expected there."""
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.2, 0.8, (2, 5))
    cells = np.outer(a, b)
    np.fill_diagonal(cells, rng.uniform(-1, 1, 5))
    assert _rank_one(cells[None])[0] == pytest.approx(a * b, abs=1e-6)


def test_unread_answers_are_left_out_and_counted_and_the_unit_of_confidence_does_not_matter():
    confidence, correct = planted(0.4, missing=0.2)
    one = whose_knowledge(confidence, correct, 49)
    other = whose_knowledge(confidence * 50 + 7, correct, 49)
    np.testing.assert_allclose(one.targets["advantage"], other.targets["advantage"], atol=1e-9)
    assert one.targets.loc["m0", "n"] == confidence["m0"].notna().sum()
    assert one.matrix.shape == (8, 8)
    assert "advantage" in one.sentence()


def test_too_few_respondents_and_constant_ones_are_refused():
    confidence, correct = planted(0.0, m=2)
    with pytest.raises(InputError, match="give 3 or more"):
        whose_knowledge(confidence, correct)
    confidence, correct = planted(0.0, m=4)
    with pytest.raises(InputError, match="varies"):
        whose_knowledge(confidence.assign(m1=1.0), correct)

"""Signal detection of the second order: held to metadpy on its own example and on drawn counts, and to known truth."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE
from scipy.special import ndtr

from onedial.confidence.metacognition import _auroc2, meta_d_prime, metacognition_sentences, metacognition_table
from onedial.core.errors import InputError


def theirs() -> pd.DataFrame:
    """metadpy 0.1.2 (`mle.fit_metad`, `sdt.roc_auc`) on its documented example and on drawn counts, surest S1 first."""
    return pd.read_csv(REFERENCE / "metad_metadpy.csv", index_col=0)


def judged(seed: int, n: int, signal: float, second: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of yes and outcomes; `second` = noise that only the confidence has."""
    rng = np.random.default_rng(seed)
    right = rng.random(n) < 0.5
    evidence = rng.standard_normal(n) + np.where(right, signal / 2, -signal / 2)
    blurred = evidence + second * rng.standard_normal(n)
    towards = np.sign(evidence)
    return ndtr(towards * np.maximum(blurred * towards, 0.01)), right.astype(int)


@pytest.mark.parametrize("case", list(theirs().index))
def test_meta_d_agrees_with_metadpy(case):
    row = theirs().loc[case]
    wrong, right = (row[[f"s{side}_{i}" for i in range(8)]].to_numpy(dtype=float) for side in (1, 2))
    result = meta_d_prime(wrong, right)
    assert result.d_prime == pytest.approx(row["dprime"], abs=1e-8)
    assert result.meta_d == pytest.approx(row["meta_d"], abs=1e-6)
    assert result.m_ratio == pytest.approx(row["m_ratio"], abs=1e-6)
    assert result.log_likelihood == pytest.approx(row["log_likelihood"], abs=2e-6)
    # metadpy adds .5 to every count before it takes the area
    assert _auroc2(np.stack([wrong, right]) + 0.5) == pytest.approx(row["auroc2"], abs=1e-9)


def test_an_ideal_observer_has_an_m_ratio_of_one():
    panels = [judged(seed, 4000, 1.5, 0.0) for seed in range(8)]
    tables = [metacognition_table(*(pd.DataFrame({"a": part}) for part in panel)) for panel in panels]
    assert np.mean([table.loc["a", "m_ratio"] for table in tables]) == pytest.approx(1, abs=0.05)


def test_noise_that_only_confidence_has_lowers_the_m_ratio():
    panels = {name: judged(1, 4000, 1.5, noise) for name, noise in (("none", 0.0), ("some", 0.8), ("much", 2.5))}
    said_yes, right = (pd.DataFrame({name: panel[part] for name, panel in panels.items()}) for part in (0, 1))
    table = metacognition_table(said_yes, right)
    ratio = table["m_ratio"]
    assert ratio["none"] > ratio["some"] + 0.1 > ratio["much"] + 0.2
    assert (table["auroc2"].diff().dropna() < 0).all()
    np.testing.assert_allclose(table["d_prime"], 1.5, atol=0.15)


def test_counts_too_small_have_a_reason_and_no_ratio():
    p, right = judged(0, 60, 1.5, 0.0)
    chance, outcome = judged(0, 2000, 0.02, 0.0)
    said_yes = pd.DataFrame(
        {"few": np.r_[p, np.full(1940, np.nan)], "chance": chance, "flat": np.where(chance > 0.5, 0.9, 0.1)}
    )
    known = pd.DataFrame({"few": np.r_[right, np.zeros(1940)], "chance": outcome, "flat": outcome})
    table = metacognition_table(said_yes, known)
    assert table.loc["few", "status"].startswith("fewer than 10")
    assert table.loc["chance", "status"].startswith("d' below 0.3")
    assert table.loc["flat", "status"] == "confidence has one level only"
    assert table[["meta_d", "m_ratio", "m_ratio_low"]].isna().all(axis=None)
    assert table["auroc2"].notna().all()
    text = metacognition_sentences(table)
    assert len(text) == 1
    assert "For 3 of 3 respondents no M-ratio can be given" in text[0]


def test_counts_that_are_no_ratings_are_refused():
    with pytest.raises(InputError, match="even number"):
        meta_d_prime([1, 2, 3], [3, 2, 1])
    with pytest.raises(InputError, match="even number"):
        meta_d_prime([1, 2, 3, -1], [3, 2, 1, 1])
    with pytest.raises(InputError, match="rising points"):
        metacognition_table(pd.DataFrame({"a": [0.5]}), pd.DataFrame({"a": [1]}), at=[0.5, 0.2])


def test_one_level_of_confidence_gives_a_reason_and_no_number():
    result = meta_d_prime([0, 60, 20, 0], [0, 20, 60, 0])
    assert np.isnan([result.meta_d, result.m_ratio]).all()
    assert result.status == "confidence has one level only"
    assert np.isfinite(result.d_prime)

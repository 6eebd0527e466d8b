"""Panels that share questions or respondents come onto one scale; draws of difficulties have the questions' spread."""

import numpy as np
import pandas as pd
import pytest

from onedial.core import InputError
from onedial.scale import ScaleBank, link_panels, plausible_values, two_parameter_irt
from onedial.scale.place.linking import _matched

TRUE_SLOPE, TRUE_SHIFT = 0.7, 0.8


def answered(ease: np.ndarray, loading: np.ndarray, threshold: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    own = np.sqrt(1 - loading**2) * rng.standard_normal((len(ease), len(loading)))
    return (loading * ease[:, None] + own + threshold > 0).astype(float)


def panels(seed: int, n: int = 500, m: int = 16) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same respondents; the second's questions are easier by .8 and spread .7 times as widely."""
    rng = np.random.default_rng(seed)
    loading, threshold = rng.uniform(0.5, 0.9, m), rng.uniform(-1, 1, m)
    first = answered(rng.standard_normal(n), loading, threshold, seed + 100)
    second = answered(TRUE_SHIFT + TRUE_SLOPE * rng.standard_normal(n), loading, threshold, seed + 200)
    return pd.DataFrame(first), pd.DataFrame(second, index=range(n, 2 * n))


def test_curves_moved_by_a_known_link_are_brought_back_exactly() -> None:
    slope, intercept = np.array([0.6, 1.0, 1.7, 0.9]), np.array([-1.0, 0.0, 0.5, 1.2])
    moved = np.stack([slope, intercept, slope * TRUE_SLOPE, intercept + slope * TRUE_SHIFT])
    size, shift = _matched(moved, np.zeros(2))
    assert (np.exp(size), shift) == pytest.approx((TRUE_SLOPE, TRUE_SHIFT), abs=1e-10)


@pytest.mark.long
def test_common_respondents_link_within_the_standard_errors_that_are_said() -> None:
    links = [link_panels(*panels(seed)) for seed in range(6)]
    off = [(link.slope - TRUE_SLOPE) / link.slope_se for link in links]
    off += [(link.shift - TRUE_SHIFT) / link.shift_se for link in links]
    assert {link.by for link in links} == {"respondents"}
    assert 0.4 < np.sqrt(np.mean(np.square(off))) < 1.7
    assert np.mean([link.shift for link in links]) == pytest.approx(TRUE_SHIFT, abs=0.1)


def test_common_questions_link_panels_of_other_respondents() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.standard_normal(500), TRUE_SHIFT + TRUE_SLOPE * rng.standard_normal(500)
    second[:150] = first[:150]
    curves = [(rng.uniform(0.5, 0.9, 16), rng.uniform(-1, 1, 16)) for _ in range(2)]
    base = pd.DataFrame(answered(first, *curves[0], 6))
    other = pd.DataFrame(answered(second, *curves[1], 7)).add_prefix("other_")
    other.index = pd.Index([*range(150), *range(1000, 1350)])
    link = link_panels(base, other)
    assert (link.by, link.n) == ("questions", 150)
    assert link.slope == pytest.approx(second.std() / first.std(), abs=4 * link.slope_se)
    assert link.shift == pytest.approx((second.mean() - first.mean()) / first.std(), abs=4 * link.shift_se)
    moved = link.moved(ScaleBank.of(other))
    truth = -(second - first.mean()) / first.std()
    assert np.mean(np.abs(moved["difficulty"] - truth) < 2 * moved["se"]) > 0.9
    assert (moved["se"] > moved["link_se"]).all()


@pytest.mark.long
def test_common_questions_link_without_bias_where_the_other_questions_lie_elsewhere() -> None:
    off = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        first, second = rng.standard_normal(500), 1.2 + 0.5 * rng.standard_normal(500)
        second[:150] = first[:150]  # the other 350 are easier and alike: no normal scale
        base, other = (
            pd.DataFrame(answered(ease, rng.uniform(0.5, 0.9, 16), rng.uniform(-1, 1, 16), 100 + seed)).add_prefix(name)
            for ease, name in ((first, "base_"), (second, "other_"))
        )
        other.index = pd.Index([*range(150), *range(1000, 1350)])
        link = link_panels(base, other)
        slope, shift = second.std() / first.std(), (second.mean() - first.mean()) / first.std()
        off.append([(link.slope - slope) / link.slope_se, (link.shift - shift) / link.shift_se])
    assert (np.abs(np.mean(off, axis=0)) < 0.75).all()  # 2.1 and 1.6 on a normal scale
    assert ((np.abs(off) < 1.96).mean(axis=0) > 0.8).all()


def test_what_shares_too_little_is_not_linked() -> None:
    base, other = panels(9)
    other.columns = [f"other {name}" for name in other]
    with pytest.raises(InputError, match=r"0 questions .* 0 respondents"):
        link_panels(base, other)
    with pytest.raises(InputError, match="choose one of"):
        link_panels(base, other, by="topics")  # type: ignore[arg-type]


def test_draws_have_the_spread_of_the_questions() -> None:
    rng = np.random.default_rng(4)
    hidden = rng.standard_normal(2000) - np.repeat([0.0, 1.0], 1000)
    panel = pd.DataFrame(answered(hidden, np.full(6, 0.6), np.full(6, 0.5), 8))
    best, draws = two_parameter_irt(panel, scale="histogram").difficulty, plausible_values(panel, 20)
    assert draws.std().mean() == pytest.approx(1, abs=0.05)
    assert best.std() < 0.9
    assert draws.mean(axis=1).corr(best) > 0.98

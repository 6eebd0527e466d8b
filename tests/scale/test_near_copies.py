"""Near-copies: fine-tunes of one model are found by what they share beyond the scale; honest panels are left alone."""

import numpy as np
import pandas as pd
import pytest

from onedial.scale.checks.near_copies import near_copies

MODELS = [f"model {number}" for number in range(8)]


def panel(seed, loadings, tunes=0, closeness=0.95, parent=0.0, n=800, framings=1):
    """Eight models on one scale by their loadings; the first few share a part of what is their own, or all but follow
    a parent that has only so much of the scale."""
    rng = np.random.default_rng(seed)
    scale, loadings = rng.standard_normal((n, 1)), np.full(8, loadings)
    latent = loadings * scale + np.sqrt(1 - loadings**2) * rng.standard_normal((n, 8))
    if tunes:
        original = parent * scale + np.sqrt(1 - parent**2) * rng.standard_normal((n, 1))
        latent[:, :tunes] = np.sqrt(closeness) * original + np.sqrt(1 - closeness) * rng.standard_normal((n, tunes))
    latent = np.repeat(latent, framings, axis=1)
    if framings > 1:
        latent = 0.9 * latent + np.sqrt(1 - 0.81) * rng.standard_normal(latent.shape)
    return (latent > rng.permutation(np.linspace(-0.8, 0.8, latent.shape[1]))).astype(float)


@pytest.mark.long
@pytest.mark.parametrize("loadings", [0.0, 0.6, 0.8, 0.95, [0.95, 0.95, 0.9, 0.9, 0.4, 0.4, 0.3, 0.0]])
def test_models_of_one_scale_are_hardly_ever_near_copies(loadings):
    """Models that share one scale however strongly are hardly ever called near copies."""
    assert sum(bool(near_copies(panel(seed, loadings), MODELS).groups) for seed in range(40)) <= 3


@pytest.mark.parametrize(("parent", "n"), [(0.0, 800), (0.4, 800), (0.8, 3000)])
def test_fine_tunes_of_one_model_are_found_all_together_and_nobody_else(parent, n):
    result = [near_copies(panel(seed, 0.8, 3, 0.93, parent, n), MODELS).groups for seed in range(10)]
    assert result.count((("model 0", "model 1", "model 2"),)) >= 9


def test_models_are_kin_unless_they_are_shown_to_share_less_than_a_third():
    """Two that share half are kin and no near-copies; strangers are told apart by many questions, not by few."""
    result = near_copies(panel(0, 0.8, 2, 0.75, 0.6, n=4000), MODELS)
    assert (result.groups, result.kin) == ((), (("model 0", "model 1"),))
    assert result.kin_counted_as == ["model 0 + model 1"] * 2 + MODELS[2:]
    assert near_copies(panel(0, 0.6, n=4000), MODELS).kin == ()
    assert near_copies(panel(0, 0.6, n=50), MODELS).kin != ()
    copies = near_copies(panel(0, 0.8, 3, 0.93, 0.4, n=4000), MODELS)
    assert copies.kin == copies.groups == (("model 0", "model 1", "model 2"),)


def test_a_reversed_model_makes_no_near_copies():
    """A model that answers the other way round makes no near copies of the others."""
    for seed in range(5):
        answers = panel(seed, 0.8)[:, :6]
        answers[:, 0] = 1 - answers[:, 0]
        assert near_copies(answers, MODELS[:6]).groups == ()


def test_what_near_copies_share_beyond_the_scale_is_recovered():
    joins = near_copies(panel(0, 0.8, 2, 0.9, 0.6, n=20_000), MODELS).joins.set_index("models")
    row = joins.loc["model 0 + model 1"]
    assert row["correlation"] == pytest.approx(0.9, abs=0.01)
    assert row["expected"] == pytest.approx(0.9 * 0.36, abs=0.02)
    assert row["shared"] == pytest.approx((0.9 - 0.324) / (1 - 0.324), abs=0.02)


def test_a_join_is_tested_by_the_tetrads_of_the_models_outside():
    answers = panel(1, 0.8, 2, 0.8, 0.6)[:, :4]
    result = near_copies(answers, MODELS[:4]).joins.iloc[0]
    from onedial.scale.correlations.tetrachoric import tetrachoric

    r = tetrachoric(answers).correlation.to_numpy()
    expected = (r[0, 2] * r[1, 3] + r[0, 3] * r[1, 2]) / 2 / r[2, 3]
    assert result["models"] == "model 0 + model 1"
    assert result["expected"] == pytest.approx(expected)
    # the error of T by the bootstrap
    rng, drawn = np.random.default_rng(0), []

    def value(r):
        return r[2, 3] * (r[0, 1] - 2 / 3) * 3 - (r[0, 2] * r[1, 3] + r[0, 3] * r[1, 2]) / 2

    for _ in range(300):
        drawn.append(value(tetrachoric(answers[rng.integers(800, size=800)]).correlation.to_numpy()))
    assert result["z"] == pytest.approx(value(r) / np.std(drawn), rel=0.15)


def test_questions_in_two_wordings_count_once():
    answers = panel(2, 0.8, 2, 0.9, 0.4)
    once = near_copies(answers, MODELS).joins
    twice = near_copies(np.repeat(answers, 2, axis=0), MODELS, np.repeat(np.arange(800), 2)).joins
    assert np.allclose(once["z"], twice["z"])


def test_framings_gaps_and_the_order_of_respondents_change_no_group():
    answers = pd.DataFrame(panel(3, 0.8, 2, 0.97, 0.3, framings=2))
    models = [name for name in MODELS for _ in range(2)]
    answers = answers.mask(np.random.default_rng(0).random(answers.shape) < 0.05)
    result = near_copies(answers, models)
    assert result.groups == (("model 0", "model 1"),)
    assert result.counted_as == ["model 0 + model 1"] * 4 + models[4:]
    shuffled = np.random.default_rng(1).permutation(16)
    assert near_copies(answers.iloc[:, shuffled], [models[place] for place in shuffled]).groups == result.groups


def test_three_base_models_and_constant_respondents_say_nothing():
    answers = panel(4, 0.8, 2, 0.97)
    assert near_copies(answers[:, :3], MODELS[:3]).joins.empty
    answers[:, 2:] = 1.0
    assert near_copies(answers, MODELS).groups == ()

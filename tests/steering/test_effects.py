"""The effect of a push is the slope of the margin along it; random pushes are a null that holds."""

import numpy as np
import pytest
import torch

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from steering.causes import EFFECT_COLUMNS, Chance, effects_of
from steering.nulls import random_unit

QUESTIONS = [
    Question(f"q{place}", f"Who sang of river {place}{' and sea' * (place % 4)}?", topic=f"t{place % 4}")
    for place in range(12)
]


@pytest.fixture(scope="module")
def streams(model, prompts):
    return read_activations(model, prompts, [2]).residuals[:, 0]


def gradients(model, prompts, layer):
    """(question, d_model) of the margin by the layer's stream at the last position, by autograd and a bare hook."""
    result = []
    for sequence in prompts.sequences:
        kept = []

        def hook(module, args, output, kept=kept):
            stream = output[0] if isinstance(output, tuple) else output
            changed = stream.detach().clone().requires_grad_(True)
            kept.append(changed)
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        handle = model.stack.layers[layer].register_forward_hook(hook)
        logits = model.hf(input_ids=torch.tensor([sequence]), use_cache=False).logits[0, -1]
        handle.remove()
        margin = logits[list(prompts.tokens.yes)].logsumexp(0) - logits[list(prompts.tokens.no)].logsumexp(0)
        result.append(torch.autograd.grad(margin, kept[0])[0][0, -1])
    return torch.stack(result)


def test_a_small_push_moves_the_margin_by_its_mean_gradient(model, prompts, streams):
    slope = gradients(model, prompts, 2)
    directions = {"steepest": slope.mean(dim=0), "drawn": random_unit(model.d_model, 3)}
    table = effects_of(model, prompts, directions, 2, streams, step=0.01, chance=Chance(9)).set_index("direction")
    norm = streams.norm(dim=-1).median()
    for name, direction in directions.items():
        expected = (slope @ (direction / direction.norm())).mean() * norm
        assert table.loc[name, "effect"] == pytest.approx(expected.item(), rel=0.03, abs=0.01)
        assert table.loc[name, "low"] <= table.loc[name, "effect"] <= table.loc[name, "high"]
    assert table.loc["steepest", "p"] == pytest.approx(0.1)
    assert table.loc["steepest", "p_covariance"] == pytest.approx(0.1)
    assert table.loc["steepest", "effect"] > table.loc[table["kind"] != "probe", "effect"].abs().max()


def test_length_means_nothing_and_sign_turns_the_effect(model, prompts, streams):
    drawn = random_unit(model.d_model, 5)
    table = effects_of(
        model, prompts, {"a": drawn, "long": 100 * drawn, "back": -drawn}, 2, streams, chance=Chance(2, 99)
    ).set_index("direction")
    assert tuple(table.reset_index().columns) == EFFECT_COLUMNS
    assert table.loc["long", "effect"] == pytest.approx(table.loc["a", "effect"], rel=1e-4)
    assert table.loc["back", "effect"] == pytest.approx(-table.loc["a", "effect"], rel=1e-4)
    assert table["kind"].value_counts().to_dict() == {"probe": 3, "random": 2, "covariance": 2}
    assert table.loc["random 0":"random 1", "p"].isna().all()
    assert (table["n"] + table["n_unread"] == 12).all()


def test_a_random_direction_ranks_anywhere_among_random_ones(model, prompts, streams):
    directions = {f"d{seed}": random_unit(model.d_model, 500 + seed) for seed in range(30)}
    table = effects_of(model, prompts, directions, 2, streams, chance=Chance(19, 9))
    p = table.loc[table["kind"] == "probe", "p"]
    for column, kind in (("p", "random"), ("p_covariance", "covariance")):
        chance = table.loc[table["kind"] == kind, "effect"]
        assert chance.min() < 0 < chance.max()  # either way counts
        for row in table[table["kind"] == "probe"].to_dict("records"):
            as_far = sum(abs(each) >= abs(row["effect"]) for each in chance)
            assert row[column] == (1 + as_far) / 20
    assert (p <= 0.05).mean() <= 0.2
    assert 0.3 < p.mean() < 0.7


def test_what_cannot_be_pushed_is_refused(model, prompts, streams):
    drawn = random_unit(model.d_model, 5)
    for changes, sentence in (
        ({"directions": {}}, "0 directions"),
        ({"directions": {"a": drawn[:3]}}, "'a' has shape"),
        ({"directions": {"a": 0 * drawn}}, "length 0"),
        ({"step": 0.0}, "a step of 0"),
        ({"layer": 99}, "layer 99 requested"),
    ):
        given = {"directions": {"a": drawn}, "layer": 2} | changes
        with pytest.raises(InputError, match=sentence):
            effects_of(model, prompts, given["directions"], given["layer"], streams, step=given.get("step", 0.1))
    assert np.isfinite(streams.numpy()).all()

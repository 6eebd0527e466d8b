"""Directions from texts: they point from the negative to the positive ones, at a layer that tells them apart."""

import numpy as np
import pytest
import torch
from tiny_models import tiny_model

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.models.questions import as_prompt
from steering.sweeping import sweep
from steering.texts import _clearest, vector_from_texts

RIVER, SEA = ([f"Tell me of a {what} in {year}." for year in range(1900, 1908)] for what in ("river", "long grey sea"))


def test_the_vector_is_the_difference_of_mean_streams(model):
    """The vector is the difference of the mean streams at the last token."""
    vector = vector_from_texts(model, RIVER, SEA, layer=2)
    means = [model.read_residual(model.tokenise(side), [2])[:, 0].mean(dim=0) for side in (RIVER, SEA)]
    difference = means[0] - means[1]
    torch.testing.assert_close(vector.direction, difference / difference.norm(), atol=1e-4, rtol=0)
    assert vector.raw_norm == pytest.approx(difference.norm().item(), rel=1e-3)
    streams = torch.cat([model.read_residual(model.tokenise(side), [2])[:, 0] for side in (RIVER, SEA)])
    assert vector.residual_norm == pytest.approx(streams.norm(dim=-1).median().item(), rel=1e-3)
    turned = vector_from_texts(model, SEA, RIVER, layer=2)
    torch.testing.assert_close(turned.direction, -vector.direction)


def test_texts_chats_and_prompts_are_one_thing(model):
    chats = [[{"role": "user", "content": text}] for text in RIVER]
    one = vector_from_texts(model, RIVER, SEA, layer=2)
    other = vector_from_texts(model, chats, [Prompt(text) for text in SEA], layer=2)
    assert torch.equal(one.direction, other.direction)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "It was"},
    ]
    assert as_prompt(messages) == Prompt("Who?", "It was", (("Be brief.\n\nHi", "Hello."),))
    texts = model.generate([chats[0], RIVER[0]], max_new_tokens=3)
    assert texts[0] == texts[1] == model.generate(chats[0], max_new_tokens=3)


@pytest.mark.parametrize(
    "kind",
    [7, [{"role": "user"}], [{"role": "user", "content": [7]}], [{"role": "assistant", "content": "x"}], [[7]], []],
)
def test_what_is_no_prompt_is_refused_in_a_sentence(kind):
    with pytest.raises(InputError, match=r"give a text, a chat|begin with the user"):
        as_prompt(kind)


def test_the_layer_is_one_at_which_texts_that_were_left_out_lie_apart(model):
    generator = torch.Generator().manual_seed(0)
    positive, negative = torch.randn(2, 12, 4, 16, generator=generator)
    positive[:, 2] += 3 * torch.ones(16)
    assert _clearest(positive, negative) == 2
    assert _clearest(positive[:3], negative[:3]) == 2  # three fifths of the depth
    layer = vector_from_texts(model, RIVER, SEA).layer
    assert model.n_layers // 4 <= layer <= 3 * model.n_layers // 4


def test_any_two_answers_are_swept_and_a_control_stands_beside(model):
    vector = vector_from_texts(model, RIVER, SEA, layer=2)
    result = sweep(model, vector, RIVER[:3], [-0.5, 0.0, 0.5], answers=("Yes", "No"), controls=1)
    assert set(result.table["intervention_id"]) == {vector.vector_id, "L2-random-1"}
    turned = sweep(model, vector, RIVER[:3], [-0.5, 0.0, 0.5], answers=("No", "Yes"))
    margins = result.table[result.table["intervention_id"] == vector.vector_id]["margin"]
    np.testing.assert_allclose(turned.table["margin"], -margins, atol=1e-4)
    with pytest.raises(InputError, match="begin with the same token"):
        sweep(model, vector, RIVER[:3], [0.5], answers=("Yes", "yes"))


def test_what_is_written_is_scored_and_what_cannot_be_scored_is_counted():
    model = tiny_model("llama")
    vector = vector_from_texts(model, RIVER, SEA, layer=2)
    result = sweep(model, vector, RIVER[:4], [0.0, 2.0], score=lambda text: len(text) or float("nan"), max_new_tokens=6)
    written = model.generate(RIVER[:4], vector * 2.0, max_new_tokens=6)
    at_2 = result.table[result.table["magnitude"] == 2.0]
    assert at_2["text"].tolist() == written
    rates = result.rates().xs(vector.vector_id)
    assert rates.loc[2.0, "score"] == pytest.approx(np.mean([len(text) for text in written if text]))
    assert (rates["n_read"] + rates["n_unread"] == 4).all()


@pytest.mark.parametrize(
    ("positive", "negative", "how", "message"),
    [
        (RIVER[:1], SEA, {}, "1 positive and 8 negative texts; give at least 2"),
        (RIVER, RIVER, {}, "the same; give at least 2 of each"),
        (RIVER, SEA, {"layer": 99}, "layer 99 requested"),
        (RIVER, SEA, {"method": "gradient"}, "made of a model's own yes and no"),
        (RIVER, SEA, {"method": "best"}, "method 'best' is not known"),
    ],
)
def test_what_makes_no_direction_is_refused(model, positive, negative, how, message):
    with pytest.raises(InputError, match=message):
        vector_from_texts(model, positive, negative, **how)

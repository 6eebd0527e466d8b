"""The lens' last layer is the model's own answer, it settles where it says, and directions point at their tokens."""

import pytest
import torch
from tiny_models import tiny_model

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.inside.lens import Lens, lens_of, tokens_along
from onedial.models.inside.store_filling import store_activations

QUESTIONS = [Question(f"q{place}", f"Who sang of river {place}{' and sea' * (place % 4)}?") for place in range(12)]


@pytest.fixture(scope="module")
def store(model, prompts, tmp_path_factory):
    return store_activations(model, prompts, tmp_path_factory.mktemp("store") / "own")


def test_the_last_layer_gives_the_models_own_margin_and_mass(model, prompts, store):
    lens = lens_of(model, store, prompts.tokens)
    assert lens.layers == tuple(range(model.n_layers))
    torch.testing.assert_close(lens.margin[:, -1], store.margin, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(lens.mass[:, -1], store.mass, rtol=1e-4, atol=1e-5)
    assert lens.agrees[:, -1].all()


def test_a_layer_is_the_final_norm_and_the_unembedding_of_its_stream(model, prompts, store):
    lens = lens_of(model, store, prompts.tokens)
    stream = store.read(1)[3]
    with torch.no_grad():
        logits = model.hf.lm_head(model.hf.model.norm(stream))
    expected = logits[list(prompts.tokens.yes)].logsumexp(0) - logits[list(prompts.tokens.no)].logsumexp(0)
    assert lens.margin[3, 1].item() == pytest.approx(expected.item(), abs=1e-4)


def test_an_answer_is_settled_from_the_layer_after_its_last_change():
    margin = torch.tensor([[1.0, 1, 1, 1], [-1, 1, -1, 1], [1, -1, -1, -1], [1, 1, 1, -1], [-1, 1, 1, 1]])
    lens = Lens((2, 5, 6, 9), margin, torch.ones_like(margin))
    assert lens.settled.tolist() == [2, 9, 5, 9, 5]
    mass = torch.ones_like(margin)
    mass[0, :3], mass[2, -1] = torch.tensor([0.9, 0.01, 0.9]), 0.0
    assert Lens((2, 5, 6, 9), margin, mass).settled.tolist() == [6, 9, 5, 9, 5]  # no answer yet at 5 of the first


def test_a_direction_points_at_the_token_whose_unembedding_it_is():
    model = tiny_model("llama")
    token = model.tokenizer.convert_tokens_to_ids("Q")
    row = model.hf.get_output_embeddings().weight[token].detach()
    (raised, lowered), (back, _) = tokens_along(model, [row, -1e-4 * row], n=3)
    assert raised[0] == "Q"
    assert len(raised) == len(lowered) == 3
    assert "Q" not in back  # the other way round, and of any length
    assert tokens_along(model, [-row], n=3)[0][1] == raised


def test_a_store_of_another_model_or_without_the_last_layer_is_refused(model, prompts, store, tmp_path):
    other = tiny_model("llama")
    with pytest.raises(InputError, match="look through the lens of the same model"):
        lens_of(other, store, prompts.tokens)
    early = store_activations(model, prompts, tmp_path / "early", layers=[0, 1])
    with pytest.raises(InputError, match="does not hold layer"):
        lens_of(model, early, prompts.tokens)

"""TransformerLens and this package see the same model: the same residual streams, the same logits, bit for bit."""

import pytest
import torch
from tiny_models import save_tiny

from onedial.asking.prompts import METACOGNITIVE
from onedial.models.model import load_model

PROMPTS = [METACOGNITIVE.fill(text) for text in ("Who?", "What is the capital of France, and why?")]
LAYER = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """On disk, since TransformerLens reads the tokenizer once more from where it came."""
    path = tmp_path_factory.mktemp("tiny-llama")
    save_tiny(path, "llama")
    return path


@pytest.fixture(scope="module")
def model(folder):
    loaded = load_model(str(folder), device="cpu")
    loaded.hf.set_attn_implementation("eager")  # what the bridge runs
    return loaded


@pytest.fixture(scope="module")
def bridge(model):
    return model.bridge()


def cached(bridge, batch):
    with torch.inference_mode():
        return bridge.run_with_cache(batch.input_ids)


def hook_counts(model):
    return [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.hf.modules()]


@pytest.mark.parametrize("prompt", PROMPTS[1:])
def test_the_stream_after_every_layer_is_the_bridges_hook_out(model, bridge, prompt):
    batch = model.tokenise([prompt])
    ours = model.read_residual(batch, range(model.n_layers), positions="all")
    _, cache = cached(bridge, batch)
    for layer in range(model.n_layers):
        assert (ours[:, layer] - cache[f"blocks.{layer}.hook_out"]).abs().max() == 0.0


@pytest.mark.parametrize("prompt", PROMPTS[1:])
def test_the_same_edit_gives_the_same_logits_on_either_side(model, bridge, prompt):
    batch = model.tokenise([prompt])
    vector = torch.randn(model.d_model, generator=torch.Generator().manual_seed(0))

    def add_at_last(stream):
        return torch.cat([stream[:, :-1], stream[:, -1:] + vector], dim=1)

    with torch.inference_mode():
        with model.edit_residual(LAYER, add_at_last) as count:
            logits = model.hf(input_ids=batch.input_ids).logits
        plain = model.hf(input_ids=batch.input_ids).logits
        hooked = bridge.run_with_hooks(
            batch.input_ids, fwd_hooks=[(f"blocks.{LAYER}.hook_out", lambda stream, hook: add_at_last(stream))]
        )
    assert count.firings == 1
    assert (logits - hooked).abs().max() == 0.0
    assert (logits - plain).abs().max() > 0.1


def test_the_model_is_left_as_it_was(folder):
    """The bridge rewrites the model that it wraps, attention included, and so it gets a copy."""
    model = load_model(str(folder), device="cpu")
    batch, tokens = model.tokenise(PROMPTS), model.answer_tokens(PROMPTS[0])
    weights = {name: weight.clone() for name, weight in model.hf.state_dict().items()}
    margins, hooks = model.readout.margin(model.final_residual(batch), tokens), hook_counts(model)
    kind_of_attention = model.hf.config._attn_implementation

    bridge = model.bridge()
    with torch.inference_mode():
        bridge.run_with_cache(batch.input_ids[-1:])

    assert torch.equal(model.readout.margin(model.final_residual(batch), tokens), margins)
    assert hook_counts(model) == hooks
    assert model.hf.config._attn_implementation == kind_of_attention == "sdpa"
    assert torch.equal(model.tokenise(PROMPTS).input_ids, batch.input_ids)
    after = model.hf.state_dict()
    assert after.keys() == weights.keys()
    assert all(torch.equal(after[name], weight) for name, weight in weights.items())

"""A model in 16 bits can compute in float32 without ever holding more than a layer of it."""

import pytest
import torch
from tiny_models import tiny_model

from onedial.asking.prompts import METACOGNITIVE
from onedial.models.forward.widening import widened

PROMPTS = [METACOGNITIVE.fill(question) for question in ("Who?", "What is the capital of France, and why?")]
FORMS = ["llama", "gemma2", "gemma3", "gpt2", "opt", "gpt_neox", "glm4"]
EDIT = {2: lambda stream, settings: stream + settings[..., None].to(stream.dtype)}


def in_16_bits(architecture):
    """As a checkpoint is loaded: the parameters, but not the buffers (rotary frequencies stay float32)."""
    model = tiny_model(architecture)
    for parameter in model.hf.parameters():
        parameter.data = parameter.data.bfloat16()
    return model


def steered(model, at):
    sequences = model.token_ids(PROMPTS)
    runner = model.runner(sequences, [2], at)
    return runner.steer(runner.start(sequences), EDIT, torch.tensor([[0.0, 0.4]]))


@pytest.mark.parametrize("architecture", FORMS)
def test_a_widened_model_answers_as_one_whose_rounded_weights_are_float32(architecture):
    half, exact = in_16_bits(architecture), tiny_model(architecture)
    exact.hf.load_state_dict({name: value.float() for name, value in half.hf.state_dict().items()})
    for at in ("last", "all"):
        with widened(half.stack):
            result = steered(half, at)
        expected = steered(exact, at)
        assert result.dtype == torch.float32
        assert ((result - expected).norm(dim=-1) / expected.norm(dim=-1)).max() < 1e-5
    assert half.dtype == torch.bfloat16


def test_one_layer_is_float32_at_a_time():
    """No more than one layer is float32 at a time and no weight is changed."""
    model = in_16_bits("llama")
    before = {name: (value, value.data_ptr(), value.clone()) for name, value in model.hf.named_parameters()}
    layer = sum(parameter.numel() for parameter in model.stack.layers[0].parameters())
    wide = []

    def look(*_):
        wide.append(sum(p.numel() for p in model.hf.parameters() if p.dtype == torch.float32))

    for block in model.stack.layers:
        block.mlp.register_forward_hook(look)
    with widened(model.stack):
        steered(model, "last")
        steered(model, "all")
    assert set(wide) == {layer}
    for name, value in model.hf.named_parameters():
        same, place, copy = before[name]
        assert value is same
        assert value.data_ptr() == place
        assert torch.equal(value, copy)


def test_widening_is_undone_after_an_exception():
    model = in_16_bits("opt")
    embedding = model.hf.get_input_embeddings()
    padding = embedding.padding_idx

    def interrupted(*_):
        raise KeyboardInterrupt

    handle = model.stack.layers[1].register_forward_hook(interrupted)
    with pytest.raises(KeyboardInterrupt), widened(model.stack):
        steered(model, "last")
    handle.remove()
    assert {parameter.dtype for parameter in model.hf.parameters()} == {torch.bfloat16}
    assert (model.dtype, embedding.padding_idx) == (torch.bfloat16, padding)
    assert not [m for m in model.hf.modules() if m._forward_hooks or m._forward_pre_hooks]

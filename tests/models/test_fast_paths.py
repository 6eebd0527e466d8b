"""A fast path that is wrong by little is found at load, in 16 bits as in 32, and of weights that are offloaded too."""

from dataclasses import replace

import pytest
import torch
from tiny_models import byte_tokenizer, tiny_hf, tiny_model
from transformers import AutoModelForCausalLM

from onedial.models.forward import path_proof, prefill, runner, widening
from onedial.models.model import OpenModel
from onedial.models.writing import generate

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
BOTH = {"last", "all"}


def allowed(dtype, architecture="llama"):
    return path_proof.check_fast_paths(OpenModel(tiny_hf(architecture).to(dtype), byte_tokenizer(), name="tiny").stack)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gpt2", "glm4"])
def test_what_is_right_is_allowed_in_every_dtype(architecture, dtype):
    assert allowed(dtype, architecture).allowed == BOTH


def five_percent_too_far(self, started, edits, settings):
    return STEER(self, started, edits, settings * 1.05)


def of_the_other_sign(self, started, edits, settings):
    return STEER(self, started, edits, -settings)


def one_layer_late(self, started, edits, settings):
    first, second = sorted(edits)
    return STEER(self, started, {first: edits[first], second + 1: edits[second]}, settings)


def lower_layer_alone(self, started, edits, settings):
    return STEER(self, started, {min(edits): edits[min(edits)]}, settings)


def one_position_late(self, started, edits, settings):
    later = replace(started.batch, position_ids=started.batch.position_ids + 1)
    return STEER(self, replace(started, batch=later), edits, settings)


def of_the_neighbouring_prompt(self, started, edits, settings):
    rolled = {layer: stream.roll(1, dims=0) for layer, stream in started.residuals.items()}
    return STEER(self, replace(started, residuals=rolled), edits, settings)


STEER = runner.FastRunner.steer
FAULTS = [
    five_percent_too_far,
    of_the_other_sign,
    one_layer_late,
    lower_layer_alone,
    one_position_late,
    of_the_neighbouring_prompt,
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_in_every_dtype(fault, dtype, monkeypatch):
    monkeypatch.setattr(runner.FastRunner, "steer", fault)
    assert allowed(dtype).allowed == frozenset()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_common_beginning_that_is_left_unsteered_is_found(dtype, monkeypatch):
    right = prefill._steer_prefix
    monkeypatch.setattr(
        prefill, "_steer_prefix", lambda stack, prefix, edits, settings: right(stack, prefix, edits, settings * 0)
    )
    assert allowed(dtype).allowed == {"last"}


def test_sixteen_bits_are_compared_by_their_own_rounding(monkeypatch):
    """Where weights cannot be widened sixteen bits are compared by their own rounding."""
    monkeypatch.setattr(path_proof, "can_be_widened", lambda stack: False)
    for dtype in DTYPES[1:]:
        assert allowed(dtype).allowed == BOTH
        with monkeypatch.context() as planted:
            planted.setattr(runner.FastRunner, "steer", one_layer_late)
            assert allowed(dtype).allowed == frozenset()


def test_sixteen_bits_are_widened_up_to_every_kind_of_layer(monkeypatch):
    monkeypatch.setattr(path_proof, "WIDENED", 2)
    depths = {
        name: path_proof._with_all_kinds(tiny_model(name, **more).stack)
        for name, more in (("llama", {}), ("qwen2", {}), ("gemma3", {"num_hidden_layers": 7}))
    }
    assert depths == {"llama": 2, "qwen2": 3, "gemma3": 6}


@pytest.mark.parametrize("above", [0, 24])
def test_a_proof_takes_few_forwards(above):
    """Passes of a layer in float32: each length once by hooks, the padded ones, and both fast paths."""
    stack, passes = tiny_model("llama").stack, []
    stack.layers[-1].register_forward_hook(lambda *_: passes.append(1))
    assert path_proof.check_fast_paths(stack, above).allowed == BOTH
    assert len(passes) <= (9 if not above else 18)


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_weights_on_disk_answer_as_in_memory(architecture, tmp_path, monkeypatch):
    """A model whose weights lie on disk is checked and answers as in memory."""
    tiny_hf(architecture).save_pretrained(tmp_path)
    parts = dict.fromkeys((name for name, _ in tiny_hf(architecture).named_children()), "disk")
    hf = AutoModelForCausalLM.from_pretrained(tmp_path, device_map=parts, offload_folder=tmp_path / "off")
    assert all(parameter.is_meta for parameter in hf.parameters())
    there, here = OpenModel(hf, byte_tokenizer(), name="there"), tiny_model(architecture)
    assert not widening.can_be_widened(there.stack)
    assert there.fast_paths_for(0).allowed == BOTH
    prompts, push = [[7, 8, 9, 20, 30], [7, 8, 40], [7, 8, 50, 60]], torch.ones(48)
    edit, settings = {1: lambda stream, each: stream + each[..., None] * push}, torch.tensor([[0.0, 1.0, -1.5]])
    for at in ("last", "all"):
        result, expected = (
            model.readout.logits(runs.steer(runs.start(prompts), edit, settings), slice(None))
            for model in (there, here)
            for runs in [model.runner(prompts, [1], at)]
        )
        assert torch.allclose(result, expected, atol=1e-5)
    assert [each.text for each in generate(there, prompts, 4)] == [each.text for each in generate(here, prompts, 4)]
    monkeypatch.setattr(runner.FastRunner, "steer", five_percent_too_far)
    assert path_proof.check_fast_paths(there.stack).allowed == frozenset()

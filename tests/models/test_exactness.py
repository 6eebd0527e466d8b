"""The fast ways of running a model give what a plain forward hook gives."""

import pytest
import torch
from tiny_models import ARCHITECTURES, tiny_hf, tiny_model

from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.models.forward.runner import PlainRunner

QUESTIONS = ["Who?", "What is the capital of France, and why?", "How many legs has a spider?", "Which?"]
PROMPTS = [METACOGNITIVE.fill(question) for question in QUESTIONS]


@pytest.fixture(scope="module", params=sorted(ARCHITECTURES))
def model(request):
    return tiny_model(request.param)


def test_left_padded_right_padded_and_lone_prompts_agree(model):
    left = model.final_residual(model.tokenise(PROMPTS, side="left"))
    right = model.final_residual(model.tokenise(PROMPTS, side="right"))
    alone = torch.cat([model.final_residual(model.tokenise([prompt])) for prompt in PROMPTS])
    assert torch.allclose(left, alone, atol=1e-4)
    assert torch.allclose(right, alone, atol=1e-4)


@pytest.mark.parametrize("at", ["last", "all"])
def test_equal_lengths_are_run_without_a_mask(model, at, monkeypatch):
    """So that flash kernels and grouped heads may be taken; what the mask would have said still holds."""
    prompts = [Prompt(f"{first}hat is the capital of France, and of Spain?") for first in "WVT"]
    sequences = [ids[-30:] for ids in model.token_ids(prompts)]
    sequences = [[10 + place, *ids] for place, ids in enumerate(sequences)]
    settings = torch.tensor([[0.0, 1.5]])
    edit = {1: lambda stream, setting: stream + setting[..., None] * stream.flip(-1)}
    plain = PlainRunner(model.stack, sequences, [1], at)
    expected = plain.steer(plain.start(sequences), edit, settings)
    masks, attend = [], torch.nn.functional.scaled_dot_product_attention

    def attending(query, key, value, **options):
        masks.append(options["attn_mask"])
        assert options["is_causal"] or masks[-1] is not None
        return attend(query, key, value, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", attending)
    runner = model.runner(sequences, [1], at)
    masks.clear()  # those of the check of the fast paths, whose prompts differ in length
    started = runner.start(sequences)
    if model.hf.config._attn_implementation == "sdpa" and not getattr(model.hf.config, "sliding_window", None):
        assert masks == [None] * model.n_layers
    scale = expected.norm(dim=-1, keepdim=True)
    assert torch.allclose(runner.steer(started, edit, settings) / scale, expected / scale, atol=1e-5)


def test_the_readout_gives_the_margin_and_mass_of_the_models_own_logits(model):
    batch = model.tokenise(PROMPTS)
    tokens = model.answer_tokens(PROMPTS[0])
    with torch.no_grad():
        logits = model.hf(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask.long(), position_ids=batch.position_ids
        ).logits[:, -1]
    chances = logits.softmax(-1)
    yes, no = chances[:, list(tokens.yes)].sum(-1), chances[:, list(tokens.no)].sum(-1)
    margin, mass = model.readout.margin_and_mass(model.final_residual(batch), tokens)
    assert torch.allclose(margin, (yes / no).log(), atol=1e-4)
    assert torch.allclose(mass, yes + no, atol=1e-5)


def test_layers_and_hooks_are_as_before_after_an_exception(model):
    layers = list(model.stack.layers)

    def fail(stream):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), model.edit_residual(2, fail):
        model.final_residual(model.tokenise(PROMPTS))
    assert list(model.stack.layers) == layers
    hooks = [m for m in model.hf.modules() if m._forward_hooks or m._forward_pre_hooks]
    assert hooks == []


def test_a_plain_prompt_starts_with_bos_once():
    """A prompt in plain text starts with bos once and only if the tokenizer adds it."""
    chat, plain = tiny_model("llama"), tiny_model("llama", chat=False)
    assert chat.render(Prompt("Hi", "Answer:")) == "<s><user>Hi\n<assistant> Answer:"
    assert plain.render(Prompt("Hi", "Answer:")) == "Hi\n\nAnswer:"


def test_the_fingerprint_knows_the_weights_and_not_their_dtype():
    from onedial.models.identity import fingerprint

    one, other = tiny_hf("llama", seed=0), tiny_hf("llama", seed=1)
    assert fingerprint(one) != fingerprint(other)
    bf16 = one.bfloat16()
    assert fingerprint(bf16) == fingerprint(bf16.float())


@pytest.mark.parametrize("n", [1, 32760, 32761, 65520, 65521, 65522, 200_003])
def test_the_sums_of_a_fingerprint(n, monkeypatch):
    from onedial.models import identity

    monkeypatch.setattr(identity, "ROWS_IN_INT32", 2)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        values = torch.randn(n, generator=torch.Generator().manual_seed(n)).to(dtype)
        bits = values.to(torch.bfloat16).view(torch.int16).long()
        weighted = bits * (1 + torch.arange(n) % 65521)
        assert identity._sums(values) == (int(bits.sum()) % 2**64, int(weighted.sum()) % 2**64)


@pytest.mark.parametrize("place", [0, 100, -1])
def test_the_fingerprint_sees_one_changed_value(place):
    """The fingerprint sees one changed value anywhere and two that were exchanged."""
    from onedial.models.identity import fingerprint, sampled_fingerprint

    hf = tiny_hf("llama")
    before, sampled = fingerprint(hf), sampled_fingerprint(hf)
    weight = hf.get_decoder().layers[3].mlp.up_proj.weight.data.flatten()
    weight[place] *= 1.01
    assert fingerprint(hf) != before
    assert (sampled_fingerprint(hf) != sampled) == (place == 0)
    weight[place] /= 1.01
    weight[place], weight[200] = weight[200].item(), weight[place].item()
    assert fingerprint(hf) != before

"""Decoders of every form are read and steered as a bare hook on each prompt alone says, at any length."""

import pytest
import torch
from architectures import hooked_logits
from tiny_models import COMMON, LONG_FROM, OTHER_FORMS, byte_tokenizer, tiny_hf, tiny_model
from torch import nn
from transformers import AutoConfig, AutoModelForImageTextToText

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.models.families import FAMILIES, Family
from onedial.models.forward.residual import Site, reading
from onedial.models.forward.runner import PlainRunner
from onedial.models.forward.sites import capturing
from onedial.models.model import OpenModel, load_model
from onedial.models.writing import generate
from steering.planning.forecast import Size

PLAIN = {"bloom", "gpt_neo", "jamba"}
"""Their fast path is not right, or there is none."""
WITHOUT_PARTS = {"bloom"}
"""Its MLP puts out the whole stream, not what is added to it."""


@pytest.fixture(scope="module", params=sorted(OTHER_FORMS))
def model(request):
    return tiny_model(request.param)


def sequences(lengths, shared=9):
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(250, (shared + sum(lengths),), generator=generator).tolist()
    return [
        drawn[:shared] + drawn[sum(lengths[:place]) + shared :][: length - shared]
        for place, length in enumerate(lengths)
    ]


def push_of(model):
    return torch.randn(model.d_model, generator=torch.Generator().manual_seed(2)) * 2


def largest_error(model, prompts, layer, at, magnitudes=(0.0, 1.0, -1.5)):
    """Of all logits, relative to the largest, over prompts and magnitudes."""
    push, block = push_of(model), model.stack.layers[layer]
    runner = model.runner(prompts, [layer], at)
    edit = {layer: lambda stream, settings: stream + settings[..., None] * push}
    final = runner.steer(runner.start(prompts), edit, torch.tensor([magnitudes]))
    result = model.readout.logits(final, slice(None))
    expected = torch.stack(
        [torch.stack([hooked_logits(model.hf, block, ids, each * push, at) for each in magnitudes]) for ids in prompts]
    )
    assert (expected[:, 0] - expected[:, 1]).abs().max() > 0.1
    return ((result - expected).abs().max() / expected.abs().max()).item()


@pytest.mark.parametrize("name", ["longrope", "llama4", "gpt_oss", "gpt_neo", "jamba"])
@pytest.mark.parametrize("lengths", [(20, 60, 33), (40, 60)])
def test_prompts_that_cross_a_length_are_steered_as_alone(name, lengths):
    """Prompts that cross a length of the config are steered as each alone."""
    model = tiny_model(name)
    assert name in PLAIN or model.stack.crosses(60)
    for at in ("last", "all"):
        assert largest_error(model, sequences(lengths), 1, at) < 1e-5


def test_a_scale_by_column_is_run_one_length_at_a_time():
    """Llama 4 counts padding, and the rows beside a prompt, where it scales its attention."""
    model = tiny_model(
        "llama4", attention_chunk_size=200, floor_scale=90, no_rope_layers=[1, 0, 1, 0, 1], attn_temperature_tuning=True
    )
    assert model.fast_paths_for(20).allowed == {"last", "all"}
    with pytest.warns(UserWarning, match="only prompts of one length are run together"):
        paths = model.fast_paths_for(60)
    assert paths.requires_equal_length
    many = [-1.0 + step / 20 for step in range(41)]
    for at in ("last", "all"):
        assert largest_error(model, sequences([20, 120, 33]), 1, at) < 1e-5
        assert largest_error(model, sequences([60, 80]), 1, at, many) < 1e-5


def test_prompts_at_which_dynamic_ntk_would_turn_others_too_are_refused():
    model = tiny_model(
        "llama", max_position_embeddings=64, rope_parameters=dict(rope_type="dynamic", rope_theta=1e4, factor=4.0)
    )
    assert largest_error(model, sequences([20, 64]), 1, "all") < 1e-5
    with pytest.raises(InputError, match="beyond 64 tokens, by the longest prompt beside or before"):
        model.runner(sequences([20, 65]))


def test_short_prompts_alone_would_miss_a_wrong_window(monkeypatch):
    """What is checked on short prompts alone would miss a window that is read wrongly."""
    from onedial.models.forward import prefill

    right = prefill.attention_mask

    def window_left_out(config, seen, query_position, key_position, dtype):
        window, config.sliding_window = config.sliding_window, 1000
        try:
            return right(config, seen, query_position, key_position, dtype)
        finally:
            config.sliding_window = window

    monkeypatch.setattr(prefill, "attention_mask", window_left_out)
    model = tiny_model("mistral", sliding_window=40)
    assert model.fast_paths_for(40).allowed == {"last", "all"}
    with pytest.warns(UserWarning, match="at prompts of more than 40 tokens"):
        assert model.fast_paths_for(41).allowed == frozenset()
    assert largest_error(model, sequences([20, 60]), 1, "all") < 1e-5


@pytest.mark.parametrize(
    ("name", "changes", "lengths"),
    [("longrope", {}, each) for each in ((25, 60), (25, 28), (40, 50))] + [("mistral", {"sliding_window": 1}, (9, 20))],
)
def test_longrope_and_a_window_of_one_write_as_alone(name, changes, lengths):
    """Longrope and a window of one write what they write without a cache and alone."""
    model, n_new = tiny_model(name, **changes), 12
    assert name == "mistral" or min(lengths) + n_new > LONG_FROM
    written = generate(model, prompts := sequences(lengths), n_new)
    for ids, result in zip(prompts, written, strict=True):
        ids_so_far = list(ids)
        for _ in range(result.n_tokens):
            with torch.no_grad():
                ids_so_far.append(
                    int(model.hf(input_ids=torch.tensor([ids_so_far]), use_cache=False).logits[0, -1].argmax())
                )
        assert result.text == model.tokenizer.decode(ids_so_far[len(ids) :], skip_special_tokens=True)


def test_what_attention_and_mlp_write_makes_up_the_step_of_every_block(model):
    """As the store reads them, of padded prompts, against the streams before and after the block."""
    if model.identity.name.removeprefix("tiny-") in WITHOUT_PARTS:
        with pytest.raises(InputError, match="read the site resid instead"), read(model, 2):
            pass
        return
    with read(model, 2) as kept:
        runner = PlainRunner(model.stack, [], [], "last")
        runner.start(sequences([14, 31, 11]))
    before, after, attn, mlp = (kept[site, "last"] for site in sites_at(2))
    assert torch.allclose(attn + mlp, after - before, atol=1e-4 * after.abs().max().item())
    assert min(attn.abs().max(), mlp.abs().max()) > 1e-3


def sites_at(layer):
    return [Site("resid", layer - 1), Site("resid", layer), Site("attn", layer), Site("mlp", layer)]


def read(model, layer):
    return capturing(model.stack, sites_at(layer), {"last": [0, 0, 0]})


def test_an_undeclared_type_is_given_the_form_that_a_forward_bears_out(monkeypatch):
    """Of several with the same layers and norm, the one whose parts make up the step and whose logits are right."""
    monkeypatch.setitem(FAMILIES, "gemma2's twin", FAMILIES["gemma2"])
    for name in ("gemma2", "granite", "gpt_neox"):
        monkeypatch.delitem(FAMILIES, name)
    assert tiny_model("gemma2").stack.family.attn == ("post_attention_layernorm",)
    monkeypatch.setitem(FAMILIES, "somebody's", Family(logits_over="logits_scaling", written_times="nothing"))
    monkeypatch.setitem(
        FAMILIES, "granite's twin", Family(logits_over="logits_scaling", written_times="residual_multiplier")
    )
    assert tiny_model("granite").stack.family.written_times == "residual_multiplier"
    assert not any(tiny_model("gpt_neox").stack.tried.steps)  # OPT's form has its norm, and its logits are right
    monkeypatch.setitem(FAMILIES, "gpt_neox", Family(norm="final_layer_norm", attn=("attention",)))
    assert all(tiny_model("gpt_neox").stack.tried.steps)


def test_a_wrong_declaration_is_refused_and_not_believed(monkeypatch):
    monkeypatch.setitem(FAMILIES, "granite", Family())
    with pytest.raises(InputError, match="are not its unembedded final norm"):
        tiny_model("granite")


def test_weights_that_somebody_else_has_split_over_processes_are_refused():
    from torch import distributed
    from torch.distributed.tensor import Shard, distribute_tensor

    hf = tiny_hf("llama")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        mesh = distributed.init_device_mesh("cpu", (1,))
        layer = hf.model.layers[0].mlp.up_proj
        layer.weight = nn.Parameter(distribute_tensor(layer.weight.data, mesh, [Shard(0)]), requires_grad=False)
        with pytest.raises(InputError, match="were split over processes by other hands; call start_processes"):
            OpenModel(hf, byte_tokenizer(), name="tiny")
    finally:
        distributed.destroy_process_group()


def test_a_projection_between_stream_and_unembedding_is_refused():
    with pytest.raises(InputError, match="reads 24 numbers, but its residual stream has 48"):
        tiny_model("opt", word_embed_proj_dim=24)


def test_a_config_that_miscounts_layers_is_refused():
    """A decoder whose config counts layers otherwise than its blocks is refused."""
    sizes = dict(ffn_hidden_size=96, expert_ffn_hidden_size=32, n_routed_experts=4, zero_expert_num=2, head_dim=8)
    with pytest.raises(InputError, match="counts 6 layers in its config, but its decoder is 3 blocks"):
        tiny_model("llama", model_type="longcat_flash", num_layers=3, num_hidden_layers=None, moe_topk=2, **sizes)


def test_a_decoder_that_hands_on_several_streams_is_refused():
    sizes = dict(q_lora_rank=16, qk_rope_head_dim=8, n_routed_experts=4, num_experts_per_tok=2)
    with pytest.raises(InputError, match="hands on several streams from block to block"):
        tiny_model("llama", model_type="deepseek_v4", moe_intermediate_size=32, **sizes)


def test_a_decoder_that_passes_over_blocks_without_a_picture_is_refused(monkeypatch):
    """As Llama 3.2's, whose attention to pictures has blocks of its own."""
    hf = tiny_hf("llama")
    ids_so_far, blocks = hf.model.forward, hf.model.layers

    def passing_over(*args, **kwargs):
        hf.model.layers = nn.ModuleList([*blocks[:2], *blocks[3:]])
        try:
            return ids_so_far(*args, **kwargs)
        finally:
            hf.model.layers = blocks

    monkeypatch.setattr(hf.model, "forward", passing_over)
    with pytest.raises(InputError, match="passes over its blocks 2 where it reads text alone"):
        OpenModel(hf, byte_tokenizer(), name="tiny")


SEEING = {
    "mistral3": dict(text_config=dict(model_type="mistral"), vision_config=dict(model_type="pixtral")),
    "qwen2_5_vl": dict(text_config=dict(rope_parameters=dict(rope_type="default", mrope_section=[2, 2, 2]))),
}


@pytest.mark.parametrize("model_type", sorted(SEEING))
def test_the_text_of_a_model_with_pictures_is_steered(model_type, tmp_path):
    """Of a model that reads pictures too the text is read steered and written."""
    eyes = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=1, depth=1, num_attention_heads=2, num_heads=2)
    eyes |= dict(image_size=28, patch_size=14, out_hidden_size=48)
    given = {"text_config": COMMON | {"initializer_range": 0.25}, "vision_config": eyes}
    config = AutoConfig.for_model(
        model_type, **{name: given[name] | SEEING[model_type].get(name, {}) for name in given}
    )
    torch.manual_seed(0)
    hf = AutoModelForImageTextToText.from_config(config).float()
    for part in (hf, byte_tokenizer()):
        part.save_pretrained(tmp_path)
    model, prompts = load_model(str(tmp_path), dtype="float32", device="cpu"), sequences([14, 31, 11])
    assert torch.equal(model.hf.get_output_embeddings().weight, hf.get_output_embeddings().weight)
    for at in ("last", "all"):
        assert largest_error(model, prompts, 1, at) < 1e-5
    for ids, result in zip(prompts, generate(model, prompts, 5), strict=True):
        ids_so_far = list(ids)
        for _ in range(result.n_tokens):
            with torch.no_grad():
                ids_so_far.append(int(hf(input_ids=torch.tensor([ids_so_far]), use_cache=False).logits[0, -1].argmax()))
        assert result.text == model.tokenizer.decode(ids_so_far[len(ids) :], skip_special_tokens=True)
    assert Size.of(config).n_parameters == sum(weights.numel() for weights in hf.parameters())


def test_a_model_that_forgets_padding_gets_equal_lengths(monkeypatch):
    """A model that forgets padding as it writes is given prompts of one length."""
    kinds = ["linear_attention", "full_attention"]
    model = tiny_model("llama", model_type="minimax", layer_types=[*kinds, *kinds, kinds[0]], block_size=16)
    prompts = ["Who?", "Which of the trees is tall, and why is it?", "When was that, to the day?"]
    with pytest.warns(UserWarning, match="only prompts of one length are written to together"):
        alone = [model.generate(each, max_new_tokens=6) for each in prompts]
    assert model.generate(prompts, max_new_tokens=6) == alone
    monkeypatch.setattr(OpenModel, "writes_alone", lambda model, longest: False)
    assert model.generate(prompts, max_new_tokens=6) != alone
    assert not tiny_model("jamba").writes_alone(60)


def test_a_block_that_is_passed_over_answers_for_the_one_in_its_place():
    """Nemotron's decoder asks every block of what kind it is."""
    sizes = dict(mamba_num_heads=4, mamba_head_dim=24, ssm_state_size=8, n_groups=1, chunk_size=16)
    model = tiny_model("llama", model_type="nemotron_h", hybrid_override_pattern="M*M-*", **sizes)
    batch = model.tokenise([Prompt("Who?"), Prompt("Which of them?")])
    result = model.read_residual(batch, [2], "all")[:, 0]
    with reading([model.stack.layers[2]]) as streams:
        model.final_residual(batch)
    assert torch.equal(result, streams[0])

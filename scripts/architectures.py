"""Which path does each architecture take? Asked of tiny models of each, made from their configs with random weights.

    python scripts/architectures.py                # what docs/performance.md says of each; a minute
    python scripts/architectures.py --only phi3 mixtral

The path is fast where edited rows by it equal a plain hook (`onedial.models.forward.runner.check_fast_paths`), at a
quarter and at two thirds of the depth, at the last position and at all (named apart where they differ). What does not
is run by plain forwards, which are right for any decoder whose logits are the unembedded final norm, times a number of
the config; anything else is refused when it is loaded, with the reason. "No parts": what attention and MLP write cannot
be read, since the two do not make up the block's step.
"""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onedial.core import InputError, Options, option, parse_options, run_command

SMALL: dict[str, Any] = dict(
    vocab_size=320,
    hidden_size=48,
    intermediate_size=96,
    num_hidden_layers=5,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=2,
    initializer_range=0.25,
)
EXPERTS: dict[str, Any] = dict(
    num_experts=4, num_local_experts=4, n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=32,
    shared_expert_intermediate_size=32, n_shared_experts=1, decoder_sparse_step=1, norm_topk_prob=True,
)  # fmt: skip
ONE_DENSE: dict[str, Any] = dict(first_k_dense_replace=1, n_group=1, topk_group=1)
LATENT: dict[str, Any] = ONE_DENSE | dict(
    q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=12, v_head_dim=12, num_key_value_heads=4,
    routed_scaling_factor=1.0,
)  # fmt: skip
AFTER: dict[str, Any] = dict(head_dim=12, sliding_window=16, num_dense_layers=1, global_attn_every_n_layers=2)
TWICE: dict[str, Any] = dict(
    num_layers=3, num_hidden_layers=6, ffn_hidden_size=96, expert_ffn_hidden_size=32, moe_topk=2, zero_expert_num=2,
    head_dim=8,
)  # fmt: skip
LOCAL: dict[str, Any] = dict(
    num_layers=5, num_heads=4, attention_types=[[["global", "local"], 2], [["global"], 1]], window_size=16,
)  # fmt: skip
MAMBA_2: dict[str, Any] = dict(
    shared_intermediate_size=32, layer_types=["mamba", "attention", "mamba", "attention", "mamba"], mamba_n_heads=4,
    mamba_d_head=24, mamba_d_state=8, mamba_n_groups=1, mamba_expand=2,
)  # fmt: skip
LINEAR: dict[str, Any] = dict(
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=12, linear_value_head_dim=12,
)  # fmt: skip


MAMBA: dict[str, Any] = dict(
    mamba_d_state=8, mamba_d_conv=4, mamba_dt_rank=8, use_mamba_kernels=False, attn_layer_period=2,
    attn_layer_offset=1, num_experts=2, num_experts_per_tok=1,
)  # fmt: skip
SINKS: dict[str, Any] = dict(
    head_dim=12, sliding_window=16, rope_parameters=dict(rope_type="default", rope_theta=1e4),
    num_local_experts=4, num_experts_per_tok=2,
)  # fmt: skip
SCALED: dict[str, Any] = dict(logits_scaling=8.0, residual_multiplier=0.22, embedding_multiplier=12.0)
LONG: dict[str, Any] = dict(
    original_max_position_embeddings=32,
    rope_parameters=dict(
        rope_type="longrope", rope_theta=1e4, short_factor=[1.0] * 6, long_factor=[4.0] * 6, factor=8.0,
        original_max_position_embeddings=32,
    ),
)  # fmt: skip


IN_SHORT = {
    "is no stack of decoder layers": "no stack of layers with a final norm",
    "are not its unembedded final norm": "its logits are not the unembedded final norm",
    "would mean two things": "its config counts two layers to a block",
    "too many values to unpack": "it makes its biases from a mask of two axes",
}
"""Reasons, as a table has room for them."""


@dataclass(frozen=True)
class Architecture:
    """One row: the model type of transformers, what it is known as, what its layers are, and what its config needs."""

    model_type: str
    known_as: str
    layers: str
    changes: dict[str, Any]


ROWS = [
    Architecture("llama", "Llama 2 and 3, SmolLM 2", "dense", {}),
    Architecture("mistral", "Mistral", "dense, sliding windows", {"sliding_window": 24}),
    Architecture("qwen2", "Qwen 2, 2.5", "dense, sliding windows", {"use_sliding_window": True, "sliding_window": 20}),
    Architecture("qwen3", "Qwen 3", "dense", {"head_dim": 12}),
    Architecture("gemma", "Gemma", "dense", {"head_dim": 12}),
    Architecture("gemma2", "Gemma 2", "dense, soft caps", {"head_dim": 12, "sliding_window": 16}),
    Architecture("gemma3_text", "Gemma 3", "dense, sliding windows", {"head_dim": 12, "sliding_window": 16}),
    Architecture("smollm3", "SmolLM 3", "dense, some without rotary embedding", {}),
    Architecture("phi", "Phi 1.5, 2", "dense, attention beside the MLP", {}),
    Architecture("phi3", "Phi 3, 4", "dense, joint projections", {}),
    Architecture("phi3", "Phi 3 with 128k", "dense, longrope", LONG),
    Architecture("glm4", "GLM-4", "dense, norms after", {"head_dim": 12}),
    Architecture("olmo", "OLMo", "dense", {}),
    Architecture("olmo2", "OLMo 2", "dense, norms after", {}),
    Architecture("olmo3", "OLMo 3", "dense, norms after, sliding windows", {"sliding_window": 16}),
    Architecture("granite", "Granite 3", "dense, scaled residuals", {}),
    Architecture("granite", "Granite 3, logits divided", "dense, scaled residuals and logits", SCALED),
    Architecture("stablelm", "StableLM 2", "dense, part rotary", {"partial_rotary_factor": 0.5}),
    Architecture("starcoder2", "StarCoder 2", "dense", {}),
    Architecture("cohere", "Command R", "dense, attention beside the MLP, scaled logits", {}),
    Architecture("falcon", "Falcon", "dense, attention beside the MLP", {"new_decoder_architecture": True}),
    Architecture("gpt_neox", "Pythia", "dense, attention beside the MLP", {}),
    Architecture("gpt2", "GPT-2", "dense, learnt positions", {"n_embd": 48, "n_layer": 5, "n_head": 4}),
    Architecture("opt", "OPT", "dense, learnt positions", {"ffn_dim": 96, "word_embed_proj_dim": 48}),
    Architecture(
        "opt",
        "OPT 350M",
        "dense, norms after, a narrower embedding",
        {"ffn_dim": 96, "word_embed_proj_dim": 24, "do_layer_norm_before": False},
    ),
    Architecture(
        "gptj",
        "GPT-J",
        "dense, attention beside the MLP",
        {"n_embd": 48, "n_layer": 5, "n_head": 4, "rotary_dim": 8, "n_positions": 256},
    ),
    Architecture("nemotron", "Nemotron 4", "dense, part rotary", {}),
    Architecture("cohere2", "Command R7B", "dense, attention beside the MLP, sliding windows", {"sliding_window": 16}),
    Architecture("exaone4", "EXAONE 4", "dense, norms after, sliding windows", {"sliding_window": 16}),
    Architecture("ernie4_5", "ERNIE 4.5, dense", "dense", {"head_dim": 12}),
    Architecture("hunyuan_v1_dense", "Hunyuan", "dense", {"head_dim": 12}),
    Architecture("seed_oss", "Seed-OSS", "dense", {"head_dim": 12}),
    Architecture("apertus", "Apertus", "dense", {}),
    Architecture("mpt", "MPT", "dense, ALiBi", {"d_model": 48, "n_layers": 5, "n_heads": 4, "expansion_ratio": 2}),
    Architecture("bloom", "BLOOM", "dense, ALiBi", {"n_layer": 5, "n_head": 4}),
    Architecture("gpt_neo", "GPT-Neo", "dense, local layers by column", LOCAL),
    Architecture("mixtral", "Mixtral", "experts, sliding windows", EXPERTS | {"sliding_window": 24}),
    Architecture(
        "qwen2_moe",
        "Qwen 1.5, 2 with experts",
        "experts, sliding windows",
        EXPERTS | {"use_sliding_window": True, "sliding_window": 20, "max_window_layers": 2},
    ),
    Architecture("qwen3_moe", "Qwen 3 with experts", "experts", EXPERTS | {"head_dim": 12}),
    Architecture("olmoe", "OLMoE", "experts", EXPERTS),
    Architecture("phimoe", "Phi 3.5 with experts", "experts, sliding windows", EXPERTS | {"sliding_window": 16}),
    Architecture("granitemoe", "Granite with experts", "experts, scaled residuals and logits", EXPERTS | SCALED),
    Architecture("glm4_moe", "GLM-4.5", "experts", EXPERTS | ONE_DENSE | {"head_dim": 12}),
    Architecture("ernie4_5_moe", "ERNIE 4.5", "experts", {"moe_num_experts": 4, "moe_k": 2} | EXPERTS),
    Architecture("afmoe", "Trinity", "experts, norms after, sliding windows", EXPERTS | AFTER),
    Architecture("gpt_oss", "gpt-oss", "experts, sinks, sliding windows", SINKS),
    Architecture(
        "llama4_text",
        "Llama 4, its text model",
        "experts, chunks",
        {"head_dim": 12, "attention_chunk_size": 16, "intermediate_size_mlp": 96, "moe_layers": [1, 3]}
        | {"num_local_experts": 4, "num_experts_per_tok": 1},
    ),
    Architecture(
        "deepseek_v2", "DeepSeek 2", "experts, latent attention", EXPERTS | LATENT | {"topk_method": "greedy"}
    ),
    Architecture("deepseek_v3", "DeepSeek 3", "experts, latent attention", EXPERTS | LATENT),
    Architecture("qwen3_next", "Qwen 3 Next", "experts, linear attention", EXPERTS | LINEAR | {"head_dim": 12}),
    Architecture("jamba", "Jamba", "experts, Mamba between attention", MAMBA),
    Architecture("granitemoehybrid", "Granite 4", "experts, Mamba between attention", EXPERTS | MAMBA_2),
    Architecture(
        "bamba",
        "Bamba",
        "Mamba 2 between attention",
        {"attn_layer_indices": [1, 3], "mamba_n_heads": 4, "mamba_d_head": 24, "mamba_d_state": 8, "mamba_n_groups": 1},
    ),
    Architecture(
        "zamba2",
        "Zamba 2",
        "Mamba 2, one attention at several depths",
        {"layers_block_type": ["mamba", "hybrid", "mamba", "hybrid", "mamba"], "num_key_value_heads": 4}
        | {"mamba_d_state": 8, "mamba_headdim": 24, "n_mamba_heads": 4, "num_mem_blocks": 1, "chunk_size": 16},
    ),
    Architecture(
        "nemotron_h",
        "Nemotron H",
        "Mamba 2, attention or an MLP to a block",
        {"hybrid_override_pattern": "M*M-*", "mamba_num_heads": 4, "mamba_head_dim": 24, "ssm_state_size": 8}
        | {"n_groups": 1, "chunk_size": 16},
    ),
    Architecture(
        "falcon_h1",
        "Falcon H1",
        "Mamba 2 beside attention",
        {"mamba_d_ssm": 48, "mamba_n_heads": 4, "mamba_d_head": 12, "mamba_d_state": 8, "mamba_n_groups": 1},
    ),
    Architecture("mamba", "Mamba", "Mamba", {"state_size": 8, "time_step_rank": 8}),
    Architecture("mamba2", "Mamba 2", "Mamba 2", {"state_size": 8, "num_heads": 4, "head_dim": 24, "n_groups": 1}),
    Architecture(
        "minimax",
        "MiniMax",
        "experts, linear attention",
        EXPERTS | {"layer_types": ["linear_attention", "full_attention"] * 2 + ["linear_attention"], "block_size": 16},
    ),
    Architecture("longcat_flash", "LongCat", "experts, two attentions to a block", EXPERTS | LATENT | TWICE),
    Architecture(
        "lfm2",
        "LFM 2",
        "short convolutions between attention",
        {"layer_types": ["conv", "full_attention", "conv", "full_attention", "conv"]},
    ),
]


def tokenizer() -> Any:
    """One token for each of 320 letters; what it makes of a text does not matter here."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {chr(0x4E00 + place): place for place in range(SMALL["vocab_size"])}
    made = Tokenizer(models.WordLevel(words, unk_token=chr(0x4E00)))
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=chr(0x4E02), pad_token=chr(0x4E02))


def tiny_hf(row: Architecture) -> Any:
    """A model of this form with random weights, the same each time, in float32 on the CPU."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from onedial.models import attention_for

    torch.manual_seed(0)
    config = AutoConfig.for_model(row.model_type, **SMALL | row.changes)
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention_for(config)).float().eval()


def hooked_logits(hf: Any, block: Any, ids: Sequence[int], push: Any, at: str) -> Any:
    """The definition of a steered answer: the model's own logits at the end of one prompt that is run alone, while a
    bare hook adds `push` to what a block puts out, at the `last` position or at `all`."""
    import torch

    def hook(module: Any, args: Any, output: Any) -> Any:
        stream = (output[0] if isinstance(output, tuple) else output).clone()
        stream[:, -1 if at == "last" else slice(None)] += push.to(stream.dtype)
        return (stream, *output[1:]) if isinstance(output, tuple) else stream

    handle = block.register_forward_hook(hook)
    try:
        with torch.no_grad():
            return hf(input_ids=torch.tensor([ids], device=hf.device), use_cache=False).logits[0, -1]
    finally:
        handle.remove()


def path_of(row: Architecture) -> tuple[str, str]:
    """The path of an edit at the last position, at all of them where that is another, and why it is not fast."""
    from onedial.models import OpenModel

    try:
        model = OpenModel(tiny_hf(row), tokenizer(), name=row.known_as)
    except InputError as reason:
        return "refused", in_short(str(reason))
    paths = model.fast_paths_for(SMALL["max_position_embeddings"])  # beyond its windows and chunks
    allowed = dict.fromkeys("fast" if at in paths.allowed else "plain" for at in ("last", "all"))
    no_parts = [] if all(model.stack.tried.steps) else ["no parts"]
    return ", ".join(allowed), "; ".join(filter(None, [in_short(paths.reason), *no_parts]))


def in_short(reason: str) -> str:
    """A reason as the table has room for it."""
    shorter = reason.replace("it has layers of a kind that the fast path does not know", "layers of another kind")
    return next((short for key, short in IN_SHORT.items() if key in reason), shorter)


def said(row: Architecture, path: str, why: str) -> str:
    """What the page says of a row: its names alone where it is fast."""
    if path == "fast" and not why:
        return f"`{row.model_type}` ({row.known_as})"
    return f"| `{row.model_type}` | {row.known_as} | {row.layers} | {path} | {why} |"


def found(rows: Sequence[Architecture]) -> list[str]:
    """What the page says of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [said(row, *path_of(row)) for row in rows]


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    only: tuple[str, ...] = option(
        (), "of transformers' model types", choices=[row.model_type for row in ROWS], metavar="TYPE[,TYPE]"
    )


def main() -> None:
    options = parse_options(ScriptOptions, __doc__)
    chosen = [row for row in ROWS if not options.only or row.model_type in options.only]
    lines = found(chosen)
    print("Fast: " + ", ".join(line for line in lines if not line.startswith("|")) + ".\n")
    print("\n".join(line for line in lines if line.startswith("|")))


if __name__ == "__main__":
    sys.exit(run_command(main))

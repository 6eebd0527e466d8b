"""Which path does each architecture take? Asked of tiny models of each, made from their configs with random weights.

    python scripts/architectures.py                # the table of docs/performance.md, as Markdown; a minute
    python scripts/architectures.py --only phi3 mixtral

`last` and `all` say whether an edit at the last position, or at every position, takes the fast path: it does where one
edited row by it equals a plain hook (`open_models.check_fast_paths`), at a quarter and at two thirds of the depth. What
does not is run by plain forwards, which are right for any decoder with `layers` and a final `norm` whose logits are the
unembedded norm; anything else is refused when it is loaded, with the reason.
"""

import sys
import warnings
from dataclasses import dataclass
from typing import Any

from onedial.core import InputError, program_parser, run_command

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
LATENT: dict[str, Any] = dict(
    q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=12, v_head_dim=12, num_key_value_heads=4,
    first_k_dense_replace=1, n_group=1, topk_group=1, routed_scaling_factor=1.0,
)  # fmt: skip
LINEAR: dict[str, Any] = dict(
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=12, linear_value_head_dim=12,
)  # fmt: skip


IN_SHORT = {
    "is no stack of decoder layers": "no decoder with `layers` and a final `norm`",
    "are not its unembedded final norm": "its logits are not the unembedded final norm",
}
"""Reasons of a refusal, as a table has room for them."""


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
    Architecture("olmo", "OLMo", "dense", {}),
    Architecture("olmo2", "OLMo 2", "dense, norms after", {}),
    Architecture("olmo3", "OLMo 3", "dense, norms after, sliding windows", {"sliding_window": 16}),
    Architecture("granite", "Granite 3", "dense, scaled residuals", {}),
    Architecture("granite", "Granite 3, logits divided", "dense, scaled residuals and logits", {"logits_scaling": 8.0}),
    Architecture("stablelm", "StableLM 2", "dense, part rotary", {"partial_rotary_factor": 0.5}),
    Architecture("starcoder2", "StarCoder 2", "dense", {}),
    Architecture("cohere", "Command R", "dense, attention beside the MLP, scaled logits", {}),
    Architecture("falcon", "Falcon", "dense, attention beside the MLP", {"new_decoder_architecture": True}),
    Architecture("gpt_neox", "Pythia", "dense, attention beside the MLP", {}),
    Architecture("gpt2", "GPT-2", "dense, learnt positions", {"n_embd": 48, "n_layer": 5, "n_head": 4}),
    Architecture("mixtral", "Mixtral", "experts", EXPERTS),
    Architecture("qwen3_moe", "Qwen 3 with experts", "experts", EXPERTS | {"head_dim": 12}),
    Architecture("olmoe", "OLMoE", "experts", EXPERTS),
    Architecture("granitemoe", "Granite with experts", "experts", EXPERTS),
    Architecture("deepseek_v3", "DeepSeek 3", "experts, latent attention", EXPERTS | LATENT),
    Architecture("qwen3_next", "Qwen 3 Next", "experts, linear attention", EXPERTS | LINEAR | {"head_dim": 12}),
    Architecture("lfm2", "LFM 2", "short convolutions between attention", {}),
]


def tokenizer() -> Any:
    """One token for each of 320 letters; what it makes of a text does not matter here."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {chr(0x4E00 + place): place for place in range(SMALL["vocab_size"])}
    made = Tokenizer(models.WordLevel(words, unk_token=chr(0x4E00)))
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=chr(0x4E02), pad_token=chr(0x4E02))


def path_of(row: Architecture) -> tuple[str, str, str]:
    """Whether an edit at the last position and at all of them takes the fast path, and why not where it does not."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from onedial.models import OpenModel

    torch.manual_seed(0)
    config = AutoConfig.for_model(row.model_type, **SMALL | row.changes)
    implementation = "eager" if getattr(config, "attn_logit_softcapping", None) else "sdpa"
    hf = AutoModelForCausalLM.from_config(config, attn_implementation=implementation).float()
    try:
        paths = OpenModel(hf, tokenizer(), name=row.known_as).fast_paths
    except InputError as reason:
        words = str(reason)
        return "refused", "refused", next((short for key, short in IN_SHORT.items() if key in words), words)
    last, every = ("fast" if at in paths.allowed else "plain" for at in ("last", "all"))
    return last, every, paths.reason


def table(rows: list[Architecture]) -> list[str]:
    """The rows as Markdown."""
    lines = [
        "| architecture | known as | layers | `last` | `all` | why |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            last, every, reason = path_of(row)
        lines.append(f"| `{row.model_type}` | {row.known_as} | {row.layers} | {last} | {every} | {reason} |")
    return lines


def main() -> None:
    parser = program_parser(__doc__)
    known = list(dict.fromkeys(row.model_type for row in ROWS))
    parser.add_argument("--only", nargs="+", choices=known, metavar="TYPE", help="of transformers' model types")
    options = parser.parse_args()
    chosen = [row for row in ROWS if not options.only or row.model_type in options.only]
    print("\n".join(table(chosen)))


if __name__ == "__main__":
    sys.exit(run_command(main))

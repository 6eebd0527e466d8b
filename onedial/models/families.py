"""Declare how each family of decoders is built, in a line: where its layers and its final norm are, what its layers
write, and what its logits are multiplied by.

No declaration is taken at its word. When a model is loaded, a short forward shows whether

    logits = scale * unembedding(norm(stream after the last layer))                           else the model is refused
    stream after block L - stream before it = times * (what its attention wrote + what its MLP wrote)

and where the second does not hold, the sites `attn` and `mlp` of that block are refused. A model type that is not
declared here is tried by every form that is, and gets the first that holds. A plugin adds its own:
`onedial.models.families.FAMILIES["my_type"] = Family(norm="final_norm")`.
"""

from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class Family:
    """Names within a decoder and in its config; what a config does not hold counts as 1.

    Attributes:
        layers, norm: in the decoder.
        attn, mlp: in a block, the module whose output is what is written into the stream (a norm, where that comes
            last); the first of several that a block has, where blocks are of several kinds.
        written_times: what attention and MLP are multiplied by on their way into the stream.
        logits_times, logits_over: what the logits are multiplied and divided by.
    """

    layers: str = "layers"
    norm: str = "norm"
    attn: tuple[str, ...] = ("self_attn",)
    mlp: tuple[str, ...] = ("mlp",)
    written_times: str = ""
    logits_times: str = ""
    logits_over: str = ""

    def fits(self, decoder: Any) -> bool:
        """Whether a decoder has layers and a final norm of these names."""
        layers, norm = getattr(decoder, self.layers, None), getattr(decoder, self.norm, None)
        return isinstance(layers, nn.ModuleList) and isinstance(norm, nn.Module)

    def part_of(self, block: nn.Module, kind: str) -> nn.Module | None:
        """The module of a block that writes its `attn` or its `mlp`, or None where it has none."""
        parts = (getattr(block, name, None) for name in getattr(self, kind))
        return next((part for part in parts if isinstance(part, nn.Module)), None)

    def times(self, config: Any) -> float:
        """What attention and MLP are multiplied by."""
        return _number(config, self.written_times)

    def logit_scale(self, config: Any) -> float:
        """What the logits are multiplied by."""
        return _number(config, self.logits_times) / _number(config, self.logits_over)


FAMILIES: dict[str, Family] = {
    "llama": Family(),  # and Mistral, Qwen 2 and 3, Gemma, Phi 3, OLMo, StableLM, StarCoder 2, gpt-oss and their kin
    "gemma2": Family(attn=("post_attention_layernorm",), mlp=("post_feedforward_layernorm",)),  # Gemma 3, OLMo 2, 3
    "glm4": Family(attn=("post_self_attn_layernorm",), mlp=("post_mlp_layernorm",)),
    "granite": Family(
        mlp=("mlp", "block_sparse_moe"), written_times="residual_multiplier", logits_over="logits_scaling"
    ),
    "hyperclovax": Family(
        attn=("post_norm1",), mlp=("post_norm2",), written_times="residual_multiplier", logits_times="logits_scaling"
    ),
    "falcon_h1": Family(norm="final_layernorm", mlp=("feed_forward",), logits_times="lm_head_multiplier"),
    "cohere": Family(logits_times="logit_scale"),
    "phi": Family(norm="final_layernorm"),
    "gpt2": Family(layers="h", norm="ln_f", attn=("attn",)),  # and GPT-J, CodeGen
    "gpt_neox": Family(norm="final_layer_norm", attn=("attention",)),
    "opt": Family(norm="final_layer_norm", mlp=("fc2",)),
    "xglm": Family(norm="layer_norm", mlp=("fc2",)),  # and BioGPT
    "mpt": Family(layers="blocks", norm="norm_f", attn=("attn",), mlp=("ffn",)),
    "falcon": Family(layers="h", norm="ln_f", attn=("self_attention",)),
    "llama4_text": Family(mlp=("feed_forward",)),
    "afmoe": Family(attn=("post_attention_layernorm",), mlp=("post_mlp_layernorm",)),
    "jetmoe": Family(attn=("self_attention",)),
    "nemotron_h": Family(norm="norm_f", attn=("mixer",)),  # one part to a block
    "jamba": Family(norm="final_layernorm", attn=("self_attn", "mamba"), mlp=("feed_forward",)),
    "lfm2": Family(norm="embedding_norm", attn=("self_attn", "conv"), mlp=("feed_forward",)),
    "qwen3_next": Family(attn=("self_attn", "linear_attn")),
}
"""transformers' model type -> its form."""


def decoder_of(hf: Any) -> Any:
    """The stack of a causal language model, which `get_decoder` does not find in each of them."""
    try:
        decoder = hf.get_decoder()
    except AttributeError:
        return hf
    return getattr(hf, "model", decoder) if decoder is hf else decoder


def forms_for(model_type: str) -> list[Family]:
    """The declared form of a model type, or all forms to be tried where it has none."""
    return [FAMILIES[model_type]] if model_type in FAMILIES else list(dict.fromkeys(FAMILIES.values()))


def _number(config: Any, name: str) -> float:
    value = getattr(config, name, None) if name else None
    return 1.0 if value is None else float(value)

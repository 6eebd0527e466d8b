"""Split one model over several processes by transformers' tensor parallelism, by the plan it has for the model's type.

Attention and MLP of every layer are split, each process holding some of the heads and of the MLP's width; their parts
are summed over the processes, so that the residual stream is whole in each of them, with the same bits. Embedding and
unembedding are held whole by each, for the answers are read from them.
"""

import torch
from torch import nn
from transformers import PretrainedConfig
from transformers.distributed import DistributedConfig

from onedial.core.errors import InputError
from onedial.models.checkpoints.folders import attention_for, auto_class

HEADS = ("num_attention_heads", "num_key_value_heads")


def split_config(config: PretrainedConfig, name: str, n_processes: int) -> DistributedConfig:
    """How transformers is to split a model of this config while it reads the weights.

    Raises:
        InputError: transformers has no plan for it, or is too old for one that leaves embeddings whole; the weights are
            quantised; the heads can't be dealt out.
    """
    from transformers.distributed.tensor_parallel import ALL_PARALLEL_STYLES

    if getattr(config, "quantization_config", None):
        raise InputError(f"the weights of {name} are quantised, and --tensor-parallel splits plain ones; leave it out")
    if "replicate" not in ALL_PARALLEL_STYLES:
        raise InputError("--tensor-parallel needs transformers 5.21 or newer; pip install --upgrade transformers")
    with torch.device("meta"):
        empty = auto_class(config.model_type).from_config(config, attn_implementation=attention_for(config))
    ends = (empty.get_input_embeddings(), empty.get_output_embeddings())
    whole = {place: "replicate" for place, module in empty.named_modules() if module in ends}
    split = {place: style for place, style in empty.tp_plan.items() if place not in whole and style != "replicate"}
    if not split:
        raise InputError(
            f"transformers has no plan by which {name} ({config.model_type}) could be split over processes; leave "
            "--tensor-parallel out, and give --device-map auto where it is larger than one GPU"
        )
    text = config.get_text_config()
    counts = {heads: getattr(text, heads, None) or n_processes for heads in HEADS}
    by_heads = any(style == "colwise" and ("attn" in place or "attention" in place) for place, style in split.items())
    if by_heads and (uneven := [heads for heads in HEADS if counts[heads] % n_processes]):
        heads = uneven[-1].removeprefix("num_").replace("_", " ")
        raise InputError(
            f"{name} has {counts[uneven[-1]]} {heads}, which can't be dealt out evenly to {n_processes} processes; "
            "start a number of them that divides it"
        )
    return DistributedConfig(tp_size=n_processes, tp_plan=split | whole)


def keep_own_part(hf: nn.Module) -> None:
    """Leave every weight as the plain tensor that this process holds of it, where the whole is known no more."""
    for module in hf.modules():
        for name, weight in module.named_parameters(recurse=False):
            if hasattr(weight, "to_local"):
                setattr(module, name, nn.Parameter(weight.to_local().detach(), requires_grad=False))

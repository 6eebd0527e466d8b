"""Check that weights fit their config, since transformers makes up what is missing, and drops the rest."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.families import decoder_of, forms_for

NOT_WEIGHTS = re.compile(
    r"(rotary_emb\.inv_freq|masked_bias|(attn|attention|self_attention)\.bias|position_ids|[qkv]_scale|kv_scale)$"
)
"""What older versions saved beside the weights (angles, masks, places), and scales of caches in 8 bits."""
PREDICTED_AHEAD = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")
"""Layers that guess at further tokens, saved after a model's own; no answer goes through them."""


def check_fit(hf: Any, report: Mapping[str, Iterable[Any]], place: object) -> None:
    """Look at what transformers says of weights that it has read.

    Args:
        report: as `output_loading_info` gives it; mismatched keys with the shape in the checkpoint and in the model.

    Raises:
        InputError: weights are missing or of another shape, or some of the decoder's layers were not used. Others that
            were not used are a notice.
    """
    missing, unused = sorted(report["missing_keys"]), sorted(report["unexpected_keys"])
    if mismatched := sorted(report["mismatched_keys"]):
        name, held, wanted = mismatched[0]
        raise InputError(
            f"{len(mismatched)} weights of {place} are of another shape than its config says ({name} first: "
            f"{tuple(held)} for {tuple(wanted)}); restore the config.json that the weights came with"
        )
    if missing:  # transformers fills them with random numbers
        what = f"{place} lacks {len(missing)} weights ({missing[0]} first)"
        raise InputError(
            f"{what} and holds {len(unused)} that {type(hf).__name__} knows nothing of ({unused[0]} first); "
            "save it anew by save_pretrained of its class"
            if unused
            else f"{what}; download the model again"
        )
    unused = [name for name in unused if not NOT_WEIGHTS.search(name)]
    of_layers = {name: number for name in unused if (number := _layer_of(hf, name)) is not None}
    config = hf.config.get_text_config()
    n_layers = config.num_hidden_layers
    n_ahead = max(int(getattr(config, name, None) or 0) for name in PREDICTED_AHEAD)
    if beyond := [number for number in of_layers.values() if number >= n_layers + n_ahead]:
        raise InputError(
            f"{place} holds weights of {max(beyond) + 1} layers, but its config counts {n_layers} (num_hidden_layers), "
            "so that the others would be left out; restore the config.json that the weights came with"
        )
    within = [name for name, number in of_layers.items() if number < n_layers]
    quantised = getattr(hf.config, "quantization_config", None) is not None
    if within and not quantised:
        raise InputError(
            f"{len(within)} weights of the layers of {place} would be left out, for {type(hf).__name__} has no place "
            f"for them ({within[0]} first); {_remedy(within[0])}"
        )
    if unused:
        notice(f"{len(unused)} weights of {place} are not used ({unused[0]} first); the decoder's layers are all there")


def _remedy(name: str) -> str:
    if "lora_" in name or ".base_layer." in name:
        return "merge the adapter into its model (merge_and_unload) and save that"
    return "restore the config.json that the weights came with, or use a version of transformers that knows them"


def _layer_of(hf: Any, name: str) -> int | None:
    """The decoder's layer that a weight is of by its name, which may lack the model's own prefix, or None."""
    decoder = decoder_of(hf)
    stacks = {
        id(getattr(decoder, form.layers))
        for form in forms_for(hf.config.get_text_config().model_type)
        if form.fits(decoder)
    }
    stack_path = next((f".{path}." for path, module in hf.named_modules() if id(module) in stacks), None)
    numbered = re.match(r"(.*?\.)??(\w+\.)(\d+)\.", name)
    if stack_path is None or numbered is None:
        return None
    stem = f".{numbered[1] or ''}{numbered[2]}"
    return int(numbered[3]) if stack_path.endswith(stem) or stem.endswith(stack_path) else None

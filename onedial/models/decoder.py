"""The stack of decoder layers: what it takes to run a model, whole or in part, without its tokenizer."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from onedial.core import InputError
from onedial.models.forward.residual import reading, take_positions
from onedial.models.tokens import TokenBatch


class Decoder:
    """The decoder of a Hugging Face causal language model: `layers`, final `norm`, where and in what they compute.

    Args:
        hf: the whole model.
        pad_id: a token to fill rectangles with; it is always masked.
        name: for error messages.

    Raises:
        InputError: no stack of decoder layers with a final norm, or not as many layers as the config says.
    """

    def __init__(self, hf: Any, pad_id: int, name: str) -> None:
        self.hf = hf
        self.module = hf.get_decoder()
        self.config = hf.config.get_text_config()
        self.pad_id = pad_id
        if not isinstance(getattr(self.module, "layers", None), nn.ModuleList) or not hasattr(self.module, "norm"):
            raise InputError(
                f"{name} ({type(self.module).__name__}) is no stack of decoder layers with a final norm; "
                "use a Llama, Mistral, Qwen or Gemma model"
            )
        if len(self.module.layers) != self.config.num_hidden_layers:
            raise InputError(
                f"{name} names {self.config.num_hidden_layers} layers in its config but holds "
                f"{len(self.module.layers)}; the checkpoint is damaged"
            )

    @property
    def layers(self) -> nn.ModuleList:
        """The decoder layers, 0 first."""
        return self.module.layers

    @property
    def norm(self) -> nn.Module:
        """The final norm."""
        return self.module.norm

    @property
    def n_layers(self) -> int:
        """Number of decoder layers; the last has index n_layers - 1."""
        return len(self.module.layers)

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.config.hidden_size

    @property
    def device(self) -> torch.device:
        """Where token ids go: the device of the input embedding."""
        return self.hf.get_input_embeddings().weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the residual stream."""
        return self.hf.get_input_embeddings().weight.dtype

    def check_layers(self, layers: Sequence[int]) -> None:
        """Raise InputError for a layer outside 0..n_layers-1."""
        for layer in layers:
            if not 0 <= layer < self.n_layers:
                raise InputError(
                    f"layer {layer} requested, but this model has layers 0-{self.n_layers - 1}; "
                    f"pass --layer {self.n_layers - 1} or less"
                )

    def run(self, batch: TokenBatch) -> None:
        """One plain forward; hooks that are in force see it."""
        self.module(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask.long(),
            position_ids=batch.position_ids,
            use_cache=False,
        )

    def final_residual(self, batch: TokenBatch) -> Float[Tensor, "question d_model"]:
        """Residual stream after the last layer at each row's last token, by one plain forward."""
        with reading([self.norm], inputs=True) as final:
            self.run(batch)
        return take_positions(final[0], batch.last_index)

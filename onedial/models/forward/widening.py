"""Run a model of 16-bit weights in float32, of which only the part that runs is held in float32.

Whatever runs (a block, the final norm, an embedding) has its weights widened just before and gets its own ones back
just after, so that the memory needed beside the model is that of its largest part. Of the token embedding only the rows
that a batch looks up are widened.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from onedial.core.errors import InputError
from onedial.models.decoder import Decoder


def can_be_widened(stack: Decoder) -> bool:
    """Whether a decoder of 16 bits can be run in float32: not if its weights are offloaded or quantised."""
    return stack.dtype != torch.float32 and not _offloaded(stack) and not getattr(stack.hf, "is_quantized", False)


def _offloaded(stack: Decoder) -> bool:
    return any(parameter.device.type == "meta" for parameter in stack.hf.parameters())


@contextlib.contextmanager
def widened(stack: Decoder) -> Iterator[None]:
    """While the context lasts, the decoder computes in float32; its weights are never written to.

    Raises:
        InputError: weights that were offloaded.
    """
    if _offloaded(stack):
        raise InputError("weights that were offloaded can't be widened to float32")
    narrow: dict[nn.Parameter, Tensor] = {}
    room: dict[tuple[int, torch.device], list[Tensor]] = {}
    """Memory of the block that ran last, by size: to ask the system for it anew takes longer than to widen."""

    def widen(module: nn.Module, args: Any) -> None:
        weights = [each for each in module.parameters() if each.is_floating_point() and each.dtype != torch.float32]
        sizes = {(each.numel(), each.device) for each in weights}
        if module in stack.layers and not sizes <= room.keys():
            room.clear()
        for parameter in weights:
            narrow_data = narrow[parameter] = parameter.data
            free = room.get((narrow_data.numel(), narrow_data.device))
            wide = (
                free.pop() if free else torch.empty(narrow_data.numel(), dtype=torch.float32, device=narrow_data.device)
            )
            parameter.data = wide.view(narrow_data.shape).copy_(narrow_data)

    def give_back(module: nn.Module | None = None, *_: Any) -> None:
        for parameter, narrow_data in narrow.items():
            if module is not None and module in stack.layers:
                room.setdefault((narrow_data.numel(), narrow_data.device), []).append(parameter.data.flatten())
            parameter.data = narrow_data
        narrow.clear()

    embedding: Any = stack.hf.get_input_embeddings()
    padding = getattr(embedding, "padding_idx", None)

    def widen_rows(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        rows, ids = args[0].unique(return_inverse=True)
        narrow[embedding.weight] = embedding.weight.data
        embedding.weight.data = embedding.weight.data[rows].float()
        embedding.padding_idx = None  # a place among all rows, which matters for gradients alone
        return (ids, *args[1:])

    parts = [part for part in stack.module.children() if part is not stack.layers and part is not embedding]
    handles = [part.register_forward_pre_hook(widen) for part in [*parts, *stack.layers]]
    handles.append(embedding.register_forward_pre_hook(widen_rows))
    handles += [part.register_forward_hook(give_back, always_call=True) for part in [*parts, *stack.layers, embedding]]
    stack.computes_in = torch.float32
    try:
        yield
    finally:
        stack.computes_in = None
        for handle in handles:
            handle.remove()
        give_back()
        embedding.padding_idx = padding

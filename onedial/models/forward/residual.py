"""Read the residual stream of a whole forward, edit it, or run a part of the stack.

"Layer L" is the output of decoder layer L, counted from 0: the residual stream after that layer (TransformerLens:
`blocks.L.hook_out`, earlier `hook_resid_post`). Hugging Face's `hidden_states[-1]` is something else: it has passed
the final norm. Whatever is changed here is undone when the context ends, also by an exception or Ctrl-C.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

Edit = Callable[[Float[Tensor, "row pos d_model"]], Float[Tensor, "row pos d_model"]]

StreamEdit = Callable[[Float[Tensor, "*lead d_model"], Float[Tensor, "*settings"]], Float[Tensor, "*rows d_model"]]
"""What an intervention does to the stream at one layer: position by position, each at a setting of its own.

`settings` broadcasts against the stream's leading axes, and the result has the shape of both: a stream of
`question 1 d_model` at settings of `1 row` gives `question row d_model`."""

SITES = {"resid": "blocks.{}.hook_out", "attn": "blocks.{}.hook_attn_out", "mlp": "blocks.{}.hook_mlp_out"}
"""The stream after a block, and what its attention and its MLP add to it; as TransformerLens names them."""


@dataclass(frozen=True)
class Site:
    """One place in a decoder.

    Attributes:
        kind: a key of `SITES`. layer: from 0.
    """

    kind: str
    layer: int

    @property
    def name(self) -> str:
        """As TransformerLens names it, for example `blocks.12.hook_out`."""
        return SITES[self.kind].format(self.layer)


Place = int | Site
"""Where an edit acts: a layer, on its output, or a site within one, on what is added to the stream there."""

Edits = Mapping[Place, StreamEdit]
"""What is done where."""


def beginning_of(edits: Edits) -> tuple[int, StreamEdit]:
    """The layer whose output edited rows go on from, and what is done to it: nothing, where the lowest edit acts within
    the layer above it. It is -1 where an edit acts within layer 0, below which no stream is kept.
    """
    layer = min(place if isinstance(place, int) else place.layer - 1 for place in edits)
    return layer, edits.get(layer, _as_it_is)


def _as_it_is(
    stream: Float[Tensor, "*lead d_model"], settings: Float[Tensor, "*settings"]
) -> Float[Tensor, "*rows d_model"]:
    rows = torch.broadcast_shapes(stream.shape[:-1], settings.shape)
    return stream.expand(*rows, stream.shape[-1]).contiguous()


@dataclass
class EditCount:
    """How often an edit was applied: one forward pass is one firing."""

    firings: int = 0


def stream_of(output: Any) -> Tensor:
    """The stream that a block or a part of it gives; some give it as the first entry of a tuple."""
    return output[0] if isinstance(output, tuple) else output


@contextlib.contextmanager
def edited(layer: nn.Module, edit: Edit) -> Iterator[EditCount]:
    """While the context lasts, the layer's output is `edit(output)`.

    The edit gets the residual stream and returns a new tensor of the same shape, device and dtype; editing in place
    would also change what other hooks have kept.
    """
    count = EditCount()

    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        stream = stream_of(output)
        changed = edit(stream)
        if changed.shape != stream.shape or changed.dtype != stream.dtype:
            raise ValueError(
                f"the edit returned {tuple(changed.shape)} {changed.dtype}, "
                f"the residual stream is {tuple(stream.shape)} {stream.dtype}; return a tensor like it"
            )
        count.firings += 1
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    handle = layer.register_forward_hook(hook)
    try:
        yield count
    finally:
        handle.remove()


@contextlib.contextmanager
def reading(modules: Sequence[nn.Module], *, inputs: bool = False) -> Iterator[list[Tensor]]:
    """Collect the output (or the first input) of each module; the list is filled by the forward inside the context.

    What is kept is the tensor itself, not a copy: edits in this package never write in place.
    """
    kept = [torch.empty(0)] * len(modules)

    def keep_output(index: int) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any, output: Any) -> None:
            kept[index] = stream_of(output)

        return hook

    def keep_input(index: int) -> Callable[..., None]:
        def hook(module: nn.Module, args: Any) -> None:
            kept[index] = args[0]

        return hook

    handles = [
        module.register_forward_pre_hook(keep_input(index))
        if inputs
        else module.register_forward_hook(keep_output(index))
        for index, module in enumerate(modules)
    ]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


class PassThrough(nn.Module):
    """Stands where a block stood and hands the residual stream on unchanged, or a given one in its place.

    Args:
        original: the block. stream: to be handed on. gives_tuple: whether blocks give theirs in a tuple.
    """

    def __init__(self, original: nn.Module, stream: Tensor | None, gives_tuple: bool) -> None:
        super().__init__()
        self.__dict__["original"] = original  # not as a part of this one
        self.stream, self.gives_tuple = stream, gives_tuple

    def __getattr__(self, name: str) -> Any:
        """What the decoder asks of a block beside running it, such as its kind of attention."""
        return getattr(self.__dict__["original"], name)

    def forward(self, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, None]:
        stream = hidden_states if self.stream is None else self.stream
        return (stream, None) if self.gives_tuple else stream


def take_positions(stream: Float[Tensor, "question pos d_model"], index: Tensor) -> Float[Tensor, "question d_model"]:
    """The residual stream of each row at that row's column `index`."""
    return stream[torch.arange(stream.shape[0], device=stream.device), index.to(stream.device)]

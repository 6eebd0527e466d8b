"""What vLLM's workers do to the residual stream, request by request; stands by itself beside vLLM, torch and numpy.

vLLM runs the tokens of many requests side by side, prompts in chunks and texts token by token. After each layer that is
edited, a token x of a request that is pushed becomes

    x + (along + share * x . d) d        d: a direction of unit length; along, share: of the request at this layer

at those places of its text that the request names, begin <= place < end. Tokens of other requests, and other places,
are not touched. A layer of vLLM gives (hidden, residual), whose sum is the stream: the sum is handed on as `residual`
and the push as `hidden`, so that the next norm adds them as transformers' layers would.

A request carries its push in `SamplingParams.extra_args`:

    {"push": [begin, end, [[layer, number of the direction, along, share], ...]]}
"""

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class SteeringWorker:
    """vLLM's `worker_extension_cls`: its methods join those of each worker, and are called by `collective_rpc`."""

    def steer_with(self, directions: list[list[float]], n_layers: int) -> int:
        """From now on requests may name these directions by their places; gives how many layers are held here."""
        runner: Any = self.model_runner  # type: ignore[attr-defined]
        if not hasattr(runner, "steered_by"):
            runner.steered_by = Pushes(runner, n_layers)
        runner.steered_by.directions = torch.tensor(directions, dtype=torch.float32, device=runner.device)
        return len(runner.steered_by.layers)


class Pushes:
    """The hooks of one worker.

    Attributes:
        directions: `direction d_model`, float32, on the worker's device.
        layers: number -> module, of the decoder layers that this worker holds.
    """

    def __init__(self, runner: Any, n_layers: int) -> None:
        self._runner, self._now = runner, dict[int, tuple[Any, ...]]()
        self.directions = torch.empty(0)
        self.layers = held_layers(runner.model, n_layers)
        runner.model.register_forward_pre_hook(self._before_forward)
        for number, layer in self.layers.items():
            layer.register_forward_hook(lambda module, inputs, output, at=number: self._after_layer(at, output))

    def spans(self) -> dict[int, list[tuple[int, int, int, float, float]]]:
        """Layer -> the tokens of this forward that are pushed there: first and last + 1, direction, along, share."""
        batch, starts = self._runner.input_batch, self._runner.query_start_loc.np
        by_layer = defaultdict(list)
        for row, name in enumerate(batch.req_ids):
            push = (self._runner.requests[name].sampling_params.extra_args or {}).get("push")
            if push is None:
                continue
            begin, end, edits = push
            # What stands before the first token of this forward was computed in earlier ones.
            shift = int(starts[row]) - int(batch.num_computed_tokens_cpu[row])
            first, last = max(int(starts[row]), begin + shift), min(int(starts[row + 1]), end + shift)
            if first < last:
                for layer, direction, along, share in edits:
                    by_layer[layer].append((first, last, direction, along, share))
        return by_layer

    def _before_forward(self, module: nn.Module, inputs: Any) -> None:
        device = self.directions.device
        self._now = {}
        if device.type == "cpu":
            self._draw_at_ends_alone()
        for layer, spans in self.spans().items():
            first, last, direction, along, share = (np.array(column) for column in zip(*spans, strict=True))
            length = last - first
            tokens = np.arange(length.sum()) + np.repeat(first - (length.cumsum() - length), length)
            numbers = np.stack([np.repeat(along, length), np.repeat(share, length)]).astype(np.float32)
            alike = len(set(direction.tolist())) == 1
            which = int(direction[0]) if alike else torch.from_numpy(np.repeat(direction, length)).to(device)
            self._now[layer] = (
                torch.from_numpy(tokens).to(device, non_blocking=True),
                self.directions[which],
                *torch.from_numpy(numbers).to(device, non_blocking=True),
                bool(share.any()),
            )

    def _draw_at_ends_alone(self) -> None:
        """Of a prompt in chunks only the last one draws. vLLM draws after each and takes back by the generator's
        offset, which a CPU's generator has not."""
        batch = self._runner.input_batch
        for row, name in enumerate(batch.req_ids):
            generator = self._runner.requests[name].generator
            if generator is None or self._runner.discard_request_mask.np[row]:
                batch.generators.pop(row, None)
            else:
                batch.generators[row] = generator

    def _after_layer(self, layer: int, output: Any) -> Any:
        if layer not in self._now:
            return None
        tokens, direction, along, share, depends = self._now[layer]
        hidden, residual = output if isinstance(output, tuple) else (output, None)
        stream = hidden[tokens] if residual is None else hidden[tokens] + residual[tokens]
        amount = along + share * (stream.float() * direction).sum(dim=-1) if depends else along
        push = (amount[:, None] * direction).to(stream.dtype)
        if residual is None:
            return put(hidden, tokens, stream + push)
        return put(hidden, tokens, push), put(residual, tokens, stream)


def put(into: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """A copy with other rows at these places; no copy where they are all places, in their order."""
    return rows if len(rows) == len(into) else into.index_copy(0, places, rows)


def held_layers(model: nn.Module, n_layers: int) -> dict[int, nn.Module]:
    """Number -> module of the decoder's layers, without those that another worker of a pipeline holds.

    Raises:
        ValueError: the model has no list of so many layers, or several of them.
    """
    lists = [each for each in model.modules() if isinstance(each, nn.ModuleList) and len(each) == n_layers]
    if len(lists) != 1:
        raise ValueError(f"{type(model).__name__} holds {len(lists)} lists of {n_layers} layers; one was looked for")
    return {at: layer for at, layer in enumerate(lists[0]) if type(layer).__name__ != "PPMissingLayer"}

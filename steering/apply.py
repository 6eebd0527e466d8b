"""Steering while the model runs: `with steered(...)` around any forward, or around `generate`.

The vector is added after its layer at positions that are counted from the beginning of the sequence, whatever part of
it a forward sees: with a key-value cache a step of `generate` sees one new position, without one it sees all of them.

    last     the last token of the prompt: what is generated afterwards is steered through attention alone
    prompt   every token of the prompt
    all      every token, generated ones included

Padding is never touched. Where the addition is zero, the logits are those of the unsteered model, bit for bit.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from common import InputError
from open_models import OpenModel
from open_models.residual import Edit
from steering.vectors import SteeringSpec, SteeringVector


@dataclass
class SteeringCount:
    """What was done while the context lasted.

    Attributes:
        firings: forwards in which the vector was added somewhere.
        additions: positions to which it was added, over all rows and forwards. Without a cache each step of `generate`
            runs the prompt anew, so that one position counts once per step.
    """

    firings: int = 0
    additions: int = 0


@contextlib.contextmanager
def steered(
    model: OpenModel, vector: SteeringVector, magnitude: float, spec: SteeringSpec | None = None
) -> Iterator[SteeringCount]:
    """While the context lasts, every forward of `model.hf` is steered, `model.hf.generate` included.

    Each call of `generate` has its own prompt. Outside of `generate` a forward without a cache, or with an empty one,
    reads a whole prompt, and forwards that continue its cache read generated tokens.

    Args:
        magnitude: in units of `spec.unit`, positive towards yes.
        spec: by default at the prompt's last position, in units of the residual norm.

    Raises:
        InputError: the vector is of another model, the magnitude is not finite, or the context ended without a
            forward in which the vector was added.
    """
    spec = spec or SteeringSpec()
    vector.check_model(model)
    if not torch.isfinite(torch.tensor(magnitude)):
        raise InputError(f"the magnitude is {magnitude}; give a finite number")
    addition = vector.addition(torch.tensor(magnitude), spec)
    count = SteeringCount()
    watch = _Watch(spec.positions)

    def edit(stream: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos d_model"]:
        chosen = watch.chosen(stream)
        n_chosen = int(chosen.sum())
        if n_chosen == 0:
            return stream
        count.firings += 1
        count.additions += n_chosen
        return torch.where(chosen[..., None], stream + addition.to(stream), stream)

    with model.edit_residual(vector.layer, edit), watch.following(model):
        yield count
    if count.firings == 0:
        raise InputError(
            "the vector was added nowhere: no forward of this model ran inside the context, or none that holds the "
            f"positions {spec.positions!r}; run model.hf or model.hf.generate inside it"
        )


def prompt_edit(mask: Bool[Tensor, "row pos"], addition: Float[Tensor, "row 1 d_model"], spec: SteeringSpec) -> Edit:
    """The edit of one forward over whole prompts, with an addition of its own for each row.

    Args:
        mask: True at real tokens.
    """
    chosen = mask
    if spec.positions == "last":
        chosen = torch.arange(mask.shape[1], device=mask.device) == _last_true(mask)[:, None]

    def edit(stream: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos d_model"]:
        return torch.where(chosen.to(stream.device)[..., None], stream + addition.to(stream), stream)

    return edit


class _Watch:
    """Follows the forwards of a decoder and says which of the columns that it is running are to be steered."""

    def __init__(self, positions: str) -> None:
        self._positions = positions
        self._generating = False
        self._prompt_mask: Bool[Tensor, "row prompt_pos"] | None = None
        self._prompt_width: int | None = None
        self._start = 0
        self._mask: Tensor | None = None

    @contextlib.contextmanager
    def following(self, model: OpenModel) -> Iterator[None]:
        """Watch the decoder's forwards, and the calls of `generate` that they belong to."""
        generate = model.hf.generate
        model.hf.generate = self._watched(generate)
        handle = model.decoder.register_forward_pre_hook(self._before_forward, with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()
            del model.hf.generate
            if getattr(model.hf, "generate", None) != generate:  # someone else's wrapper stood there before
                model.hf.generate = generate

    def _watched(self, generate: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(generate)
        def watched(*args: Any, **kwargs: Any) -> Any:
            given = [*args[:1], *(kwargs.get(name) for name in ("inputs", "input_ids", "inputs_embeds"))]
            widths = [tensor.shape[1] for tensor in given if isinstance(tensor, Tensor) and tensor.dim() > 1]
            self._generating, self._prompt_mask = True, None
            self._prompt_width = max(widths) if widths else None
            try:
                return generate(*args, **kwargs)
            finally:
                self._generating, self._prompt_mask, self._prompt_width = False, None, None

        return watched

    def _before_forward(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        cache = kwargs.get("past_key_values")
        self._start = int(cache.get_seq_length()) if cache is not None else 0
        mask = kwargs.get("attention_mask")
        self._mask = mask if isinstance(mask, Tensor) and mask.dim() == 2 else None
        if self._start == 0 and not self._generating:
            self._prompt_mask = self._prompt_width = None

    def chosen(self, stream: Float[Tensor, "row pos d_model"]) -> Bool[Tensor, "row pos"]:
        """Which positions of this forward get the vector."""
        rows, width = stream.shape[:2]
        end = self._start + width
        columns = torch.arange(self._start, end, device=stream.device)
        real = self._real_columns(rows, end, stream.device)
        prompt = self._prompt_mask
        if prompt is None or prompt.shape[1] < (self._prompt_width or 0):  # a long prompt may come in pieces
            prompt = self._prompt_mask = real[:, : self._prompt_width]
        if self._positions == "all":
            return real[:, self._start :]
        if self._positions == "prompt":
            return real[:, self._start :] & (columns < (self._prompt_width or prompt.shape[1]))
        if prompt.shape[1] < (self._prompt_width or 0):
            return torch.zeros_like(real[:, self._start :])
        return columns[None, :] == _last_true(prompt).to(stream.device)[:, None]

    def _real_columns(self, rows: int, end: int, device: torch.device) -> Bool[Tensor, "row pos"]:
        """True at the real tokens among columns 0..end-1; what no mask speaks of counts as real."""
        real = torch.ones(rows, end, dtype=torch.bool, device=device)
        known = self._mask if self._mask is not None else self._prompt_mask
        if known is not None:
            offset = 0 if known is self._prompt_mask or known.shape[1] >= end else self._start
            known = known[:, : end - offset].to(device=device, dtype=torch.bool)
            real[:, offset : offset + known.shape[1]] = known
        return real


def _last_true(mask: Bool[Tensor, "row pos"]) -> Int[Tensor, " row"]:
    columns = torch.arange(mask.shape[1], device=mask.device)
    return (columns * mask).argmax(dim=1)

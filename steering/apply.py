"""Steer while the model runs: `with push.steer(model)` around any forward, or around `generate`.

A push acts after its layers at positions that are counted from the beginning of the sequence, whatever part of it a
forward sees: with a key-value cache a step of `generate` sees one new position, without one it sees all.

    answer     the last token of the prompt, and whatever is generated
    last       the last token of the prompt: what is generated afterwards is steered through attention alone
    prompt     every token of the prompt
    all        every token, generated ones included
    generated  what is generated, and nothing of the prompt

Padding is never touched. At magnitude 0 the logits are those of the unsteered model, bit for bit. A forward outside of
`generate` that continues no cache reads a whole prompt: its last token is the prompt's. So the tokens of a given text
are scored under a push at all positions alone; with `labels`, others are refused.
"""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import Cache

from onedial.core.errors import InputError
from onedial.models.forward.residual import Edits, Place
from onedial.models.model import OpenModel

POSITIONS = {
    "answer": "the last token of the prompt and everything that is generated: where an answer is read, or written",
    "last": "the last token of the prompt only",
    "prompt": "every position of the prompt",
    "all": "every position, generated ones included; reading one answer, this is the same as prompt",
    "generated": "generated positions only: it changes what is written, and no answer that is read at the prompt's end",
}


@dataclass(frozen=True)
class Act:
    """One thing that is done to the stream: an edit at each of its places, at these positions, at one setting."""

    edits: Edits
    positions: str
    magnitude: float


class SteeringCount:
    """What was done while the context lasted; counted on the device, so that no forward waits for it."""

    def __init__(self) -> None:
        self._sums: dict[torch.device, Tensor] = {}

    def add(self, chosen: Bool[Tensor, "row pos"]) -> None:
        """One forward of a layer, edited at these positions."""
        done = torch.stack([chosen.any().long(), chosen.sum()])
        self._sums[chosen.device] = self._sums[chosen.device] + done if chosen.device in self._sums else done

    @property
    def firings(self) -> int:
        """Forwards of a layer that were edited somewhere."""
        return sum(int(sums[0]) for sums in self._sums.values())

    @property
    def edits(self) -> int:
        """Positions that were edited, over all rows, layers and forwards.

        Without a cache each step of `generate` runs the prompt anew, so that one position counts once per step.
        """
        return sum(int(sums[1]) for sums in self._sums.values())


@contextlib.contextmanager
def steering(model: OpenModel, acts: Sequence[Act]) -> Iterator[SteeringCount]:
    """While the context lasts, every forward of `model.hf` is edited; see `steering.Push.steer`.

    Args:
        acts: one of any operator; or several that add, whose sum is taken in float32 before it is added.

    Raises:
        InputError: a magnitude is not finite, or the context ended without a forward that was edited.
    """
    for act in acts:
        if not math.isfinite(act.magnitude):
            raise InputError(f"the magnitude is {act.magnitude}; give a finite number")
    positions = list(dict.fromkeys(act.positions for act in acts))
    count, watch = SteeringCount(), _Watch(positions)

    def hook(place: Place) -> Callable[[Float[Tensor, "row pos d_model"]], Float[Tensor, "row pos d_model"]]:
        here = [act for act in acts if place in act.edits]
        # One copy of each setting for each device.
        settings = [functools.cache(torch.full((1, 1), float(act.magnitude)).to) for act in here]

        def edit(stream: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos d_model"]:
            where = {name: watch.chosen(stream, name) for name in dict.fromkeys(act.positions for act in here)}
            if not (masks := [mask for mask in where.values() if mask is not None]):
                return stream
            chosen = functools.reduce(torch.logical_or, masks)
            count.add(chosen)
            if len(here) == 1:
                changed = here[0].edits[place](stream, settings[0](stream.device))
            else:
                still = torch.zeros_like(stream[:1, :1], dtype=torch.float32)
                added = still
                for act, setting in zip(here, settings, strict=True):
                    if (mask := where[act.positions]) is not None:
                        added = added + mask[..., None] * act.edits[place](still, setting(stream.device))
                changed = stream + added.to(stream.dtype)
            return torch.where(chosen[..., None], changed, stream)

        return edit

    with contextlib.ExitStack() as hooks:
        for place in dict.fromkeys(place for act in acts for place in act.edits):
            hooks.enter_context(model.edit_residual(place, hook(place)))
        hooks.enter_context(watch.following(model))
        yield count
    if count.firings == 0:
        raise InputError(
            "the push acted nowhere: no forward of this model ran inside the context, or none that holds the positions "
            f"{' and '.join(map(repr, positions))}; run model.hf or model.hf.generate inside it"
        )


def chosen_positions(
    positions: str, place: Int[Tensor, "row pos"], begins: Int[Tensor, " row"]
) -> Bool[Tensor, "row pos"]:
    """Which columns are acted on where prompts and what follows them are read in one forward.

    Args:
        positions: a key of `POSITIONS`.
        place: of each column's token in its row, from 0; -1 at padding. begins: the place where the prompt has ended.

    """
    start = begins[:, None]
    return {
        "answer": place >= start - 1,
        "last": place == start - 1,
        "prompt": (place >= 0) & (place < start),
        "all": place >= 0,
        "generated": place >= start,
    }[positions]


class _Watch:
    """Follows the forwards of a decoder and says which of the columns that it is running are to be steered."""

    def __init__(self, positions: Sequence[str]) -> None:
        self._positions = positions
        self._generating = False
        self._prompt_mask: Bool[Tensor, "row prompt_pos"] | None = None
        self._prompt_width: int | None = None
        self._start = self._end = 0
        self._cache: Cache | None = None
        self._mask: Tensor | None = None

    @contextlib.contextmanager
    def following(self, model: OpenModel) -> Iterator[None]:
        """Watch the decoder's forwards, and the calls of `generate` that they belong to."""
        generate = model.hf.generate
        model.hf.generate = self._watched(generate)
        handles = [
            model.stack.module.register_forward_pre_hook(self._before_forward, with_kwargs=True),
            model.hf.register_forward_pre_hook(self._refuse_scoring, with_kwargs=True),
        ]
        try:
            yield
        finally:
            for handle in handles:
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

    def _refuse_scoring(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs.get("labels") is not None and (narrow := [name for name in self._positions if name != "all"]):
            raise InputError(
                f"a given text is scored under a push at the positions {narrow[0]!r}, and a forward does not tell "
                "where its prompt ends; push at every position: vector.at('all')"
            )

    def _before_forward(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        cache = next((each for each in kwargs.values() if isinstance(each, Cache)), None)  # under one of three names
        self._start = self._columns_of(cache)
        mask = kwargs.get("attention_mask")
        self._mask = mask if isinstance(mask, Tensor) and mask.dim() == 2 else None
        if self._start == 0 and not self._generating:
            self._prompt_mask = self._prompt_width = None

    def _columns_of(self, cache: Cache | None) -> int:
        """How many columns a cache holds; one of recurrent layers alone can't say, and holds what was run with it."""
        before, self._cache = self._cache, cache
        if cache is None:
            return 0
        try:
            return int(cache.get_seq_length())
        except ValueError:
            return self._end if cache is before else 0

    def chosen(self, stream: Float[Tensor, "row pos d_model"], positions: str) -> Bool[Tensor, "row pos"] | None:
        """Which positions of this forward are edited; None where its columns alone say that none is."""
        rows, width = stream.shape[:2]
        end = self._end = self._start + width
        columns = torch.arange(self._start, end, device=stream.device)
        real = self._real_columns(rows, end, stream.device)
        prompt = self._prompt_mask
        if prompt is None or prompt.shape[1] < (self._prompt_width or 0):  # a long prompt may come in pieces
            prompt = self._prompt_mask = real[:, : self._prompt_width]
        n_prompt = self._prompt_width or prompt.shape[1]
        real = real[:, self._start :]
        if positions in ("last", "prompt") and self._start >= n_prompt:
            return None
        if positions == "generated" and end <= n_prompt:
            return None
        if positions == "all" or (positions == "answer" and self._start >= n_prompt):
            return real
        if positions in ("prompt", "generated"):
            in_prompt = columns < n_prompt
            return real & (in_prompt if positions == "prompt" else ~in_prompt)
        if prompt.shape[1] < (self._prompt_width or 0):
            return torch.zeros_like(real)
        last = _last_true(prompt).to(stream.device)[:, None]
        return columns[None, :] == last if positions == "last" else real & (columns[None, :] >= last)

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

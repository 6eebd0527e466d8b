"""Run prompts unedited once, then with edits at many settings: by the fast path where it is right, else by plain hooks.

A runner is made for all prompts of a task, whose common beginning it may share, and is then given batches of them:

    runner = model.runner(sequences, layers, at="last")
    started = runner.start(batch)                              # one unedited forward
    final = runner.steer(started, edits, settings)             # question x setting, read at the last position

Both kinds give the same numbers up to rounding. Which one a model gets is found out before it is first run: edited
rows by each fast path are compared with a plain hook (`path_proof.check_fast_paths`), so that a decoder whose layers
pass something on between positions in a way that the fast paths know nothing of (linear attention, recurrence) is run
plainly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.models.decoder import Decoder
from onedial.models.forward.batches import batches_by_length, halved
from onedial.models.forward.prefill import (
    Prefilled,
    SharedPrefix,
    prefill,
    run_prefix,
    steer_all,
    steer_last,
)
from onedial.models.forward.prefill_cache import PrefillCache
from onedial.models.forward.residual import Edits, StreamEdit, reading, take_positions
from onedial.models.forward.sites import edited_at
from onedial.models.tokens import TokenBatch, pad_batch

READ_AT = ("last", "all")
"""Where an edit acts while one answer is read: at the last position of the prompt, or at every position."""


@runtime_checkable
class Started(Protocol):
    """A batch of prompts after one unedited forward."""

    @property
    def final(self) -> Float[Tensor, "question d_model"]:
        """Residual stream after the last layer at the last position: the unedited answer."""
        ...

    def last_residual(self, layer: int) -> Float[Tensor, "question d_model"]:
        """Residual stream after one of the runner's layers at the last position."""
        ...


@runtime_checkable
class Runner(Protocol):
    """See the module's text."""

    def start(self, sequences: Sequence[Sequence[int]]) -> Any:
        """One unedited forward of some of the prompts, as `Started`."""
        ...

    def steer(
        self, started: Any, edits: Edits, settings: Float[Tensor, "questions row"]
    ) -> Float[Tensor, "question row d_model"]:
        """Final residual streams at the last position, edited at each setting.

        Args:
            edits: they go on from one of the runner's layers (`residual.beginning_of`).
            settings: per question and row; one line of them serves all questions (and at positions "all" must).
        """
        ...


class FastRunner:
    """Computes what does not depend on the edits once (`onedial.models.forward.prefill`).

    Args:
        cache: of batches that were run before, and those that this one runs; at positions "last" alone.
        prefix: the prompts' common beginning where it was run already, at positions "all" with the streams at `layers`.
    """

    def __init__(
        self,
        stack: Decoder,
        sequences: Sequence[Sequence[int]],
        layers: Sequence[int],
        at: str,
        cache: PrefillCache | None = None,
        prefix: SharedPrefix | None = None,
    ) -> None:
        self._stack, self._layers, self._whole = stack, sorted(set(layers)), at == "all"
        self._cache = None if self._whole else cache
        self.prefix = prefix or run_prefix(stack, sequences, self._layers if self._whole else [])

    @torch.inference_mode()
    def start(self, sequences: Sequence[Sequence[int]]) -> Prefilled:
        run = partial(prefill, self._stack, sequences, self._layers, self.prefix, whole=self._whole)
        if self._cache is None or any(
            module._forward_hooks for block in self._stack.layers for module in block.modules()
        ):  # the model is being edited, or read within
            return run()
        key = (self._stack.dtype, self.prefix.token_ids, tuple(map(tuple, sequences)))
        return self._cache.get(key, self._layers, run)

    @torch.inference_mode()
    def steer(
        self, started: Prefilled, edits: Edits, settings: Float[Tensor, "questions row"]
    ) -> Float[Tensor, "question row d_model"]:
        if not self._whole:
            return steer_last(self._stack, started, edits, settings)
        if len(settings) > 1:
            raise ValueError("at all positions one line of settings serves all questions")
        return steer_all(self._stack, started, edits, settings[0])


@dataclass(frozen=True)
class PlainStarted:
    """See `Started`."""

    sequences: tuple[Sequence[int], ...]
    residuals: Mapping[int, Float[Tensor, "question d_model"]]
    final: Float[Tensor, "question d_model"]

    def last_residual(self, layer: int) -> Float[Tensor, "question d_model"]:
        return self.residuals[layer]


class PlainRunner:
    """One whole forward for each setting, with hooks: what the fast path must equal, and right for any decoder.

    Args:
        requires_equal_length: run only prompts of one length together, so that none is padded.
    """

    def __init__(
        self,
        stack: Decoder,
        sequences: Sequence[Sequence[int]],
        layers: Sequence[int],
        at: str,
        requires_equal_length: bool = False,
    ) -> None:
        self._stack, self._layers, self._at = stack, sorted(set(layers)), at
        self._requires_equal_length = requires_equal_length

    @torch.inference_mode()
    def start(self, sequences: Sequence[Sequence[int]]) -> PlainStarted:
        def run(batch: TokenBatch, places: list[int]) -> Tensor:
            with reading([self._stack.layers[layer] for layer in self._layers]) as streams:
                final = self._stack.final_residual(batch)
            last = [take_positions(stream, batch.last_index).to(final.device) for stream in streams]
            return torch.stack([final, *last], dim=1)

        final, *residuals = self._by_length(sequences, run).unbind(dim=1)
        return PlainStarted(tuple(sequences), dict(zip(self._layers, residuals, strict=True)), final)

    @torch.inference_mode()
    def steer(
        self, started: PlainStarted, edits: Edits, settings: Float[Tensor, "questions row"]
    ) -> Float[Tensor, "question row d_model"]:
        by_question = settings.expand(len(started.final), -1)

        def run(batch: TokenBatch, places: list[int]) -> Tensor:
            chosen = by_question[places]

            def work(rows: list[int]) -> Tensor:
                return torch.stack([self._row(batch, edits, chosen[:, row]) for row in rows], dim=1)

            return torch.cat(list(halved(work, list(range(chosen.shape[1])))), dim=1)

        return self._by_length(started.sequences, run)

    def _by_length(
        self, sequences: Sequence[Sequence[int]], run: Callable[[TokenBatch, list[int]], Tensor]
    ) -> Float[Tensor, "question ..."]:
        """What `run` makes of the prompts, as one batch or one for each length, in the order of the prompts."""
        lengths = [len(sequence) for sequence in sequences]
        groups = (
            batches_by_length(lengths, len(lengths), True)
            if self._requires_equal_length
            else [list(range(len(lengths)))]
        )
        parts = [
            run(pad_batch([sequences[place] for place in group], self._stack.pad_id).to(self._stack.device), group)
            for group in groups
        ]
        order = torch.tensor([place for group in groups for place in group], device=parts[0].device)
        return torch.cat(parts)[order.argsort()]

    def _row(self, batch: TokenBatch, edits: Edits, settings: Float[Tensor, " question"]) -> Tensor:
        chosen = batch.attention_mask
        if self._at == "last":
            columns = torch.arange(chosen.shape[1], device=chosen.device)
            chosen = columns == batch.last_index[:, None]
        with plainly_edited(self._stack, edits, settings, chosen):
            return self._stack.final_residual(batch)


@contextmanager
def plainly_edited(
    stack: Decoder, edits: Edits, settings: Float[Tensor, " row"], chosen: Bool[Tensor, "row pos"]
) -> Iterator[None]:
    """While the context lasts, forwards over whole prompts are edited at the chosen positions."""

    def at_chosen(edit: StreamEdit, stream: Float[Tensor, "row pos d_model"]) -> Float[Tensor, "row pos d_model"]:
        return torch.where(chosen.to(stream.device)[..., None], edit(stream, settings[:, None]), stream)

    with ExitStack() as hooks:
        for place, edit in edits.items():
            hooks.enter_context(edited_at(stack, place, partial(at_chosen, edit)))
        yield


# ---- which one -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FastPaths:
    """Which fast paths of a model are known to be right.

    Attributes:
        allowed: positions at which an edit may take the fast path.
        reason: why one of them may not; "" where both may.
        requires_equal_length: whether a prompt's answer depends on longer ones beside it, so that only equal lengths
            may be batched.
    """

    allowed: frozenset[str]
    reason: str = ""
    requires_equal_length: bool = False


def make_runner(
    stack: Decoder,
    paths: FastPaths,
    sequences: Sequence[Sequence[int]],
    layers: Sequence[int],
    at: str,
    cache: PrefillCache | None = None,
) -> Runner:
    """The runner for prompts that are edited at `at` (see `READ_AT`), their streams kept at `layers`."""
    if at in paths.allowed:
        return FastRunner(stack, sequences, layers, at, cache)
    return PlainRunner(stack, sequences, layers, at, paths.requires_equal_length)

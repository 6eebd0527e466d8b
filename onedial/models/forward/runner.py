"""Run prompts unedited once, then with edits at many settings: by the fast path where it is right, else by plain hooks.

A runner is made for all prompts of a task, whose common beginning it may share, and is then given batches of them:

    runner = model.runner(sequences, layers, positions="last")
    started = runner.start(batch)                              # one unedited forward
    final = runner.steer(started, edits, settings)             # question x setting, read at the last position

Both kinds give the same numbers up to rounding. Which one a model gets is found out before it is first run: one edited
row by each fast path is compared with a plain hook (`check_fast_paths`), so that a decoder whose layers pass something
on between positions in a way that the fast paths know nothing of (linear attention, recurrence) is run plainly.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.models.decoder import Decoder
from onedial.models.forward.attention import SUPPORTED_LAYER_TYPES
from onedial.models.forward.batches import halved
from onedial.models.forward.prefill import (
    Prefilled,
    SharedPrefix,
    prefill,
    run_prefix,
    steer_all,
    steer_last,
    take_rows,
)
from onedial.models.forward.residual import Edits, StreamEdit, edited, reading, take_positions
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
            edits: their lowest layer is one of the runner's.
            settings: per question and row; one line of them serves all questions (and at positions "all" must).
        """
        ...

    def pick(self, started: Any, places: Sequence[int]) -> Any:
        """The started prompts at some places, repeats allowed."""
        ...


class FastRunner:
    """Computes what does not depend on the edits once (`onedial.models.forward.prefill`)."""

    def __init__(self, stack: Decoder, sequences: Sequence[Sequence[int]], layers: Sequence[int], at: str) -> None:
        self._stack, self._layers, self._whole = stack, sorted(set(layers)), at == "all"
        self.prefix: SharedPrefix = run_prefix(stack, sequences, self._layers if self._whole else [])

    @torch.inference_mode()
    def start(self, sequences: Sequence[Sequence[int]]) -> Prefilled:
        return prefill(self._stack, sequences, self._layers, self.prefix, whole=self._whole)

    @torch.inference_mode()
    def steer(
        self, started: Prefilled, edits: Edits, settings: Float[Tensor, "questions row"]
    ) -> Float[Tensor, "question row d_model"]:
        if not self._whole:
            return steer_last(self._stack, started, edits, settings)
        if len(settings) > 1:
            raise ValueError("at all positions one line of settings serves all questions")
        return steer_all(self._stack, started, edits, settings[0])

    def pick(self, started: Prefilled, places: Sequence[int]) -> Prefilled:
        return take_rows(started, places)


@dataclass(frozen=True)
class PlainStarted:
    """See `Started`."""

    batch: TokenBatch
    residuals: Mapping[int, Float[Tensor, "question d_model"]]
    final: Float[Tensor, "question d_model"]

    def last_residual(self, layer: int) -> Float[Tensor, "question d_model"]:
        return self.residuals[layer]


class PlainRunner:
    """One whole forward for each setting, with hooks: what the fast path must equal, and right for any decoder."""

    def __init__(self, stack: Decoder, sequences: Sequence[Sequence[int]], layers: Sequence[int], at: str) -> None:
        self._stack, self._layers, self._at = stack, sorted(set(layers)), at

    @torch.inference_mode()
    def start(self, sequences: Sequence[Sequence[int]]) -> PlainStarted:
        batch = pad_batch(sequences, self._stack.pad_id).to(self._stack.device)
        with reading([self._stack.layers[layer] for layer in self._layers]) as streams:
            final = self._stack.final_residual(batch)
        last = (take_positions(stream, batch.last_index) for stream in streams)
        return PlainStarted(batch, dict(zip(self._layers, last, strict=True)), final)

    @torch.inference_mode()
    def steer(
        self, started: PlainStarted, edits: Edits, settings: Float[Tensor, "questions row"]
    ) -> Float[Tensor, "question row d_model"]:
        by_question = settings.expand(len(started.final), -1)

        def work(rows: list[int]) -> Tensor:
            return torch.stack([self._row(started.batch, edits, by_question[:, row]) for row in rows], dim=1)

        return torch.cat(list(halved(work, list(range(by_question.shape[1])))), dim=1)

    def pick(self, started: PlainStarted, places: Sequence[int]) -> PlainStarted:
        index = torch.tensor(places, device=started.final.device)
        batch = started.batch
        return PlainStarted(
            TokenBatch(batch.input_ids[index], batch.attention_mask[index], batch.position_ids[index]),
            {layer: stream[index.to(stream.device)] for layer, stream in started.residuals.items()},
            started.final[index],
        )

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
        for layer, edit in edits.items():
            hooks.enter_context(edited(stack.layers[layer], partial(at_chosen, edit)))
        yield


# ---- which one -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FastPaths:
    """Which fast paths of a model are known to be right.

    Attributes:
        allowed: positions at which an edit may take the fast path.
        reason: why one of them may not; "" where both may.
    """

    allowed: frozenset[str]
    reason: str = ""


_LENGTHS = (19, 13, 17)
"""Of the prompts on which the paths are compared: a common beginning, and own parts of other lengths after it."""


@torch.inference_mode()
def check_fast_paths(stack: Decoder) -> FastPaths:
    """Compare one edited row by each fast path with a plain hook, on a few short prompts of arbitrary tokens.

    The edits stand at a quarter and at two thirds of the depth, as large as the stream there; the streams before the
    final norm must agree to 0.1% of their norm in float32, 5% in 16 bits.
    """
    kinds = set(getattr(stack.config, "layer_types", None) or ["full_attention"])
    if unknown := sorted(kinds - SUPPORTED_LAYER_TYPES):
        return FastPaths(
            frozenset(), f"it has layers of a kind that the fast path does not know ({', '.join(unknown)})"
        )
    if any(parameter.device.type == "meta" for parameter in stack.hf.parameters()):
        return FastPaths(frozenset(READ_AT))
    generator = torch.Generator().manual_seed(0)
    vocabulary = int(stack.config.vocab_size)
    drawn = torch.randint(vocabulary, (max(_LENGTHS) * (len(_LENGTHS) + 1),), generator=generator).tolist()
    shared, own = drawn[:6], drawn[6:]
    sequences = [shared + own[place * 16 : place * 16 + length - 6] for place, length in enumerate(_LENGTHS)]
    layers = sorted({stack.n_layers // 4, (2 * stack.n_layers) // 3})
    push = torch.randn(stack.d_model, generator=generator)
    push = push / push.norm()

    def edit(stream: Tensor, settings: Tensor) -> Tensor:
        lengths = settings.to(stream.device)[..., None] * stream.float().norm(dim=-1, keepdim=True)
        return stream + (lengths * push.to(stream.device)).to(stream.dtype)

    edits = dict.fromkeys(layers, edit)
    settings = torch.tensor([[-0.5, 0.0, 1.0]], device=stack.device)
    allowed, wrong = [], ""
    for at in READ_AT:
        plain = PlainRunner(stack, sequences, layers, at)
        expected = plain.steer(plain.start(sequences), edits, settings).float()
        try:
            fast = FastRunner(stack, sequences, layers, at)
            found = fast.steer(fast.start(sequences), edits, settings).float().to(expected.device)
        except (TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            wrong = f"the fast path fails on it ({said})"
            continue
        error_share = ((found - expected).norm(dim=-1) / expected.norm(dim=-1)).max().item()
        if error_share <= (1e-3 if stack.dtype == torch.float32 else 0.05):
            allowed.append(at)
        else:
            wrong = f"the fast path is off by {error_share:.2g} of the residual stream's norm"
    return FastPaths(frozenset(allowed), wrong)


def make_runner(
    stack: Decoder, paths: FastPaths, sequences: Sequence[Sequence[int]], layers: Sequence[int], at: str
) -> Runner:
    """The runner for prompts that are edited at `at` (see `READ_AT`), their streams kept at `layers`."""
    kind = FastRunner if at in paths.allowed else PlainRunner
    return kind(stack, sequences, layers, at)

"""Run the prompts once, then only what an edit of the residual stream changes.

Let L be the lowest layer that is edited. An edit at the *last* position leaves the keys and values of all earlier
positions as they were. So the prompt is run once, unedited; what depends on the edit and its setting is one token
through the layers above L. Many such tokens (question x row) go through together: the rows of one question stand side
by side as positions that share its position id, and a mask lets each see the prompt before it and itself, but no other
row. Further edits above L act on these rows as they pass.

An edit at *all* positions changes every key and value above L, but nothing below: the residual stream at L is
kept, and only the layers above run again, with the prompts' common beginning run once for all questions.

Both give what a plain forward hook gives, up to the rounding of another order of summation (about 1e-5 in float32).
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from onedial.models.decoder import Decoder
from onedial.models.forward.attention import FixedPrefixCache, KeysAndValues, attention_mask, join_prefix
from onedial.models.forward.batches import halved
from onedial.models.forward.residual import Edits, StreamEdit, beginning_of, reading
from onedial.models.forward.sites import edited_at
from onedial.models.tokens import TokenBatch, common_prefix_length, pad_batch

TOKENS_AT_ONCE = {"cpu": 1024, "cuda": 16_384}
"""Steering at all positions puts several magnitudes side by side until a matrix product has about this many rows."""


@dataclass(frozen=True)
class SharedPrefix:
    """The tokens with which all prompts begin, run once.

    Attributes:
        token_ids: may be empty.
        keys_and_values: of all layers, one row; None where there are no tokens.
        residuals: layer -> residual stream of the prefix, `1 pos d_model`.
    """

    token_ids: tuple[int, ...]
    keys_and_values: KeysAndValues | None
    residuals: dict[int, Tensor]

    def __len__(self) -> int:
        return len(self.token_ids)


@dataclass(frozen=True)
class Prefilled:
    """A batch of prompts after one unsteered forward.

    Attributes:
        prefix: the shared beginning, not repeated in what follows.
        batch: the prompts' own tokens, left-padded; position ids count from the prompt's beginning.
        keys_and_values: prefix and own positions of every layer above the lowest kept one.
        residuals: layer -> residual stream of the own positions (`question pos d_model`) where `whole` was asked for,
            else of the last position alone (`question 1 d_model`).
        final: residual stream after the last layer at the last position: the unsteered answer.
    """

    prefix: SharedPrefix
    batch: TokenBatch
    keys_and_values: KeysAndValues | None
    residuals: dict[int, Tensor]
    final: Float[Tensor, "question d_model"]

    def last_residual(self, layer: int) -> Float[Tensor, "question d_model"]:
        """Residual stream after `layer` at the answer position."""
        return self.residuals[layer][:, -1]


def run_prefix(stack: Decoder, sequences: Sequence[Sequence[int]], layers: Sequence[int]) -> SharedPrefix:
    """Run the tokens with which all sequences begin; keeps the residual stream at `layers`."""
    length = common_prefix_length(sequences) if len(sequences) > 1 else 0
    if stack.rope_switch and any(len(sequence) > stack.rope_switch for sequence in sequences):
        length = 0  # longrope turns the beginning of a long prompt by other angles than that of a short one
    if length == 0:
        return SharedPrefix((), None, {})
    ids = tuple(sequences[0][:length])
    batch = pad_batch([ids], stack.pad_id).to(stack.device)
    cache = FixedPrefixCache(stack.n_layers)
    with reading([stack.layers[layer] for layer in layers]) as streams:
        _run_tokens(stack, batch, SharedPrefix((), None, {}), cache)
    return SharedPrefix(ids, cache.added(), dict(zip(layers, streams, strict=True)))


def prefill(
    stack: Decoder,
    sequences: Sequence[Sequence[int]],
    layers: Sequence[int],
    prefix: SharedPrefix,
    *,
    whole: bool = False,
) -> Prefilled:
    """One unsteered forward of prompts that begin with `prefix`.

    Args:
        sequences: whole prompts as token ids.
        layers: where the residual stream is kept.
        whole: keep it at every position, as steering at all positions needs; else at the last one, together with the
            keys and values that steering at the last position needs.
    """
    rest = pad_batch([sequence[len(prefix) :] for sequence in sequences], stack.pad_id).to(stack.device)
    rest = replace(rest, position_ids=rest.position_ids + len(prefix))
    cache = FixedPrefixCache(stack.n_layers, prefix.keys_and_values)
    with (
        reading([stack.layers[layer] for layer in layers]) as streams,
        reading([stack.norm], inputs=True) as final,
        contextlib.nullcontext() if whole and stack.n_layers - 1 in layers else _last_position_on_top(stack),
    ):
        _run_tokens(stack, rest, prefix, cache)
    kept = {layer: stream if whole else stream[:, -1:].clone() for layer, stream in zip(layers, streams, strict=True)}
    keys_and_values = None
    if layers and not whole:
        keys_and_values = join_prefix(prefix.keys_and_values, cache.added(), from_layer=min(layers) + 1)
    return Prefilled(prefix, rest, keys_and_values, kept, final[0][:, -1].clone())


def steer_last(
    stack: Decoder, prefilled: Prefilled, edits: Edits, settings: Float[Tensor, "questions row"]
) -> Float[Tensor, "question row d_model"]:
    """Final residual streams at the answer position, edited there; rows are independent of each other.

    Each row is the answer that a forward of its own would give.

    Args:
        edits: they go on from a layer whose residual stream was kept (`beginning_of`).
        settings: of each row; one line of them serves all questions.
    """
    layer, begin = beginning_of(edits)
    rows = begin(prefilled.residuals[layer][:, -1:], settings)
    if layer == stack.n_layers - 1:
        return rows
    batch, n_rows = prefilled.batch, rows.shape[1]
    questions = rows.shape[0]
    mask = batch.attention_mask
    valid = torch.cat([mask.new_ones((len(mask), len(prefilled.prefix))), mask], dim=1)
    valid[:, -1] = False  # the unedited last position: each row stands in its place
    itself = torch.eye(n_rows, dtype=torch.bool, device=valid.device)
    seen = torch.cat(
        [valid[:, None, :].expand(-1, n_rows, -1), itself.expand(questions, -1, -1)],
        dim=2,
    )
    query_position = batch.position_ids[:, -1:].expand(-1, n_rows)
    key_position = torch.cat([_key_positions(batch, len(prefilled.prefix)), query_position], dim=1)
    cache = FixedPrefixCache(stack.n_layers, prefilled.keys_and_values)
    additive = attention_mask(stack.config, seen, query_position, key_position, stack.dtype)
    with _edited_above(stack, edits, settings):
        return _run_above(stack, layer, rows, additive, query_position, cache)


def steer_all(
    stack: Decoder, prefilled: Prefilled, edits: Edits, settings: Float[Tensor, " row"]
) -> Float[Tensor, "question row d_model"]:
    """Final residual streams at the answer position, edited at every position; one row for each setting."""
    layer, begin = beginning_of(edits)
    residual = prefilled.residuals[layer]
    if layer == stack.n_layers - 1:
        return begin(residual[:, -1:], settings[None])
    budget = TOKENS_AT_ONCE.get(residual.device.type, 1024)
    prefixes_at_once = max(1, budget // 4 // max(1, len(prefilled.prefix)))
    at_once = max(1, budget // (residual.shape[0] * residual.shape[1]))
    answers: list[Tensor] = []
    for some in settings.split(prefixes_at_once):
        work = partial(_steer_rows, stack, prefilled, edits, some, _steer_prefix(stack, prefilled.prefix, edits, some))
        places = list(range(len(some)))
        for first in range(0, len(some), at_once):
            answers += halved(work, places[first : first + at_once])
    return torch.cat(answers, dim=1)


@contextlib.contextmanager
def _edited_above(stack: Decoder, edits: Edits, settings: Float[Tensor, "*settings"]) -> Iterator[None]:
    """While the context lasts, the edits above where the rows begin act on whatever passes their places."""
    first, _ = beginning_of(edits)
    with contextlib.ExitStack() as hooks:
        for place, edit in edits.items():
            if place != first:
                hooks.enter_context(edited_at(stack, place, partial(_at, edit, settings)))
        yield


def _at(edit: StreamEdit, settings: Tensor, stream: Tensor) -> Tensor:
    return edit(stream, settings)


def _steer_prefix(
    stack: Decoder, prefix: SharedPrefix, edits: Edits, settings: Float[Tensor, " row"]
) -> KeysAndValues | None:
    """Keys and values of the common beginning, edited at all of its positions; a row for each setting."""
    if not len(prefix):
        return None
    (layer, begin), by_row = beginning_of(edits), settings[:, None]
    position = torch.arange(len(prefix), device=settings.device).expand(len(settings), -1)
    cache = FixedPrefixCache(stack.n_layers)
    with _last_position_on_top(stack), _edited_above(stack, edits, by_row):
        _run_above(stack, layer, begin(prefix.residuals[layer], by_row), None, position, cache)
    return cache.added()


def _steer_rows(
    stack: Decoder,
    prefilled: Prefilled,
    edits: Edits,
    settings: Float[Tensor, " row"],
    prefix_keys_and_values: KeysAndValues | None,
    places: list[int],
) -> Float[Tensor, "question chosen d_model"]:
    """Run the prompts' own positions at some neighbours among the settings, on top of a prefix edited at the same."""
    layer, begin = beginning_of(edits)
    batch, residual = prefilled.batch, prefilled.residuals[layer]
    rows, n_rows, n_questions = slice(places[0], places[-1] + 1), len(places), len(residual)
    keys_and_values, settings = _for_rows(prefix_keys_and_values, rows, n_questions), settings[rows]
    batch = batch.mapped(lambda each: each.repeat(n_rows, 1))
    cache = FixedPrefixCache(stack.n_layers, keys_and_values)
    stream = begin(residual, settings[:, None, None]).flatten(0, 1)
    mask = _causal_mask(stack, batch, len(prefilled.prefix))
    with _last_position_on_top(stack), _edited_above(stack, edits, settings.repeat_interleave(n_questions)[:, None]):
        final = _run_above(stack, layer, stream, mask, batch.position_ids, cache)
    return final[:, -1].unflatten(0, (n_rows, n_questions)).transpose(0, 1)


def _for_rows(keys_and_values: KeysAndValues | None, rows: slice, times: int) -> KeysAndValues | None:
    """Repeat each of some rows `times` times, side by side; a single row serves them all as it is."""
    if keys_and_values is None:
        return None
    picked = [entry and (entry[0][rows], entry[1][rows]) for entry in keys_and_values]
    if rows.stop - rows.start == 1:
        return picked
    return [
        entry and (entry[0].repeat_interleave(times, dim=0), entry[1].repeat_interleave(times, dim=0))
        for entry in picked
    ]


@contextlib.contextmanager
def _last_position_on_top(stack: Decoder) -> Iterator[None]:
    """While the context lasts, the top layer gives its output at the last position alone.

    Of the other positions nothing but its keys and values is ever used, so that its output projection and its MLP
    need not run on them. Their residual stream comes out wrong there, and must not be read.
    """
    top = stack.layers[-1]
    modules = [getattr(getattr(top, "self_attn", None), "o_proj", None), getattr(top, "mlp", None)]
    handles = [
        module.register_forward_pre_hook(lambda module, args: (args[0][:, -1:], *args[1:]))
        for module in (modules if all(isinstance(module, nn.Module) for module in modules) else [])
        if module is not None
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _run_tokens(stack: Decoder, batch: TokenBatch, prefix: SharedPrefix, cache: FixedPrefixCache) -> None:
    with stack.turned_by_row():
        stack.module(
            input_ids=batch.input_ids,
            position_ids=batch.position_ids,
            attention_mask=_causal_mask(stack, batch, len(prefix)),
            use_cache=True,
            **{stack.cache_argument: cache},
        )


def _run_above(
    stack: Decoder,
    layer: int,
    stream: Float[Tensor, "row pos d_model"],
    mask: Tensor | dict[str, Tensor] | None,
    position_ids: Tensor,
    cache: FixedPrefixCache,
) -> Float[Tensor, "row pos d_model"]:
    with stack.turned_by_row(), stack.beginning_after(layer, stream), reading([stack.norm], inputs=True) as final:
        stack.module(
            inputs_embeds=stream,
            position_ids=position_ids,
            attention_mask=mask,
            use_cache=True,
            **{stack.cache_argument: cache},
        )
    return final[0].to(stream.device)


def _causal_mask(stack: Decoder, batch: TokenBatch, n_prefix: int) -> Tensor | dict[str, Tensor] | None:
    """Every own position sees the prefix and the real own positions up to itself.

    None where each simply sees all before it: transformers then asks for causal attention without a mask, which flash
    kernels and grouped heads need.
    """
    if not n_prefix and not batch.padded:
        return None
    width = batch.input_ids.shape[1]
    column = torch.arange(width, device=batch.input_ids.device)
    causal = (column[:, None] >= column[None, :])[None] & batch.attention_mask[:, None, :]
    seen = torch.cat([causal.new_ones(len(causal), width, n_prefix), causal], dim=2)
    return attention_mask(stack.config, seen, batch.position_ids, _key_positions(batch, n_prefix), stack.dtype)


def _key_positions(batch: TokenBatch, n_prefix: int) -> Tensor:
    rows = batch.position_ids.shape[0]
    prefix = torch.arange(n_prefix, device=batch.position_ids.device).expand(rows, -1)
    return torch.cat([prefix, batch.position_ids], dim=1)

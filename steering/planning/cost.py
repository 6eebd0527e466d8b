"""What a sweep will cost, before it is run: forwards, tokens, floating-point operations, memory, and time.

A product of n rows with a weight of a x b counts 2 n a b operations. The sizes are those of the model's own linear
layers, built from its config without weights, so that every architecture is counted by the same lines. Norms,
activation functions and rotary embeddings are left out: they cost time, not operations worth counting, and their time
is in the measured rates.

    prefill   every prompt's own tokens through all layers, the common beginning once
    rows      positions `last`: one token per question and magnitude through the layers above the vector's
    whole     positions `prompt` and `all`: every own token per question and magnitude through those layers
    readout   one row of the whole unembedding per question and magnitude, in float32
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from onedial.core import InputError
from onedial.models import (
    QUESTIONS_PER_BATCH,
    TOKENS_AT_ONCE,
    VOCABULARY_CHUNK,
    Decoder,
    auto_class,
    batches_by_length,
)
from steering.interventions import POSITIONS, WRITTEN_ONLY
from steering.reading import ROWS_PER_QUESTION

STAGES = ("prefill", "rows", "whole", "readout")


@dataclass(frozen=True)
class ModelSize:
    """What the cost of a decoder rests on, read off its config.

    Attributes:
        layer_flops: of one token through the linear layers of one decoder layer.
        unread_flops: those of them that are spared in the top layer at positions whose output nobody reads.
        unembedding: rows and columns, vocabulary x d_model.
        attention_width: query heads times their width.
        key_width: key heads times their width: what one token keeps, for keys and again for values.
        mlp_width: the widest intermediate activation.
        n_parameters: weights, tied ones once.
    """

    n_layers: int
    d_model: int
    layer_flops: float
    unread_flops: float
    unembedding: tuple[int, int]
    attention_width: int
    key_width: int
    mlp_width: int
    n_parameters: int

    @classmethod
    def of(cls, config: Any) -> "ModelSize":
        """Build the model of a Hugging Face config without weights, and count.

        Raises:
            InputError: the config is of no causal language model with decoder layers.
        """
        try:
            with torch.device("meta"):
                hf = auto_class(config.model_type).from_config(config)
            layers = Decoder(hf, 0, type(config).__name__).layers
        except (ValueError, AttributeError) as error:
            raise InputError(f"{type(config).__name__} is no config of a causal language model: {error}") from error
        text = hf.config.get_text_config()
        linears = [module for layer in layers for module in layer.modules() if isinstance(module, (nn.Linear, Conv1D))]
        top = dict(layers[-1].named_modules())
        spared = ("self_attn.o_proj", "mlp.") if {"self_attn.o_proj", "mlp"} <= set(top) else ()
        unread = [module for name, module in top.items() if isinstance(module, nn.Linear) and name.startswith(spared)]
        heads = text.num_attention_heads
        width = getattr(text, "head_dim", None) or text.hidden_size // heads
        return cls(
            n_layers=len(layers),
            d_model=text.hidden_size,
            layer_flops=sum(2.0 * linear.weight.numel() for linear in linears) / len(layers),
            unread_flops=sum(2.0 * linear.weight.numel() for linear in unread),
            unembedding=tuple(hf.get_output_embeddings().weight.shape),
            attention_width=heads * width,
            key_width=(getattr(text, "num_key_value_heads", None) or heads) * width,
            mlp_width=max(max(linear.weight.shape) for linear in linears),
            n_parameters=sum(parameter.numel() for parameter in hf.parameters()),
        )

    def rows_flops(self, n_rows: int, context: float, n_layers: int) -> float:
        """Tokens that each see `context` positions and are all read, through some layers."""
        return n_rows * n_layers * (self.layer_flops + 4.0 * context * self.attention_width)

    def prompt_flops(self, n_tokens: int, context: float, n_layers: int) -> float:
        """Prompts of which the last position alone is read, through the uppermost layers."""
        spared = n_tokens * self.unread_flops if n_layers else 0.0
        return self.rows_flops(n_tokens, context, n_layers) - spared


@dataclass(frozen=True)
class CostPrediction:
    """The cost of a sweep.

    Attributes:
        n_prefills: unsteered forwards, one per question.
        n_rows: steered forward rows, one per question, vector and magnitude.
        n_tokens: tokens that pass a layer stack, whole or in part.
        flops: stage -> operations.
        weight_bytes, working_bytes: memory of the weights, and of the largest batch beside them. What the process
            takes for itself and its libraries comes on top.
        seconds: of one process on this device; None where its rates are not known.
    """

    n_prefills: int
    n_rows: int
    n_tokens: int
    flops: Mapping[str, float]
    weight_bytes: int
    working_bytes: int
    seconds: float | None

    def __add__(self, other: "CostPrediction") -> "CostPrediction":
        """One after the other, by the same model: what is counted adds up, and memory is the larger of both."""
        known = self.seconds is not None and other.seconds is not None
        return CostPrediction(
            n_prefills=self.n_prefills + other.n_prefills,
            n_rows=self.n_rows + other.n_rows,
            n_tokens=self.n_tokens + other.n_tokens,
            flops={stage: flops + other.flops[stage] for stage, flops in self.flops.items()},
            weight_bytes=max(self.weight_bytes, other.weight_bytes),
            working_bytes=max(self.working_bytes, other.working_bytes),
            seconds=(self.seconds or 0.0) + (other.seconds or 0.0) if known else None,
        )

    @property
    def total_flops(self) -> float:
        """Of all stages."""
        return sum(self.flops.values())

    @property
    def peak_bytes(self) -> int:
        """Weights and working memory."""
        return self.weight_bytes + self.working_bytes


def predict_cost(
    config: Any,
    n_questions: int,
    prompt_lengths: Sequence[int],
    steered: Sequence[tuple[int, int]],
    positions: str = "last",
    dtype: torch.dtype = torch.float32,
    rates: Mapping[str, float] | None = None,
    *,
    n_shared: int = 0,
    device: str = "cpu",
    batch_size: int | None = None,
) -> CostPrediction:
    """Predict what `steering.sweep` will cost.

    Args:
        config: Hugging Face config of the model; no weights are needed.
        prompt_lengths: tokens of some or all prompts; the questions are taken to be of these lengths in turn.
        steered: layer and number of magnitudes of each vector; without any, the prompts are only read once.
        positions: "last", "prompt" or "all".
        rates: operations per second of each stage (`steering.planning.speed`), else no time is predicted.
        n_shared: tokens with which all prompts begin.
        device: type of the device, which sets the size of batches.

    Raises:
        InputError: no questions, lengths or magnitudes, an unknown choice of positions, or a layer that is not there.

    >>> from transformers import LlamaConfig
    >>> config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4)
    >>> one, ten = (predict_cost(config, 100, [40, 50], [(2, k)]).n_rows for k in (1, 10))
    >>> one, ten
    (100, 1000)
    """
    read = [name for name in POSITIONS if name not in WRITTEN_ONLY]
    if positions not in read:
        raise InputError(
            f"--positions {positions!r} is none that an answer is read at; choose one of {', '.join(read)}"
        )
    counts = [count for _, count in steered]
    if min(n_questions, len(prompt_lengths), *counts) < 1:
        raise InputError(
            f"{n_questions} questions, {len(prompt_lengths)} prompt lengths and {counts} magnitudes leave nothing to "
            "predict; give at least one of each"
        )
    size = ModelSize.of(config)
    for layer, _ in steered:
        if not 0 <= layer < size.n_layers:
            raise InputError(f"layer {layer} requested, but this model has layers 0-{size.n_layers - 1}")
    lengths = [prompt_lengths[index % len(prompt_lengths)] for index in range(n_questions)]
    per_batch = batch_size or QUESTIONS_PER_BATCH.get(device, 16)
    batches = batches_by_length(lengths, per_batch)
    widths = [max(lengths[index] for index in batch) - n_shared for batch in batches]
    own = sum(width * len(batch) for width, batch in zip(widths, batches, strict=True))  # padding included
    context = n_shared + own / n_questions  # masked positions are computed too
    passes = [(size.n_layers - 1 - layer, count) for layer, count in steered]
    n_rows = n_questions * max(sum(counts), 1)
    flops = dict.fromkeys(STAGES, 0.0)
    flops["prefill"] = size.prompt_flops(own + n_shared, context, size.n_layers)
    n_steered_tokens = 0
    for above, count in passes:
        if positions == "last":
            n_tokens = n_questions * count
            flops["rows"] += size.rows_flops(n_tokens, context + min(count, ROWS_PER_QUESTION), above)
        else:
            n_tokens = count * (own + n_shared * len(batches))
            flops["whole"] += size.prompt_flops(n_tokens, context, above)
        n_steered_tokens += n_tokens
    flops["readout"] = 2.0 * n_rows * math.prod(size.unembedding)
    seconds = None
    if rates is not None:
        seconds = sum(flops[stage] / rates[stage] for stage in STAGES if flops[stage])
    return CostPrediction(
        n_prefills=n_questions,
        n_rows=n_questions * sum(counts),
        n_tokens=own + n_shared + n_steered_tokens,
        flops=flops,
        weight_bytes=size.n_parameters * dtype.itemsize,
        working_bytes=max(
            _working_bytes(size, len(batches[0]), widths[0], n_shared, count, above, positions, dtype, device)
            for above, count in passes or [(0, 1)]
        ),
        seconds=seconds,
    )


def with_more_readout(cost: CostPrediction, times: int, rates: Mapping[str, float] | None = None) -> CostPrediction:
    """The same where `times` positions of each row are unembedded instead of one."""
    more = (times - 1) * cost.flops["readout"]
    seconds = None if rates is None or cost.seconds is None else cost.seconds + more / rates["readout"]
    return replace(cost, flops={**cost.flops, "readout": cost.flops["readout"] + more}, seconds=seconds)


def with_kept(
    cost: CostPrediction,
    lengths: Sequence[int],
    kept: Sequence[int],
    kept_bytes: int,
    rates: Mapping[str, float] | None = None,
) -> CostPrediction:
    """The same where prompts of the lengths `kept`, of all `lengths`, were run before, and what was kept lies there."""
    share = sum(kept) / sum(lengths)
    spared = share * cost.flops["prefill"]
    seconds = None if rates is None or cost.seconds is None else cost.seconds - spared / rates["prefill"]
    return replace(
        cost,
        n_prefills=cost.n_prefills - len(kept),
        n_tokens=cost.n_tokens - sum(kept),
        flops={**cost.flops, "prefill": cost.flops["prefill"] - spared},
        working_bytes=cost.working_bytes + kept_bytes,
        seconds=seconds,
    )


def predict_writing(
    config: Any,
    prompt_lengths: Sequence[int],
    n_settings: int,
    n_new: int,
    dtype: torch.dtype = torch.float32,
    rates: Mapping[str, float] | None = None,
    device: str = "cpu",
) -> CostPrediction:
    """Predict the most that writing costs: every prompt whole at every setting, then `n_new` tokens one by one.

    Each token is a row through all layers and one of the whole unembedding. Texts that end sooner cost less; what the
    generating library adds for each token is not counted.

    Args:
        prompt_lengths: tokens of each prompt. n_settings: of the dial, each of which writes anew.
    """
    size, n = ModelSize.of(config), len(prompt_lengths) * n_settings
    context = sum(prompt_lengths) / max(len(prompt_lengths), 1)
    tokens = n_settings * sum(prompt_lengths)
    flops = dict.fromkeys(STAGES, 0.0)
    flops["prefill"] = size.prompt_flops(tokens, context, size.n_layers)
    flops["rows"] = size.rows_flops(n * n_new, context + n_new / 2, size.n_layers)
    flops["readout"] = 2.0 * n * n_new * math.prod(size.unembedding)
    per_batch = QUESTIONS_PER_BATCH.get(device, 16)
    kept = per_batch * (max(prompt_lengths, default=0) + n_new) * 2 * size.key_width * size.n_layers
    return CostPrediction(
        n_prefills=n,
        n_rows=n * n_new,
        n_tokens=tokens + n * n_new,
        flops=flops,
        weight_bytes=size.n_parameters * dtype.itemsize,
        working_bytes=(kept + per_batch * size.unembedding[0]) * dtype.itemsize,
        seconds=None if rates is None else sum(flops[stage] / rates[stage] for stage in STAGES if flops[stage]),
    )


def _working_bytes(
    size: ModelSize,
    n_batch: int,
    width: int,
    n_shared: int,
    n_magnitudes: int,
    above: int,
    positions: str,
    dtype: torch.dtype,
    device: str,
) -> int:
    """Of the largest batch: what is kept, and the larger of a decoder layer's and the readout's passing tensors."""
    rows = min(n_magnitudes, ROWS_PER_QUESTION)
    tokens = n_batch * width
    per_token = 2 * size.mlp_width + 4 * size.d_model + 2 * size.attention_width
    if positions == "last":
        kept = n_batch * (n_shared + width) * 2 * size.key_width * above
        passing = max(tokens, n_batch * rows) * per_token
        # Keys and values side by side with the new rows', then once more for every query head.
        passing += 2 * n_batch * (n_shared + width + rows) * (size.key_width + size.attention_width)
    else:
        at_once = max(1, TOKENS_AT_ONCE.get(device, 1024) // tokens)
        kept = tokens * size.d_model
        passing = at_once * tokens * (per_token + 2 * size.key_width * above)
        passing += 2 * at_once * n_batch * (n_shared + width) * (size.key_width + size.attention_width)
    vocabulary, d_model = size.unembedding
    chunk = min(vocabulary, VOCABULARY_CHUNK)
    logits = n_batch * rows
    # In float32: the chunk of the unembedding, where it is not so already, and its logits with their exponentials.
    readout = 4 * (2 * logits * chunk + (0 if dtype == torch.float32 else chunk * d_model))
    return int(kept * dtype.itemsize + max(passing * dtype.itemsize, readout))

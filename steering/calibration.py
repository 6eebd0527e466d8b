"""How fast this device works: operations per second of each stage of a sweep, measured on one batch."""

import math
import time
from collections.abc import Callable
from typing import Any

import torch

from open_models import OpenModel
from open_models.batches import QUESTIONS_PER_BATCH
from open_models.prefill import TOKENS_AT_ONCE
from open_models.tokens import common_prefix_length
from steering.cost import ModelSize
from steering.prompt_set import PromptSet
from steering.vectors import SteeringSpec, SteeringVector


def calibrate(model: OpenModel, prompts: PromptSet, layer: int | None = None) -> dict[str, float]:
    """Time each stage of `cost.STAGES` on one batch of prompts: a few seconds on a CPU with a small model.

    Args:
        layer: steered after it; the middle one by default.

    Returns:
        Stage -> floating-point operations per second.
    """
    size = ModelSize.of(model.hf.config)
    layer = model.n_layers // 2 if layer is None else layer
    model.check_layers([layer])
    lengths = [len(sequence) for sequence in prompts.sequences]
    middle = sorted(range(len(prompts)), key=lambda index: lengths[index])
    n_batch = QUESTIONS_PER_BATCH.get(model.device.type, 16)
    start = max(0, (len(middle) - n_batch) // 2)
    sequences = [prompts.sequences[index] for index in middle[start : start + n_batch]]
    n_shared = common_prefix_length(prompts.sequences) if len(prompts) > 1 else 0
    prefix = model.run_prefix(prompts.sequences, [layer])
    width = max(len(sequence) for sequence in sequences) - n_shared
    n_tokens, above = width * len(sequences), model.n_layers - 1 - layer
    context = float(n_shared + width)
    n_rows = 32

    direction = torch.zeros(model.d_model)
    direction[0] = 1.0
    vector = SteeringVector(direction, layer, 1.0, 1.0, model.identity)
    additions = vector.addition(torch.linspace(0, 1e-3, n_rows), SteeringSpec()).to(model.device)
    last, prefill_seconds = _timed(model, lambda: model.prefill(sequences, [layer], prefix))
    rates = {"prefill": size.prompt_flops(n_tokens, context, model.n_layers) / prefill_seconds}
    whole = model.prefill(sequences, [layer], prefix, whole=True)
    final, row_seconds = _timed(model, lambda: model.steer_last(last, layer, additions.expand(len(sequences), -1, -1)))
    n_whole = max(1, TOKENS_AT_ONCE.get(model.device.type, 1024) // n_tokens)
    _, whole_seconds = _timed(model, lambda: model.steer_all(whole, layer, additions[:n_whole]))
    _, readout_seconds = _timed(model, lambda: model.readout.margin_and_mass(final, prompts.tokens))
    rates["rows"] = size.rows_flops(n_rows * len(sequences), context + n_rows, max(above, 1)) / row_seconds
    whole_tokens = n_whole * (n_tokens + n_shared)
    rates["whole"] = size.prompt_flops(whole_tokens, context, max(above, 1)) / whole_seconds
    rates["readout"] = 2.0 * n_rows * len(sequences) * math.prod(size.unembedding) / readout_seconds
    return rates


def _timed(model: OpenModel, work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds of the second run: the first pays for what is set up once."""
    work()
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    started = time.perf_counter()
    result = work()
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return result, time.perf_counter() - started

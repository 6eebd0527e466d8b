"""How fast this device works: operations per second of each stage of a sweep, measured on one batch.

Weights need not be loaded for that: a few layers of the model's shape, with random numbers in them, work as fast.
"""

import copy
import math
import time
from collections.abc import Callable, Collection
from typing import Any

import torch

from onedial.core import InputError, notice
from onedial.models import QUESTIONS_PER_BATCH, TOKENS_AT_ONCE, OpenModel, PromptSet, common_prefix_length
from steering.interventions import Intervention, SteeringVector
from steering.planning.cost import STAGES, ModelSize

_LONG = 0.5
"""Seconds beside which setting up does not count on a CPU."""
SKETCH_LAYERS = 3
SKETCH_WEIGHTS = 10**9
"""More of them than this take longer to draw than a run's time is worth knowing beforehand."""


def sketch_of(config: Any, tokenizer: Any, dtype: torch.dtype, device: str) -> OpenModel | None:
    """The first layers of a model by its config, with random weights: as fast as the model, and wrong.

    Returns:
        None where such a sketch can't be made, or has over `SKETCH_WEIGHTS` weights; which it is, is noticed.
    """
    from transformers import AutoModelForCausalLM

    small = copy.deepcopy(config.get_text_config())
    n_layers, kept = small.num_hidden_layers, min(SKETCH_LAYERS, small.num_hidden_layers)
    for name, value in vars(small).items():  # the kinds of the layers, layer by layer
        if isinstance(value, list) and len(value) == n_layers:
            setattr(small, name, value[:kept])
    small.num_hidden_layers = kept
    try:
        if ModelSize.of(small).n_parameters > SKETCH_WEIGHTS:
            notice("the model's layers are too large to be tried with random weights, so no time is told")
            return None
        hf = AutoModelForCausalLM.from_config(small, dtype=dtype).to(device)
        return OpenModel(hf, tokenizer, name="a sketch")
    except (InputError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        notice(f"layers of this model can't be tried with random weights, so no time is told: {error}")
        return None


def measure_speed(
    model: OpenModel, prompts: PromptSet, layer: int | None = None, stages: Collection[str] = STAGES
) -> dict[str, float]:
    """Time stages of a sweep on one batch of prompts: a few seconds on a CPU with a small model.

    Args:
        layer: steered after it; the middle one by default.
        stages: which of `cost.STAGES` are wanted; `whole` is left out where it is not among them, for it takes as long
            as all others together.

    Returns:
        Stage -> floating-point operations per second.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=4), METACOGNITIVE)
    >>> sorted(measure_speed(model, prompts, stages=["prefix"]))
    ['prefill', 'readout', 'rows']
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
    width = max(len(sequence) for sequence in sequences) - n_shared
    n_tokens, above = width * len(sequences), model.n_layers - 1 - layer
    context = float(n_shared + width)
    n_rows = 32

    direction = torch.zeros(model.d_model)
    direction[0] = 1.0
    edits = Intervention.of(SteeringVector(direction, layer, 1.0, 1.0, model.identity)).edits()
    settings = torch.linspace(0, 1e-3, n_rows, device=model.device)[None]
    at_last = model.runner(prompts.sequences, [layer], "last")
    last, prefill_seconds = _timed(model, lambda: at_last.start(sequences))
    rates = {"prefill": size.prompt_flops(n_tokens, context, model.n_layers) / prefill_seconds}
    final, row_seconds = _timed(model, lambda: at_last.steer(last, edits, settings))
    _, readout_seconds = _timed(model, lambda: model.readout.margin_and_mass(final, prompts.tokens))
    rates["rows"] = size.rows_flops(n_rows * len(sequences), context + n_rows, max(above, 1)) / row_seconds
    rates["readout"] = 2.0 * n_rows * len(sequences) * math.prod(size.unembedding) / readout_seconds
    if "whole" in stages:
        at_all = model.runner(prompts.sequences, [layer], "all")
        whole = at_all.start(sequences)
        n_whole = max(1, TOKENS_AT_ONCE.get(model.device.type, 1024) // n_tokens)
        _, whole_seconds = _timed(model, lambda: at_all.steer(whole, edits, settings[:, :n_whole]))
        whole_tokens = n_whole * (n_tokens + n_shared)
        rates["whole"] = size.prompt_flops(whole_tokens, context, max(above, 1)) / whole_seconds
    return rates


def _timed(model: OpenModel, work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds of the second run, since the first pays for what is set up once; on a CPU that is
    little, so that a first run of over `_LONG` seconds is taken as it is."""
    result, seconds = _once(model, work)
    if model.device.type == "cpu" and seconds > _LONG:
        return result, seconds
    return _once(model, work)


def _once(model: OpenModel, work: Callable[[], Any]) -> tuple[Any, float]:
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    started = time.perf_counter()
    result = work()
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return result, time.perf_counter() - started

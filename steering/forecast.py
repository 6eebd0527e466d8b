"""What a whole run will cost, stage by stage, before it is begun.

    reading    the extraction split once, and the few questions that show whether yes and no can be read
    scanning   the fitting split at the doubled magnitudes, one vector for each candidate layer
    placing    the fitting split at the coarse magnitudes
    sweep      all questions at all magnitudes of the vector
    ranges     a few questions of the fitting split at the doubled magnitudes of each control
    controls   where the answers to all questions turn along each control
    instructed all but the extraction questions, told how sure to be, once for each level
    facts      the unrelated facts at all magnitudes of the vector, taken to be as long as the questions
    text       neutral passages at all magnitudes of the vector, of which the second half is read
    reasoned   fitting and test questions written to at a few settings: at most so many tokens each, often fewer

The layer is not known before the scan; the middle one of the candidates stands for it. Loading the weights, matching
and the report are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from elicitation import PromptTemplate, Question
from open_models import (
    DTYPES,
    PromptSet,
    common_prefix_length,
    encode,
    load_config,
    load_model,
    render,
    resolve_weights,
    weights_are_here,
)
from steering.controls import N_CONTRASTS
from steering.cost import STAGES, CostPrediction, predict_cost, predict_writing, with_more_readout
from steering.critical import ROWS_PER_CROSSING
from steering.layers import candidate_layers
from steering.magnitudes import COARSE_POINTS, GRID_POINTS, doubling
from steering.plan import RANGE_QUESTIONS
from steering.readability import ASKED
from steering.speed import measure_speed

PASSAGE_TOKENS = 36
"""Of a neutral passage, about."""


@dataclass(frozen=True)
class RunForecast:
    """The cost of a run.

    Attributes:
        stages: name -> prediction, in order.
        setting: dtype and device, for people.
    """

    stages: Mapping[str, CostPrediction]
    setting: str

    @property
    def seconds(self) -> float | None:
        """Of one process on the device that was measured; None where none was."""
        each = [stage.seconds for stage in self.stages.values()]
        return None if None in each else sum(seconds for seconds in each if seconds is not None)

    @property
    def peak_bytes(self) -> int:
        """Weights and the largest working memory; what the process takes for itself and its libraries comes on top."""
        return max(stage.peak_bytes for stage in self.stages.values())

    def __str__(self) -> str:
        lines = [
            self.setting,
            f"{'stage':<10}{'prompts':>9}{'steered rows':>14}{'tokens':>12}{'TFLOP':>10}{'time':>12}",
        ]
        for name, cost in [*self.stages.items(), ("total", None)]:
            parts = list(self.stages.values()) if cost is None else [cost]
            lines.append(
                f"{name:<10}{sum(part.n_prefills for part in parts):>9,}{sum(part.n_rows for part in parts):>14,}"
                f"{sum(part.n_tokens for part in parts):>12,}{sum(part.total_flops for part in parts) / 1e12:>10,.1f}"
                f"{_clock(self.seconds if cost is None else cost.seconds):>12}"
            )
        weights = next(iter(self.stages.values())).weight_bytes
        lines.append(f"memory: {weights / 2**30:.1f} GiB of weights, {self.peak_bytes / 2**30:.1f} GiB at the peak")
        if self.seconds is None:
            lines.append("the weights are not on this machine: no time can be told, the rest follows from the config")
        return "\n".join(lines)


def measure_and_forecast(
    name_or_path: str,
    asked: Mapping[str, Sequence[Question]],
    template: PromptTemplate,
    revision: str | None = None,
    dtype: str = "auto",
    device_map: str | None = None,
    forecast: Callable[..., RunForecast] | None = None,
    **options: Any,
) -> RunForecast:
    """Forecast for a model by its name. Weights are loaded only if they are here, for a few seconds of measurement.

    Args:
        name_or_path, revision, dtype, device_map: as in `load_model`.
        asked: split -> its questions.
        forecast: what predicts the stages, `forecast_run` by default.
        options: of that function: layer, positions, n_magnitudes, n_controls, n_facts, n_instructed, n_passages,
            n_reasoned, reasoned_tokens of `forecast_run`.

    Raises:
        InputError: as `load_model` and `forecast`.
    """
    location = resolve_weights(name_or_path, revision)
    config, tokenizer = load_config(location)
    sequences = {
        split: [encode(tokenizer, render(tokenizer, template.fill(question.text))) for question in questions]
        for split, questions in asked.items()
    }
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loaded = DTYPES.get(dtype) or (config.dtype if device == "cuda" else None) or torch.float32
    rates = None
    if weights_are_here(location):
        model = load_model(name_or_path, revision=revision, dtype=dtype, device_map=device_map)
        loaded, device = model.dtype, model.device.type
        prompts = PromptSet.build(model, [q for questions in asked.values() for q in questions], template)
        whole = options.get("positions", "last") != "last" or options.get("n_passages")
        rates = measure_speed(model, prompts, stages=STAGES if whole else [name for name in STAGES if name != "whole"])
    return (forecast or forecast_run)(
        config,
        {split: [len(sequence) for sequence in own] for split, own in sequences.items()},
        dtype=loaded,
        rates=rates,
        n_shared=common_prefix_length([sequence for own in sequences.values() for sequence in own]),
        device=device,
        **options,
    )


def forecast_run(
    config: Any,
    lengths: Mapping[str, Sequence[int]],
    layer: str = "auto",
    positions: str = "last",
    n_magnitudes: int | None = None,
    n_controls: int = 0,
    n_facts: int = 0,
    n_instructed: int = 0,
    dtype: torch.dtype = torch.float32,
    rates: Mapping[str, float] | None = None,
    *,
    n_shared: int = 0,
    device: str = "cpu",
    n_passages: int = 0,
    n_reasoned: int = 0,
    reasoned_tokens: int = 160,
) -> RunForecast:
    """Predict the stages of `experiments/steer_sweep.py`.

    Args:
        config: Hugging Face config of the subject.
        lengths: split (extraction, fitting, test) -> tokens of each prompt.
        layer: as in `candidate_layers`.
        n_magnitudes: where they were given; None lets the run place them.
        n_controls: drawn ones. n_facts: unrelated facts. n_instructed: levels of the instructed threshold.
        n_passages: of neutral text.
        n_reasoned: settings at which the subject writes, reasoned_tokens at most each time.
        rates: of `measure_speed`; without them no time is predicted.
        n_shared: tokens with which all prompts begin.

    Raises:
        InputError: an empty split, or a layer that the model has not.
    """
    layers = candidate_layers(layer, config.get_text_config().num_hidden_layers)
    middle = layers[len(layers) // 2]
    grid = n_magnitudes or GRID_POINTS
    beyond = len(doubling())
    everything = [length for split in lengths.values() for length in split]

    def cost(prompts: Sequence[int], steered: Sequence[tuple[int, int]], n_extra: int = 0) -> CostPrediction:
        return predict_cost(
            config, len(prompts) + n_extra, prompts, steered, positions, dtype, rates, n_shared=n_shared, device=device
        )

    stages = {"reading": cost(lengths["extraction"], [], ASKED)}
    if len(layers) > 1 or n_magnitudes is None:
        stages["scanning"] = cost(lengths["fitting"], [(candidate, beyond) for candidate in layers])
    if n_magnitudes is None:
        stages["placing"] = cost(lengths["fitting"], [(middle, COARSE_POINTS)])
    stages["sweep"] = cost(everything, [(middle, grid)])
    if n_controls:
        each = n_controls + N_CONTRASTS
        stages["ranges"] = cost(lengths["fitting"][:RANGE_QUESTIONS], [(middle, beyond)] * each)
        stages["controls"] = cost(everything, [(middle, ROWS_PER_CROSSING[positions == "last"])] * each)
    if n_instructed:
        stages["instructed"] = cost([*lengths["fitting"], *lengths["test"]] * n_instructed, [])
    if n_facts:
        stages["facts"] = cost((list(everything) * n_facts)[:n_facts], [(middle, grid)])
    if n_passages:
        text = predict_cost(config, n_passages, [PASSAGE_TOKENS], [(middle, grid)], "all", dtype, rates, device=device)
        stages["text"] = with_more_readout(text, PASSAGE_TOKENS // 2, rates)
    if n_reasoned:
        written = [length for split in ("fitting", "test") for length in lengths[split]]
        stages["reasoned"] = predict_writing(config, written, n_reasoned, reasoned_tokens, dtype, rates, device)
    return RunForecast(stages, f"{str(dtype).removeprefix('torch.')} on {device}")


def forecast_multiverse(
    config: Any,
    lengths: Mapping[str, Sequence[int]],
    candidates: Sequence[int],
    universes: Sequence[Sequence[tuple[int, str]]],
    dtype: torch.dtype = torch.float32,
    rates: Mapping[str, float] | None = None,
    *,
    n_shared: int = 0,
    device: str = "cpu",
) -> RunForecast:
    """Predict the stages of `experiments/multiverse.py`; all wordings are taken to be as long as the first.

    Args:
        config, lengths, dtype, rates, n_shared, device: see `forecast_run`.
        candidates: layers that are scanned for the run's own; none where it was given.
        universes: of each wording, layer and contrast of each of its universes.
    """
    asked = [*lengths["fitting"], *lengths["test"]]

    def cost(prompts: Sequence[int], steered: Sequence[tuple[int, int]], times: int = 1) -> CostPrediction:
        return predict_cost(
            config, times * len(prompts), prompts, steered, "last", dtype, rates, n_shared=n_shared, device=device
        )

    # The answer contrast reads each prompt as it is, and with either answer.
    n_readings = sum(3 if contrast == "answer" else 1 for own in universes for contrast in {each[1] for each in own})
    stages = {"reading": cost(lengths["extraction"], [], n_readings + (len(candidates) > 1))}
    if len(candidates) > 1:
        stages["scanning"] = cost(lengths["fitting"], [(layer, len(doubling())) for layer in candidates])
    few = lengths["fitting"][:RANGE_QUESTIONS]
    for number, own in enumerate(universes, 1):
        stages[f"ranges {number}"] = cost(few, [(layer, len(doubling())) for layer, _ in own])
        stages[f"turns {number}"] = cost(asked, [(layer, ROWS_PER_CROSSING[True]) for layer, _ in own])
    return RunForecast(stages, f"{str(dtype).removeprefix('torch.')} on {device}")


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"

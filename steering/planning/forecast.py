"""What a whole run will cost, stage by stage, before it is begun.

    reading    the extraction split once, and the few questions that show whether yes and no can be read
    scanning   the fitting split at the doubled magnitudes, one vector for each candidate layer
    placing    the fitting split at the coarse magnitudes
    sweep      all questions at all magnitudes of the vector
    ranges     a few questions of the fitting split at the doubled magnitudes of each control at each candidate layer
    controls   where the answers to all questions turn along each control
    instructed all but the extraction questions, told how sure to be, once for each level
    facts      the unrelated facts at all magnitudes of the vector, taken to be as long as the questions
    reversed   a few fitting questions in both wordings, at a few magnitudes, and at the doubled ones of Yes minus No
    text       neutral passages at all magnitudes of the vector, of which the second half is read
    reasoned   fitting and test questions written to at a few settings: at most so many tokens each, often fewer

`forecast_multiverse` and `forecast_comparison` say what the stages of the other long programs are.

The layer is not known before the scan; the middle one of the candidates stands for it. Prompts that an earlier stage
has run and the run keeps (`onedial.models.OpenModel.caching_prefills`) are not counted again. Loading the weights,
matching and the report are left out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from onedial.asking import PromptTemplate, Question
from onedial.models import (
    CACHE_BYTES,
    DTYPES,
    PromptSet,
    common_prefix_length,
    encode,
    load_config,
    render,
    resolve_weights,
)
from steering.causes import (
    INTERCHANGE_DRAWN,
    INTERCHANGE_PAIRS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
)
from steering.controls import N_CONTRASTS
from steering.critical import ROWS_PER_CROSSING
from steering.dials.dials import RATES
from steering.effects.side_effects import N_PREFERENCES, REVERSED_SETTINGS
from steering.planning.cost import (
    STAGES,
    CostPrediction,
    ModelSize,
    predict_cost,
    predict_writing,
    with_kept,
    with_more_readout,
)
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import COARSE_POINTS, GRID_POINTS, RANGE_QUESTIONS, doubling
from steering.planning.readability import ASKED
from steering.planning.speed import measure_speed, sketch_of

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
        lines.append(
            f"memory: {weights / 2**30:.1f} GiB of weights, {self.peak_bytes / 2**30:.1f} GiB at the peak; beside it "
            "the process takes about a GiB for Python and its libraries"
        )
        if self.seconds is None:
            lines.append("no time can be told, the rest follows from the config")
        return "\n".join(lines)


def measure_and_forecast(
    name_or_path: str,
    asked: Mapping[str, Sequence[Question]],
    template: PromptTemplate,
    revision: str | None = None,
    dtype: str = "auto",
    forecast: Callable[..., RunForecast] | None = None,
    **options: Any,
) -> RunForecast:
    """Forecast for a model by its name, of which config and tokenizer are read, and no weights (`sketch_of`).

    Args:
        name_or_path, revision, dtype: as in `load_model`.
        asked: split -> its questions.
        forecast: what predicts the stages, `forecast_run` by default.
        options: of that function: layer, positions, n_magnitudes, n_controls, n_facts, n_instructed, n_passages,
            n_reversed, n_reasoned, reasoned_tokens of `forecast_run`.

    Raises:
        InputError: as `load_config` and `forecast`.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, folder = load_model("smollm2-135m-instruct"), tempfile.TemporaryDirectory()
    >>> for each in (model.hf, model.tokenizer):
    ...     _ = each.save_pretrained(folder.name)
    >>> asked = dict.fromkeys(("extraction", "fitting", "test"), load_questions("embedded", n=4))
    >>> list(measure_and_forecast(folder.name, asked, METACOGNITIVE, layer="2", n_magnitudes=5).stages)
    ['reading', 'sweep']
    """
    config, tokenizer = load_config(resolve_weights(name_or_path, revision, convert=False))
    sequences = {
        split: [encode(tokenizer, render(tokenizer, template.fill(question.text))) for question in questions]
        for split, questions in asked.items()
    }
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loaded = DTYPES.get(dtype) or (config.dtype if device == "cuda" else None) or torch.float32
    rates = None
    if (sketch := sketch_of(config, tokenizer, loaded, device)) is not None:
        prompts = PromptSet.build(sketch, [q for questions in asked.values() for q in questions], template)
        whole = options.get("positions", "last") != "last" or options.get("n_passages")
        rates = measure_speed(sketch, prompts, 0, STAGES if whole else [name for name in STAGES if name != "whole"])
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
    n_reversed: int = 0,
    tests: Collection[str] = (),
) -> RunForecast:
    """Predict the stages of `experiments/steer_sweep.py`.

    Args:
        config: Hugging Face config of the subject.
        lengths: split (extraction, fitting, test) -> tokens of each prompt.
        layer: as in `candidate_layers`.
        n_magnitudes: where they were given; None lets the run place them.
        n_controls: drawn ones. n_facts: unrelated facts. n_instructed: levels of the instructed threshold.
        n_passages: of neutral text. n_reversed: fitting questions that are asked in both wordings.
        n_reasoned: settings at which the subject writes, reasoned_tokens at most each time.
        tests: "interchange", "mediation" or both; from above, of as many questions as they ask at most.
        rates: of `measure_speed`; without them no time is predicted.
        n_shared: tokens with which all prompts begin.

    Raises:
        InputError: an empty split, or a layer that the model has not.

    >>> from transformers import LlamaConfig
    >>> config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4)
    >>> lengths = {"extraction": [40] * 10, "fitting": [40] * 10, "test": [40] * 20}
    >>> list(forecast_run(config, lengths, layer="2", n_magnitudes=5).stages)
    ['reading', 'sweep']
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
    known = [*lengths["extraction"], *(lengths["fitting"] if "scanning" in stages else [])]
    size = ModelSize.of(config)
    n_bytes = 2 * size.key_width * (size.n_layers - 1 - min(layers)) * sum(known) * dtype.itemsize
    room = min(1.0, CACHE_BYTES / n_bytes) if n_bytes and positions == "last" else 0.0
    known, n_bytes = known[: int(room * len(known))], int(room * n_bytes)

    def again(cost: CostPrediction, prompts: Sequence[int], known: Sequence[int]) -> CostPrediction:
        own, kept = ([length - n_shared for length in some] for some in (prompts, known))
        return with_kept(cost, own, kept, n_bytes, rates)

    if n_magnitudes is None:
        placing = cost(lengths["fitting"], [(middle, COARSE_POINTS)])
        stages["placing"] = again(placing, lengths["fitting"], known[len(lengths["extraction"]) :])
    stages["sweep"] = again(cost(everything, [(middle, grid)]), everything, known)
    if n_controls:
        each = n_controls + N_CONTRASTS
        stages["ranges"] = cost(lengths["fitting"][:RANGE_QUESTIONS], [(layer, beyond) for layer in layers] * each)
        turning = cost(everything, [(middle, ROWS_PER_CROSSING[positions == "last"])] * each)
        stages["controls"] = again(turning, everything, known)
    if n_instructed:
        stages["instructed"] = cost([*lengths["fitting"], *lengths["test"]] * n_instructed, [])
    if n_facts:
        stages["facts"] = cost((list(everything) * n_facts)[:n_facts], [(middle, grid)])
    if n_reversed:
        both = [*lengths["fitting"][:n_reversed]] * 2 + (everything * N_PREFERENCES)[:N_PREFERENCES]
        stages["reversed"] = cost(both, [(middle, REVERSED_SETTINGS), (middle, beyond)])
    if "interchange" in tests:
        swapped = ([*lengths["test"]] * 4)[: 4 * INTERCHANGE_PAIRS]
        stages["interchange"] = cost(swapped, [(middle, 2 + 2 * INTERCHANGE_DRAWN)], len(swapped))
    if "mediation" in tests:
        held = ([*lengths["test"]] * MEDIATION_LAYERS)[: MEDIATION_LAYERS * MEDIATION_QUESTIONS]
        rows = 3 + 4 * (5 + 2 * MEDIATION_DRAWN)
        stages["mediation"] = cost(everything, []) + cost(held, [(middle, rows)])
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

    >>> from transformers import LlamaConfig
    >>> config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4)
    >>> lengths = {"extraction": [40] * 10, "fitting": [40] * 10, "test": [40] * 20}
    >>> list(forecast_multiverse(config, lengths, [1, 2], [[(2, "response")]]).stages)
    ['reading', 'scanning', 'ranges 1', 'confirming 1', 'turns 1']
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
        stages[f"confirming {number}"] = cost(lengths["fitting"], [(layer, len(doubling()) // 2) for layer, _ in own])
        stages[f"turns {number}"] = cost(asked, [(layer, ROWS_PER_CROSSING[True]) for layer, _ in own])
    return RunForecast(stages, f"{str(dtype).removeprefix('torch.')} on {device}")


def forecast_comparison(
    config: Any,
    lengths: Mapping[str, Sequence[int]],
    candidates: Sequence[int],
    n_directions: int,
    n_interventions: int,
    prompt_settings: Sequence[int],
    n_facts: int,
    n_passages: int,
    n_timed: int,
    dtype: torch.dtype = torch.float32,
    rates: Mapping[str, float] | None = None,
    *,
    n_readings: int = 1,
    n_whole: int = 0,
    n_read_once: int = 1,
    positions: str = "last",
    n_shared: int = 0,
    device: str = "cpu",
) -> RunForecast:
    """Predict the most that `experiments/compare_dials.py` costs, every dial reaching every yes rate.

        reading     the extraction split, for contrasts, gradients and an adapter, and the fitting split once
        pushes      the fitting split, a step to either side along each direction at each candidate layer
        scanning    the fitting split at the doubled magnitudes, one direction for each candidate layer
        placing     the fitting split at the first settings of each dial
        answers     fitting and test split at the settings of each yes rate
        facts       the unrelated facts at these and at 0, taken to be as long as the questions
        timing      a few fitting questions at the same, dial by dial
        text        neutral passages at the same, of which the second half is read

    The openings of instructions, personas and framings are not counted. Fitting directions to halves of the questions
    is left out: it takes no model.

    Args:
        config, lengths, positions, dtype, rates, n_shared, device: see `forecast_run`.
        candidates: layers; every direction is made at each.
        n_directions: along which a small push is measured.
        n_interventions: dials that push. prompt_settings: how many settings each dial that asks anew has, 0 included.
        n_read_once: dials whose settings are all read off one unsteered answer.
        n_facts, n_passages, n_timed: facts, neutral passages, and questions that the cost of an answer is timed on.
        n_readings: of the extraction split. n_whole: further ones in which each prompt is run from its first token, as
            where gradients are wanted; a backward pass is one.

    Raises:
        InputError: as `predict_cost`.

    >>> from transformers import LlamaConfig
    >>> config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4)
    >>> lengths = {"extraction": [40] * 10, "fitting": [40] * 10, "test": [40] * 20}
    >>> list(forecast_comparison(config, lengths, [2], 1, 1, [], n_facts=4, n_passages=2, n_timed=2).stages)
    ['reading', 'pushes', 'scanning', 'placing', 'answers', 'facts', 'timing', 'text']
    """
    middle, n_rates = candidates[len(candidates) // 2], len(RATES)
    fitting, asked = lengths["fitting"], [*lengths["fitting"], *lengths["test"]]
    facts = (asked * n_facts)[:n_facts]

    def read(prompts: Sequence[int], times: int = 1, shared: int = n_shared) -> CostPrediction:
        return predict_cost(
            config, times * len(prompts), prompts, [], positions, dtype, rates, n_shared=shared, device=device
        )

    def cost(prompts: Sequence[int], pushes: Sequence[tuple[int, int]], n_anew: int) -> CostPrediction:
        steered = predict_cost(
            config, len(prompts), prompts, pushes, positions, dtype, rates, n_shared=n_shared, device=device
        )
        return steered + read(prompts, n_anew) if n_anew else steered

    def at_rates(prompts: Sequence[int], n_more: int = 0) -> CostPrediction:
        n_anew = sum(min(n, n_rates + n_more) for n in prompt_settings)
        return cost(prompts, [(middle, n_rates + n_more)] * n_interventions, n_anew + n_read_once)

    stages = {"reading": read(lengths["extraction"], n_readings) + read(fitting)}
    if n_whole:
        stages["reading"] += read(lengths["extraction"], n_whole, 0)
    stages["pushes"] = cost(fitting, [(layer, 2) for layer in candidates] * n_directions, 0)
    beyond = len(doubling())
    stages["scanning"] = cost(fitting, [(layer, beyond) for layer in candidates], 0)
    stages["placing"] = cost(fitting, [(middle, beyond)] * n_interventions, sum(prompt_settings) + n_read_once)
    stages["answers"] = at_rates(asked)
    stages["facts"] = at_rates(facts, 1)
    stages["timing"] = at_rates(fitting[:n_timed], 1)
    if n_interventions:  # each is run on its own
        stages["timing"] += read(fitting[:n_timed], n_interventions)
    n_settings = (n_rates + 1) * (n_interventions + n_read_once) + sum(prompt_settings)
    text = predict_cost(
        config, n_passages, [PASSAGE_TOKENS], [(middle, n_settings)], "all", dtype, rates, device=device
    )
    stages["text"] = with_more_readout(text, PASSAGE_TOKENS // 2, rates)
    return RunForecast(stages, f"{str(dtype).removeprefix('torch.')} on {device}")


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"

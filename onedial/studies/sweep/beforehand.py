"""What can be said before the subject is loaded: what it reads first, and what a run would cost."""

from collections.abc import Mapping

import torch

from onedial.asking.prompts import PromptTemplate
from onedial.asking.rewording import reversed_wording
from onedial.models.checkpoints.weights import load_config, resolve_weights
from onedial.models.tokens import render
from onedial.panels.inputs import ExperimentInputs
from onedial.studies.inputs import questions_by_split
from onedial.studies.options.sweep import SweepOptions
from steering.causes import (
    INTERCHANGE_DRAWN,
    INTERCHANGE_PAIRS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
)
from steering.controls import N_CONTRASTS
from steering.critical import ROWS_PER_CROSSING
from steering.dials.dials import SURENESS
from steering.effects.side_effects import N_PREFERENCES, PASSAGE_TOKENS, REVERSED_SETTINGS
from steering.planning.forecast import Load, Size, forecast_of
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import COARSE_POINTS, GRID_POINTS, RANGE_QUESTIONS, doubling
from steering.planning.readability import ASKED


def first_prompt(model: str, revision: str | None, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the subject reads first; its tokenizer is enough for that."""
    _, tokenizer = load_config(resolve_weights(model, revision))
    return render(tokenizer, template.fill(inputs.questions[0].text))


def predict(options: SweepOptions, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the run would cost."""
    turned = reversed_wording(template) is not None

    def stages(lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype) -> dict[str, list[Load]]:
        return loads(options, lengths, size, dtype, turned)

    told = forecast_of(options.model, questions_by_split(inputs), template, stages, options.revision, options.dtype)
    return f"{options.model}, {len(inputs.questions)} questions, {told}"


def loads(
    options: SweepOptions, lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype, turned: bool = True
) -> dict[str, list[Load]]:
    """What each stage of a sweep asks of the model.

    The layer is not known before the scan; the middle one of the candidates stands for it. Facts, preferences and
    pairs of the tests are taken to be as long as the questions, and of the tests there are as many as at most.

    Args:
        lengths: split (extraction, fitting, test) -> tokens of each prompt. turned: whether the prompt has a reversed
            wording.
    """
    extraction, fitting, test = (lengths[split] for split in ("extraction", "fitting", "test"))
    layers, given = candidate_layers(options.layer, size.n_layers), options.settings()
    middle, grid, beyond = layers[len(layers) // 2], len(given or range(GRID_POINTS)), len(doubling())
    whole, kind = [*extraction, *fitting, *test], "last" if options.positions == "last" else "all"

    def some(n: int) -> list[int]:
        return (whole * (n // max(len(whole), 1) + 1))[:n]

    found = {"reading": [Load([*extraction, *some(ASKED)])]}
    if len(layers) > 1 or given is None:
        found["scanning"] = [Load(fitting, [(layer, beyond) for layer in layers], kind)]
    read = [*extraction, *(fitting if "scanning" in found else [])]
    n_cached = size.n_in_cache(read, min(layers), dtype) if kind == "last" else 0
    if given is None:
        cached = max(0, n_cached - len(extraction))
        found["placing"] = [Load(fitting, [(middle, COARSE_POINTS)], kind, cached)]
    found["sweep"] = [Load(whole, [(middle, grid)], kind, n_cached)]
    if options.controls:
        n = options.controls + N_CONTRASTS
        found["ranges"] = [Load(fitting[:RANGE_QUESTIONS], [(layer, beyond) for layer in layers] * n, kind)]
        turning = "crossings" if kind == "last" else "crossings everywhere"
        found["controls"] = [Load(whole, [(middle, ROWS_PER_CROSSING[kind == "last"])] * n, turning, n_cached)]
    if options.instructed:
        found["instructed"] = [Load([*fitting, *test] * len(SURENESS))]
    if options.facts:
        found["facts"] = [Load(some(options.facts), [(middle, grid)], kind)]
    if options.reversed and turned:
        asked = fitting[: options.reversed] * 2 + some(N_PREFERENCES)
        found["reversed"] = [Load(asked, [(middle, REVERSED_SETTINGS), (middle, beyond)], kind)]
    if "interchange" in options.tests:
        swapped = (test * 4)[: 4 * INTERCHANGE_PAIRS]
        found["interchange"] = [Load(swapped), Load(swapped, [(middle, 2 + 2 * INTERCHANGE_DRAWN)])]
    if "mediation" in options.tests:
        held = (test * MEDIATION_LAYERS)[: MEDIATION_LAYERS * MEDIATION_QUESTIONS]
        found["mediation"] = [Load(whole), Load(held, [(middle, 3 + 4 * (5 + 2 * MEDIATION_DRAWN))])]
    if options.side_effects and options.passages:
        found["text"] = [Load([PASSAGE_TOKENS] * options.passages, [(middle, grid)], kind)]
    if options.answer == "reasoned":
        rows = [(0, options.reasoned_settings)]
        found["reasoned"] = [Load([*fitting, *test], rows, "written", n_tokens=options.reasoned_tokens)]
    return found

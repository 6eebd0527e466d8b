"""What a comparison of dials would cost, before the subject is loaded for it."""

from collections.abc import Mapping

import torch

from onedial.asking.prompts import PromptTemplate
from onedial.models.threads import quiet_libraries
from onedial.panels.inputs import ExperimentInputs
from onedial.studies.inputs import prompts_by_split
from onedial.studies.options.dials import DialOptions
from steering.dials.adapters import ADAPTER_PASSES, ADAPTER_SETTINGS, MOST_READINGS
from steering.dials.dials import RATES, instructed_threshold, personas
from steering.effects.side_effects import PASSAGE_TOKENS
from steering.planning.forecast import Load, Size, forecast_of
from steering.planning.layers import candidate_layers
from steering.planning.magnitudes import doubling

READINGS = {"response": 1, "answer": 3}
"""Of the extraction split, by contrast; the framings' take two poles beside the plain prompt, which are three too."""


def predict(options: DialOptions, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the run would cost at most, by the options of `experiments/compare_dials.py`.

    Raises:
        InputError: as `forecast_of`, or a layer that the model has not.
    """
    quiet_libraries()

    def stages(lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype) -> dict[str, list[Load]]:
        return loads(options, lengths, size)

    told = forecast_of(options.model, prompts_by_split(inputs, template), stages, options.revision, options.dtype)
    n_dials = sum(_dials(options, 2)) + len(_settings_of_prompts(options))
    return (
        f"{options.model}, {len(inputs.questions)} questions, {n_dials} dials, {told}\n"
        "at most: what reaches no yes rate, as prompts often do, is asked only while its settings are placed"
    )


def loads(options: DialOptions, lengths: Mapping[str, list[int]], size: Size) -> dict[str, list[Load]]:
    """What each stage asks of the model, every dial reaching every yes rate.

        reading     the extraction split, for contrasts, gradients and an adapter, and the fitting split once
        pushes      the fitting split, a step to either side along each direction at each candidate layer
        scanning    the fitting split at the doubled magnitudes, one direction for each candidate layer
        placing     the fitting split at the first settings of each dial
        answers     fitting and test split at the settings of each yes rate
        facts       the unrelated facts at these and at 0, taken to be as long as the questions
        text        the first halves of neutral passages at the same, of dials that push

    The openings of instructions, personas and framings are not counted.
    """
    candidates = candidate_layers(options.layer, size.n_layers)
    middle, n_rates, beyond = candidates[len(candidates) // 2], len(RATES), len(doubling())
    kind = "last" if options.positions == "last" else "all"
    extraction, fitting, asked = lengths["extraction"], lengths["fitting"], [*lengths["fitting"], *lengths["test"]]
    facts = (asked * options.facts)[: options.facts]
    n_directions = len(options.methods) + len(options.framings)
    n_pushed, n_read_once = _dials(options, len(candidates))
    anew = _settings_of_prompts(options)
    n_adapted = int("lora" in options.dials)
    n_readings = READINGS.get(options.contrast, 3) + 3 * len(options.framings) + MOST_READINGS * n_adapted
    n_whole = 2 * (("gradient" in options.methods) + ADAPTER_PASSES * n_adapted)  # forwards, and backwards

    def at_rates(prompts: list[int], n_more: int = 0) -> list[Load]:
        n_anew = sum(min(n, n_rates + n_more) for n in anew) + n_read_once
        return [Load(prompts, [(middle, n_rates + n_more)] * n_pushed, kind), Load(prompts * n_anew)]

    return {
        "reading": [Load([*extraction * (n_readings + n_whole), *fitting])],
        "pushes": [Load(fitting, [(layer, 2) for layer in candidates] * n_directions, kind)],
        "scanning": [Load(fitting, [(layer, beyond) for layer in candidates], kind)],
        "placing": [Load(fitting, [(middle, beyond)] * n_pushed, kind), Load(fitting * (sum(anew) + n_read_once))],
        "answers": at_rates(asked),
        "facts": at_rates(facts, 1),
        "text": [Load([PASSAGE_TOKENS] * options.passages, [(middle, (n_rates + 1) * n_pushed)], kind)],
    }


def _dials(options: DialOptions, n_candidates: int) -> tuple[int, int]:
    """Dials that push, and dials whose settings are all read off one unsteered answer."""
    n_pushed = 0
    if "interventions" in options.dials:
        several = min(options.together, n_candidates) > 1
        operators = sum(operator != "add" for operator in options.operators)
        n_pushed = len(options.methods) + len(options.framings) + operators + several
    return n_pushed, 1


def _settings_of_prompts(options: DialOptions) -> list[int]:
    """Of each dial that asks anew at every setting, how many there are, 0 included."""
    known = {
        "threshold": len(instructed_threshold().first_settings()),
        "personas": len(personas().first_settings()),
        "lora": len(ADAPTER_SETTINGS),
    }
    return [n for name, n in known.items() if name in options.dials]

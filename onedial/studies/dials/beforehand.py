"""What a comparison of dials would cost, before the subject is loaded for it."""

from onedial.asking import PromptTemplate
from onedial.models import load_config, quiet_libraries, resolve_weights
from onedial.panels import ExperimentInputs
from onedial.studies import questions_by_split
from onedial.studies.dials.turning import TIMED_QUESTIONS
from onedial.studies.options import DialOptions
from steering import (
    ADAPTER_PASSES,
    ADAPTER_SETTINGS,
    MOST_READINGS,
    candidate_layers,
    forecast_comparison,
    instructed_threshold,
    measure_and_forecast,
    personas,
)

READINGS = {"response": 1, "answer": 3}
"""Of the extraction split, by contrast; the framings' take two poles beside the plain prompt, which are three too."""


def predict(options: DialOptions, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the run would cost at most, by the options of `experiments/compare_dials.py`.

    Raises:
        InputError: as `measure_and_forecast`, or a layer that the model has not.
    """
    quiet_libraries()
    config, _ = load_config(resolve_weights(options.model, options.revision))
    candidates = candidate_layers(options.layer, config.get_text_config().num_hidden_layers)
    n_directions = len(options.methods) + len(options.framings)
    pushed, asked_anew = 0, list[int]()
    if "interventions" in options.dials:
        several = min(options.together, len(candidates)) > 1
        pushed = n_directions + sum(operator != "add" for operator in options.operators) + several
    if "threshold" in options.dials:
        asked_anew.append(len(instructed_threshold().first_settings()))
    if "personas" in options.dials:
        asked_anew.append(len(personas().first_settings()))
    if with_adapter := "lora" in options.dials:
        asked_anew.append(len(ADAPTER_SETTINGS))
    forecast = measure_and_forecast(
        options.model,
        questions_by_split(inputs),
        template,
        options.revision,
        options.dtype,
        forecast=forecast_comparison,
        candidates=candidates,
        n_directions=n_directions,
        n_interventions=pushed,
        prompt_settings=asked_anew,
        n_facts=options.facts,
        n_passages=options.passages,
        n_timed=TIMED_QUESTIONS,
        n_readings=READINGS.get(options.contrast, 3) + 3 * len(options.framings) + MOST_READINGS * with_adapter,
        n_whole=2 * (("gradient" in options.methods) + ADAPTER_PASSES * with_adapter),  # forwards, and backwards
        n_read_once=1 + ("temperature" in options.dials),
        positions=options.positions,
    )
    n_dials = pushed + len(asked_anew) + 1 + ("temperature" in options.dials)
    return (
        f"{options.model}, {len(inputs.questions)} questions, {n_dials} dials, {forecast}\n"
        "at most: what reaches no yes rate, as prompts often do, is asked only while its settings are placed"
    )

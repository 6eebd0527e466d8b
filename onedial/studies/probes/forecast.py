"""What a study of probes takes: prompts and tokens by stage, room on the disk, hours by what is timed here and now."""

import time
from collections.abc import Sequence

import numpy as np

from onedial.asking.questions import Question
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import pad_batch
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.panels import ResponseMatrix
from onedial.studies.options.probes import ProbeOptions
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask, measure_layer

TIMED = 16
REASONED_TOKENS = 200
"""Of an answer with reasons, as far as it is not known."""
LEAST = 20


def predict(
    options: ProbeOptions,
    model: OpenModel,
    inputs: ExperimentInputs,
    prompts: PromptSet,
    n_layers: int,
) -> str:
    """One line for each stage that is wanted: what is put to the model, and its seconds; the fitting of the probes."""
    n, layers, each = len(prompts), n_layers, seconds_of_a_prompt(model, prompts)
    facts = options.facts
    loads = {
        "probes": n + facts,
        "directions": 6 * facts,
        "use": options.n_pushed + 2 * options.n_patched * layers,
        "own": 0,
        "elsewhere": options.n_reasoned * (1 + REASONED_TOKENS // TIMED) + (n if options.other_model else 0),
    }
    fitted = seconds_of_a_layer(options, inputs.questions, inputs.panel, model.d_model)
    lines, whole = [], 0.0
    for stage in options.stages:
        fitting = layers * fitted * (1 + 0.3 * bool(facts)) if stage == "probes" else 0.0
        seconds = loads[stage] * each + fitting
        whole += seconds
        more = f", {layers} layers fitted in {fitted:.1f} s each" if fitting else ""
        lines.append(f"{stage:12}{loads[stage]:7} prompts{more}: {seconds:.0f} s")
    room = 4 * model.d_model * layers * (n + facts + 12 * facts * ("directions" in options.stages)) / 1e9
    return "\n".join([*lines, f"in all about {whole / 60:.0f} minutes, and {room:.2f} GB of activations"])


def seconds_of_a_prompt(model: OpenModel, prompts: PromptSet) -> float:
    """Of one in a batch, all layers read."""
    few = pad_batch(prompts.sequences[:TIMED], model.stack.pad_id).to(model.device)
    model.read_residual(few, [model.n_layers - 1])  # pays for what is set up once
    began = time.perf_counter()
    model.read_residual(few, range(model.n_layers))
    return (time.perf_counter() - began) / len(few.input_ids)


def seconds_of_a_layer(
    options: ProbeOptions, questions: Sequence[Question], panel: ResponseMatrix, d_model: int
) -> float:
    """All methods on drawn activations, for what the panel's respondents say."""
    answers = panel.answers.astype(float)
    counts = [min((answers[name] == 1).sum(), (answers[name] == 0).sum()) for name in answers]
    answers = answers.loc[:, np.array(counts) >= LEAST]
    topics, texts = [question.topic for question in questions], tuple(question.text for question in questions)
    folds = TopicFolds.of(topics, options.folds, options.seed)
    task = ProbeTask(answers, texts, folds, options.shuffles, options.shuffles, options.replicates, options.seed)
    rows = np.random.default_rng(options.seed).standard_normal((len(questions), d_model))
    measure_layer(rows[:, :8], task, ["lda"], [])  # the words alone are read once
    began = time.perf_counter()
    measure_layer(rows, task, options.methods, options.methods[:1])
    return time.perf_counter() - began

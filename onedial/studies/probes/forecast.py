"""What a study of probes takes: prompts and rows by stage, room on the disk, hours by what is timed here and now."""

import time
from collections.abc import Sequence

import numpy as np

from onedial.asking.instruments import FACT
from onedial.asking.questions import Question
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.panels import ResponseMatrix
from onedial.panels.questions.facts import load_facts
from onedial.studies.options.probes import ProbeOptions
from probes.directions.contrast import CONTRASTS, search
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask, measure_layer
from steering.planning.forecast import Clock, Load, Size, sketch_of

REASONED_TOKENS = 60
"""Of an answer with reasons, about; a model that reasons at length writes up to 160."""
PUSHED_LABELS = 5
"""Labels whose directions are pushed, about: by two methods, each to either side."""
LEAST = 20


def predict(
    options: ProbeOptions, model: OpenModel, inputs: ExperimentInputs, prompts: PromptSet, layers: Sequence[int]
) -> str:
    """One line for each stage that is wanted: what is put to the model, and its seconds; the fitting of the probes."""
    lengths = list(map(len, prompts.sequences))
    facts = list(map(len, _facts(model, options))) if options.facts else []
    said, at = facts * 4, layers[len(layers) // 2]
    pushes, reasoned = 4 * (PUSHED_LABELS + options.controls), lengths[: options.n_reasoned]
    written = [Load(reasoned, [(0, 1)], "written", n_tokens=REASONED_TOKENS)] if reasoned else []
    loads = {
        "probes": [Load(lengths), Load(facts)],
        "directions": [Load(said)],
        "use": [
            Load(lengths[: options.n_pushed], [(at, pushes)]),
            Load(lengths[: 2 * options.n_patched]),
            Load(lengths[: 2 * options.n_patched], [(layer, 1) for layer in layers]),
        ],
        "own": [],
        "elsewhere": [
            *written,
            Load([length + REASONED_TOKENS for length in reasoned]),
            Load(lengths if options.other_model else []),
        ],
    }
    config = model.hf.config
    sketch = sketch_of(config, model.tokenizer, model.dtype, model.device.type, Size.of(config)) or model
    clock = Clock(sketch, prompts.prompts, model.n_layers)
    fitted = seconds_of_a_layer(options, inputs.questions, inputs.panel, model.d_model)
    searches = options.folds * len(CONTRASTS) * min(options.statement_layers, len(layers)) if facts else 0
    fits = {"probes": len(layers) * fitted * (1 + 0.3 * bool(facts))}
    fits["directions"] = searches * seconds_of_a_search(options.facts, model.d_model) if searches else 0.0
    lines, whole = [], 0.0
    for stage in options.stages:
        seconds = sum(map(clock.seconds, loads[stage])) + fits.get(stage, 0.0)
        whole += seconds
        more = f", {len(layers)} layers fitted in {fitted:.1f} s each" if stage == "probes" else ""
        lines.append(f"{stage:12}{sum(load.n_read for load in loads[stage]):7} prompts{more}: {seconds:.0f} s")
    n_kept = len(layers) * (len(lengths) + len(facts)) + options.statement_layers * len(said)
    return "\n".join(
        [*lines, f"in all about {whole / 60:.0f} minutes, and {4 * model.d_model * n_kept / 1e9:.2f} GB of activations"]
    )


def _facts(model: OpenModel, options: ProbeOptions) -> tuple[tuple[int, ...], ...]:
    return PromptSet.build(model, load_facts(options.facts, options.seed), FACT.template).sequences


def seconds_of_a_search(n_statements: int, d_model: int) -> float:
    """One search without labels, on drawn streams."""
    streams = np.random.default_rng(0).standard_normal((n_statements, 2, 2, d_model))
    began = time.perf_counter()
    search(streams, streams, 0, 0.0)
    return time.perf_counter() - began


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

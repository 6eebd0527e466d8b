"""List the stages of `experiments/train_probes.py` in order, and foretell what they take: prompts and rows by stage,
room on the disk, hours by what is timed here and now."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from onedial.asking.instruments import FACT
from onedial.asking.prompts import PromptTemplate
from onedial.core.run.stages import Stage, loads_of
from onedial.models.checkpoints.weights import load_config, resolve_weights
from onedial.panels.inputs import ExperimentInputs
from onedial.panels.questions.facts import load_facts
from onedial.studies.inputs import forecast
from onedial.studies.options.probes import ProbeOptions
from onedial.studies.probes.layers import facts_stage, probes_stage
from onedial.studies.probes.probes_parts import (
    directions_stage,
    elsewhere_stage,
    own_stage,
    patching_stage,
    statements_stage,
    use_stage,
    writing_stage,
)
from onedial.studies.probes.probes_study import ProbeStudy
from probes.directions.contrast import CONTRASTS, search
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask, measure_layer
from steering.planning.forecast import REPORT, Candidates, Load, Loads, Size

REASONED_TOKENS = 60
"""Of an answer with reasons, about; a model that reasons at length writes up to 160."""
PUSHED_LABELS = 5
"""Labels whose directions are pushed, about: by two methods, each to either side."""
LEAST = 20


@dataclass(frozen=True)
class Ahead(Candidates):
    """What is known before anything is read: options, tokens of each question and each fact, the layers."""

    options: ProbeOptions
    questions: list[int]
    facts: list[int]
    layers: Sequence[int]


def _use(a: Ahead) -> Loads:
    options, at = a.options, a.middle
    patched = a.questions[: 2 * options.n_patched]
    pushes = Load(a.questions[: options.n_pushed], [(at, 4 * (PUSHED_LABELS + options.controls))])
    return [pushes, Load(patched), Load(patched, [(layer, 1) for layer in a.layers])]


def _elsewhere(a: Ahead) -> Loads:
    reasoned, again = a.questions[: a.options.n_reasoned], a.questions if a.options.other_model else []
    written = [Load(reasoned, [(0, 1)], "written", n_tokens=REASONED_TOKENS)] if reasoned else []
    return [*written, Load([length + REASONED_TOKENS for length in reasoned]), Load(again)]


def _stage(name: str, loads: Callable[[Ahead], Loads], *parts: Callable[[ProbeStudy], None]) -> Stage[ProbeStudy]:
    """All parts, once; a stage that `--stages` can name."""

    def work(study: ProbeStudy) -> None:
        for part in parts:
            part(study)

    return Stage(work, loads, lambda options: name in options.stages, once=True)


STAGES: dict[str, Stage[ProbeStudy]] = {
    "activations": Stage(ProbeStudy.keep_inputs, lambda a: [Load(a.questions)], settles=True),
    "probes": _stage("probes", lambda a: [Load(a.facts)], probes_stage, facts_stage),
    "directions": _stage("directions", lambda a: [Load(a.facts * 4)], directions_stage, statements_stage),
    "use": _stage("use", _use, use_stage, patching_stage),
    "own": _stage("own", lambda a: [], own_stage),
    "elsewhere": _stage("elsewhere", _elsewhere, elsewhere_stage, writing_stage),
}
"""All but the first two rest on `probes`."""


def predict(options: ProbeOptions, inputs: ExperimentInputs, template: PromptTemplate, layers: Sequence[int]) -> str:
    """What each stage that is wanted puts to the model, its time with that of fitting the probes, and room on the disk;
    no weights are read.
    """
    config, _ = load_config(resolve_weights(options.model, options.revision))
    d_model = Size.of(config).decoder.d_model
    drawn = load_facts(options.facts, options.seed) if options.facts else []
    facts = [FACT.template.fill(fact.rendered) for fact in drawn]

    def loads(lengths: Mapping[str, list[int]], *_: object) -> dict[str, Loads]:
        questions = [length for split in sorted(set(inputs.splits.values())) for length in lengths[split]]
        stages = loads_of(STAGES, options, Ahead(options, questions, lengths["facts"], layers)) | {"report": [REPORT]}
        if "probes" in stages:
            fitted = seconds_of_a_layer(options, inputs, d_model)
            stages["probes"].append(Load(seconds=len(layers) * fitted * (1 + 0.3 * bool(facts))))
        if "directions" in stages and facts:
            searches = options.folds * len(CONTRASTS) * min(options.statement_layers, len(layers))
            stages["directions"].append(Load(seconds=searches * seconds_of_a_search(len(facts), d_model)))
        return stages

    n_kept = len(layers) * (len(inputs.questions) + len(facts)) + 4 * options.statement_layers * len(facts)
    foretold = forecast(options, inputs, template, loads, {"facts": facts})
    return f"{foretold}\ndisk: {4 * d_model * n_kept / 1e9:.2f} GB of activations"


def seconds_of_a_search(n_statements: int, d_model: int) -> float:
    """One search without labels, on drawn streams."""
    streams = np.random.default_rng(0).standard_normal((n_statements, 2, 2, d_model))
    return seconds_of(partial(search, streams, streams, 0, 0.0))


def seconds_of_a_layer(options: ProbeOptions, inputs: ExperimentInputs, d_model: int) -> float:
    """All methods on drawn activations, for what the panel's respondents say."""
    answers, questions = inputs.panel.answers.astype(float), inputs.questions
    answers = answers.loc[:, np.minimum((answers == 1).sum(), (answers == 0).sum()) >= LEAST]
    folds = TopicFolds.of([question.topic for question in questions], options.folds, options.seed)
    texts, drawn = tuple(question.rendered for question in questions), (options.shuffles, options.shuffles)
    task = ProbeTask(answers, texts, folds, *drawn, options.replicates, options.seed)
    rows = np.random.default_rng(options.seed).standard_normal((len(questions), d_model))
    measure_layer(rows[:, :8], task, ["lda"])  # the words alone are read once
    return seconds_of(partial(measure_layer, rows, task, options.methods))


def seconds_of(work: Callable[[], object]) -> float:
    """What it takes here and now."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began

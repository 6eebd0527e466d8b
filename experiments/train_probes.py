"""What does the residual stream of one model know about knowing, and is it used?

    python experiments/train_probes.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/train_probes.py --n-questions 200 --layer 8-24    # a quick look
    python experiments/train_probes.py --model Qwen/Qwen2.5-7B-Instruct --panel my_panel.csv --store acts/qwen

Labels: the subject's own yes and its own correctness, the panel's shared difficulty, each target's yes, and the truth
of facts that have nothing to do with ability. Activations are read once and kept (--store, by default in the user's
cache).

    probes       each label at each layer, topics held out           probes.csv, chosen.csv, methods.csv
    facts        the same for the facts                              facts.csv
    statements   truth without labels: CCS and its controls          statements.csv, distraction.csv
    directions   is it the same direction? at one layer              directions.csv, cross.csv, transfer.csv,
                                                                     erasure.csv, angles.csv
    use          what happens when the directions are pushed         effects.csv
    own          own correctness beyond words and difficulty         own.csv
    where        layer by position; the last token patched           where.csv, patching.csv
    writing      readings while the model reasons                    writing.csv, tokens_written.parquet
    elsewhere    far from home: other questions, --other-model       distance.csv, readings.csv, elsewhere.csv
    lens         what each layer would answer                        lens.csv, tokens.csv

The run's folder holds the tables, layers/*.safetensors (probes and held-out scores), figures/ and report.html. An
interrupted run continues with --resume.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from onedial.core import InputError, Notes, Run, Stage, go_through, program, run_command, say
from onedial.studies import Start, layers_by_config
from onedial.studies.options import STAGES, ProbeOptions

if TYPE_CHECKING:
    from onedial.asking import PromptTemplate
    from onedial.panels import ExperimentInputs
    from onedial.studies.probes import Study
    from probes import Probe

PROGRAM = "train_probes"


def train_probes(options: ProbeOptions, notes: Notes) -> None:
    inputs, template = read_inputs(options)
    from onedial.models import PromptSet, store_activations
    from onedial.show import progress_bar
    from onedial.studies.probes import Study
    from probes import write_probe_figures, write_probe_report

    start = Start(PROGRAM, options, f"probes-{options.model}")
    layers = layers_by_config(options)
    check_comparison(options, layers)
    model = start.load_subject(options)
    prompts = PromptSet.build(model, inputs.questions, template)
    with start.begin(notes, model) as run:
        with run.withdrawn_if_refused():
            run.record(seeds={"all": options.seed})
            say(f"run: {run.path}")
            with run.stage("activations"), progress_bar(len(prompts), "activations") as advance:
                store = store_activations(
                    model, prompts, options.store, layers=layers, positions=[options.read_at], progress=advance
                )
            study = Study(
                options,
                run,
                model,
                inputs.questions,
                inputs.panel,
                template,
                prompts,
                store,
                progress_bar,
            )
            study.keep_inputs()
        go_through(run, study, *stages_of(options))
        with run.stage("report"):
            write_probe_figures(run)
            report = write_probe_report(run)
    print_summary(run)
    say(f"report: {report}")


# ---- stages --------------------------------------------------------------------------------------------------------


def stages_of(options: ProbeOptions) -> "list[Stage[Study]]":
    """What is done, in order."""
    from onedial.studies.probes import STUDY_STAGES

    here: dict[str, Callable[[Study], None]] = {
        "use": lambda study: use_stage(study, options),
    }
    works = STUDY_STAGES | here
    return [Stage(name, works[name], wanted=name in options.stages, once=True) for name in STAGES]


def use_stage(study: "Study", options: ProbeOptions) -> None:
    """Push the directions, as they are read and as the difference of means, on some of the questions: effects.csv."""
    import torch

    from steering import effects_of

    layer, methods = study.one_layer, [name for name in options.methods if name in ("logistic", "mean_difference")]
    methods = methods or list(options.methods[:1])
    probes = study.probes_at(layer)
    known: dict[tuple[str, str], Probe] = {}
    for method in methods:
        known |= {(label, method): probes[method][label] for label in study.main_labels}
    if study.measured_facts is not None:
        of_facts = study.probes_at(layer, facts=True)[options.methods[0]]
        known |= {(label, options.methods[0]): probe for label, probe in of_facts.items()}
    asked = study.spread_over_topics(options.n_pushed)
    topics = {question.id: question.topic for question in study.questions}
    with study.progress_bar(len(asked), "pushes") as advance:
        table = effects_of(
            study.model,
            study.prompts.subset(asked),
            {f"{label} | {method}": probe.direction for (label, method), probe in known.items()},
            layer,
            study.store.read(layer),
            [topics[question] for question in asked],
            step=options.step,
            n_random=options.controls,
            n_bootstrap=options.replicates,
            seed=options.seed,
            progress=advance,
        )
    split = table["direction"].str.split(" | ", regex=False, n=1)
    table = table.assign(label=split.str[0], method=split.str[1].fillna(""), layer=layer, step=options.step)
    own = [probe for (label, _), probe in known.items() if label == study.main_labels[0]][-1].direction
    pushed = [known.get((label, method)) for label, method in table[["label", "method"]].to_numpy()]
    table["auroc"] = [probe.auroc if probe else float("nan") for probe in pushed]
    table["cosine_with_own"] = [float(torch.dot(probe.direction, own)) if probe else float("nan") for probe in pushed]
    study.run.write_table("effects.csv", table)


# ---- beginning and end ---------------------------------------------------------------------------------------------


def read_inputs(options: ProbeOptions) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt."""
    from onedial.asking import load_prompt
    from onedial.panels import load_inputs

    template = load_prompt(str(options.prompt))
    inputs = load_inputs(options.panel, options.questions, options.respondents, None, options.n_questions, options.seed)
    return inputs, template


def check_comparison(options: ProbeOptions, layers: Sequence[int]) -> None:
    """Raise InputError where the stages after the first could not be done with these options."""
    if options.compare_at is not None and options.compare_at not in layers:
        raise InputError(f"--compare-at {options.compare_at} is none of the layers {layers}; choose one of them")


def print_summary(run: Run) -> None:
    """The main labels at their chosen layers, on the terminal."""
    if not run.has("chosen.csv"):
        return
    table = run.read_table("chosen.csv").head(8)
    shown = table[["label", "layer", "auroc", "low", "high", "text", "shuffled", "control", "p", "n"]].round(3)
    say(shown.to_string(index=False))


main = program(ProbeOptions, train_probes, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

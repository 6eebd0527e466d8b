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

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from onedial.core import (
    InputError,
    Notes,
    Run,
    Stage,
    add_run_options,
    go_through,
    listed,
    natural,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
    say,
)
from onedial.studies import Start, add_subject_options, prompt_of

if TYPE_CHECKING:
    from onedial.asking import PromptTemplate
    from onedial.models import OpenModel
    from onedial.panels import ExperimentInputs
    from onedial.studies.probes import Study
    from probes import Probe

PROGRAM = "train_probes"
MAY_CHANGE = ("stages", "store", "other_model")


def train_probes(options: argparse.Namespace, notes: Notes) -> None:
    inputs, template = read_inputs(options)
    from onedial.models import PromptSet, store_activations
    from onedial.show import progress_bar
    from onedial.studies.probes import Study, StudyOptions
    from probes import write_probe_figures, write_probe_report

    start = Start(PROGRAM, options, f"probes-{options.model}", MAY_CHANGE)
    model = start.load_subject(options)
    layers = layers_of(options.layer, model)
    check_comparison(options, layers)
    prompts = PromptSet.build(model, inputs.questions, template)
    with start.begin(notes, model) as run:
        with run.withdrawn_if_refused():
            run.record(seeds={"all": options.seed})
            say(f"run: {run.path}")
            with run.stage("activations"), progress_bar(len(prompts), "activations") as advance:
                store = store_activations(
                    model, prompts, options.store, layers=layers, positions=[options.position], progress=advance
                )
            study = Study(
                StudyOptions.of(options),
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


def stages_of(options: argparse.Namespace) -> "list[Stage[Study]]":
    """What is done, in order."""
    from onedial.studies.probes import STUDY_STAGES

    here: dict[str, Callable[[Study], None]] = {
        "use": lambda study: use_stage(study, options),
    }
    works = STUDY_STAGES | here
    return [Stage(name, works[name], wanted=name in options.stages, once=True) for name in STAGES]


STAGES = (
    "probes", "facts", "statements", "directions", "use", "own", "where", "writing", "elsewhere", "lens",
)  # fmt: skip
"""Names, in the order in which they are done."""


def use_stage(study: "Study", options: argparse.Namespace) -> None:
    """Push the directions, as they are read and as the difference of means, on some of the questions: effects.csv."""
    import torch

    from steering import effects_of

    layer, methods = study.one_layer, [name for name in options.method if name in ("logistic", "mean_difference")]
    methods = methods or options.method[:1]
    probes = study.probes_at(layer)
    known: dict[tuple[str, str], Probe] = {}
    for method in methods:
        known |= {(label, method): probes[method][label] for label in study.main_labels}
    if study.measured_facts is not None:
        of_facts = study.probes_at(layer, facts=True)[options.method[0]]
        known |= {(label, options.method[0]): probe for label, probe in of_facts.items()}
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


def read_inputs(options: argparse.Namespace) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt."""
    from onedial.asking import load_prompt
    from onedial.panels import load_inputs

    template = load_prompt(options.prompt)
    inputs = load_inputs(options.panel, options.questions, options.respondents, None, options.n_questions, options.seed)
    return inputs, template


def layers_of(given: str, model: "OpenModel") -> list[int]:
    """The layers to be read: `all`, or a list and ranges such as 4,8,12-20.

    Raises:
        InputError: neither, or a layer that the model has not.
    """
    if given == "all":
        return list(range(model.n_layers))
    chosen: set[int] = set()
    for piece in given.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InputError(f"--layer {given!r} is no list of layers; write all, or for example 4,8,12-20")
        chosen |= set(range(int(first), int(last if dash else first) + 1))
    model.check_layers(sorted(chosen))
    return sorted(chosen)


def check_comparison(options: argparse.Namespace, layers: Sequence[int]) -> None:
    """Raise InputError where the stages after the first could not be done with these options."""
    from onedial.panels import load_facts
    from probes import LEAST_OF_A_KIND

    if "probes" not in options.stages and not options.resume:
        raise InputError(f"--stages {','.join(options.stages)} rests on the probes; add probes, or pass --resume")
    if options.compare_at is not None and options.compare_at not in layers:
        raise InputError(f"--compare-at {options.compare_at} is none of the layers {layers}; choose one of them")
    if not options.step > 0:
        raise InputError(f"--step is {options.step}, but a push needs a step above 0; 0.05 is the default")
    if options.facts:
        load_facts(options.facts)
        if options.facts < 2 * LEAST_OF_A_KIND:
            raise InputError(f"--facts {options.facts} are too few; give {2 * LEAST_OF_A_KIND} or more, or 0 for none")


def print_summary(run: Run) -> None:
    """The main labels at their chosen layers, on the terminal."""
    if not run.has("chosen.csv"):
        return
    table = run.read_table("chosen.csv").head(8)
    shown = table[["label", "layer", "auroc", "low", "high", "text", "shuffled", "control", "p", "n"]].round(3)
    say(shown.to_string(index=False))


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command line over --config file over defaults.

    Raises:
        InputError: the config file cannot be used.
    """
    parser = program_parser(__doc__)
    add_subject_options(parser, choose_targets=False)
    group = parser.add_argument_group("probes")
    group.add_argument("--layer", default="all", help="all, or a list such as 4,8,12-20 (%(default)s)")
    group.add_argument("--position", choices=("last", "question"), default="last", help="end of prompt or question")
    group.add_argument("--method", help="separated by commas, the first one is reported (all)")
    group.add_argument("--folds", type=positive, default=5, help="topics are held out in so many parts (%(default)s)")
    group.add_argument("--shuffles", type=natural, default=5, help="meaningless labels of each kind (%(default)s)")
    group.add_argument("--replicates", type=positive, default=999, help="draws of the topics (%(default)s)")
    group.add_argument("--facts", type=natural, default=200, help="unrelated yes/no facts; 0: none (%(default)s)")
    group.add_argument("--statement-layers", type=positive, default=4, help="at so many: CCS and others (%(default)s)")
    group.add_argument("--compare-at", type=natural, help="layer at which directions are compared (the main labels')")
    group.add_argument("--nulls", type=natural, default=99, help="shuffled copies of a direction (%(default)s)")
    group.add_argument("--n-pushed", type=positive, default=120, help="questions that are pushed (%(default)s)")
    group.add_argument("--controls", type=natural, default=20, help="random pushes of either kind (%(default)s)")
    group.add_argument("--step", type=float, default=0.05, help="of a push, in residual norms (%(default)s)")
    group.add_argument("--n-mapped", type=natural, default=60, help="questions read at each token (%(default)s)")
    group.add_argument("--n-reasoned", type=natural, default=32, help="questions answered with reasons (%(default)s)")
    group.add_argument("--other-model", help="a checkpoint of the same width on which the probes are read")
    group.add_argument("--stages", default=",".join(STAGES), help=f"all of {', '.join(STAGES)}")
    group.add_argument("--store", help="folder of the activations (in the user's cache)")
    add_run_options(parser)
    options = parse_run_options(parser, arguments)
    options.prompt = prompt_of(options)
    from probes import METHODS

    options.stages = listed("--stages", options.stages, STAGES)
    options.method = listed("--method", options.method or METHODS, METHODS)
    return options


main = noted(parse_options, train_probes)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

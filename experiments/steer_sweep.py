"""Does one steering vector in one model reproduce the yes/no of every model of a panel?

    python experiments/steer_sweep.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/steer_sweep.py --n-questions 200        # a quick look
    python experiments/steer_sweep.py --answer reasoned --dry-run       # what letting it reason would cost
    python experiments/steer_sweep.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --n-questions 1000 --wandb online
    accelerate launch --num_processes 8 experiments/steer_sweep.py ...     # questions shared out, one result

The run's folder (default runs/<time>-<model>-<configuration>) holds everything that report.html says. An interrupted
run continues with --resume and the same options.
"""

import argparse
import sys
from collections.abc import Sequence

from onedial.core import (
    InputError,
    KeysOf,
    Notes,
    Stage,
    add_run_options,
    at_work,
    go_through,
    is_first_process,
    listed,
    natural,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
    say,
)
from onedial.studies import Start, add_subject_options, layers_by_config, prompt_of, read_inputs

PROGRAM = "steer_sweep"
TESTS = ("interchange", "mediation")


def steer_sweep(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.asking import load_prompt

    template = load_prompt(options.prompt)
    inputs = read_inputs(options, hold_out_topics=options.hold_out == "topics", judged=True)
    with at_work("importing PyTorch and transformers"):
        from onedial.models import PromptSet, own_device, quiet_libraries, start_processes, told_if_lost
        from onedial.show import LogOptions
        from onedial.studies import sweep
        from steering import check_readability

        quiet_libraries()
        asked_for = sweep.SweepOptions.of(options)
    if options.show_prompt:
        return say(sweep.first_prompt(options.model, options.revision, inputs, template))
    if options.dry_run:
        return say(sweep.predict(options, inputs, template, asked_for)) if is_first_process() else None

    # ---- the subject, and its run ----
    start = Start(PROGRAM, options, label=options.model, tells_writers=True)
    if is_first_process() and asked_for.layer != "auto":
        layers_by_config(options)
    start_processes(options.device_map, options.tensor_parallel)
    model = start.load_subject(options, own_device())
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    with at_work("asking a few questions, to see whether yes and no can be read"):
        readability = check_readability(model, template, inputs.questions)
        prompts = PromptSet.build(model, inputs.questions, template, inputs.splits)
    notes.tell(f"{'warning: ' if readability.warns else ''}{readability}")
    if said := inputs.elicited_otherwise(options.answer):
        notes.tell(said)
    swept = sweep.begin_sweep(start, inputs, prompts, model, notes)

    # ---- stages ----
    study = sweep.SweepStudy(asked_for, swept, model, inputs, template, prompts, notes)
    with swept.run as run, model.keeping_prefills(), told_if_lost():
        sweep.watch_sweep(study, LogOptions.of(options))
        with run.withdrawn_if_refused(), run.stage("vectors, layer and magnitudes"):
            sweep.settle_plan(study)
        controlled = bool(study.plan.controls)
        go_through(
            run,
            study,
            Stage("sweep", sweep.sweep_questions),
            Stage("controls", sweep.cross_controls, controlled),
            Stage("neutral text", sweep.measure_texts, controlled),
            Stage("instructed thresholds", sweep.ask_instructed, bool(options.instructed)),
            Stage("facts", sweep.ask_facts, bool(options.facts)),
            Stage("reversed wording", sweep.ask_reversed, options.reversed),
            Stage("interchange and mediation", sweep.find_causes, bool(options.tests)),
            Stage("side effects on neutral text", sweep.run_on_text, options.side_effects),
            Stage("reasoned answers", sweep.write_reasons, options.answer == "reasoned"),
        )
        if is_first_process():
            sweep.finish(study)


# ---- options -----------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command line over --config file over defaults.

    Raises:
        InputError: the config file cannot be used.
    """
    parser = program_parser(__doc__)
    asked = add_subject_options(parser)
    asked.add_argument(
        "--hold-out",
        choices=("questions", "topics"),
        default="questions",
        help="what is tested on: half of the questions of every topic, or all questions of half of the topics "
        "(%(default)s)",
    )
    asked.add_argument(
        "--tensor-parallel",
        action="store_true",
        help="torchrun's processes hold one model together, each a part of it, where it is larger than a GPU",
    )
    asked.add_argument("--show-prompt", action="store_true", help="print the first rendered prompt and stop")
    add_steering_options(parser)
    add_side_effect_options(parser)
    add_reasoned_options(parser)
    add_run_options(parser, dry_run="predict operations, memory and time")
    options = parse_run_options(parser, arguments, lists=("--magnitudes",))
    if options.positions in ("generated", "uncertain"):
        raise InputError(
            f"--positions {options.positions} changes what is written, and the sweep reads the token after the prompt; "
            "choose last, prompt or all"
        )
    if options.side_effects and not options.facts:
        raise InputError("--side-effects rests on unrelated facts; leave --facts 0 away")
    if options.facts:
        from onedial.panels import load_facts

        load_facts(options.facts)
    if not 0 <= options.limit <= 1 or options.passages > 64:
        raise InputError(
            f"--limit {options.limit} --passages {options.passages}: give a share between 0 and 1, and 64 passages or "
            "fewer"
        )
    if options.answer == "reasoned" and (options.reasoned_settings < 2 or options.reasoned_tokens < 2):
        raise InputError(
            f"--reasoned-settings {options.reasoned_settings} --reasoned-tokens {options.reasoned_tokens}: give 2 or "
            "more of either"
        )
    if options.controls and "+" in str(options.layer):
        raise InputError(
            f"--controls are made for one layer, and --layer {options.layer} names several; give --controls 0"
        )
    options.tests = listed("--tests", options.tests, TESTS) if options.tests else []
    if options.tests and ("+" in str(options.layer) or (options.operator, options.positions) != ("add", "last")):
        raise InputError(
            f"--tests {','.join(options.tests)} follow a vector that is added at the answer position of one layer, and "
            f"this one is --layer {options.layer} --operator {options.operator} --positions {options.positions}"
        )
    options.prompt = prompt_of(options)
    return options


def add_steering_options(parser: argparse.ArgumentParser) -> None:
    """Options of the intervention; choices are the keys of `steering`'s dictionaries."""
    group = parser.add_argument_group("steering")
    for name, default, keys, words in (
        ("contrast", "response", "CONTRASTS", "what the direction is made of"),
        ("method", "mean_difference", "DIRECTIONS", "how it is made; random: a control direction"),
        ("operator", "add", "OPERATORS", "what is done to the stream along it"),
        ("positions", "last", "POSITIONS", "where in the prompt"),
        ("unit", "residual_norm", "UNITS", "unit of the magnitudes"),
    ):
        group.add_argument(
            f"--{name}", default=default, choices=KeysOf("steering", keys), help=f"{words} (%(default)s)"
        )
    group.add_argument(
        "--layer",
        default="auto",
        help="14, 10,12,14, 8-20 or auto: where the smallest push turns the answers; 10+14: both at once",
    )
    group.add_argument("--magnitudes", default="auto", help="auto, or a list such as -1,-0.5,0.5,1")
    group.add_argument(
        "--controls",
        type=natural,
        default=0,
        help="directions drawn by chance to rank the vector among; 99 for an answer",
    )
    group.add_argument(
        "--facts",
        type=natural,
        default=60,
        help="unrelated yes/no facts that the dial is tried on; 0: none (%(default)s)",
    )
    group.add_argument(
        "--reversed",
        type=natural,
        default=40,
        help="fitting questions asked reversed as well (a yes: not able), to tell a yes-bias; 0: none (%(default)s)",
    )
    group.add_argument(
        "--tests",
        default="",
        metavar="NAME[,NAME]",
        help="interchange: does the answer hang on what lies along the vector? mediation: does the push go through "
        "what a probe reads? both: interchange,mediation",
    )
    group.add_argument(
        "--instructed",
        action="store_true",
        help="a rival without steering: ask again with 'only if you are at least t%% sure', for eight t",
    )


def add_side_effect_options(parser: argparse.ArgumentParser) -> None:
    """Options of what the dial does besides."""
    group = parser.add_argument_group("side effects")
    group.add_argument(
        "--side-effects", action="store_true", help="run neutral text as well, and mark the usable range in the figures"
    )
    group.add_argument(
        "--limit", type=float, default=0.02, help="usable: accuracy on facts falls by at most this share (%(default)s)"
    )
    group.add_argument("--passages", type=positive, default=16, help="neutral ones, of 64 (%(default)s)")


def add_reasoned_options(parser: argparse.ArgumentParser) -> None:
    """Options of answers that are written after a reasoning."""
    group = parser.add_argument_group("reasoned answers")
    group.add_argument(
        "--answer",
        choices=("direct", "reasoned"),
        default="direct",
        help="reasoned: besides the first token, let the subject write its reasons at a few settings (%(default)s)",
    )
    group.add_argument("--reasoned-settings", type=positive, default=6, help="how many, 0 among them (%(default)s)")
    group.add_argument(
        "--reasoned-tokens", type=positive, default=160, help="longer texts are cut off, and unread (%(default)s)"
    )
    group.add_argument(
        "--reasoned-positions",
        choices=("same", "last", "prompt", "all", "generated", "uncertain"),
        default="same",
        help="where the dial acts while it writes; same: as --positions, where all holds what is generated too",
    )


main = noted(parse_options, steer_sweep)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

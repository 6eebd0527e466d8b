"""Does one steering vector in one model reproduce the yes/no of every model of a panel?

    python experiments/steer_sweep.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/steer_sweep.py --n-questions 200        # a quick look
    python experiments/steer_sweep.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --n-questions 1000 --wandb online
    accelerate launch --num_processes 8 experiments/steer_sweep.py ...     # questions shared out, one result

The run's folder (default runs/<time>-<model>-<configuration>) holds everything that report.html says. A run that was
broken off goes on with --resume and the same options.
"""

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from common import InputError, is_first_process, say
from common.command_line import config_arguments, natural, positive, run_command

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate, ResponseMatrix
    from matching import ExperimentInputs
    from open_models import OpenModel
    from reporting import RunDirectory
    from steering import PromptSet
    from steering.plan import SweepPlan

DEFAULTS: dict[str, Any] = {
    "model": "smollm2-135m-instruct",
    "revision": None,
    "dtype": "auto",
    "device_map": None,
    "questions": None,
    "n_questions": None,
    "panel": "embedded",
    "respondents": None,
    "targets": None,
    "keep_own": False,
    "prompt": None,
    "contrast": "response",
    "method": "mean_difference",
    "layer": "auto",
    "site": "resid_post",
    "positions": "last",
    "unit": "residual_norm",
    "magnitudes": "auto",
    "controls": 0,
    "seed": 0,
    "out": None,
    "resume": False,
    "wandb": "off",
}

PROMPT = "neutral"
PROMPT_OF_EMBEDDED = "examples YN"
"""The embedded model knows little of itself when asked without examples (docs/experiment_log.md)."""


def main() -> None:
    options = parse_options()
    inputs, template = read_inputs(options)
    quiet_libraries()
    from open_models import load_model
    from open_models.threads import choose_threads
    from reporting import RunDirectory
    from steering import PromptSet
    from steering.magnitudes import read_magnitudes
    from steering.processes import own_device, start_processes
    from steering.readability import check_readability

    magnitudes = read_magnitudes(options.magnitudes)
    if options.show_prompt:
        return show_prompt(options, inputs, template)
    if options.dry_run:
        return predict(options, inputs, template, magnitudes) if is_first_process() else None
    if is_first_process():
        RunDirectory.check(stored_options(options), options.out, options.resume)
    start_processes(options.device_map)
    if options.wandb != "off":
        from reporting.wandb_log import check_wandb

        check_wandb(options.wandb)
    threads = choose_threads()
    model = load_model(
        options.model,
        revision=options.revision,
        dtype=options.dtype,
        device=own_device(),
        device_map=options.device_map,
    )
    say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}")
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprint)
    readability = check_readability(model, template, inputs.questions)
    say(f"{'warning: ' if readability.warns else ''}{readability}")
    prompts = PromptSet.build(model, inputs.questions, template)
    run = begin_run(options, inputs, prompts, model, threads, str(readability))
    with withdrawn_if_refused(run), run.stage("vectors, layer and magnitudes"):
        plan = load_or_make_plan(run, options, inputs, prompts, model, magnitudes)
    with run.stage("sweep"):
        sweep_and_save(run, options, inputs, prompts, model, plan)
    if is_first_process():
        finish(run, options, inputs.panel)


def quiet_libraries() -> None:
    """Leave the terminal to the run: no bars while weights are read, no word about forked tokenizers."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()


def stored_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options that make the run's configuration."""
    return {name: getattr(options, name) for name in DEFAULTS}


def read_inputs(options: argparse.Namespace) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt, without the subject's own answers where its name tells them."""
    from elicitation import load_prompt
    from matching import load_inputs
    from matching.status import MIN_TEST

    template = load_prompt(options.prompt)
    targets = options.targets and [name.strip() for name in options.targets.split(",")]
    inputs = load_inputs(
        options.panel, options.questions, options.respondents, targets, options.n_questions, options.seed
    )
    if (n_test := len(inputs.ids("test"))) < MIN_TEST:
        say(
            f"warning: {n_test} test questions; a target is judged on {MIN_TEST} or more, so ask {2 * MIN_TEST} or more"
        )
    return inputs if options.keep_own else inputs.without_own(options.model), template


def show_prompt(options: argparse.Namespace, inputs: "ExperimentInputs", template: "PromptTemplate") -> None:
    """Print what the subject reads first; its tokenizer is enough for that."""
    from open_models.tokens import render
    from open_models.weights import load_config, resolve_weights

    _, tokenizer = load_config(resolve_weights(options.model, options.revision))
    say(render(tokenizer, template.fill(inputs.questions[0].text)))


def predict(
    options: argparse.Namespace, inputs: "ExperimentInputs", template: "PromptTemplate", magnitudes: list[float] | None
) -> None:
    """Print what the run would cost."""
    from steering.forecast import measure_and_forecast

    asked = {split: [q for q in inputs.questions if inputs.splits[q.id] == split] for split in inputs.splits.values()}
    forecast = measure_and_forecast(
        options.model,
        asked,
        template,
        options.revision,
        options.dtype,
        options.device_map,
        layer=str(options.layer),
        positions=options.positions,
        n_magnitudes=None if magnitudes is None else len(magnitudes),
        n_controls=options.controls,
    )
    say(f"{options.model}, {len(inputs.questions)} questions, {forecast}")


# ---- the run -----------------------------------------------------------------------------------------------------


def begin_run(
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    prompts: "PromptSet",
    model: "OpenModel",
    threads: int,
    readability: str,
) -> "RunDirectory":
    """The run's folder, new or resumed; process 0 makes it, the others open it."""
    from elicitation import panel_long, questions_frame
    from reporting import RunDirectory
    from steering.processes import gather, process_count, process_index, wait_for_all

    if process_index() == 0:
        run = RunDirectory.begin(stored_options(options), options.out, options.resume)
        run.record_model(model.identity.as_dict())
        run.record(
            device=str(model.device),
            dtype=str(model.dtype).removeprefix("torch."),
            seeds={"all": options.seed},
            threads=threads,
            processes=process_count(),
            readability=readability,
            inputs=list(inputs.notes),
        )
        frame = questions_frame(inputs.questions)
        run.write_questions(frame.assign(split=frame["id"].map(inputs.splits)))
        run.write_panel(panel_long(inputs.panel))
        run.write_prompt(prompts.example)
        say(f"run: {run.path}")
    path = gather([str(run.path)] if process_index() == 0 else [])[0]
    wait_for_all()
    return run if process_index() == 0 else RunDirectory.open(path)


@contextlib.contextmanager
def withdrawn_if_refused(run: "RunDirectory") -> Iterator[None]:
    """Take the folder back when its inputs turn out unusable (a layer that is not there) before it has a vector."""
    try:
        yield
    except InputError:
        if is_first_process() and not (run.path / "vectors").exists():
            shutil.rmtree(run.path)
        raise


def load_or_make_plan(
    run: "RunDirectory",
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    prompts: "PromptSet",
    model: "OpenModel",
    magnitudes: list[float] | None,
) -> "SweepPlan":
    """The plan of a resumed run from its files, else a new one, which is saved."""
    from reporting.terminal import progress_bar
    from steering import SteeringSpec, SteeringVector
    from steering.plan import SweepPlan, make_plan

    stored = run.manifest.get("magnitudes")
    if stored:
        names = [run.manifest["vector_id"], *(name for name in stored if name != run.manifest["vector_id"])]
        vectors = [SteeringVector.load(run.vector_path(name)) for name in names]
        return SweepPlan(vectors[0], tuple(vectors[1:]), stored, None)
    plan = make_plan(
        model,
        prompts.subset(inputs.ids("extraction")),
        prompts.subset(inputs.ids("fitting")),
        SteeringSpec(options.positions, options.unit),
        progress_bar,
        layer=str(options.layer),
        contrast=options.contrast,
        method=options.method,
        magnitudes=magnitudes,
        n_controls=options.controls,
        seed=options.seed,
    )
    if is_first_process():
        for vector in plan.vectors:
            vector.save(run.vector_path(vector.vector_id))
        if plan.scan is not None:
            run.write_layer_scan(plan.scan.table)
        run.record(vector_id=plan.vector.vector_id, magnitudes=plan.magnitudes)
    if plan.scan is not None and not plan.scan.spans:
        say(f"warning: no layer turns the answers both ways; layer {plan.vector.layer} moves the yes rate most")
    grid = plan.magnitudes[plan.vector.vector_id]
    say(
        f"vector: {plan.vector.vector_id} from {plan.vector.n_yes} questions on the side of yes and {plan.vector.n_no} "
        f"on that of no ({plan.vector.n_unread} unread); {len(grid)} magnitudes from {grid[0]:.3g} to {grid[-1]:.3g}"
    )
    return plan


def sweep_and_save(
    run: "RunDirectory",
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    prompts: "PromptSet",
    model: "OpenModel",
    plan: "SweepPlan",
) -> None:
    """Ask what is not on disk yet, and write each batch as it comes."""
    from reporting.terminal import progress_bar
    from steering import SteeringSpec, sweep
    from steering.processes import process_index, wait_for_all

    done = run.done_question_ids()
    wait_for_all()

    def save(part: "pd.DataFrame") -> None:
        run.write_part(part.assign(split=part["question_id"].map(inputs.splits)), process=process_index())

    with progress_bar(len(prompts) - len(done), "sweep") as advance:
        sweep(
            model,
            prompts,
            plan.vectors,
            plan.magnitudes,
            SteeringSpec(options.positions, options.unit),
            sink=save,
            done=done,
            progress=advance,
        )
    wait_for_all()


def finish(run: "RunDirectory", options: argparse.Namespace, panel: "ResponseMatrix") -> None:
    """Match, judge, report; all of it from the files of the run."""
    from reporting.judgement import match_and_judge
    from reporting.report import write_report
    from reporting.terminal import print_summary

    with run.stage("match and verdict"):
        verdict = match_and_judge(run, panel, options.seed)
    with run.stage("report"):
        report = write_report(run)
    if options.wandb != "off":
        from reporting.wandb_log import log_run

        with run.stage("W&B"):
            log_run(run, options.wandb)
    print_summary(run.matches(), verdict.to_dict())
    say(f"report: {report}")


# ---- options -----------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command line over --config file over defaults.

    Raises:
        InputError: the config file cannot be used.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if "--magnitudes" in arguments[:-1]:  # a list that begins with a minus sign looks like an option
        place = arguments.index("--magnitudes")
        arguments[place : place + 2] = [f"--magnitudes={arguments[place + 1]}"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    subject = parser.add_argument_group("subject")
    subject.add_argument("--model", help="built-in name, hub id, local folder or GGUF file (%(default)s)")
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument(
        "--dtype",
        choices=("auto", "float32", "bfloat16", "float16"),
        help="auto: the checkpoint's own on CUDA, float32 on the CPU",
    )
    subject.add_argument("--device-map", help="auto spreads a large model over several GPUs")
    asked = parser.add_argument_group("questions, panel, prompt")
    asked.add_argument(
        "--questions",
        help="embedded, squad, nq_open, trivia_qa, a folder or a file; by default the "
        "panel's own texts, or the embedded ones",
    )
    asked.add_argument("--n-questions", type=positive, help="draw this many of the questions that the panel answers")
    asked.add_argument("--panel", help="yes/no of the targets: CSV, JSONL or Parquet (%(default)s)")
    asked.add_argument("--respondents", help="what is known of the targets (default: respondents.csv beside the panel)")
    asked.add_argument("--targets", help="only these respondents, separated by commas")
    asked.add_argument("--keep-own", action="store_true", help="keep targets that are the subject's own model")
    asked.add_argument(
        "--prompt",
        help="a .txt or .yaml file with one {question}, or a framing's name "
        f"({PROMPT}; for the embedded model {PROMPT_OF_EMBEDDED})",
    )
    asked.add_argument("--show-prompt", action="store_true", help="print the first rendered prompt and stop")
    steered = parser.add_argument_group("steering")
    steered.add_argument("--contrast", choices=("response", "answer"), help="what the vector is the difference of")
    steered.add_argument("--method", choices=("mean_difference", "random"), help="random: a control direction")
    steered.add_argument("--layer", help="14, 10,12,14, 8-20 or auto: where the smallest push turns the answers")
    steered.add_argument("--site", choices=("resid_post",), help="the residual stream after the layer")
    steered.add_argument("--positions", choices=("last", "prompt", "all"), help="where the vector is added")
    steered.add_argument("--unit", choices=("residual_norm", "raw"), help="unit of the magnitudes")
    steered.add_argument("--magnitudes", help="auto, or a list such as -1,-0.5,0.5,1")
    steered.add_argument(
        "--controls", type=natural, help="random directions to rank the vector among; 99 for a verdict"
    )
    add("--seed", type=natural, help="of every draw (%(default)s)")
    add("--out", help="folder of the run")
    add("--resume", action="store_true", help="go on with a run that was broken off")
    add("--dry-run", action="store_true", help="predict operations, memory and time, and stop")
    add("--wandb", choices=("off", "offline", "online"), help="mirror the run to Weights & Biases")
    add("--config", metavar="FILE", help="YAML file of options, for example a run's config.yaml")
    parser.set_defaults(**DEFAULTS)
    named = parser.parse_known_args(arguments)[0].config
    stored = config_arguments(named, DEFAULTS, left_out=("out", "resume")) if named else []
    options = parser.parse_args([*stored, *arguments])
    options.prompt = options.prompt or (PROMPT_OF_EMBEDDED if options.model == DEFAULTS["model"] else PROMPT)
    return options


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

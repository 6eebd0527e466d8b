"""Does one steering vector in one model reproduce the yes/no of every model of a panel?

    python experiments/steer_sweep.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/steer_sweep.py --n-questions 80         # a quick look
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from common import InputError
from common.command_line import config_arguments, natural, positive, run_command

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate, Question, ResponseMatrix
    from open_models import OpenModel
    from reporting import RunDirectory
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
    magnitudes = read_magnitudes(options.magnitudes)
    inputs = load_inputs(options)
    quiet_libraries()
    from open_models import load_model
    from open_models.threads import choose_threads
    from steering.processes import own_device, start_processes
    from steering.readability import check_readability

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
        inputs = without_own(inputs, model.identity.name, model.identity.fingerprint)
    if options.show_prompt:
        say(model.render(inputs.template.fill(inputs.questions[0].text)))
        return
    readability = check_readability(model, inputs.template, inputs.questions)
    say(f"{'warning: ' if readability.warns else ''}{readability}")
    run = begin_run(options, inputs, model, threads, str(readability))
    with withdrawn_if_refused(run), stage(run, "vectors, layer and magnitudes"):
        plan = load_or_make_plan(run, options, inputs, model, magnitudes)
    with stage(run, "sweep"):
        sweep_and_save(run, options, inputs, model, plan)
    if is_first_process():
        finish(run, options, inputs.panel)


# ---- what comes in -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inputs:
    """Questions that the panel answers, their splits, the panel, and the prompt they are put into."""

    questions: "list[Question]"
    splits: dict[str, str]
    panel: "ResponseMatrix"
    template: "PromptTemplate"
    notes: tuple[str, ...]

    def ids(self, split: str) -> list[str]:
        return [question.id for question in self.questions if self.splits[question.id] == split]


def load_inputs(options: argparse.Namespace) -> Inputs:
    """Join questions and panel, draw, split."""
    from elicitation import (
        join_questions_and_panel,
        load_panel,
        load_prompt,
        load_questions,
        questions_frame,
        sample_questions,
    )
    from matching import assign_splits

    default = PROMPT_OF_EMBEDDED if options.model == DEFAULTS["model"] else PROMPT
    template = load_prompt(options.prompt or default)
    panel = load_panel(options.panel, options.respondents)
    source = options.questions
    if source is None:
        source = options.panel if panel.question_texts is not None and options.panel != "embedded" else "embedded"
    questions, panel, joined = join_questions_and_panel(load_questions(source), panel)
    if options.n_questions is not None:
        questions = sample_questions(questions, options.n_questions, options.seed)
    if options.targets:
        panel = panel.select(respondents=[name.strip() for name in options.targets.split(",")])
    panel = panel.select(questions=[question.id for question in questions])
    splits = assign_splits(questions_frame(questions), options.seed)
    say(str(joined))
    splits_by_id = {str(question): str(split) for question, split in splits.items()}
    inputs = Inputs(questions, splits_by_id, panel, template, (str(joined),))
    return inputs if options.keep_own else without_own(inputs, options.model)


def without_own(inputs: Inputs, name: str, fingerprint: str | None = None) -> Inputs:
    """Leave out the targets that are the subject: by name at once, by their weights when the subject is loaded."""
    from elicitation import drop_own

    panel, own = drop_own(inputs.panel, name, fingerprint)
    if not own:
        return inputs
    note = f"{len(own)} targets are the subject itself and are left out: {', '.join(own)}"
    say(note)
    return replace(inputs, panel=panel, notes=(*inputs.notes, note))


def read_magnitudes(option: str | Sequence[float]) -> list[float] | None:
    """`auto` (None), or a list such as -1,-0.5,0,0.5,1; 0 is added where it is missing."""
    import math

    if option == "auto":
        return None
    pieces = option.split(",") if isinstance(option, str) else list(option)
    try:
        values = [float(piece) for piece in pieces]
    except (TypeError, ValueError):
        values = []
    if len({*values, 0.0}) < 3 or not all(math.isfinite(value) for value in values):
        raise InputError(
            f"--magnitudes {option!r} is neither auto nor a list of two or more numbers like -1,-0.5,0.5,1"
        )
    return sorted({0.0, *values})


# ---- the run -----------------------------------------------------------------------------------------------------


def begin_run(
    options: argparse.Namespace, inputs: Inputs, model: "OpenModel", threads: int, readability: str
) -> "RunDirectory":
    """The run's folder, new or resumed; process 0 makes it, the others open it."""
    from elicitation import panel_long, questions_frame
    from reporting import RunDirectory
    from steering.processes import gather, process_count, process_index, wait_for_all

    if process_index() == 0:
        stored = {name: getattr(options, name) for name in DEFAULTS}
        run = RunDirectory.begin(stored, options.out, options.resume)
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
        run.write_prompt(model.render(inputs.template.fill(inputs.questions[0].text)))
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
    inputs: Inputs,
    model: "OpenModel",
    magnitudes: list[float] | None,
) -> "SweepPlan":
    """The plan of a resumed run from its files, else a new one, which is saved."""
    from steering import PromptSet, SteeringSpec, SteeringVector
    from steering.plan import SweepPlan, make_plan

    stored = run.manifest.get("magnitudes")
    if stored:
        names = [run.manifest["vector_id"], *(name for name in stored if name != run.manifest["vector_id"])]
        vectors = [SteeringVector.load(run.vector_path(name)) for name in names]
        return SweepPlan(vectors[0], tuple(vectors[1:]), stored, None)
    prompts = PromptSet.build(model, inputs.questions, inputs.template)
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
        f"vector: {plan.vector.vector_id} from {plan.vector.n_yes} yes and {plan.vector.n_no} no "
        f"({plan.vector.n_unread} unread); {len(grid)} magnitudes from {grid[0]:.3g} to {grid[-1]:.3g}"
    )
    return plan


def sweep_and_save(
    run: "RunDirectory", options: argparse.Namespace, inputs: Inputs, model: "OpenModel", plan: "SweepPlan"
) -> None:
    """Ask what is not on disk yet, and write each batch as it comes."""
    from steering import PromptSet, SteeringSpec, sweep
    from steering.processes import process_index, wait_for_all

    prompts = PromptSet.build(model, inputs.questions, inputs.template)
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

    with stage(run, "match and verdict"):
        verdict = match_and_judge(run, panel, options.seed)
    with stage(run, "report"):
        report = write_report(run)
    if options.wandb != "off":
        from reporting.wandb_log import log_run

        with stage(run, "W&B"):
            log_run(run, options.wandb)
    print_summary(run.matches(), verdict.to_dict())
    say(f"report: {report}")


# ---- what a user sees ------------------------------------------------------------------------------------------------


def is_first_process() -> bool:
    """Whether this process is the one that writes and speaks (known before any library is loaded)."""
    return int(os.environ.get("RANK", "0")) == 0


def say(text: str) -> None:
    """Print once, whatever the number of processes."""
    if is_first_process():
        print(text, flush=True)


@contextlib.contextmanager
def progress_bar(total: int, description: str) -> Iterator[Callable[[int], None]]:
    """A bar in the first process; with several it counts this process's share."""
    if not is_first_process():
        yield lambda steps: None
        return
    from reporting import terminal

    with terminal.progress_bar(total, description) as advance:
        yield advance


@contextlib.contextmanager
def stage(run: "RunDirectory", name: str) -> Iterator[None]:
    """Time a stage in the manifest, once."""
    with run.stage(name) if is_first_process() else contextlib.nullcontext():
        yield


def quiet_libraries() -> None:
    """Leave the terminal to the run: no bars while weights are read, no word about forked tokenizers."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.disable_progress_bar()


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
    add("--wandb", choices=("off", "offline", "online"), help="mirror the run to Weights & Biases")
    add("--config", metavar="FILE", help="YAML file of options, for example a run's config.yaml")
    parser.set_defaults(**DEFAULTS)
    named = parser.parse_known_args(arguments)[0].config
    stored = config_arguments(named, DEFAULTS, left_out=("out", "resume")) if named else []
    return parser.parse_args([*stored, *arguments])


if __name__ == "__main__":
    sys.exit(run_command(main))

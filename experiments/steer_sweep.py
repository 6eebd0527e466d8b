"""Does one steering vector in one model reproduce the yes/no of every model of a panel?

    python experiments/steer_sweep.py                          # embedded model, questions and panel; CPU; minutes
    python experiments/steer_sweep.py --n-questions 200        # a quick look
    python experiments/steer_sweep.py --answer reasoned --dry-run       # what letting it reason would cost
    python experiments/steer_sweep.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --n-questions 1000 --wandb online
    accelerate launch --num_processes 8 experiments/steer_sweep.py ...     # questions shared out, one result

The run's folder (default runs/<time>-<model>-<configuration>) holds everything that report.html says. A run that was
broken off goes on with --resume and the same options.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from common import InputError, KeysOf, is_first_process, natural, positive, program_parser, run_command, say
from run_store import Notes, Run, add_run_options, configuration_hash, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate, ResponseMatrix
    from matching import ExperimentInputs, SweepRun
    from open_models import OpenModel, PromptSet
    from reporting import WandbMirror
    from steering import SweepPlan

PROGRAM = "steer_sweep"
MODEL = "smollm2-135m-instruct"
PROMPT = "neutral"
PROMPT_OF_EMBEDDED = "examples YN"
"""The embedded model knows little of itself when asked without examples (docs/experiment_log.md)."""


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        steer_sweep(options, notes)


def steer_sweep(options: argparse.Namespace, notes: Notes) -> None:
    inputs, template = read_inputs(options)
    from open_models import PromptSet, choose_threads, load_model, own_device, quiet_libraries, start_processes
    from steering import check_readability, read_magnitudes

    quiet_libraries()
    magnitudes = read_magnitudes(options.magnitudes)
    if options.show_prompt:
        return show_prompt(options, inputs, template)
    if options.dry_run:
        return predict(options, inputs, template, magnitudes) if is_first_process() else None
    begun: dict[str, Any] = {}
    if is_first_process():
        begun = Run.check(configuration_of(options), options.out, options.resume)
        if options.layer != "auto":
            check_layers(options)
    start_processes(options.device_map)
    if options.wandb != "off":
        from reporting import check_wandb

        check_wandb(options.wandb)
    threads = choose_threads(begun.get("threads"))
    model = load_model(
        options.model,
        revision=options.revision,
        dtype=options.dtype,
        device=own_device(),
        device_map=options.device_map,
    )
    say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}")
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    readability = check_readability(model, template, inputs.questions)
    notes.tell(f"{'warning: ' if readability.warns else ''}{readability}")
    if said := inputs.elicited_otherwise(options.answer):
        notes.tell(said)
    prompts = PromptSet.build(model, inputs.questions, template)
    run = begin_run(options, inputs, prompts, model, threads, notes)
    with run.run:
        with withdrawn_if_refused(run), run.run.stage("vectors, layer and magnitudes"):
            plan = load_or_make_plan(run, options, inputs, prompts, model, template, magnitudes, notes)
        with mirrored(run, options) as mirror:
            with run.run.stage("sweep"):
                sweep_and_save(run, prompts, model, plan, mirror)
            if plan.controls:
                with run.run.stage("controls"):
                    cross_and_save(run, prompts, model, plan, mirror)
                if is_first_process():
                    with run.run.stage("neutral text"):
                        measure_texts(run, model, plan)
            if options.instructed:
                with run.run.stage("instructed thresholds"):
                    ask_instructed(run, inputs, model, template)
            if options.facts:
                with run.run.stage("facts"):
                    ask_facts(run, model, plan, options, mirror, before=(1 + bool(plan.controls)) * len(prompts))
            if options.side_effects:
                with run.run.stage("side effects on neutral text"):
                    run_on_text(run, model, plan, options)
            if options.answer == "reasoned":
                with run.run.stage("reasoned answers"):
                    write_reasons(run, model, plan, options, inputs, template)
            if is_first_process():
                finish(run, options, inputs.panel, mirror)


def read_inputs(options: argparse.Namespace) -> "tuple[ExperimentInputs, PromptTemplate]":
    """Questions, panel and prompt, without the subject's own answers where its name tells them."""
    from common import notice
    from elicitation import load_prompt
    from matching import load_inputs, prospects_of

    template = load_prompt(options.prompt)
    targets = options.targets and [name.strip() for name in options.targets.split(",")]
    inputs = load_inputs(
        options.panel,
        options.questions,
        options.respondents,
        targets,
        options.n_questions,
        options.seed,
        hold_out_topics=options.hold_out == "topics",
    )
    if not options.keep_own:
        inputs = inputs.without_own(options.model)
    if not (prospects := prospects_of(inputs, options.seed)).suffices:
        notice(f"warning: {prospects}")
    return inputs, template


def check_layers(options: argparse.Namespace) -> None:
    """Refuse layers that the subject has not, by its config alone."""
    from open_models import load_config, resolve_weights
    from steering import candidate_layers

    candidate_layers(str(options.layer), 10**6)  # what is written wrongly is wrong in any model
    config, _ = load_config(resolve_weights(options.model, options.revision))
    candidate_layers(str(options.layer), config.get_text_config().num_hidden_layers)


def show_prompt(options: argparse.Namespace, inputs: "ExperimentInputs", template: "PromptTemplate") -> None:
    """Print what the subject reads first; its tokenizer is enough for that."""
    from open_models import load_config, render, resolve_weights

    _, tokenizer = load_config(resolve_weights(options.model, options.revision))
    say(render(tokenizer, template.fill(inputs.questions[0].text)))


def predict(
    options: argparse.Namespace, inputs: "ExperimentInputs", template: "PromptTemplate", magnitudes: list[float] | None
) -> None:
    """Print what the run would cost."""
    from steering import SURENESS, measure_and_forecast

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
        n_facts=options.facts,
        n_instructed=len(SURENESS) if options.instructed else 0,
        n_passages=options.passages if options.side_effects else 0,
        n_reasoned=options.reasoned_settings if options.answer == "reasoned" else 0,
        reasoned_tokens=options.reasoned_tokens,
    )
    say(f"{options.model}, {len(inputs.questions)} questions, {forecast}")


# ---- the run -----------------------------------------------------------------------------------------------------


def begin_run(
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    prompts: "PromptSet",
    model: "OpenModel",
    threads: int,
    notes: Notes,
) -> "SweepRun":
    """The run's folder, new or resumed; process 0 makes it, the others join."""
    from elicitation import panel_long
    from matching import RULE, SweepRun
    from open_models import gather, process_count, process_index, wait_for_all

    if process_index() > 0:
        nothing: list[str] = []
        path = gather(nothing)[0]
        wait_for_all()
        return SweepRun(Run.join(path, process_index()))
    run = Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, label=options.model)
    try:
        run.record_once("model", model.identity.as_dict(), "load the same model or choose another --out")
        run.record(
            device=str(model.device),
            dtype=str(model.dtype).removeprefix("torch."),
            answer_tokens=model.spell(prompts.tokens),
            seeds={"all": options.seed},
            threads=threads,
            processes=process_count(),
        )
        notes.keep_in(run)
        SweepRun(run).keep_inputs(inputs.frame(), panel_long(inputs.panel), prompts.example)
        digest = inputs.plan_hash(configuration_hash(run.config), RULE)
        run.record_once("plan", {"rule": RULE, "sha256": digest}, "choose another --out")
    except InputError:
        run.withdraw()
        raise
    say(f"run: {run.path}")
    gather([str(run.path)])
    wait_for_all()
    return SweepRun(run)


@contextlib.contextmanager
def withdrawn_if_refused(run: "SweepRun") -> Iterator[None]:
    """Take a new run back whose inputs turn out unusable (a layer that is not there) before anything is swept."""
    try:
        yield
    except InputError:
        if is_first_process():
            run.run.withdraw()
        raise


def load_or_make_plan(
    run: "SweepRun",
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    prompts: "PromptSet",
    model: "OpenModel",
    template: "PromptTemplate",
    magnitudes: list[float] | None,
    notes: Notes,
) -> "SweepPlan":
    """The plan of a resumed run from its files, else a new one, which is saved."""
    from reporting import progress_bar
    from steering import make_plan

    if run.has_plan:
        return stored_plan(run)
    plan = make_plan(
        model,
        prompts.subset(inputs.ids("extraction")),
        prompts.subset(inputs.ids("fitting")),
        progress_bar,
        questions=[question for question in inputs.questions if inputs.splits[question.id] == "extraction"],
        template=template,
        layer=str(options.layer),
        contrast=options.contrast,
        method=options.method,
        operator=options.operator,
        positions=options.positions,
        unit=options.unit,
        magnitudes=magnitudes,
        n_controls=options.controls,
        seed=options.seed,
    )
    if is_first_process():
        for vector in plan.vectors:
            vector.save(run.run.file(run.vector_file(vector.vector_id)))
        if plan.scan is not None:
            run.write_layer_scan(plan.scan.table)
        run.write_interventions(plan.entries())
        if plan.reliability is not None:
            run.run.record(vector=asdict(plan.reliability))
    for note in plan.notes:
        notes.tell(note)
    chosen, found = plan.intervention, plan.reliability
    grid, vector = plan.magnitudes[chosen.intervention_id], chosen.vectors[0]
    notes.tell(
        f"vector: {vector.vector_id} from {vector.n_yes} questions on the side of yes and {vector.n_no} "
        f"on that of no ({vector.n_unread} unread)"
        + (f", reliability {found.reliability:.2f}" if found is not None else "")
        + f"; {len(grid)} magnitudes from {grid[0]:.3g} to {grid[-1]:.3g}"
    )
    return plan


def stored_plan(run: "SweepRun") -> "SweepPlan":
    """What a run that was broken off is about, from its files."""
    from steering import Intervention, SteeringVector, SweepPlan

    entries = run.interventions().to_dict("records")
    names = {name for entry in entries for name in entry["vectors"]}
    vectors = {name: SteeringVector.load(run.path / run.vector_file(name)) for name in names}
    interventions = [Intervention.from_dict(entry, vectors) for entry in entries]
    own = next(each for each in interventions if each.intervention_id == run.under_test())
    return SweepPlan(
        own,
        tuple(each for each in interventions if each is not own),
        {entry["intervention_id"]: entry["magnitudes"] for entry in entries},
        None,
    )


@contextlib.contextmanager
def mirrored(run: "SweepRun", options: argparse.Namespace) -> "Iterator[WandbMirror | None]":
    """This process's W&B run, once it stands what will be swept; None without --wandb. Ended in any case."""
    if options.wandb == "off":
        yield None
        return
    from open_models import process_count, process_index
    from reporting import WandbMirror, WandbOptions

    mirror = WandbMirror(run, WandbOptions.of(options), process_index(), process_count())
    say(mirror.where())
    try:
        if is_first_process():
            mirror.log_vectors()
        yield mirror
    except BaseException:
        mirror.close(failed=True)
        raise
    mirror.close()


def sweep_and_save(
    run: "SweepRun", prompts: "PromptSet", model: "OpenModel", plan: "SweepPlan", mirror: "WandbMirror | None" = None
) -> None:
    """Ask what is not on disk yet, and write each batch as it comes."""
    from open_models import process_index, wait_for_all
    from reporting import progress_bar
    from steering import sweep

    done = run.parts.done("question_id")
    wait_for_all()

    stream = mirror and mirror.stream("sweep", len(done), len(prompts))

    def save(part: "pd.DataFrame") -> None:
        run.parts.append(part, process=process_index())
        if stream:
            stream(part)

    with progress_bar(len(prompts) - len(done), "sweep") as advance:
        sweep(model, prompts, [plan.intervention], plan.magnitudes, sink=save, done=done, progress=advance)
    wait_for_all()


def cross_and_save(
    run: "SweepRun", prompts: "PromptSet", model: "OpenModel", plan: "SweepPlan", mirror: "WandbMirror | None" = None
) -> None:
    """Find where the answers turn along each control, for what is not on disk yet."""
    from open_models import process_index, wait_for_all
    from reporting import progress_bar
    from steering import crossings_along

    done = run.crossing_parts.done("question_id")
    wait_for_all()

    stream = mirror and mirror.stream("controls", len(done), len(prompts), before=len(prompts))

    def save(part: "pd.DataFrame") -> None:
        run.crossing_parts.append(part, process=process_index())
        if stream:
            stream(part)

    with progress_bar(len(prompts) - len(done), f"{len(plan.controls)} controls") as advance:
        crossings_along(model, prompts, plan.ranges, plan.controls, sink=save, done=done, progress=advance)
    wait_for_all()


def measure_texts(run: "SweepRun", model: "OpenModel", plan: "SweepPlan") -> None:
    """What each push does to neutral text where it takes the yes rate to .1 and to .9; once."""
    from elicitation import load_passages
    from reporting import progress_bar
    from steering import kl_on_text

    if run.texts() is not None:
        return
    settings, passages = run.settings_on_text(), load_passages()
    with progress_bar(len(passages), "neutral text") as advance:
        run.write_texts(kl_on_text(model, plan.interventions, settings, passages=passages, progress=advance))


def ask_instructed(run: "SweepRun", inputs: "ExperimentInputs", model: "OpenModel", template: "PromptTemplate") -> None:
    """Ask the unsteered subject to say yes only if it is so sure, for each level that is not on disk yet."""
    from open_models import wait_for_all
    from reporting import progress_bar
    from steering import instructed_threshold

    dial, done = instructed_threshold(), {float(level) for level in run.instructed_parts.done("level")}
    wait_for_all()
    asked = [question for question in inputs.questions if inputs.splits[question.id] != "extraction"]
    todo = [level for level in dial.first_settings() if level and level not in done]
    with progress_bar(len(todo) * len(asked), "instructed thresholds") as advance:
        for level in todo:
            answers = dial.ask(model, asked, template, [level], advance).rename(columns={"setting": "level"})
            if is_first_process():
                run.instructed_parts.append(answers)
    wait_for_all()


def ask_facts(
    run: "SweepRun",
    model: "OpenModel",
    plan: "SweepPlan",
    options: argparse.Namespace,
    mirror: "WandbMirror | None" = None,
    before: int = 0,
) -> None:
    """Ask facts that have nothing to do with ability, at all magnitudes, for what is not on disk yet."""
    from elicitation import FACT, load_facts, truth_of
    from open_models import PromptSet, process_index, wait_for_all
    from reporting import progress_bar
    from steering import sweep

    facts = load_facts(options.facts, options.seed)
    truth, done = truth_of(facts), run.facts_parts.done("question_id")
    wait_for_all()

    stream = mirror and mirror.stream("facts", len(done), len(facts), before)

    def save(part: "pd.DataFrame") -> None:
        run.facts_parts.append(part.assign(truth=part["question_id"].map(truth)), process=process_index())
        if stream:
            stream(part)

    prompts = PromptSet.build(model, facts, FACT.template)
    with progress_bar(len(facts) - len(done), "facts") as advance:
        sweep(model, prompts, [plan.intervention], plan.magnitudes, sink=save, done=done, progress=advance)
    wait_for_all()


def run_on_text(run: "SweepRun", model: "OpenModel", plan: "SweepPlan", options: argparse.Namespace) -> None:
    """What the dial does to neutral text, magnitude by magnitude, for what is not on disk yet; by one process."""
    from elicitation import load_passages
    from open_models import wait_for_all
    from reporting import progress_bar
    from steering import TEXT_COLUMNS, effects_on_text

    parts = run.run.parts("texts", TEXT_COLUMNS, ["setting"])
    if is_first_process():
        done, passages = parts.done("setting"), load_passages()[: options.passages]
        left = [m for m in plan.magnitudes[plan.intervention.intervention_id] if m not in done]
        with progress_bar(len(left), f"{len(passages)} neutral passages at each magnitude") as advance:
            for start in range(0, len(left), 8):
                few = left[start : start + 8]
                parts.append(effects_on_text(model, few, plan.intervention, passages=passages))
                advance(len(few))
    wait_for_all()


def weigh_side_effects(run: "SweepRun", limit: float) -> None:
    """The table of side effects and the usable range, from the facts and the texts."""
    from matching import usable_range
    from steering import TEXT_COLUMNS, fact_effects

    facts = run.facts_parts.read().rename(columns={"magnitude": "setting"})
    truth = facts.drop_duplicates("question_id").set_index("question_id")["truth"]
    texts = run.run.parts("texts", TEXT_COLUMNS, ["setting"]).read()
    effects = fact_effects(facts, truth, limit=limit).merge(texts, on="setting")
    run.write_side_effects(effects, usable_range(effects, run.matches(), limit))


def write_reasons(
    run: "SweepRun",
    model: "OpenModel",
    plan: "SweepPlan",
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    template: "PromptTemplate",
) -> None:
    """Let the subject reason at a few settings that the direct sweep places, for what is not on disk yet."""
    from dataclasses import replace

    from open_models import process_index, wait_for_all
    from reporting import progress_bar
    from steering import reasoned_instrument, reasoned_sweep, short_grid

    intervention, sweep = plan.intervention, run.sweep()
    own = sweep[(sweep["intervention_id"] == intervention.intervention_id)]
    magnitudes = short_grid(own[own["question_id"].isin(set(inputs.ids("fitting")))], options.reasoned_settings)
    if options.reasoned_positions != "same":
        intervention = replace(intervention, positions=options.reasoned_positions)
    questions = [question for question in inputs.questions if inputs.splits[question.id] != "extraction"]
    done = {(str(question), float(magnitude)) for _, question, magnitude in run.reasoned_parts.done_keys()}
    wait_for_all()

    def save(part: "pd.DataFrame") -> None:
        run.reasoned_parts.append(part, process=process_index())

    left = len(questions) * len(magnitudes) - len(done)
    with progress_bar(left, f"reasoned answers at {len(magnitudes)} settings") as advance:
        reasoned_sweep(
            model,
            questions,
            intervention,
            magnitudes,
            reasoned_instrument(template, options.reasoned_tokens),
            sink=save,
            done=done,
            progress=advance,
        )
    wait_for_all()


def finish(
    run: "SweepRun", options: argparse.Namespace, panel: "ResponseMatrix", mirror: "WandbMirror | None" = None
) -> None:
    """Match, judge, report; all of it from the files of the run."""
    from reporting import print_summary, write_report

    with run.run.stage("match and verdict"):
        run.write_judgement(run.judge(panel, options.seed))
        if options.side_effects:
            weigh_side_effects(run, options.limit)
        if options.answer == "reasoned":
            run.write_reasoned(*run.judge_reasoned(panel, options.seed))
    with run.run.stage("report"):
        report = write_report(run)
    if mirror is not None:
        with run.run.stage("W&B"):
            mirror.finish()
    print_summary(run.matches(), run.verdict())
    if (found := run.side_effects()) is not None:
        say(found[1]["sentence"])
    if (reasoned := run.reasoned()) is not None:
        verdict = reasoned["verdict"]
        say(reasoned["sentence"] + (f" By these answers: {verdict['sentence']}" if verdict else ""))
    say(f"report: {report}")


# ---- options -----------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command line over --config file over defaults.

    Raises:
        InputError: the config file cannot be used.
    """
    parser = program_parser(__doc__)
    subject = parser.add_argument_group("subject")
    subject.add_argument(
        "--model", default=MODEL, help="built-in name, hub id, local folder or GGUF file (%(default)s)"
    )
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument(
        "--dtype",
        choices=("auto", "float32", "bfloat16", "float16"),
        default="auto",
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
    asked.add_argument("--panel", default="embedded", help="yes/no of the targets: CSV, JSONL or Parquet (%(default)s)")
    asked.add_argument("--respondents", help="what is known of the targets (default: respondents.csv beside the panel)")
    asked.add_argument("--targets", help="only these respondents, separated by commas")
    asked.add_argument("--keep-own", action="store_true", help="keep targets that are the subject's own model")
    asked.add_argument(
        "--prompt",
        help="a .txt or .yaml file with one {question}, or a framing's name "
        f"({PROMPT}; for the embedded model {PROMPT_OF_EMBEDDED})",
    )
    asked.add_argument(
        "--hold-out",
        choices=("questions", "topics"),
        default="questions",
        help="what is tested on: half of the questions of every topic, or all questions of half of the topics "
        "(%(default)s)",
    )
    asked.add_argument("--show-prompt", action="store_true", help="print the first rendered prompt and stop")
    add_steering_options(parser)
    add_side_effect_options(parser)
    add_reasoned_options(parser)
    add_run_options(parser, wandb=True)
    parser.add_argument("--dry-run", action="store_true", help="predict operations, memory and time, and stop")
    options = parse_run_options(parser, arguments, lists=("--magnitudes",), retired=("site",))
    if options.positions in ("generated", "uncertain"):
        raise InputError(
            f"--positions {options.positions} changes what is written, and the sweep reads the token after the prompt; "
            "choose last, prompt or all"
        )
    if options.side_effects and not options.facts:
        raise InputError("--side-effects rests on unrelated facts; leave --facts 0 away")
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
    options.prompt = options.prompt or (PROMPT_OF_EMBEDDED if options.model == MODEL else PROMPT)
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
        "--instructed",
        action="store_true",
        help="a rival without steering: ask again with 'only if you are at least t%% sure', for seven t",
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


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

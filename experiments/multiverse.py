"""Does the verdict hold under other choices? Layers, contrasts, wordings, and other draws of the extraction questions.

    python experiments/multiverse.py                                  # embedded model and panel; CPU; minutes
    python experiments/multiverse.py --n-questions 200 --layer 15,21 --resamples 2       # a quick look
    python experiments/multiverse.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --cross

By default one thing is varied at a time, from the run that `steer_sweep.py` would have made; --cross takes every
combination. Each universe has a vector and a range of its own; that its answers turn, and where, is all that is asked
(`steering.crossings_along`), and each is judged by the rule of the verdict. Writes universes.csv,
summary.json with the sentence, figures/ and report.html. A run that was broken off goes on with --resume and the same
options.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common import InputError, KeysOf, natural, positive, program_parser, run_command, say
from run_store import Notes, Run, add_run_options, configuration_hash, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate
    from matching import ExperimentInputs, Universe
    from open_models import OpenModel, PromptSet
    from run_store import Parts
    from steering import Intervention

PROGRAM = "multiverse"
MODEL = "smollm2-135m-instruct"
PROMPT, PROMPT_OF_EMBEDDED = "neutral", "examples YN"
PARAPHRASES = "paraphrases"
TURN_COLUMNS = ["question_id", "intervention_id", "magnitude", "yes_at_low", "margin", "mass"]
TURN_KEY = ["intervention_id", "question_id", "magnitude"]


@dataclass(frozen=True)
class Work:
    """What every stage needs; `templates` are the wordings, the run's own first."""

    run: Run
    model: "OpenModel"
    inputs: "ExperimentInputs"
    templates: "list[PromptTemplate]"
    options: argparse.Namespace

    def prompts(self, wording: int, *splits: str) -> "PromptSet":
        """The questions of some splits in one wording."""
        from open_models import PromptSet

        asked = [question for question in self.inputs.questions if self.inputs.splits[question.id] in splits]
        return PromptSet.build(self.model, asked, self.templates[wording])

    def turns(self, wording: int) -> "Parts":
        """Where the answers turn in the universes of one wording, as it grows."""
        return self.run.parts(f"turns/wording-{wording}", TURN_COLUMNS, TURN_KEY)


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        multiverse(options, notes)


def multiverse(options: argparse.Namespace, notes: Notes) -> None:
    from matching import RULE, universes_of
    from open_models import choose_threads, load_model, quiet_libraries
    from steering import check_readability

    inputs, templates = read_inputs(options)
    quiet_libraries()
    candidates = layers_of(options)
    if options.dry_run:
        return predict(options, inputs, templates, candidates)
    begun = Run.check(configuration_of(options), options.out, options.resume)
    threads = choose_threads(begun.get("threads"))
    model = load_model(options.model, revision=options.revision, dtype=options.dtype, device_map=options.device_map)
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}")
    with Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, PROGRAM) as run:
        run.record_once("model", model.identity.as_dict(), "load the same model or choose another --out")
        run.record(threads=threads)
        run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
        digest = inputs.plan_hash(configuration_hash(run.config), RULE)
        run.record_once("plan", {"rule": RULE, "sha256": digest}, "choose another --out")
        notes.keep_in(run)
        say(f"run: {run.path}")
        work = Work(run, model, inputs, templates, options)
        try:
            notes.tell(str(check_readability(model, templates[0], inputs.questions)))
            with run.stage("layer"):
                layer = own_layer(work, candidates)
            wordings = [template.name for template in templates]
            universes = universes_of(
                candidates, options.contrasts, wordings, options.resamples, layer, cross=options.cross
            )
            say(f"{len(universes)} universes in {len(wordings)} wordings; the run's own layer is {layer}")
            plan_wording(work, 0, universes, notes)
        except InputError:
            run.withdraw()
            raise
        for number, name in enumerate(wordings):
            own = [each for each in universes if each.wording == name]
            with run.stage(name):
                find_turns(work, number, plan_wording(work, number, own, notes))
        with run.stage("verdicts"):
            finish(work, universes)


def read_inputs(options: argparse.Namespace) -> "tuple[ExperimentInputs, list[PromptTemplate]]":
    """Questions and panel without the subject's own answers, and the wordings, the run's own first."""
    from common import notice
    from elicitation import load_prompt, paraphrases
    from matching import load_inputs, prospects_of

    template = load_prompt(options.prompt)
    if options.wordings == PARAPHRASES:
        templates = paraphrases(template)
    else:
        named = [name.strip() for name in options.wordings.split(",") if name.strip()]
        templates = [template, *(load_prompt(name) for name in named)]
    names = [each.name for each in templates]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(f"--wordings: two prompts are named {min(repeated)!r}; give each a name of its own")
    targets = options.targets and [name.strip() for name in options.targets.split(",")]
    inputs = load_inputs(
        options.panel, options.questions, options.respondents, targets, options.n_questions, options.seed
    )
    if not options.keep_own:
        inputs = inputs.without_own(options.model)
    if not (prospects := prospects_of(inputs, options.seed)).suffices:
        notice(f"warning: {prospects}")
    return inputs, templates


def layers_of(options: argparse.Namespace) -> list[int]:
    """The candidate layers, by the subject's config alone."""
    from open_models import load_config, resolve_weights
    from steering import candidate_layers

    candidate_layers(str(options.layer), 10**6)  # what is written wrongly is wrong in any model
    config, _ = load_config(resolve_weights(options.model, options.revision))
    return candidate_layers(str(options.layer), config.get_text_config().num_hidden_layers)


def predict(
    options: argparse.Namespace,
    inputs: "ExperimentInputs",
    templates: "list[PromptTemplate]",
    candidates: list[int],
) -> None:
    """Print what the run would cost; the middle candidate stands for the run's own layer."""
    from matching import universes_of
    from steering import forecast_multiverse, measure_and_forecast

    names = [template.name for template in templates]
    middle = candidates[len(candidates) // 2]
    universes = universes_of(candidates, options.contrasts, names, options.resamples, middle, cross=options.cross)
    asked = {split: [q for q in inputs.questions if inputs.splits[q.id] == split] for split in inputs.splits.values()}
    forecast = measure_and_forecast(
        options.model,
        asked,
        templates[0],
        options.revision,
        options.dtype,
        options.device_map,
        forecast=forecast_multiverse,
        candidates=candidates,
        universes=[[(each.layer, each.contrast) for each in universes if each.wording == name] for name in names],
    )
    say(f"{options.model}, {len(inputs.questions)} questions, {len(universes)} universes, {forecast}")


# ---- vectors and where they turn answers -----------------------------------------------------------------------------


def own_layer(work: Work, candidates: list[int]) -> int:
    """The layer that a run would take: where the smallest push turns the fitting questions both ways."""
    from reporting import progress_bar
    from steering import Intervention, contrast_of, scan_layers, vectors_of

    if len(candidates) == 1:
        return candidates[0]
    run, options = work.run, work.options
    if run.has("layer.json"):
        return int(run.read_json("layer.json")["layer"])
    prompts = work.prompts(0, "extraction")
    found = contrast_of(work.model, prompts, candidates, options.contrasts[0], method=options.method, seed=options.seed)
    vectors = vectors_of(work.model.identity, found, options.method, prompts.prompt_hash)
    fitting = work.prompts(0, "fitting")
    with progress_bar(len(fitting), f"scanning {len(candidates)} layers") as advance:
        scan = scan_layers(work.model, fitting, [Intervention.of(vector) for vector in vectors], advance)
    run.write_table("layer_scan.csv", scan.table)
    run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
    return scan.layer


def plan_wording(work: Work, wording: int, universes: "Sequence[Universe]", notes: Notes) -> dict[str, Any]:
    """Vectors and ranges of the universes of one wording: from the run's files, else made and saved.

    Returns:
        entries: universe_id -> entry of the intervention, with n_yes and n_no; refused: universe_id -> why there is no
        vector.
    """
    from reporting import progress_bar
    from steering import Intervention, contrast_of, ranges_along, vectors_of

    run, options, model, file = work.run, work.options, work.model, f"plans/wording-{wording}.json"
    own = [each for each in universes if each.wording == work.templates[wording].name]
    if run.has(file):
        return run.read_json(file)
    prompts = work.prompts(wording, "extraction")
    made: list[Intervention] = []
    refused: dict[str, str] = {}
    for contrast in dict.fromkeys(each.contrast for each in own):
        here = [each for each in own if each.contrast == contrast]
        layers = sorted({each.layer for each in here})
        with progress_bar(len(prompts), f"{work.templates[wording].name}: {contrast} contrast") as advance:
            try:
                found = contrast_of(model, prompts, layers, contrast, advance, method=options.method, seed=options.seed)
            except InputError as reason:
                refused |= {each.universe_id: str(reason) for each in here}
                continue
        for each in here:
            try:
                sides = found.at_layer(each.layer)
                if each.resample:
                    sides = sides.resampled(options.seed + each.resample)
                vector = vectors_of(model.identity, sides, options.method, prompts.prompt_hash)[0]
            except InputError as reason:
                refused[each.universe_id] = str(reason)
                continue
            vector.save(run.file(vector_file(wording, each.universe_id)))
            made.append(Intervention.of(vector, intervention_id=each.universe_id))
    if wording == 0 and universes[0].universe_id in refused:
        raise InputError(refused[universes[0].universe_id])
    ranges = ranges_along(model, work.prompts(wording, "fitting"), made, progress_bar, "universes") if made else {}
    entries = {
        each.intervention_id: each.as_dict(ranges[each.intervention_id])
        | {"n_yes": each.vectors[0].n_yes, "n_no": each.vectors[0].n_no}
        for each in made
    }
    for name, why in refused.items():
        notes.tell(f"warning: {work.templates[wording].name}, {name} has no vector: {why}")
    plan = {"entries": entries, "refused": refused}
    run.write_json(file, plan)
    return plan


def vector_file(wording: int, universe_id: str) -> str:
    return f"vectors/wording-{wording}/{universe_id}.safetensors"


def interventions_of(work: Work, wording: int, plan: dict[str, Any]) -> "list[Intervention]":
    """The interventions of a plan, their vectors from the run's files."""
    from steering import Intervention, SteeringVector

    return [
        Intervention.of(SteeringVector.load(work.run.path / vector_file(wording, name)), intervention_id=name)
        for name in plan["entries"]
    ]


def find_turns(work: Work, wording: int, plan: dict[str, Any]) -> None:
    """Where the answers turn along every vector of one wording, for what is not on disk yet."""
    from reporting import progress_bar
    from steering import crossings_along

    if not plan["entries"]:
        return
    prompts, parts = work.prompts(wording, "fitting", "test"), work.turns(wording)
    done = parts.done("question_id")
    ranges = {name: (entry["magnitudes"][0], entry["magnitudes"][-1]) for name, entry in plan["entries"].items()}

    def save(part: "pd.DataFrame") -> None:
        parts.append(part)

    with progress_bar(len(prompts) - len(done), f"{work.templates[wording].name}: {len(ranges)} universes") as advance:
        crossings_along(
            work.model, prompts, ranges, interventions_of(work, wording, plan), sink=save, done=done, progress=advance
        )


# ---- what comes of it ------------------------------------------------------------------------------------------------


def finish(work: Work, universes: "Sequence[Universe]") -> None:
    """Judge every universe from the files of the run, and write tables, figure, page and the sentence."""
    from matching import judge_universe, multiverse_summary, multiverse_table, no_result
    from reporting import multiverse_figure, progress_bar, save_results, write_multiverse_report

    run, options = work.run, work.options
    wordings = {template.name: number for number, template in enumerate(work.templates)}
    plans = {name: run.read_json(f"plans/wording-{number}.json") for name, number in wordings.items()}
    turns = {name: work.turns(number).read() for name, number in wordings.items()}
    questions, rows = work.inputs.frame(), []
    with progress_bar(len(universes), "verdicts") as advance:
        for each in universes:
            entry, own = plans[each.wording]["entries"].get(each.universe_id), turns[each.wording]
            if entry is None:
                rows.append(no_result() | {"n_yes": 0, "n_no": 0})
            else:
                ends = entry["magnitudes"][0], entry["magnitudes"][-1]
                found = judge_universe(
                    own[own["intervention_id"] == each.universe_id],
                    ends,
                    entry["norms_per_unit"],
                    work.inputs.panel,
                    questions,
                    options.seed,
                    options.draws,
                )
                rows.append(found | {"n_yes": entry["n_yes"], "n_no": entry["n_no"]})
            advance(1)
    table = multiverse_table(universes, rows)
    summary = multiverse_summary(table)
    summary |= {"model": work.model.identity.name, "asked": asked(work, universes)}
    save_results(run, {"universes": table, "summary": summary}, {"multiverse": multiverse_figure(table)})
    page = write_multiverse_report(run)
    shown = ["signal", "signal_p", "order_gain", "rho_dial", "push", "yes_rate", "reproduced", "dial"]
    print(table[shown].round(3).to_string())
    print(f"\n{summary['sentence']}\nwritten to {run.path}; page: {page}")


def asked(work: Work, universes: "Sequence[Universe]") -> str:
    """What was varied, for the page."""
    options, base = work.options, universes[0]
    layers = sorted({each.layer for each in universes})
    how = "Every combination of" if options.cross else "One thing at a time is changed, of"
    return (
        f"{how} {len(layers)} layer(s) ({', '.join(map(str, layers))}), {len(options.contrasts)} contrast(s), "
        f"{len(work.templates)} wording(s) and {options.resamples} further draw(s) of the extraction questions, with "
        f"replacement. As run: layer {base.layer}, {base.contrast} contrast, {base.wording}, every question once; "
        f"{len(work.inputs.questions)} questions in all. Each vector has a range of its own."
    )


# ---- options ---------------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    subject = parser.add_argument_group("subject, questions, panel, prompt")
    subject.add_argument(
        "--model", default=MODEL, help="built-in name, hub id, local folder or GGUF file (%(default)s)"
    )
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    subject.add_argument("--device-map", help="auto spreads a large model over several GPUs")
    subject.add_argument("--questions", help="as for steer_sweep.py")
    subject.add_argument("--n-questions", type=positive, help="draw this many of the questions that the panel answers")
    subject.add_argument("--panel", default="embedded", help="yes/no of the targets (%(default)s)")
    subject.add_argument("--respondents", help="what is known of the targets")
    subject.add_argument("--targets", help="only these respondents, separated by commas")
    subject.add_argument("--keep-own", action="store_true", help="keep targets that are the subject's own model")
    subject.add_argument(
        "--prompt", help=f"the run's own wording: a file or a framing ({PROMPT}; embedded model {PROMPT_OF_EMBEDDED})"
    )
    varied = parser.add_argument_group("what is varied, each from the run's own choice")
    varied.add_argument(
        "--layer", default="auto", help="candidates: 10,12,14, 8-20, or auto: every second of the middle half"
    )
    varied.add_argument(
        "--contrasts", default="response,answer", help="separated by commas, the run's own first (%(default)s)"
    )
    varied.add_argument(
        "--wordings",
        default=PARAPHRASES,
        help="paraphrases: two more ways of asking, and every one with no named before yes; or prompts (files or "
        "framings), separated by commas",
    )
    varied.add_argument(
        "--resamples", type=natural, default=5, help="further draws of the extraction questions (%(default)s)"
    )
    varied.add_argument("--cross", action="store_true", help="every combination, instead of one change at a time")
    parser.add_argument(
        "--method",
        default="mean_difference",
        choices=KeysOf("steering", "DIRECTIONS"),
        help="how a direction is made (%(default)s)",
    )
    parser.add_argument("--draws", type=positive, default=1999, help="permutations and resamples (%(default)s)")
    add_run_options(parser, seed="of questions, splits and draws")
    parser.add_argument("--dry-run", action="store_true", help="predict operations, memory and time, and stop")
    options = parse_run_options(parser, arguments)
    options.prompt = options.prompt or (PROMPT_OF_EMBEDDED if options.model == MODEL else PROMPT)
    check_options(options)
    return options


def check_options(options: argparse.Namespace) -> None:
    """Raise InputError for what no universe can be made of; split the contrasts."""
    from steering import CONTRASTS

    options.contrasts = list(dict.fromkeys(str(options.contrasts).replace(" ", "").split(",")))
    for name in options.contrasts:
        if name not in CONTRASTS:
            raise InputError(f"--contrasts {name!r} is not known; choose among {', '.join(CONTRASTS)}")
    if "+" in str(options.layer):
        raise InputError(f"--layer {options.layer} names layers at once; separate the candidates by commas")
    if options.draws < 19:
        raise InputError(f"--draws {options.draws}: a 5% level needs 19 permutations or more; 1999 are usual")


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

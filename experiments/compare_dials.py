"""Which dial is best, at equal yes rates? Directions, operators, layers, a moved cut, instructions, personas.

    python experiments/compare_dials.py                 # embedded model and panel; CPU; minutes
    python experiments/compare_dials.py --n-questions 533 --facts 200 --passages 64            # all of both; hours
    python experiments/compare_dials.py --n-questions 160 --layer 15,21 --facts 40 \\
           --methods mean_difference,lda,gradient,random --operators add,rotate              # a quick look
    python experiments/compare_dials.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv

Directions are made on the extraction split; layer, settings and the best method are chosen on the fitting split, and
everything is reported on the test split, beside a moved cut at the same yes rates. Writes directions.csv and
cosines.csv, placed.csv (setting of each dial at each yes rate), dials.csv (the table), targets.csv, rates.csv (with
side effects), kl.csv, figures/ and comparison.json with the sentence. A run that was broken off goes on with --resume
and the same options.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common import InputError, natural, positive, program_parser, run_command, say
from run_store import Notes, Run, add_run_options, configuration_of, parse_run_options

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import PromptTemplate, Question
    from matching import ExperimentInputs
    from open_models import OpenModel
    from steering import Adapter, Dial, SteeringVector

PROGRAM = "compare_dials"
MODEL = "smollm2-135m-instruct"
PROMPT, PROMPT_OF_EMBEDDED = "neutral", "examples YN"
KINDS = ("interventions", "cut", "threshold", "personas", "temperature")
MORE_KINDS = ("lora",)
"""Compared where they are named: an adapter has to be trained, and needs peft."""
READ_ONCE = ("cut", "temperature")
"""Kinds of dial whose settings are all read off one unsteered answer."""
TIMED_QUESTIONS = 16
QUESTIONS_OF_EMBEDDED = 200


@dataclass(frozen=True)
class Work:
    """What every stage needs."""

    run: Run
    model: "OpenModel"
    inputs: "ExperimentInputs"
    template: "PromptTemplate"
    options: argparse.Namespace

    def questions(self, *splits: str) -> "list[Question]":
        return [question for question in self.inputs.questions if self.inputs.splits[question.id] in splits]


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        compare(options, notes)


def compare(options: argparse.Namespace, notes: Notes) -> None:
    from elicitation import load_prompt
    from matching import load_inputs
    from open_models import choose_threads, load_model, quiet_libraries

    template = load_prompt(options.prompt)
    targets = options.targets and [name.strip() for name in options.targets.split(",")]
    inputs = load_inputs(
        options.panel, options.questions, options.respondents, targets, options.n_questions, options.seed
    )
    if not options.keep_own:
        inputs = inputs.without_own(options.model)
    begun = Run.check(configuration_of(options), options.out, options.resume)
    quiet_libraries()
    threads = choose_threads(begun.get("threads"))
    model = load_model(options.model, revision=options.revision, dtype=options.dtype, device_map=options.device_map)
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    say(f"subject: {model.identity.name}, {model.n_layers} layers, {model.dtype}, on {model.device}")
    with Run.begin(PROGRAM, configuration_of(options), options.out, options.resume, "dials") as run:
        run.record_once("model", model.identity.as_dict(), "load the same model or choose another --out")
        run.record(threads=threads)
        run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
        notes.keep_in(run)
        work = Work(run, model, inputs, template, options)
        try:
            with run.stage("directions"):
                vectors = directions(work)
            with run.stage("layer"):
                layer = chosen_layer(work, vectors)
        except InputError:
            run.withdraw()
            raise
        dials = make_dials(work, vectors, layer)
        with run.stage("placing"):
            placed = place(work, dials)
        with run.stage("answers"):
            answers = ask(work, dials, placed)
        with run.stage("side effects"):
            effects = side_effects(work, dials, placed)
        with run.stage("comparison"):
            finish(work, dials, placed, answers, effects)


# ---- what is compared ------------------------------------------------------------------------------------------------


def directions(work: Work) -> "dict[tuple[int, str], SteeringVector]":
    """Every direction at every candidate layer, made on the extraction split and measured on the fitting split."""
    from open_models import PromptSet
    from reporting import progress_bar
    from steering import SteeringVector, compare_directions

    run, options = work.run, work.options
    if run.has("directions.csv"):
        table = run.read_table("directions.csv")
        made = [(int(layer), str(method)) for layer, method in table[["layer", "method"]].to_numpy()]
        return {each: SteeringVector.load(run.path / vector_file(*each)) for each in made}
    made_on, held_out = (
        PromptSet.build(work.model, work.questions(split), work.template) for split in ("extraction", "fitting")
    )
    found = compare_directions(
        work.model,
        made_on,
        held_out,
        candidates_of(options.layer, work.model.n_layers),
        progress_bar,
        methods=options.methods,
        contrast=options.contrast,
        framings=options.framings,
        seed=options.seed,
    )
    for (layer, method), vector in found.vectors.items():
        vector.save(run.file(vector_file(layer, method)))
    run.write_table("cosines.csv", found.cosines)
    run.write_table("directions.csv", found.table)
    return found.vectors


def candidates_of(option: str, n_layers: int) -> list[int]:
    """Layers that are compared; auto: three, since each is made by every method and measured with all of them."""
    from steering import candidate_layers

    if option == "auto":
        return sorted({n_layers * tenths // 10 for tenths in (5, 6, 7)})
    return candidate_layers(option, n_layers)


def vector_file(layer: int, method: str) -> str:
    return f"vectors/L{layer}-{method}.safetensors"


def chosen_layer(work: Work, vectors: "dict[tuple[int, str], SteeringVector]") -> int:
    """Where the smallest push along the first method's direction turns the fitting questions both ways."""
    from open_models import PromptSet
    from reporting import progress_bar
    from steering import Intervention, scan_layers

    if work.run.has("layer.json"):
        return int(work.run.read_json("layer.json")["layer"])
    candidates = [
        Intervention.of(vector, positions=work.options.positions)
        for (_, method), vector in vectors.items()
        if method == work.options.methods[0]
    ]
    fitting = PromptSet.build(work.model, work.questions("fitting"), work.template)
    with progress_bar(len(fitting), f"scanning {len(candidates)} layer(s)") as advance:
        scan = scan_layers(work.model, fitting, candidates, advance)
    work.run.write_table("layer_scan.csv", scan.table)
    work.run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
    return scan.layer


def make_dials(work: Work, vectors: "dict[tuple[int, str], SteeringVector]", layer: int) -> "list[Dial]":
    """All dials, in the order of the table: each method added, the first method by each operator, several layers."""
    from steering import (
        Intervention,
        InterventionDial,
        LoraDial,
        MovedCut,
        Temperature,
        instructed_threshold,
        personas,
        share_by_effect,
    )

    options, how = work.options, {"positions": work.options.positions}
    dials: list[Any] = []
    if "interventions" in options.dials:
        for method in (*options.methods, *options.framings):
            if (layer, method) not in vectors:
                continue
            kind = "control" if method == "random" else "intervention"
            dials.append(InterventionDial(Intervention.of(vectors[layer, method], **how), f"{method}, add", kind))
        first = options.methods[0]
        for operator in options.operators:
            if operator != "add":
                intervention = Intervention.of(vectors[layer, first], operator=operator, **how)
                dials.append(InterventionDial(intervention, f"{first}, {operator}"))
        table = work.run.read_table("directions.csv")
        own = table[(table["method"] == first) & (table["effect"] > 0)].sort_values("effect", ascending=False)
        together = sorted(own["layer"].astype(int).head(options.together))
        if len(together) > 1:
            effects = own.set_index("layer")["effect"]
            shared = share_by_effect([vectors[each, first] for each in together], [effects[each] for each in together])
            name = f"{first}, add at {len(together)} layers"
            dials.append(InterventionDial(Intervention.of(*shared, unit="raw", intervention_id=name, **how), name))
    if "lora" in options.dials:
        dials.append(LoraDial(adapter(work)))
    others = {
        "cut": MovedCut(), "threshold": instructed_threshold(), "personas": personas(), "temperature": Temperature(),
    }  # fmt: skip
    return dials + [dial for kind, dial in others.items() if kind in (*options.dials, "cut")]


def adapter(work: Work) -> "Adapter":
    """The adapter of `--dials lora`, trained on the extraction split."""
    from open_models import PromptSet
    from reporting import progress_bar
    from steering import Adapter, train_adapter

    folder = work.run.path / "adapter"
    if work.run.has("adapter/onedial.json"):
        return Adapter.load(folder)
    prompts = PromptSet.build(work.model, work.questions("extraction"), work.template)
    with progress_bar(None, "passes over the extraction split, for the adapter") as advance:
        found = train_adapter(work.model, prompts, work.options.lora_rate, seed=work.options.seed, progress=advance)
    say(f"adapter: yes rate {found.unsteered:.2f} before, {found.reached:.2f} after {found.n_passes} passes")
    found.save(folder)
    return found


# ---- asking ----------------------------------------------------------------------------------------------------------


def ask_all(
    work: Work,
    stage: str,
    dials: "Sequence[Dial]",
    questions: "list[Question]",
    template: "PromptTemplate",
    settings: dict[str, list[float]],
) -> "pd.DataFrame":
    """Every dial at its settings, what is on disk left out: interventions batch by batch, others one by one."""
    import pandas as pd

    from open_models import PromptSet
    from reporting import progress_bar
    from steering import DIAL_COLUMNS, InterventionDial, ask_together

    columns, key = ["dial", *DIAL_COLUMNS], ["dial", "question_id", "setting"]
    together = work.run.parts(f"{stage}-interventions", columns, key)
    alone = work.run.parts(f"{stage}-others", columns, key)

    def keep(part: pd.DataFrame) -> None:
        together.append(part)

    pushed = [dial for dial in dials if isinstance(dial, InterventionDial) and settings[dial.name]]
    if pushed:
        prompts, done = PromptSet.build(work.model, questions, template), together.done("question_id")
        with progress_bar(len(prompts) - len(done), f"{stage}: {len(pushed)} interventions") as advance:
            ask_together(
                work.model, pushed, prompts, settings, sink=keep, done=done,
                progress=advance,
            )  # fmt: skip
    done = alone.done("dial")
    for dial in dials:
        if dial in pushed or dial.name in done or not settings[dial.name]:
            continue
        anew = 1 if dial.kind in READ_ONCE else len(settings[dial.name])
        with progress_bar(anew * len(questions), f"{stage}: {dial.name}") as advance:
            alone.append(dial.ask(work.model, questions, template, settings[dial.name], advance).assign(dial=dial.name))
    return pd.concat([together.read(), alone.read()], ignore_index=True)


def place(work: Work, dials: "Sequence[Dial]") -> "pd.DataFrame":
    """The setting of each dial at each yes rate, found on the fitting split."""
    import pandas as pd

    from steering import place_settings

    if work.run.has("placed.csv"):
        return work.run.read_table("placed.csv")
    settings = {dial.name: dial.first_settings() for dial in dials}
    table = ask_all(work, "placing", dials, work.questions("fitting"), work.template, settings)
    placed = pd.concat(
        [place_settings(dial, table[table["dial"] == dial.name]).assign(dial=dial.name) for dial in dials],
        ignore_index=True,
    )
    work.run.write_table("placed.csv", placed)
    return placed


def reached_settings(dials: "Sequence[Dial]", placed: "pd.DataFrame") -> dict[str, list[float]]:
    """Of each dial, those at which it reaches a yes rate."""
    there = placed[placed["reached"].astype(bool)]
    return {dial.name: sorted({float(s) for s in there.loc[there["dial"] == dial.name, "setting"]}) for dial in dials}


def ask(work: Work, dials: "Sequence[Dial]", placed: "pd.DataFrame") -> "pd.DataFrame":
    """The answers on fitting and test split, by rate; those of the moved cut at 0 stand at rate nan."""
    import pandas as pd

    from matching import CUT

    settings = reached_settings(dials, placed)
    settings[CUT] = sorted({0.0, *settings[CUT]})
    table = ask_all(work, "answers", dials, work.questions("fitting", "test"), work.template, settings)
    there = placed.loc[placed["reached"].astype(bool), ["dial", "setting", "rate"]]
    plain = table[(table["dial"] == CUT) & (table["setting"] == 0.0)].assign(rate=float("nan"))
    return pd.concat([table.merge(there, on=["dial", "setting"]), plain], ignore_index=True)


def side_effects(work: Work, dials: "Sequence[Dial]", placed: "pd.DataFrame") -> "pd.DataFrame":
    """Facts and neutral text at the settings that are reached, and what an answer costs."""
    import pandas as pd

    from elicitation import FACT, load_facts, load_passages, truth_of
    from steering import fact_effects

    facts = load_facts(work.options.facts, work.options.seed)
    passages = load_passages()[: work.options.passages]
    settings = {name: sorted({0.0, *own}) for name, own in reached_settings(dials, placed).items()}
    asked = ask_all(work, "facts", dials, facts, FACT.template, settings)
    truth = pd.Series(truth_of(facts))
    frames = []
    for dial in dials:
        name = f"texts/{slug(dial.name)}.csv"
        if not work.run.has(name):
            begun = time.perf_counter()
            dial.ask(work.model, work.questions("fitting")[:TIMED_QUESTIONS], work.template, settings[dial.name])
            each = (time.perf_counter() - begun) / (TIMED_QUESTIONS * len(settings[dial.name]))
            own = dial.on_text(work.model, settings[dial.name], passages).assign(seconds_per_answer=each)
            work.run.write_table(name, own)
        text = work.run.read_table(name)
        limit = work.options.limit
        own = fact_effects(asked[asked["dial"] == dial.name], truth, limit=limit).drop(columns="n")
        frames.append(own.assign(setting=own["setting"]).merge(text, on="setting").assign(dial=dial.name))
    return pd.concat(frames, ignore_index=True)


def slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def finish(
    work: Work, dials: "Sequence[Dial]", placed: "pd.DataFrame", answers: "pd.DataFrame", effects: "pd.DataFrame"
) -> None:
    """Compare, and write tables, figures and the sentence."""
    import pandas as pd

    from matching import compare_dials, reach_at_kl
    from reporting import draw_dials, draw_direction_cosines, save_results

    frame = work.inputs.frame().set_index("id")
    kinds = pd.Series({dial.name: dial.kind for dial in dials})
    found = compare_dials(
        answers, placed, kinds, work.inputs.panel, frame["split"], frame["topic"], seed=work.options.seed
    )
    rates = found.rates.merge(effects, on=["dial", "setting"], how="left", suffixes=("", "_facts"))
    reach = reach_at_kl(rates)
    cost = effects.groupby("dial")["seconds_per_answer"].first()
    table = found.table.assign(seconds_per_answer=cost.reindex(found.table.index))
    figures = {
        "dials": draw_dials(table, rates),
        "direction_cosines": draw_direction_cosines(
            work.run.read_table("cosines.csv"), int(work.run.read_json("layer.json")["layer"])
        ),
    }
    tables = {
        "dials": table,
        "targets": found.targets.set_index(["dial", "target"]),
        "rates": rates.set_index(["dial", "rate"]),
        "kl": reach.set_index(["dial", "kl_limit"]),
        "comparison": {"sentence": found.sentence(), "chosen": found.chosen, "limit": work.options.limit},
    }
    save_results(work.run, tables, figures)
    shown = table[["n_rates", "n_targets", "signal", "order_gain", "order_gain_low", "order_gain_high", "rho"]]
    say(shown.to_string(float_format=lambda value: f"{value:.3f}"))
    say(found.sentence())
    say(f"written to {work.run.path}")


# ---- options ---------------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    subject = parser.add_argument_group("subject")
    subject.add_argument(
        "--model", default=MODEL, help="built-in name, hub id, local folder or GGUF file (%(default)s)"
    )
    subject.add_argument("--revision", help="branch, tag or commit of a hub id")
    subject.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    subject.add_argument("--device-map", help="auto spreads a large model over several GPUs")
    asked = parser.add_argument_group("questions, panel, prompt")
    asked.add_argument("--questions", help="as in steer_sweep.py")
    asked.add_argument(
        "--n-questions",
        type=positive,
        help=f"draw this many of those that the panel answers (all; of the embedded ones {QUESTIONS_OF_EMBEDDED})",
    )
    asked.add_argument("--panel", default="embedded", help="yes/no of the targets (%(default)s)")
    asked.add_argument("--respondents", help="what is known of the targets")
    asked.add_argument("--targets", help="only these respondents, separated by commas")
    asked.add_argument("--keep-own", action="store_true", help="keep targets that are the subject's own model")
    asked.add_argument("--prompt", help="a framing's name or a prompt file, as in steer_sweep.py")
    compared = parser.add_argument_group("what is compared")
    compared.add_argument("--dials", default=",".join(KINDS), help="among %(default)s,lora; a moved cut always is")
    compared.add_argument("--methods", help="directions, the first by every operator (default: all)")
    compared.add_argument(
        "--framings",
        default="",
        help="contrasts by framing as further directions: all, or some of them (default: none)",
    )
    compared.add_argument("--operators", help="of steering (default: all)")
    compared.add_argument("--contrast", default="response", help="what directions are made of (%(default)s)")
    compared.add_argument("--positions", choices=("last", "prompt", "all"), default="last")
    compared.add_argument(
        "--layer", default="auto", help="candidates: 14, 10,12,14, 8-20 or auto: at .5, .6 and .7 of the depth"
    )
    compared.add_argument(
        "--together", type=natural, default=3, help="layers steered at once, magnitudes shared by effect; 0: none"
    )
    compared.add_argument("--facts", type=positive, default=60, help="unrelated facts for side effects (%(default)s)")
    compared.add_argument(
        "--passages", type=positive, default=16, help="of 64 neutral ones, for KL and perplexity (%(default)s)"
    )
    compared.add_argument(
        "--limit", type=float, default=0.02, help="by how much the facts' accuracy may fall (%(default)s)"
    )
    compared.add_argument(
        "--lora-rate", type=float, default=0.9, help="yes rate that --dials lora is trained to (%(default)s)"
    )
    add_run_options(parser)
    options = parse_run_options(parser, arguments)
    options.prompt = options.prompt or (PROMPT_OF_EMBEDDED if options.model == MODEL else PROMPT)
    if options.panel == "embedded" and not options.questions:
        options.n_questions = options.n_questions or QUESTIONS_OF_EMBEDDED
    from elicitation import POLES
    from steering import CONTRASTS, DIRECTIONS, OPERATORS

    framings = ",".join(POLES) if options.framings == "all" else options.framings
    options.framings = listed("--framings", framings, POLES) if framings else []
    options.dials = listed("--dials", options.dials, (*KINDS, *MORE_KINDS))
    options.methods = listed("--methods", options.methods or ",".join(DIRECTIONS), DIRECTIONS)
    options.operators = listed("--operators", options.operators or ",".join(OPERATORS), OPERATORS)
    listed("--contrast", options.contrast, CONTRASTS)
    if "+" in options.layer:
        raise InputError(f"--layer {options.layer} names layers at once; give candidates (10,14), and --together")
    if not 0 <= options.limit <= 1:
        raise InputError(f"--limit {options.limit}: give a share of the facts between 0 and 1")
    if not 0 < options.lora_rate < 1:
        raise InputError(f"--lora-rate {options.lora_rate}: give a share between 0 and 1")
    if options.passages > 64:
        raise InputError(f"--passages {options.passages}: there are 64; give 64 or fewer")
    if options.facts % 2 or options.facts > 200:
        raise InputError(f"--facts {options.facts}: give an even number up to 200, since they come in pairs")
    return options


def listed(option: str, given: str | list[str], known: Any) -> list[str]:
    """Names between commas, each of them known, each once."""
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"{option} {unknown[0]!r} is not known; choose among {', '.join(known)}")
    return list(dict.fromkeys(names))


if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

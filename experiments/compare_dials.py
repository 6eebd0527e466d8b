"""Which dial is best, at equal yes rates? Directions, operators, layers, a moved cut, instructions, personas.

    python experiments/compare_dials.py                 # embedded model and panel; CPU; minutes
    python experiments/compare_dials.py --dry-run       # what that would cost
    python experiments/compare_dials.py --n-questions 533 --facts 200 --passages 64            # all of both; hours
    python experiments/compare_dials.py --n-questions 160 --layer 15,21 --facts 40 \\
           --method mean_difference,lda,gradient,random --operator add,rotate              # a quick look
    python experiments/compare_dials.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv

Directions are made on the extraction split; layer, settings and the best method are chosen on the fitting split, and
everything is reported on the test split, beside a moved cut at the same yes rates. Writes directions.csv and
cosines.csv, placed.csv (setting of each dial at each yes rate), dials.csv (the table), targets.csv, rates.csv (with
side effects), kl.csv, figures/ and comparison.json with the sentence. An interrupted run continues with --resume
and the same options.
"""

import argparse
import sys
from collections.abc import Sequence

from onedial.core import (
    InputError,
    Notes,
    add_run_options,
    listed,
    natural,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
    say,
)
from onedial.studies import Start, add_subject_options, prompt_of, read_inputs

PROGRAM = "compare_dials"
KINDS = ("interventions", "cut", "threshold", "personas", "temperature")
MORE_KINDS = ("lora",)
"""Compared where they are named: an adapter has to be trained, and needs peft."""
QUESTIONS_OF_EMBEDDED = 200


def compare(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.asking import load_prompt

    template = load_prompt(options.prompt)
    inputs = read_inputs(options)
    if options.dry_run:
        from onedial.studies.dials import predict

        return say(predict(options, inputs, template))
    start = Start(PROGRAM, options, "dials")
    from onedial.studies.dials import DialStudy, ask, chosen_layer, directions, finish, make_dials, place, side_effects

    model = start.load_subject(options)
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    with start.begin(notes, model) as run:
        run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
        study = DialStudy(run, model, inputs, template, options)
        with run.withdrawn_if_refused():
            with run.stage("directions"):
                vectors = directions(study)
            with run.stage("layer"):
                layer = chosen_layer(study, vectors)
        dials = make_dials(study, vectors, layer)
        with run.stage("placing"):
            placed = place(study, dials)
        with run.stage("answers"):
            answers = ask(study, dials, placed)
        with run.stage("side effects"):
            effects = side_effects(study, dials, placed)
        with run.stage("comparison"):
            finish(study, dials, placed, answers, effects)


# ---- options ---------------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    add_subject_options(parser, drawn=f"all; of the embedded ones {QUESTIONS_OF_EMBEDDED}")
    compared = parser.add_argument_group("what is compared")
    compared.add_argument("--dials", default=",".join(KINDS), help="among %(default)s,lora; a moved cut always is")
    compared.add_argument("--method", help="directions, the first by every operator (default: all)")
    compared.add_argument(
        "--framings",
        default="",
        help="contrasts by framing as further directions: all, or some of them (default: none)",
    )
    compared.add_argument("--operator", help="of steering (default: all)")
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
    add_run_options(parser, dry_run="predict operations, memory and time")
    options = parse_run_options(parser, arguments)
    options.prompt = prompt_of(options)
    if options.panel == "embedded" and not options.questions:
        options.n_questions = options.n_questions or QUESTIONS_OF_EMBEDDED
    from onedial.asking import POLES
    from steering import CONTRASTS, DIRECTIONS, OPERATORS

    framings = ",".join(POLES) if options.framings == "all" else options.framings
    options.framings = listed("--framings", framings, POLES) if framings else []
    options.dials = listed("--dials", options.dials, (*KINDS, *MORE_KINDS))
    options.method = listed("--method", options.method or ",".join(DIRECTIONS), DIRECTIONS)
    options.operator = listed("--operator", options.operator or ",".join(OPERATORS), OPERATORS)
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


main = noted(parse_options, compare)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

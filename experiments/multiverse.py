"""Does the verdict hold under other choices? Layers, contrasts, wordings, and other draws of the extraction questions.

    python experiments/multiverse.py                                  # embedded model and panel; CPU; minutes
    python experiments/multiverse.py --n-questions 200 --layer 15,21 --resamples 2       # a quick look
    python experiments/multiverse.py --model mistralai/Mistral-7B-Instruct-v0.3 --questions squad \\
           --panel my_panel.csv --cross

By default one thing is varied at a time, from the run that `steer_sweep.py` would have made; --cross takes every
combination. Each universe has a vector and a range of its own; that its answers turn, and where, is all that is asked
(`steering.crossings_along`), and each is judged by the rule of the verdict. Writes universes.csv,
summary.json with the sentence, figures/ and report.html. An interrupted run continues with --resume and the same
options.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onedial.core import (
    InputError,
    KeysOf,
    Notes,
    add_run_options,
    configuration_hash,
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

if TYPE_CHECKING:
    from onedial.asking import PromptTemplate

PROGRAM = "multiverse"
PARAPHRASES = "paraphrases"


def multiverse(options: argparse.Namespace, notes: Notes) -> None:
    templates = read_wordings(options)
    inputs = read_inputs(options, judged=True)
    from onedial.models import quiet_libraries
    from onedial.studies.multiverse import MultiverseStudy, find_turns, finish, own_layer, plan_wording, predict
    from onedial.verdict import RULE, universes_of
    from steering import check_readability

    quiet_libraries()
    candidates = layers_by_config(options)
    if options.dry_run:
        return say(predict(options, inputs, templates, candidates))
    start = Start(PROGRAM, options)
    model = start.load_subject(options)
    if not options.keep_own:
        inputs = inputs.without_own(model.identity.name, model.identity.fingerprints)
    with start.begin(notes, model) as run:
        run.keep_table("questions.parquet", inputs.frame(), ["id", "question", "split"])
        digest = inputs.plan_hash(configuration_hash(run.config), RULE)
        run.record_once("plan", {"rule": RULE, "sha256": digest}, "choose another --out")
        say(f"run: {run.path}")
        study = MultiverseStudy(run, model, inputs, templates, options)
        with run.withdrawn_if_refused():
            notes.tell(str(check_readability(model, templates[0], inputs.questions)))
            with run.stage("layer"):
                layer = own_layer(study, candidates)
            wordings = [template.name for template in templates]
            universes = universes_of(
                candidates, options.contrast, wordings, options.resamples, layer, cross=options.cross
            )
            say(f"{len(universes)} universes in {len(wordings)} wordings; the run's own layer is {layer}")
            plan_wording(study, 0, universes, notes)
        for number, name in enumerate(wordings):
            own = [each for each in universes if each.wording == name]
            with run.stage(name):
                find_turns(study, number, plan_wording(study, number, own, notes))
        with run.stage("verdicts"):
            finish(study, universes)


def read_wordings(options: argparse.Namespace) -> "list[PromptTemplate]":
    """The wordings, the run's own first."""
    from onedial.asking import load_prompt, paraphrases

    template = load_prompt(options.prompt)
    if options.wordings == PARAPHRASES:
        templates = paraphrases(template)
    else:
        named = [name.strip() for name in options.wordings.split(",") if name.strip()]
        templates = [template, *(load_prompt(name) for name in named)]
    names = [each.name for each in templates]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise InputError(f"--wordings: two prompts are named {min(repeated)!r}; give each a name of its own")
    return templates


# ---- options ---------------------------------------------------------------------------------------------------------


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    add_subject_options(parser)
    varied = parser.add_argument_group("what is varied, each from the run's own choice")
    varied.add_argument(
        "--layer", default="auto", help="candidates: 10,12,14, 8-20, or auto: every second of the middle half"
    )
    varied.add_argument(
        "--contrast", default="response,answer", help="separated by commas, the run's own first (%(default)s)"
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
    parser.add_argument("--replicates", type=positive, default=1999, help="permutations and resamples (%(default)s)")
    add_run_options(parser, seed="of questions, splits and draws", dry_run="predict operations, memory and time")
    options = parse_run_options(parser, arguments)
    options.prompt = prompt_of(options)
    check_options(options)
    return options


def check_options(options: argparse.Namespace) -> None:
    """Raise InputError for what no universe can be made of; split the contrasts."""
    from steering import CONTRASTS

    options.contrast = listed("--contrast", str(options.contrast), CONTRASTS)
    if "+" in str(options.layer):
        raise InputError(f"--layer {options.layer} names layers at once; separate the candidates by commas")
    if options.replicates < 19:
        raise InputError(f"--replicates {options.replicates}: a 5% level needs 19 permutations or more; 1999 are usual")


main = noted(parse_options, multiverse)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

"""Ask in every way: choices, pairs, guesses, pressure, second looks, predictions, steps, beliefs, hedges, debates.

    python experiments/ask_battery.py                                       # embedded model, every test, 40 questions
    python experiments/ask_battery.py --model MODEL,MODEL,MODEL --n-questions 120
    python experiments/ask_battery.py --instruments pairs,pressure --n-questions 16    # a quick look
    python experiments/ask_battery.py --vector FILE --magnitudes=-0.1,0,0.1 # the same of a steered subject, per setting

Each respondent (a model, or a subject at a setting of its dial) is put through each test (docs/instruments.md). Writes
asked/TEST/ (every single answer, with what was asked), answers/TEST/ (a row for each question), TEST.csv (its scores),
overview.csv (what each says first) and two figures. What cannot be read in more than half of the answers gets no
number. An interrupted run continues with --resume and the same options.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from onedial.core import (
    LEDGER,
    InputError,
    Notes,
    add_run_options,
    listed,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
)
from onedial.studies import BUDGET_MAY_CHANGE, Start, add_budget_options, bill_of, model_names, numbers_of, tell_costs

PROGRAM = "ask_battery"
MODEL = "smollm2-135m-instruct"


def ask_battery(options: argparse.Namespace, notes: Notes) -> None:
    tests = chosen_tests(options.instruments)
    models = model_names(options.model)
    magnitudes = magnitudes_of(options, models)
    start = Start(PROGRAM, options, "battery", BUDGET_MAY_CHANGE)
    from onedial.studies.battery import (
        TESTS,
        ask,
        ask_critic,
        finish,
        material_of,
        models_elsewhere,
        respondents_of,
    )

    bill = bill_of(options, models, models_elsewhere(models))
    material = material_of(options)
    start.set_threads()
    own = [test for test in tests if test in TESTS]
    subjects = respondents_of(models, bill, options.vector, magnitudes)
    first = next(subjects)
    with start.begin(notes) as run:
        bill.opens(run.file(LEDGER))
        for name, make in chain([first], subjects):
            with run.stage(name):
                for test in own:
                    ask(run, bill, test, name, make, material, notes)
        if len(own) < len(tests):  # critics, for whom all answers must be there: everybody once more
            for name, make in respondents_of(models, bill, options.vector, magnitudes):
                with run.stage(f"{name}, as critic"):
                    ask_critic(run, bill, name, make, material, notes)
        finish(run, tests, material, options)
        tell_costs(bill.costs(), run)


# ---- options ---------------------------------------------------------------------------------------------------------


def chosen_tests(names: str) -> list[str]:
    """The tests of these names, or all of them, in the order of asking."""
    from onedial.selfreport import BATTERY

    wanted = list(BATTERY) if names == "all" else listed("--instruments", names, BATTERY)
    return [name for name in BATTERY if name in wanted]


def magnitudes_of(options: argparse.Namespace, models: Sequence[str]) -> list[float]:
    """Settings of the vector, none without one; raises InputError where the options do not go together."""
    if (options.vector is None) != (options.magnitudes is None):
        raise InputError("--vector and --magnitudes go together; give both, or neither")
    if options.vector and len(models) > 1:
        raise InputError(f"a vector belongs to one model, but --model names {len(models)}; give the one it was made on")
    if options.n_each % 2 or options.n_each >= options.n_questions:
        raise InputError(f"--n-each {options.n_each}: give an even number below the {options.n_questions} questions")
    if options.magnitudes is None:
        return []
    found = numbers_of(options.magnitudes, "--magnitudes")
    if len(set(found)) < len(found):
        raise InputError(f"--magnitudes {options.magnitudes!r} is no list of different numbers; give each of them once")
    return found


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--model", default=MODEL, help="names, folders, PROVIDER:MODEL or MODEL@ADDRESS (%(default)s)")
    parser.add_argument("--vector", metavar="FILE", help="a .safetensors file that a run has saved: steer the model")
    parser.add_argument("--magnitudes", help="settings of the vector, such as -0.1,0,0.1")
    parser.add_argument("--instruments", default="all", help="only these, separated by commas (docs/instruments.md)")
    parser.add_argument("--questions", default="embedded", help="a name or a file with accepted answers (%(default)s)")
    parser.add_argument(
        "--n-questions", type=positive, default=40, help="questions, drawn by topic and level (%(default)s)"
    )
    parser.add_argument("--samples", type=positive, default=3, help="of each answer that is corrected (%(default)s)")
    parser.add_argument("--n-each", type=positive, default=6, help="comparisons of each question (%(default)s)")
    parser.add_argument("--replicates", type=positive, default=1999, help="of the bootstrap (%(default)s)")
    add_budget_options(parser)
    add_run_options(parser, seed="of questions, options, pairs, samples and resamples")
    return parse_run_options(parser, arguments, lists=("--magnitudes",))


main = noted(parse_options, ask_battery)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

"""What moves together with the yes when the dial is turned: confidence, P(True), refusals, self-efficacy, any yes?

    python experiments/dial_profile.py runs/MY-SWEEP     # vector, prompt and settings of a finished sweep
    python experiments/dial_profile.py runs/MY-SWEEP --n-questions 16 --controls 3 --no-answers  # a quick look
    python experiments/dial_profile.py runs/MY-SWEEP --yes-rates .2,.8 --instruments "can you answer,P(True)"
    python experiments/dial_profile.py --model MODEL --vector FILE --magnitudes=-0.2,0.2

Puts every instrument (docs/instruments.md) to the subject at every setting, beside random directions of the vector's
length at the same layer and magnitudes, and reads how likely the subject finds what it writes. Writes answers/ (every
score), written/, cells.csv, reports.csv, orders.csv, truths.csv, accuracy.csv, written.csv, a figure and report.html.
An interrupted run continues with --resume and the same options.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

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
from onedial.studies import Start

PROGRAM = "dial_profile"
YES_RATES = ".1,.3,.7,.9"


def dial_profile(options: argparse.Namespace, notes: Notes) -> None:
    wanted = chosen_instruments(options.instruments)
    check_options(options)
    start = Start(PROGRAM, options, "profile")
    from onedial.studies.profile import ask_everything, closed_book, dial_of_run, dial_of_vector, finish

    start.set_threads()
    dial = dial_of_run(options) if options.run else dial_of_vector(options)
    say(
        f"{dial.model.identity.name}, {dial.intervention.intervention_id} at "
        + ", ".join(f"{magnitude:+.3g}" for magnitude in dial.magnitudes)
        + f"; {len(dial.questions)} questions"
    )
    with start.begin(notes, dial.model) as run:
        with run.stage("answers"):
            written = closed_book(run, dial, options)
        with run.stage("instruments"):
            answers = ask_everything(run, dial, wanted, written, options, notes)
        with run.stage("profile"):
            finish(run, dial, answers, written, options)


# ---- options ---------------------------------------------------------------------------------------------------------


def chosen_instruments(names: str | None) -> list[str]:
    """The self-reports of these names and what is read off written answers; without names those about the subject."""
    from onedial.selfreport import BATTERY_REPORTS, SELF_REPORTS
    from onedial.verdict import WRITING

    known = [*SELF_REPORTS, *BATTERY_REPORTS, WRITING]
    if names == "all":
        return known
    return listed("--instruments", names, known) if names else [*SELF_REPORTS, WRITING]


def check_options(options: argparse.Namespace) -> None:
    """Raise InputError where the options do not say what is to be turned."""
    if options.run is None and not (options.vector and options.model and options.magnitudes):
        raise InputError("give the folder of a finished sweep, or --model, --vector and --magnitudes together")
    if options.run is not None and options.vector:
        raise InputError(
            "RUN has a vector of its own; leave out --vector, or give --model and --magnitudes without RUN"
        )


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("run", metavar="RUN", nargs="?", type=Path, help="folder of a finished run of steer_sweep.py")
    parser.add_argument("--model", help="the subject, where no RUN names it")
    parser.add_argument("--vector", metavar="FILE", help="a .safetensors file that a run has saved")
    parser.add_argument("--questions", default="embedded", help="beside --vector: a name or a file (%(default)s)")
    parser.add_argument("--prompt", default="neutral", help="beside --vector: a framing's name or a file (%(default)s)")
    parser.add_argument(
        "--yes-rates",
        default=YES_RATES,
        help="settings, by the yes rate of the sweep's fitting questions (%(default)s)",
    )
    parser.add_argument("--magnitudes", help="settings by magnitude instead, such as -0.2,0.2")
    parser.add_argument(
        "--instruments", help="these, separated by commas, or all: the battery's too (docs/instruments.md)"
    )
    parser.add_argument(
        "--n-questions", type=positive, default=40, help="questions, facts, requests asked (%(default)s)"
    )
    parser.add_argument(
        "--controls", type=natural, default=19, help="random directions; 19 for a verdict (%(default)s)"
    )
    parser.add_argument("--no-answers", action="store_true", help="answer the questions unsteered only: quicker")
    parser.add_argument("--replicates", type=positive, default=1999, help="of the bootstrap (%(default)s)")
    add_run_options(parser, seed="of questions, directions and resamples")
    return parse_run_options(parser, arguments, lists=("--magnitudes",))


main = noted(parse_options, dial_profile)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

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

import sys
from collections.abc import Sequence

from onedial.core import Notes, program, run_command, say
from onedial.studies import Start
from onedial.studies.options import ProfileOptions

PROGRAM = "dial_profile"


def dial_profile(options: ProfileOptions, notes: Notes) -> None:
    wanted = chosen_instruments(options.instruments)
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


def chosen_instruments(names: Sequence[str]) -> list[str]:
    """The self-reports of these names and what is read off written answers; without names those about the subject."""
    from onedial.selfreport import BATTERY_REPORTS, SELF_REPORTS
    from onedial.verdict import WRITING

    known = [*SELF_REPORTS, *BATTERY_REPORTS, WRITING]
    if "all" in names:
        return known
    return list(names) or [*SELF_REPORTS, WRITING]


main = program(ProfileOptions, dial_profile, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))

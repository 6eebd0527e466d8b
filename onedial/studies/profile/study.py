"""A dial turned, and every instrument asked at each setting."""

from onedial.core import Notes, say
from onedial.selfreport import BATTERY_REPORTS, SELF_REPORTS
from onedial.studies.options import ProfileOptions
from onedial.studies.profile.asking import ask_everything, closed_book
from onedial.studies.profile.ending import finish
from onedial.studies.profile.turning import dial_of_run, dial_of_vector
from onedial.studies.start import Start
from onedial.verdict import WRITING


def profile_dial(program: str, options: ProfileOptions, notes: Notes) -> None:
    """Everything that `--instruments` wants, without it what is about the subject itself, put at each setting."""
    known = [*SELF_REPORTS, *BATTERY_REPORTS, WRITING]
    wanted = known if "all" in options.instruments else list(options.instruments) or [*SELF_REPORTS, WRITING]
    start = Start(program, options, "profile")
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

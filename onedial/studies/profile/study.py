"""A dial turned, and every instrument asked at each setting."""

from collections.abc import Sequence

import pandas as pd

from onedial.core.pulse import say
from onedial.core.run.notes import Notes
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.self_reports import SELF_REPORTS
from onedial.selfreport.battery import BATTERY_REPORTS
from onedial.studies.options.profile import ProfileOptions
from onedial.studies.profile.asking import ask_everything, closed_book
from onedial.studies.profile.ending import finish
from onedial.studies.profile.turning import dial_of_run, dial_of_vector
from onedial.studies.start import Start
from onedial.verdict.comparing.dial_profile import WRITING


def profile_dial(program: str, options: ProfileOptions, notes: Notes) -> None:
    """Everything that `--instruments` wants, without it what is about the subject itself, put at each setting."""
    known = [*SELF_REPORTS, *BATTERY_REPORTS, WRITING]
    wanted = known if "all" in options.instruments else list(options.instruments) or [*SELF_REPORTS, WRITING]
    start = Start(program, options, "profile")
    if options.dry_run:
        print(how_much(wanted, options).to_string())
        return
    start.set_threads()
    dial = dial_of_run(options) if options.run else dial_of_vector(options)
    say(
        f"{dial.model.identity.name}, {dial.intervention.intervention_id} at "
        + ", ".join(f"{magnitude:+.3g}" for magnitude in dial.magnitudes)
        + f"; {len(dial.questions)} questions"
    )
    with start.begin(notes, dial.model) as run:
        with start.writing(dial.model):
            with run.stage("answers"):
                written = closed_book(run, dial, options)
            with run.stage("instruments"):
                answers = ask_everything(run, dial, wanted, written, options, notes)
        with run.stage("profile"):
            finish(run, dial, answers, written, options)


def how_much(wanted: Sequence[str], options: ProfileOptions) -> pd.DataFrame:
    """Prompts that are read by each instrument, over settings and directions; and of answers that are written."""
    n, n_settings = options.n_questions, len(set(options.magnitudes or options.yes_rates))
    questions, known = load_questions("embedded")[:n], SELF_REPORTS | BATTERY_REPORTS
    n_pushed = 1 + n_settings * (1 + options.controls)
    counts = {"answers written": n if options.no_answers else n * (1 + n_settings)}
    for name in wanted:
        if name == WRITING:
            counts[name] = n * n_pushed
        else:
            report = known[name]
            n_items = n if report.items is None else len(report.items(questions, options.seed))
            counts[name] = n_items * len(report.forms) * n_pushed
    return pd.DataFrame({"prompts at most": counts}).rename_axis("of the subject")

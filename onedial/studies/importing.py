"""Import logs of other people's evaluations as a panel, and say what was left out."""

import reprlib

import pandas as pd

from onedial.asking.measuring import MANY_UNREAD
from onedial.core.errors import InputError
from onedial.core.options import configuration_of
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.imported_panel import ImportedPanel, panel_from_logs
from onedial.panels.formats.records import LogChoices
from onedial.panels.formats.write_imported import write_imported
from onedial.panels.spellings import Spellings
from onedial.studies.options.collecting import ImportOptions

PROGRAM = "import_panel"


def import_panel(options: ImportOptions, notes: Notes) -> None:
    """Read the logs, write the panel into a run's folder, and say what was read as what."""
    configuration = configuration_of(options)
    if (options.out / "config.yaml").exists():
        raise InputError(
            f"{options.out} already holds a run; an import is made anew: delete it, or choose another --out"
        )
    Run.check(configuration, options.out, resume=False)
    choices = LogChoices(
        confidence_scale=options.confidence_scale,
        columns={ours.strip(): theirs.strip() for ours, _, theirs in (pair.partition("=") for pair in options.columns)},
        about=options.about,
        turned=options.turned,
        incomplete=options.incomplete,
        spellings=Spellings(options.yes, options.no, options.blank),
    )
    runs = [run for source in options.sources for run in read_logs(source, choices, options.format)]
    asked = {task: kind for task, _, kind in (word.rpartition("=") for word in options.asked)}
    imported = panel_from_logs(runs, asked, options.score, options.shared_lines)
    with Run.create(options.out, PROGRAM, configuration) as run:
        notes.keep_in(run)
        with run.withdrawn_if_refused():
            write_imported(imported, run.path)
            n, n_questions = imported.report["n_answers"], imported.report["n_questions"]
            run.record(
                sentence=f"{n} answers of {len(imported.report['respondents'])} respondents to {n_questions} questions"
            )
    print_report(imported)
    print(f"panel: {options.out / 'panel.csv'}")


def print_report(imported: ImportedPanel) -> None:
    """Print what was read as what, what was left out, and some of the answers that could not be read."""
    report = imported.report
    for run in report["runs"]:
        failed = "".join(f", {n} failed ({reason})" for reason, n in run["failed"].items())
        print(f"{run['source']}: {run['format']}, {run['model']}, task {run['task'] or '-'}")
        what = "whether it can answer" if run["asked"] == "yes-no" else "the questions themselves"
        question, answer = (reprlib.repr(text or "") for text in run["first"])
        print(f"  {run['answers']} answers{failed}; asked {what}; first {question} -> {answer}")
    for reason, n in report["left_out"].items():
        print(f"left out: {n} x {reason}")
    counts = pd.DataFrame(report["respondents"]).T.drop(columns=["missing", "unread_of_answered"])
    missing = pd.DataFrame({name: counts["missing"] for name, counts in report["respondents"].items()}).T
    print(f"\n{report['n_questions']} questions, {report['n_answers']} answers\n{counts.to_string()}")
    if not missing.empty:
        print(f"\nblank, and why:\n{missing.fillna(0).astype(int).to_string()}")
    if not imported.panel["said_yes"].notna().any():
        print("\nno log asked for a yes or no: the panel holds correctness alone, and said_yes is blank throughout")
    many = [name for name, counts in report["respondents"].items() if (counts["unread_of_answered"] or 0) > MANY_UNREAD]
    if many:
        print(
            f"\nwarning: more than {MANY_UNREAD:.0%} of the answers of {', '.join(many)} cannot be read; some of them:"
        )
        for example in (each for each in report["unread_examples"] if each["respondent"] in many):
            print(f"  {example['respondent']}, {example['question_id']}: {example['text']!r}")
    print()

"""Turn logs that somebody else's evaluation wrote into a panel: Inspect, lm-eval, Every Eval Ever, HELM, plain tables.

    python experiments/import_panel.py logs/ --out panels/mine                         # format found from the files
    python experiments/import_panel.py can_you.eval closed_book.eval --out panels/mine # yes/no, and what was then right
    python experiments/import_panel.py samples_gsm8k_*.jsonl --score strict-match/exact_match --out panels/gsm8k
    python experiments/import_panel.py answers.csv --columns said_yes=verdict,respondent=llm --out panels/table

A log asked either "can you answer this?" (then said_yes is read from its answers) or the questions themselves (then it
tells what was answered correctly); which of the two is found from its answers and said. What cannot be read as yes or
no, and what failed, is blank, never no. Writes panel.csv (for --panel), questions.jsonl (for --questions),
respondents.csv (complete `family` by hand) and import_report.json into a run's folder. Needs no model, and none of the
libraries that wrote the logs.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onedial.core import InputError, KeysOf, Notes, Options, Run, configuration_of, option, program, run_command

if TYPE_CHECKING:
    from onedial.panels import ImportedPanel


PROGRAM = "import_panel"


def columns_fault(pairs: Sequence[str]) -> str | None:
    """What to give instead of what is no OURS=THEIRS."""
    both = all(all(part.strip() for part in pair.partition("=")) for pair in pairs)
    return None if both else "write OURS=THEIRS, such as said_yes=verdict,respondent=llm"


@dataclass(frozen=True, kw_only=True)
class ImportOptions(Options):
    """What is read, and as what."""

    sources: tuple[Path, ...] = option(
        ..., "log, table, HELM run folder, or a folder of them", positional=True, metavar="SOURCE"
    )
    out: Path = option(..., "new folder to write to", metavar="DIR")
    format: str | None = option(
        None, "of the files (found from each)", choices=KeysOf("onedial.panels.formats.formats:IMPORTERS")
    )
    asked: Literal["auto", "yes-no", "question"] = option(
        "auto", "what the logs asked", choices=("auto", "yes-no", "question")
    )
    score: str | None = option(None, "which score says that the question itself was answered correctly")
    confidence: str = option("confidence", "field of a stated confidence in the logs' metadata", metavar="FIELD")
    confidence_scale: float = option(1.0, "1, or 100 for percent", above=0, metavar="N")
    question_field: str | None = option(None, "field that holds the question without its prompt", metavar="FIELD")
    incomplete: bool = option(False, "take what is there of an evaluation that ended in an error")
    columns: tuple[str, ...] = option(
        (), "columns of a plain table: said_yes=verdict", metavar="OURS=THEIRS,...", check=columns_fault
    )


def import_panel(options: ImportOptions, notes: Notes) -> None:
    from onedial.panels import LogChoices, panel_from_logs, read_logs, write_imported

    configuration = configuration_of(options)
    if (options.out / "config.yaml").exists():
        raise InputError(
            f"{options.out} already holds a run; an import is made anew: delete it, or choose another --out"
        )
    Run.check(configuration, options.out, resume=False)
    pairs = [pair.split("=", 1) for pair in options.columns]
    columns = {ours.strip(): theirs.strip() for ours, theirs in pairs}
    about = (options.confidence, options.confidence_scale, options.question_field, columns)
    choices = LogChoices(*about, incomplete=options.incomplete)
    runs = [run for source in options.sources for run in read_logs(source, choices, options.format)]
    found = panel_from_logs(runs, options.asked, options.score)
    with Run.create(options.out, PROGRAM, configuration) as run:
        notes.keep_in(run)
        with run.withdrawn_if_refused():
            write_imported(found, run.path)
            n, n_questions = found.report["n_answers"], found.report["n_questions"]
            run.record(
                sentence=f"{n} answers of {len(found.report['respondents'])} respondents to {n_questions} questions"
            )
    print_report(found)
    print(f"panel: {options.out / 'panel.csv'}")


def print_report(found: "ImportedPanel") -> None:
    """What was read as what, what was left out, and some of the answers that could not be read."""
    import pandas as pd

    from onedial.asking import MANY_UNREAD

    report = found.report
    for run in report["runs"]:
        failed = "".join(f", {n} failed ({reason})" for reason, n in run["failed"].items())
        print(f"{run['source']}: {run['format']}, {run['model']}, task {run['task'] or '-'}")
        what = "whether it can answer" if run["asked"] == "yes-no" else "the questions themselves"
        print(f"  {run['answers']} answers{failed}; asked {what} ({run['because']}); --asked says otherwise")
    for reason, n in report["left_out"].items():
        print(f"left out: {n} x {reason}")
    counts = pd.DataFrame(report["respondents"]).T.drop(columns=["missing", "unread_of_answered"])
    missing = pd.DataFrame({name: own["missing"] for name, own in report["respondents"].items()}).T
    print(f"\n{report['n_questions']} questions, {report['n_answers']} answers\n{counts.to_string()}")
    if not missing.empty:
        print(f"\nblank, and why:\n{missing.fillna(0).astype(int).to_string()}")
    if not found.panel["said_yes"].notna().any():
        print("\nno log asked for a yes or no: the panel holds correctness alone, and said_yes is blank throughout")
    many = [name for name, own in report["respondents"].items() if (own["unread_of_answered"] or 0) > MANY_UNREAD]
    if many:
        print(
            f"\nwarning: more than {MANY_UNREAD:.0%} of the answers of {', '.join(many)} cannot be read; some of them:"
        )
        for example in (each for each in report["unread_examples"] if each["respondent"] in many):
            print(f"  {example['respondent']}, {example['question_id']}: {example['text']!r}")
    print()


main = program(ImportOptions, import_panel, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))

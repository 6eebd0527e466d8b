"""Turn logs that somebody else's evaluation wrote into a panel: Inspect, lm-eval, Every Eval Ever, plain tables.

    python experiments/import_panel.py logs/ --out panels/mine                         # format found from the files
    python experiments/import_panel.py can_you.eval closed_book.eval --out panels/mine # yes/no, and what was then right
    python experiments/import_panel.py samples_gsm8k_*.jsonl --score strict-match/exact_match --out panels/gsm8k
    python experiments/import_panel.py answers.csv --columns said_yes=verdict,respondent=llm --out panels/table
    python experiments/import_panel.py panel.csv --yes Ja --no Nein --out panels/german     # a column per model

A log asked either "can you answer this?" (then said_yes is read from its answers) or the questions themselves (then it
tells what was answered correctly); which of the two is found from its answers and said. What cannot be read as yes or
no, and what failed, is blank, never no. Writes panel.csv (for --panel), questions.jsonl (for --questions),
respondents.csv (complete `family` by hand) and import_report.json into a run's folder. Needs no model, and none of the
libraries that wrote the logs.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, Notes, Run, configuration_of, noted, program_parser, run_command

if TYPE_CHECKING:
    from onedial.panels import ImportedPanel


PROGRAM = "import_panel"


def import_panel(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.panels import LogChoices, Spellings, panel_from_logs, read_logs, write_imported

    configuration = configuration_of(options)
    if (options.out / "config.yaml").exists():
        raise InputError(
            f"{options.out} already holds a run; an import is made anew: delete it, or choose another --out"
        )
    Run.check(configuration, options.out, resume=False)
    about = (options.confidence, options.confidence_scale, options.question_field, options.columns)
    spellings = Spellings(tuple(options.yes), tuple(options.no), tuple(options.blank))
    choices = LogChoices(*about, incomplete=options.incomplete, spellings=spellings)
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


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="log, table, or a folder of them")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder to write to")
    parser.add_argument("--format", help="inspect, lm-eval, every-eval-ever, table (default: found from the file)")
    parser.add_argument(
        "--asked", default="auto", choices=["auto", "yes-no", "question"], help="what the logs asked (default auto)"
    )
    parser.add_argument("--score", help="which score says that the question itself was answered correctly")
    parser.add_argument(
        "--confidence",
        default="confidence",
        metavar="FIELD",
        help="field of a stated confidence in the logs' metadata (default %(default)s)",
    )
    parser.add_argument("--confidence-scale", type=float, default=1.0, metavar="N", help="1, or 100 for percent")
    parser.add_argument("--question-field", metavar="FIELD", help="field that holds the question without its prompt")
    parser.add_argument(
        "--incomplete", action="store_true", help="take what is there of an evaluation that ended in an error"
    )
    parser.add_argument(
        "--columns",
        type=columns,
        default={},
        metavar="OURS=THEIRS,...",
        help="columns of a plain table: said_yes=verdict",
    )
    for name, what in (("yes", "yes"), ("no", "no"), ("blank", "nothing")):
        parser.add_argument(
            f"--{name}",
            type=words,
            default=[],
            metavar="WORD,...",
            help=f"how a plain table spells {what}, besides the usual",
        )
    options = parser.parse_args(arguments)
    if options.confidence_scale <= 0:
        raise InputError(f"--confidence-scale {options.confidence_scale:g}; give 1, or 100 for percent")
    return options


def words(text: str) -> list[str]:
    """For argparse: words with commas between."""
    return [word.strip() for word in text.split(",") if word.strip()]


def columns(text: str) -> dict[str, str]:
    """For argparse: our_name=their_name, several with commas between."""
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not name.strip() or not sign or not other.strip() for name, sign, other in pairs):
        raise argparse.ArgumentTypeError(f"{text!r}; write OURS=THEIRS, such as said_yes=verdict,respondent=llm")
    return {name.strip(): other.strip() for name, _, other in pairs}


main = noted(parse_options, import_panel)

if __name__ == "__main__":
    sys.exit(run_command(main))

"""Write a panel in other people's formats.

    python experiments/export_panel.py embedded --to every-eval-ever --out embedded_samples.jsonl
    python experiments/export_panel.py embedded --to py-irt --value answered_correctly --out embedded.jsonl
    python experiments/export_panel.py panels/mine/panel.csv --to inspect-scores --respondent gpt-x --out scores.jsonl

The last gives somebody's Inspect log our values, seen in its viewer:
inspect score LOG --scorer inspect_ai/precomputed_scores -S scores=scores.jsonl
A finished sweep becomes a log of its own, a sample per question and a score per magnitude; so does what `ask_battery`
or `ask_self_prediction` asked, a sample per answer:

    python experiments/export_panel.py runs/my-sweep --to inspect-log --out logs/sweep.eval
    inspect view --log-dir logs

What is not known is left out and counted, never written as 0.
"""

import argparse
import sys
from pathlib import Path

from onedial.core import InputError, noticed, program_parser, run_command
from onedial.studies import add_panel_options

INSPECT_LOG = "inspect-log"


def main() -> None:
    options = parse_options()
    with noticed(print):
        if options.to == INSPECT_LOG:
            export_run(options)
        else:
            export_panel(options)


def export_run(options: argparse.Namespace) -> None:
    from onedial.core import Run
    from onedial.verdict import SweepRun

    if options.out.exists():
        raise InputError(f"{options.out} is taken; choose another name with --out")
    if any(Path(options.panel).glob("asked/*/*.parquet")):
        from onedial.report import write_answer_log

        n, n_without = write_answer_log(Run.open(options.panel), options.out)
        print(f"{n} answers written to {options.out}; {n_without} are texts, or could not be read, and have no score")
    else:
        run = SweepRun.open(options.panel)
        from onedial.report import write_inspect_log

        n_unread = write_inspect_log(run, options.out)
        print(f"{len(run.questions())} questions written to {options.out}; {n_unread} answers could not be read")
    print(f"to look at it: inspect view --log-dir {options.out.parent}")


def export_panel(options: argparse.Namespace) -> None:
    from onedial.asking import NAMED_QUESTIONS, panel_and_cuts, unknown_name
    from onedial.panels import EXPORT_VALUES, EXPORTERS, load_panel, load_questions

    if options.to not in EXPORTERS:
        raise unknown_name("is no format called", options.to, [*EXPORTERS, INSPECT_LOG], "one of these")
    if options.value not in EXPORT_VALUES:
        raise unknown_name("is no value called", options.value, EXPORT_VALUES, "one of these")
    panel = load_panel(options.panel, options.respondents)
    if options.respondent:
        panel = panel.select(respondents=options.respondent)
    source = options.questions or (named if (named := panel_and_cuts(options.panel)[0]) in NAMED_QUESTIONS else None)
    questions = load_questions(source) if source else []
    if options.out.exists():
        raise InputError(f"{options.out} is taken; choose another name with --out")
    n_left_out = EXPORTERS[options.to](panel, questions, options.value, options.out)
    n_answers = len(panel.responses) if panel.responses is not None else panel.answers.size
    print(f"{n_answers - n_left_out} answers of {panel.answers.shape[1]} respondents written to {options.out}")
    if n_left_out:
        print(f"left out: {n_left_out} answers whose {options.value} is not known")


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    add_panel_options(parser)
    parser.add_argument(
        "--to", required=True, metavar="FORMAT", help="every-eval-ever, py-irt, inspect-scores; inspect-log of a run"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file: JSONL, or .eval")
    parser.add_argument(
        "--value", default="said_yes", help="said_yes (default), answered_correctly, or came_true (the yes or no did)"
    )
    parser.add_argument("--questions", help="give accepted answers: a name or a file (default: the panel's name)")
    parser.add_argument("--respondent", action="append", metavar="NAME", help="only this one; may be repeated")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run_command(main))

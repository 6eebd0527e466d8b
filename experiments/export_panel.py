"""Write a panel in other people's formats.

    python experiments/export_panel.py embedded --to every-eval-ever --out embedded_samples.jsonl
    python experiments/export_panel.py embedded --to py-irt --value answered_correctly --out embedded.jsonl
    python experiments/export_panel.py panels/mine/panel.csv --to inspect-scores --respondent gpt-x --out scores.jsonl

The last gives somebody's Inspect log our values, seen in its viewer:
inspect score LOG --scorer inspect_ai/precomputed_scores -S scores=scores.jsonl
What is not known is left out and counted, never written as 0.
"""

import argparse
import sys
from pathlib import Path

from onedial.core import InputError, noticed, program_parser, run_command
from onedial.studies import add_panel_options


def main() -> None:
    options = parse_options()
    with noticed(print):
        export_panel(options)


def export_panel(options: argparse.Namespace) -> None:
    from onedial.asking import NAMED_QUESTIONS, panel_and_cuts, unknown_name
    from onedial.panels import EXPORT_VALUES, EXPORTERS, load_panel, load_questions

    if options.to not in EXPORTERS:
        raise unknown_name("is no format called", options.to, EXPORTERS, "one of these")
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
    parser.add_argument("--to", required=True, metavar="FORMAT", help="every-eval-ever, py-irt, inspect-scores")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new JSONL file")
    parser.add_argument(
        "--value", default="said_yes", help="said_yes (default), answered_correctly, or came_true (the yes or no did)"
    )
    parser.add_argument("--questions", help="give accepted answers: a name or a file (default: the panel's name)")
    parser.add_argument("--respondent", action="append", metavar="NAME", help="only this one; may be repeated")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run_command(main))

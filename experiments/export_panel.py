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

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onedial.core import KeysOf, Notes, noticed, option, program, run_command
from onedial.studies.options import PanelOptions

INSPECT_LOG = "inspect-log"


@dataclass(frozen=True, kw_only=True)
class ExportOptions(PanelOptions, group="export"):
    """What is written, and how."""

    to: str = option(
        ...,
        "format; inspect-log of a run",
        choices=KeysOf("onedial.panels.formats.exporting:EXPORTERS", INSPECT_LOG),
        metavar="FORMAT",
    )
    out: Path = option(
        ...,
        "a new file: JSONL, or .eval",
        metavar="FILE",
        check=lambda out: "that is taken; choose another name" if out.exists() else None,
    )
    value: Literal["said_yes", "answered_correctly", "came_true"] = option(
        "said_yes",
        "what is written; came_true: whether the yes or no did",
    )
    questions: str | None = option(None, "give accepted answers: a name or a file (the panel's name)")
    respondent: tuple[str, ...] = option((), "only this one; may be repeated", metavar="NAME", repeated=True)


def export(options: ExportOptions, _: Notes) -> None:
    with noticed(print):
        if options.to == INSPECT_LOG:
            export_run(options)
        else:
            export_panel(options)


def export_run(options: ExportOptions) -> None:
    from onedial.core import Run
    from onedial.verdict import SweepRun

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


def export_panel(options: ExportOptions) -> None:
    from onedial.asking import NAMED_QUESTIONS, panel_and_cuts
    from onedial.panels import EXPORTERS, load_panel, load_questions

    panel = load_panel(options.panel, options.respondents)
    if options.respondent:
        panel = panel.select(respondents=list(options.respondent))
    source = options.questions or (named if (named := panel_and_cuts(options.panel)[0]) in NAMED_QUESTIONS else None)
    questions = load_questions(source) if source else []
    n_left_out = EXPORTERS[options.to](panel, questions, options.value, options.out)
    n_answers = len(panel.responses) if panel.responses is not None else panel.answers.size
    print(f"{n_answers - n_left_out} answers of {panel.answers.shape[1]} respondents written to {options.out}")
    if n_left_out:
        print(f"left out: {n_left_out} answers whose {options.value} is not known")


main = program(ExportOptions, export, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))

"""Match and verdict again from the tables of a run, with its own panel or another one. Needs no model.

    python experiments/judge_run.py RUN                                 # the run's own panel; rewrites RUN's results
    python experiments/judge_run.py RUN --panel other.csv --out other   # a new run directory; RUN stays as it is

Another panel is joined to the run's questions by id, or by text where ids do not meet; questions keep the split they
had. Control directions that the run has swept at the same layer (`...-random-1`, `...-random-2`, ...) are ranked
against the vector.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from common import InputError
from common.command_line import run_command

if TYPE_CHECKING:
    from elicitation import ResponseMatrix
    from reporting import RunDirectory


def main() -> None:
    options = parse_options()
    from elicitation import load_panel, panel_from_long
    from reporting import RunDirectory
    from reporting.judgement import match_and_judge
    from reporting.report import write_report
    from reporting.terminal import print_summary

    run = RunDirectory.open(options.run)
    if options.panel is None:
        panel = panel_from_long(run.panel())
    else:
        out = options.out or run.path / f"judged-{Path(options.panel).stem}"
        given = load_panel(options.panel, options.respondents)
        run, panel = with_panel(run, without_own(run, given), str(options.panel), out)
    seed = options.seed if options.seed is not None else int(run.config.get("seed") or 0)
    with run.stage("match and verdict"):
        verdict = match_and_judge(run, panel, seed)
    with run.stage("report"):
        report = write_report(run)
    print_summary(run.matches(), verdict.to_dict())
    print(f"report: {report}")


def without_own(run: "RunDirectory", panel: "ResponseMatrix") -> "ResponseMatrix":
    """The panel without targets that are the run's subject, unless the run was made with --keep-own."""
    from elicitation import drop_own

    if run.config.get("keep_own"):
        return panel
    subject = run.manifest.get("model", {})
    panel, own = drop_own(panel, str(subject.get("name", "")), subject.get("fingerprint"))
    if own:
        print(f"{len(own)} targets are the subject itself and are left out: {', '.join(own)}")
    return panel


def with_panel(
    source: "RunDirectory", panel: "ResponseMatrix", name: str, out: Path
) -> tuple["RunDirectory", "ResponseMatrix"]:
    """A new run directory with the source's sweep of the questions that the panel answers, and that panel.

    Raises:
        InputError: `out` is taken, or the panel answers none of the run's questions.
    """
    from elicitation import join_questions_and_panel, panel_long, questions_from_frame
    from reporting import RunDirectory

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is taken; choose a new or empty folder with --out")
    questions = source.questions()
    shared, panel, report = join_questions_and_panel(questions_from_frame(questions), panel)
    print(report)
    kept = [question.id for question in shared]
    sweep = source.read_sweep()
    run = RunDirectory.create(out, {**source.config, "panel": name, "judged_from": source.path.resolve()})
    run.record(**{key: value for key, value in source.manifest.items() if key not in run.manifest})
    run.write_questions(questions.set_index("id").loc[kept].reset_index())
    run.write_panel(panel_long(panel))
    run.write_prompt(source.prompt()[0])
    run.write_part(sweep[sweep["question_id"].isin(kept)])
    if (scan := source.layer_scan()) is not None:
        run.write_layer_scan(scan)
    return run, panel


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run")
    parser.add_argument("--panel", metavar="FILE", help="another panel (CSV, JSONL, Parquet), or 'embedded'")
    parser.add_argument("--respondents", type=Path, metavar="FILE", help="what is known of that panel's respondents")
    parser.add_argument("--out", type=Path, help="new folder, with --panel (default RUN/judged-<name of the panel>)")
    parser.add_argument("--seed", type=int, help="of resamples and permutations (default: the run's)")
    options = parser.parse_args()
    if options.panel is None and (options.out or options.respondents):
        parser.error("--out and --respondents belong to another panel; give it with --panel")
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))

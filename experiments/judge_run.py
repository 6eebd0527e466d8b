"""Match and verdict again from the tables of a run, with its own panel or another one. Needs no model.

    onedial judge RUN  # the run's own panel; rewrites RUN's results
    onedial judge RUN --panel other.csv --out other                          # a new run directory; RUN stays as it is
    onedial judge RUN --panel frontier --questions frontier-safe --out safe  # some questions alone

Another panel is joined to the run's questions by id, or by text where ids do not meet; questions keep the split they
had, and the vector stays as it was made. Control interventions that the run has swept are ranked against the one under
test.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.options import option
from onedial.core.run.notes import Notes, program
from onedial.core.run.run import Run
from onedial.studies.options.shared import PANELS, ColumnOptions, DeclaredOptions

if TYPE_CHECKING:
    from onedial.panels.panels import ResponseMatrix
    from onedial.verdict.sweep_run import SweepRun

PROGRAM = "judge_run"
OF_SUBJECT = ("facts", "wordings")
"""Tables that say something of the subject whatever panel stands beside it."""


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(ColumnOptions, DeclaredOptions):
    """A finished run, and what it is judged by."""

    run: Path = option(..., "folder of a run", positional=True)
    panel: str | None = option(None, f"another panel: CSV, JSONL or Parquet; or {PANELS}", metavar="FILE")
    questions: str | None = option(None, "only these, by id: a file or a name", metavar="FILE", needs=("panel",))
    respondents: Path | None = option(
        None, "what is known of that panel's respondents", metavar="FILE", needs=("panel",)
    )
    out: Path | None = option(None, "new folder (RUN/judged-<name of the panel>)", metavar="DIR", needs=("panel",))
    seed: int | None = option(None, "of resamples and permutations (the run's)", at_least=0)


def judge_run(options: JudgeOptions, notes: Notes) -> None:
    from onedial.panels.panel_files import load_panel
    from onedial.report.report import end_sweep, keep_judgement
    from onedial.verdict.sweep_run import JUDGING, SweepRun

    panel = None
    if options.panel is None:
        run = SweepRun.open(options.run, write=True)
    else:
        source = SweepRun.open(options.run)
        out = options.out or source.path / f"judged-{Path(options.panel).stem}".replace(":", "-")
        Run.check({}, out, resume=False)
        given = load_panel(options.panel, options.respondents, declared=options.declared)
        only = None if options.questions is None else {each.id for each in options.read_questions(options.questions)}
        run, panel = with_panel(source, without_own(source, given), str(options.panel), out, only)
    seed = options.seed if options.seed is not None else int(run.config.get("seed") or 0)
    with run.run:
        notes.keep_in(run.run)
        with run.run.stage(JUDGING):
            keep_judgement(run, run.judge(panel, seed))
        end_sweep(run)


def without_own(run: "SweepRun", panel: "ResponseMatrix") -> "ResponseMatrix":
    """The panel without targets that are the run's subject, unless the run was made with --keep-own."""
    from onedial.panels.joining import drop_own

    if run.config.get("keep_own"):
        return panel
    subject = run.run.manifest.facts.get("model", {})
    fingerprints = [subject[name] for name in ("fingerprint", "sampled_fingerprint") if subject.get(name)]
    panel, dropped = drop_own(panel, str(subject.get("name", "")), fingerprints)
    if dropped:
        notice(f"{len(dropped)} targets are the subject itself and are left out: {', '.join(dropped)}")
    return panel


def with_panel(
    source: "SweepRun", panel: "ResponseMatrix", name: str, out: Path, only: set[str] | None = None
) -> tuple["SweepRun", "ResponseMatrix"]:
    """A new run directory with the source's sweep of the questions that the panel answers, and that panel.

    Args:
        only: ids; the run's other questions are left out.

    Raises:
        InputError: `out` is taken, none of the run's questions is among `only`, or the panel answers none of them.
    """
    from onedial.asking.elicited import how_asked
    from onedial.asking.questions import questions_from_frame
    from onedial.panels.joining import join_questions_and_panel
    from onedial.panels.panels import panel_long
    from onedial.verdict.sweep_run import TABLES, SweepRun

    questions = source.questions()
    if only is not None:
        questions = questions[questions["id"].astype(str).isin(only)]
        if questions.empty:
            raise InputError(f"none of the {len(only)} questions was asked in {source.path}; give some that were")
    shared, panel, report = join_questions_and_panel(questions_from_frame(questions), panel)
    notice(str(report))
    kept = [question.id for question in shared]
    run = SweepRun(Run.create(out, PROGRAM, {**source.config, "panel": name, "judged_from": source.path.resolve()}))
    run.run.record(**source.run.manifest.facts | {"asked": how_asked(panel.elicitation, source.prompt())})
    run.keep_inputs(questions.set_index("id").loc[kept].reset_index(), panel_long(panel), source.prompt())
    for name, parts in source.parts.items():
        asked = parts.read()
        if name not in OF_SUBJECT:
            asked = asked[asked["question_id"].isin(kept)]
        if not asked.empty:
            run.parts[name].append(asked)
    run.write_interventions(source.interventions().to_dict("records"))
    for name in TABLES:
        if (table := source.table(name)) is not None:
            run.write_table(name, table)
    return run, panel


main = program(JudgeOptions, judge_run, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))

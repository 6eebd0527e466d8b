"""From the run's files to matches, verdict and report; no model is asked any more."""

from dataclasses import replace

from onedial.core.pulse import say
from onedial.report.report import keep_judgement, print_summary, write_report
from onedial.studies.sweep.side_effects import weigh_side_effects
from onedial.studies.sweep.study import SweepStudy


def finish(study: SweepStudy) -> None:
    """Match, judge, report, and say what came out."""
    run, options, panel = study.run, study.options, study.inputs.panel
    with run.run.stage("match and verdict"):
        judged = run.judge(panel, options.seed)
        if options.side_effects:
            judged = replace(judged, effects=weigh_side_effects(study, judged.case.matches))
        if options.answer == "reasoned":
            judged = replace(judged, reasoned=run.judge_reasoned(panel, options.seed))
        keep_judgement(run, judged)
    with run.run.stage("report"):
        report = write_report(run)
    print_summary(run)
    say(f"report: {report}")

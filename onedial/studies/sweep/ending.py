"""From the run's files to matches, verdict and report; no model is asked any more."""

from onedial.core import say
from onedial.report import print_summary, write_report
from onedial.studies.sweep.side_effects import weigh_side_effects
from onedial.studies.sweep.study import SweepStudy


def finish(study: SweepStudy) -> None:
    """Match, judge, report, and say what came out."""
    run, options, panel = study.run, study.options, study.inputs.panel
    with run.run.stage("match and verdict"):
        run.write_judgement(run.judge(panel, options.seed))
        if options.side_effects:
            weigh_side_effects(study)
        if options.answer == "reasoned":
            run.write_reasoned(*run.judge_reasoned(panel, options.seed))
    with run.run.stage("report"):
        report = write_report(run)
    print_summary(run.matches(), run.verdict())
    if (found := run.side_effects()) is not None:
        say(found[1]["sentence"])
    if (reasoned := run.reasoned()) is not None:
        verdict = reasoned["verdict"]
        say(reasoned["sentence"] + (f" By these answers: {verdict['sentence']}" if verdict else ""))
    say(f"report: {report}")

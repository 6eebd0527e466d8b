"""Export a panel, or what a run has asked, in other people's formats."""

from onedial.asking.elicited import panel_and_cuts
from onedial.asking.named_data import NAMED_QUESTIONS
from onedial.core.run.run import Run
from onedial.panels.formats.exporting import EXPORTERS
from onedial.panels.panel_files import load_panel
from onedial.report.inspect_log import write_answer_log
from onedial.studies.options.collecting import ExportOptions


def export_run(options: ExportOptions) -> None:
    """Export what a run asked models about themselves, as an Inspect log."""
    n, n_without = write_answer_log(Run.open(options.panel), options.out)
    print(f"{n} answers written to {options.out}; {n_without} are texts, or could not be read, and have no score")
    print(f"to look at it: inspect view --log-dir {options.out.parent}")


def export_panel(options: ExportOptions) -> None:
    """Export a panel in another format."""
    panel = load_panel(options.panel, options.respondents, declared=options.declared)
    if options.respondent:
        panel = panel.select(respondents=list(options.respondent))
    source = options.questions or (named if (named := panel_and_cuts(options.panel)[0]) in NAMED_QUESTIONS else None)
    questions = options.read_questions(source) if source else []
    n_left_out = EXPORTERS[options.to](panel, questions, options.value, options.out)
    n_answers = len(panel.responses) if panel.responses is not None else panel.answers.size
    print(f"{n_answers - n_left_out} answers of {panel.answers.shape[1]} respondents written to {options.out}")
    if n_left_out:
        print(f"left out: {n_left_out} answers whose {options.value} is not known")

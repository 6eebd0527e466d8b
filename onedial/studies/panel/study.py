"""The study's questions to a panel, on one page in a minute: is it one scale, and does anybody know itself?"""

from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.run.files import write_table
from onedial.core.run.notes import Notes
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panels import ResponseMatrix
from onedial.scale.factor.factor_fit import FEWEST_FITTED
from onedial.show.columns import headline
from onedial.show.results import Stored, finish, write_page
from onedial.show.terminal import print_results
from onedial.stats.threads import one_blas_thread
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.case import StudyCase
from onedial.studies.panel.deep import analysis_of, deep_results
from onedial.studies.panel.results import STUDY_RESULTS, WORDS
from onedial.studies.start import Start


@one_blas_thread()
def study_panel(options: StudyOptions, notes: Notes) -> None:
    """Ask the study's questions of a panel, with --confidence those of its confidence alone, with --deep everything of
    its scale, and write the page."""
    panel = load_panel(options.panel, options.respondents, numbers=bool(options.categories))
    if not options.confidence:
        panel = keyed(panel)
    if options.deep:
        return _deep(panel, options, notes)
    if not options.confidence:
        require_enough(panel)
    case = StudyCase(panel, options.n_replicates, options.seed, with_scale=not options.confidence)
    kind = "confidence" if options.confidence else "study"
    with Start("study_panel", options, f"{kind}-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused():
            for stage, compute in case.stages().items():
                with run.stage(stage):
                    compute()
            finish(run, STUDY_RESULTS, case)
        stored = Stored(run, STUDY_RESULTS, WORDS)
        summary = stored.numbers("summary")
        report = write_page(
            stored,
            question="What is their confidence worth?" if options.confidence else "Does confidence follow one scale?",
            headline=headline(summary["sentence"]),
            lead=summary["lead"],
        )
    print_results(stored, headline(summary["sentence"]), f"report: {report}")


def _deep(panel: ResponseMatrix, options: StudyOptions, notes: Notes) -> None:
    with Start("fit_factor", options, f"factor-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused(), run.stage("fit"):
            analysis = analysis_of(panel, options)
        if not options.categories:
            analysis.fit.factor.save(run.file("factor.json"))
        for name, table in analysis.tables.items():
            write_table(run.file(f"{name}.csv"), table, index=True, float_format="%.8g")
        results: dict[str, Any] = deep_results(analysis)
        finish(run, results, analysis)
        opening, _, objections = analysis.verdict.partition(". ")
        report = write_page(
            Stored(run, results, WORDS),
            question="Is it one shared scale of difficulty?",
            headline=opening.rstrip(".") + ".",
            lead=objections,
        )
    print(analysis.page)
    print(f"report: {report}; what confidence is worth: python experiments/study_panel.py {options.panel} --confidence")


def require_enough(panel: ResponseMatrix) -> None:
    """Refuse a panel of which nothing can be asked, before anything is fitted.

    Raises:
        InputError: fewer respondents say both yes and no than could speak against one factor.
    """
    says_both = panel.answers.nunique() > 1
    if (n := int(says_both.sum())) < FEWEST_FITTED:
        raise InputError(
            f"{n} of {len(says_both)} respondents of {len(panel.answers)} questions say both yes and no, and a study "
            f"takes {FEWEST_FITTED}; give a panel of more, or see what --confidence says of these"
        )

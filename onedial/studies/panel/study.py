"""The study's questions to a panel, on one page in a minute: is it one scale, and does anybody know itself?"""

from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panels import ResponseMatrix
from onedial.scale.factor.factor_fit import FEWEST_FITTED
from onedial.show.columns import headline
from onedial.show.results import Stored, finish, write_page
from onedial.show.terminal import print_results
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.case import StudyCase
from onedial.studies.panel.results import STUDY_RESULTS, WORDS
from onedial.studies.start import Start

PROGRAM = "study_panel"


def study_panel(options: StudyOptions, notes: Notes) -> None:
    """Ask the study's questions of a panel, with --confidence those of its confidence alone, and write the page."""
    panel = load_panel(options.panel, options.respondents)
    if not options.confidence:
        panel = keyed(panel)
        require_enough(panel)
    case = StudyCase(panel, options.n_replicates, options.seed, with_scale=not options.confidence)
    kind = "confidence" if options.confidence else "study"
    with Start(PROGRAM, options, f"{kind}-{Path(options.panel).stem}").begin(notes) as run:
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

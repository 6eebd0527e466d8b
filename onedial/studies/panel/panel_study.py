"""Answer the study's questions to a panel on one page: is it one scale, and does anybody know itself?"""

from functools import partial
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panels import ResponseMatrix
from onedial.scale.factor.factor_fit import FEWEST_FITTED
from onedial.show.ending import Opening, end
from onedial.show.results import Stored
from onedial.stats.threads import one_blas_thread
from onedial.studies.options.panel import StudyOptions
from onedial.studies.panel.case import StudyCase
from onedial.studies.panel.deep import DeepCase
from onedial.studies.panel.results import STUDY_RESULTS, WORDS
from onedial.studies.start import Start

YES_NO = "Do their yes and no follow one scale?"
KINDS = {
    "study": "Does confidence follow one scale?",
    "confidence": "What is their confidence worth?",
    "factor": "Is it one shared scale of difficulty?",
}
"""Kind of page -> what it asks."""


@one_blas_thread()
def study_panel(options: StudyOptions, notes: Notes) -> None:
    """Ask the study's questions of a panel, with --confidence those of its confidence alone, with --deep everything of
    its scale, and write the page."""
    panel = load_panel(options.panel, options.respondents, declared=options.declared)
    if not options.confidence:
        panel = keyed(panel)
    kind = "factor" if options.deep else "confidence" if options.confidence else "study"
    if kind == "study":
        require_enough(panel)
    case: DeepCase | StudyCase
    if options.deep:
        case = DeepCase(panel, options)
    else:
        case = StudyCase(panel, options.n_replicates, options.seed, with_scale=not options.confidence)
    question = KINDS[kind]
    if isinstance(case, StudyCase) and kind == "study" and case.stated is None:
        question = YES_NO
    start = Start("study_panel", options, f"{kind}-{Path(options.panel).stem}")
    with start.begin(notes) as run, run.withdrawn_if_refused():
        for stage, compute in case.stages().items():
            with run.stage(stage):
                compute()
        results = STUDY_RESULTS
        if isinstance(case, DeepCase):
            results = case.results()
            case.analysis.fit.factor.save(run.file("factor.json"))
            print(case.analysis.page)
        end(Stored(run, results, WORDS), partial(opening_of, question), case)


def opening_of(question: str, stored: Stored) -> Opening:
    """What stands first on the page of a panel."""
    summary = stored.numbers("summary")
    return Opening(question, summary["sentence"], summary["lead"])


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

"""The results of a sweep: kept as files, and from these alone its page, one HTML file that needs nothing beside it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup

from onedial.report import alone
from onedial.report.alone import results_for, words_for
from onedial.report.contents import Contents
from onedial.report.meaning import headline_of, judged_targets
from onedial.report.sections.predicted import OVERVIEW, lead_of_overview
from onedial.report.sections.pushed import pushed
from onedial.report.sections.written_texts import written_to_one
from onedial.show import page
from onedial.show.columns import number
from onedial.show.ending import Opening, end
from onedial.show.page import Section
from onedial.show.results import doubts_of, finish
from onedial.verdict.judgement import Judgement
from onedial.verdict.sweep_run import SweepRun


def contents_of(run: SweepRun) -> Contents:
    """Open what a sweep has stored of its results: `contents_of(run)["baselines"]` is baselines.csv."""
    return Contents(run, results_for(run), words_for(run))


def keep_judgement(run: SweepRun, judged: Judgement) -> None:
    """Write every result of a sweep, its verdict last, which ends the run."""
    if judged.factor is not None:
        judged.factor.save(run.run.file("factor.json"))
    finish(run.run, results_for(run), judged)


def end_sweep(run: SweepRun) -> Path:
    """Draw the figures of a judged sweep, write report.html, print what came out, and return the page's path.

    Raises:
        InputError: the run is not finished, was judged by another rule, or one of its files is missing or broken.
    """
    contents = contents_of(run)
    return end(contents, opening_of(contents))


def opening_of(contents: Contents) -> Opening:
    """Say what stands first on the page of a sweep."""
    verdict, run = contents.verdict, contents.sweep
    subject = contents.model.get("name") or run.config.get("model")
    if not run.has_panel:
        return Opening(
            question=f"What does one steering vector in {subject} do to its yes and no?",
            headline=alone.headline(contents),
            lead=alone.lead(contents),
            overview=partial(overview, contents, figure="dose_response"),
        )
    return Opening(
        question=f"Does one steering vector in {subject} reproduce the yes/no of {verdict.n_targets} targets?",
        headline=headline_of(verdict),
        lead=_lead(contents),
        overview=lambda sections: overview(contents, sections),
        subtitle=judged_targets(verdict),
    )


def overview(contents: Contents, sections: Sequence[Section], figure: str = OVERVIEW) -> Markup:
    """What is seen first: a figure (bits of every base model beside baselines), what to doubt, and what the subject
    writes."""
    anchors = {section.name: section.anchor for section in sections}
    blocks = []
    if figure in contents.captions:
        lead = lead_of_overview(contents) if figure == OVERVIEW else contents.words[figure]["lead"]
        blocks.append(page.lead_figure(contents.run.path / "figures", figure, contents.captions[figure], lead))
    if doubts := doubts_of(contents):
        blocks.append(page.doubts("Caveats", [(words, anchors.get(about, "verdict")) for words, about in doubts]))
    blocks += written_to_one(contents)
    return page.beside(blocks[0], blocks[1:]) if blocks else Markup()


def _lead(contents: Contents) -> Markup:
    """Say how much was judged, how well it agrees, where anything was, and what was pushed."""
    verdict, n_test = contents.verdict, int((contents.questions["split"] == "test").sum())
    lead = Markup("{} on {} test questions.").format(judged_targets(verdict), n_test)
    if verdict.agreement == verdict.agreement:
        shown = (f"<b>{number(getattr(verdict, name), 2)}</b> {words}" for name, words in AGREEMENTS.items())
        lead += Markup(f" Mean agreement with a target: {', '.join(shown)}.")
    return lead + Markup(" {}").format(pushed(contents))


AGREEMENTS = {
    "agreement": "steered",
    "majority": "by the majority answer",
    "threshold_shift": "by shifting the unsteered threshold",
}

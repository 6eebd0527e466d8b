"""The report of a run: one HTML file that needs nothing beside it, computed from the files of the run alone."""

from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from onedial.core import InputError
from onedial.report.contents import Contents
from onedial.report.figures.run_figures import write_figures
from onedial.report.meaning import judged_targets
from onedial.report.overview import overview
from onedial.report.sections import SECTIONS
from onedial.show import headline, number, page
from onedial.verdict import RULE, SweepRun


def write_report(run: SweepRun) -> Path:
    """Draw the figures, write report.html and return its path.

    Raises:
        InputError: the run is not finished, was judged by another rule, or one of its files is missing or broken.
    """
    if (rule := run.verdict()["rule"]) != RULE:
        raise InputError(
            f"{run.path} was judged by rule {rule}, and this version writes reports of rule {RULE}; judge it again, "
            f"which needs no model: python experiments/judge_run.py {run.path}"
        )
    contents = Contents(run)
    contents.captions = write_figures(contents)
    verdict, name = contents.verdict, run.path.resolve().name
    sections = [replace(found, name=key) for key, make in SECTIONS.items() if (found := make(contents)) is not None]
    words = headline(verdict["sentence"])
    html = page.page(
        question=(
            f"Does one steering vector in {contents.subject} reproduce the yes/no of {verdict['n_targets']} targets?"
        ),
        headline=words,
        lead=_lead(contents),
        sections=sections,
        overview=overview(contents, {section.name: section.anchor for section in sections}),
        title=f"{words} {name}",
        foot=name,
    )
    run.run.write_text("report.html", html)
    return run.path / "report.html"


def _lead(contents: Contents) -> Markup:
    """How much was judged, and how well it agrees, where anything was."""
    verdict = contents.verdict
    lead = Markup("{} on {} test questions.").format(judged_targets(verdict), contents.n_test)
    if verdict["agreement"] is None:
        return lead
    return lead + Markup(
        f" Mean agreement with a target: <b>{number(verdict['agreement'])}</b> steered, "
        f"<b>{number(verdict['majority'])}</b> by the majority answer, <b>{number(verdict['moved_cut'])}</b> by the "
        "unsteered subject with its cut moved."
    )

"""The page of a factor analysis, from the run's files alone: is it one shared scale, and what hangs on whom."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from onedial.core.run.run import Run
from onedial.scale.study.checks import CHECKS
from onedial.scale.study.closeness import THRESHOLD_AT
from onedial.show import page
from onedial.show.columns import Column, count, digits
from onedial.show.page import Section
from onedial.show.results import captions_of

BESIDE = {
    "shared": ("scree",),
    "clusters": ("clusters",),
    "dimensions": ("correlations",),
    "scale": ("scale",),
    "closeness": ("wright_map", "curves", "loadings"),
}
"""Which figures stand below the sentences of which check."""
_RESPONDENTS = (
    Column("loading", form=digits(2), ends=("loading_low", "loading_high")),
    Column("threshold", form=digits(2, signed=True), ends=("threshold_low", "threshold_high")),
    Column("marginal_threshold", "threshold, all questions", digits(2, signed=True)),
    Column("n_answers", "answers", count),
    Column("n_blank", "blank", count),
)
_SURPRISES = (
    Column("infit", form=digits(2)),
    Column("outfit", form=digits(2)),
    Column("l_z", form=digits(1, signed=True)),
    Column("loading", form=digits(2)),
    Column("follows", "follows the scale"),
)
_FIT = (
    "How surprising each respondent's answers are, given everybody else's, beside a curve as steep as that of all; the "
    "most surprising first. Infit and outfit: 1 = as surprising as they should be, above = more. l_z: below −2 more "
    "surprising than in 97 of 100. Loading: of its own curve."
)
_GRADED = (
    "Loading: how closely a respondent follows the shared scale, with its standard error. Thresholds: the quantile of "
    "the normal distribution at the share of answers that reach each category, by marginal likelihood over all "
    "questions; higher = more often that high."
)
_ABOUT = (
    "Loading: how closely a respondent follows the shared scale. Threshold: the quantile of the normal distribution at "
    "its yes rate over the questions that it answered, so that a higher one says yes more often. Threshold over all "
    "questions: by marginal likelihood, which is the one to compare where answers are not missing at random. Intervals "
    "are over questions; --replicates 0 gives none."
)


def write_scale_page(run: Run) -> Path:
    """Write report.html of a run of `study_panel.py --deep`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    summary, captions = run.read_json("summary.json"), captions_of(run)
    beside = {CHECKS[name].title: figures for name, figures in BESIDE.items()}
    sections = []
    for title, sentences in summary["sections"].items():
        drawn = page.drawn(run.path / "figures", captions, *beside.get(title, ()))
        sections.append(Section(title, [page.items(sentences), *drawn]))
    if run.has("respondents_fit.csv"):
        surprises = run.read_table("respondents_fit.csv").set_index("respondent").sort_values("l_z")
        sections.append(Section("Fit", [page.text(_FIT), page.table("Fit", "respondent", _SURPRISES, surprises)]))
    sections.append(_respondents(run))
    sections.append(Section("Rules", [page.rows([(name, str(value)) for name, value in summary["rules"].items()])]))
    opening, _, objections = summary["verdict"].partition(". ")
    html = page.page(
        question="Is it one shared scale of difficulty?",
        headline=opening.rstrip(".") + ".",
        lead=objections,
        sections=sections + page.noted(run.manifest.notes),
        title="One shared scale?",
        foot=run.path.resolve().name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


def _respondents(run: Run) -> Section:
    """Loading and threshold of each; of categories one threshold for each above the lowest."""
    lines: pd.DataFrame = run.read_table("respondents.csv").set_index("respondent")
    cuts = [str(column) for column in lines if str(column).startswith(THRESHOLD_AT)]
    lines = lines.sort_values(cuts or "threshold")
    lines["n_blank"] = len(run.read_table("questions.csv")) - lines["n_answers"]
    columns: Sequence[Column] = _RESPONDENTS
    if cuts:
        own = [Column(name, form=digits(2, signed=True)) for name in cuts]
        columns = [Column("loading", form=digits(2), error="loading_se"), *own, *_RESPONDENTS[-2:]]
    return Section(
        "Respondents", [page.text(_GRADED if cuts else _ABOUT), page.table("Respondents", "respondent", columns, lines)]
    )

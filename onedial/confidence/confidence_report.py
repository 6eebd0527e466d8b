"""The page of what a panel's confidence is worth, from the run's files alone."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.confidence.shared_or_own import NOT_OWN, OWN
from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import Column, count, digits, headline, number
from onedial.show.page import Section
from onedial.show.results import captions_of


def _estimate(name: str, heading: str = "", n: int = 2, ends: str = "") -> Column:
    """A number with its interval, whose ends are called after it or after `ends`."""
    return Column(name, heading, digits(n), ends=(f"{ends or name}_low", f"{ends or name}_high"))


_RATES = (
    _estimate("yes_rate", "yes", ends="yes"),
    Column("n_unread", "unread", count),
    _estimate("accuracy", "right"),
    Column("n_ungraded", "ungraded", count),
    _estimate("came_true"),
    Column("n_both", "of", count),
)
_CALIBRATION = (
    Column("n", "answers", count),
    Column("mean_confidence", "confidence", digits(2)),
    Column("accuracy", "right", digits(2)),
    _estimate("ece_mass", "error"),
    _estimate("brier_skill", "skill"),
    _estimate("auroc", "AUROC"),
)
_ATTITUDES = (
    Column("beta", form="{:g}".format),
    Column("best"),
    Column("f_beta", "F", digits(3)),
    Column("always_yes", "saying yes to all", digits(3)),
    Column("best_other_model", "best of another model"),
    Column("f_beta_other", "F of that one", digits(3)),
)
_PREDICTORS = (
    _estimate("auroc", "AUROC"),
    _estimate("bits", "bits alone", 3),
    _estimate("bits_more", "bits beside the others", 3),
    Column("n_models", "models", count),
)
_SCREENING = (
    Column("tells", form=lambda tells: "yes" if tells else "not shown"),
    _estimate("auroc", "AUROC"),
    Column("tier", "by the indices"),
    _estimate("l", "L: yes where wrong"),
    _estimate("fp", "Fp: no where right"),
    _estimate("rbs", "RBS"),
    Column("trin", "TRIN", digits(2)),
    Column("n_wrong", "wrong answers", count),
)
_WORDS = {
    "screening": (
        "Tells: the AUROC of confidence for being right has its interval above .5; this needs no cut. The indices of "
        "validity (arXiv 2604.17707) judge the yes and no at this cut; a coin breaks none of them half of the time."
    ),
    "predictors": (
        "Bits: what knowing it saves of the log loss of whether the model is right, per question: alone, beside the "
        "share right; and where all the other predictors are known. Each question is predicted by fits that did not "
        "see it."
    ),
    "rates": (
        "Yes: share of the answers that were read. Right: share of its model's own answers that "
        "could be graded. Came true: share of its yes and no that were. What is blank or ungraded is counted."
    ),
    "attitudes": (
        "Whose yes marks best what it then gets right, by what an error costs. Where saying yes to everything does as "
        "well, the best one's no is worth nothing at that price."
    ),
    "calibration": (
        "Error: mean distance of confidence from the share right, in ten bins of equally many answers; 0 is best. "
        "Skill: of the Brier score against always stating the mean; below 0 is worse than that. AUROC: chance that a "
        "right answer had more confidence than a wrong one; .5 is none."
    ),
}


def write_confidence_report(run: Run) -> Path:
    """Write report.html of a run of `study_panel.py --confidence`, and return its path.

    Raises:
        InputError: a table is missing or broken.

    >>> import tempfile
    >>> from onedial.panels import panel_from_long, rates_of_respondents
    >>> from onedial.show import save_results
    >>> said = pd.DataFrame({"respondent": "gpt-x", "question_id": list("abc"), "said_yes": [1, 0, 1]})
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(f"{folder.name}/run", "score_confidence.py", {})
    >>> save_results(run, {"respondents": rates_of_respondents(panel_from_long(said), None)}, {})
    >>> write_confidence_report(run).name
    'report.html'
    """
    captions = captions_of(run)

    drawn = partial(page.drawn, run.path / "figures", captions)
    rates = run.read_table("respondents.csv").set_index("respondent")
    about = page.text(_WORDS["rates"])
    sections = [
        Section(
            "How often yes, how often right", [about, *drawn("rates"), page.table("Rates", "respondent", _RATES, rates)]
        )
    ]
    sentence = "The panel does not say which answers were correct, so that confidence cannot be held against anything"
    if run.path.joinpath("summary.json").exists():
        summary = run.read_json("summary.json")
        sentence = confidence_in_one_sentence(run)
        sections += _worth(run, summary, drawn)
    html = page.page(
        question="What is the confidence of these respondents worth?",
        headline=headline(sentence),
        lead=f"{len(rates)} respondents of {rates['model'].nunique()} base models.",
        sections=sections,
        title="What confidence is worth",
        foot=run.path.resolve().name,
    )
    run.record(sentence=sentence)
    run.write_text("report.html", html)
    return run.path / "report.html"


def screening_section(run: Run, sentence: str) -> Section:
    """Whose confidence may be read at all.

    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from onedial.confidence import screen_confidence
    >>> from onedial.show import save_results
    >>> rng = np.random.default_rng(0)
    >>> sure = pd.DataFrame({"a": rng.random(60)})
    >>> table = screen_confidence((sure > 0.5) * 1.0, (rng.random((60, 1)) < sure) * 1.0, sure)
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(f"{folder.name}/run", "score_confidence.py", {})
    >>> save_results(run, {"screening": table}, {})
    >>> screening_section(run, "It tells.").title
    'Whose confidence says anything?'
    """
    table = run.read_table("screening.csv").set_index("respondent").sort_values("auroc")
    parts = [page.text(sentence), page.text(_WORDS["screening"])]
    parts.append(page.table("Screening", "respondent", _SCREENING, table))
    return Section("Whose confidence says anything?", parts)


def confidence_in_one_sentence(run: Run) -> str:
    """For how many confidence tells right from wrong, and whether that is more than what is hard for all."""
    if not run.path.joinpath("calibration.csv").exists():
        known = "the panel holds yes and no without numeric confidence"
    else:
        table = run.read_table("calibration.csv")
        low = table.get("auroc_low", pd.Series(dtype=float))
        if low.isna().all():
            known = (
                f"confidence tells right from wrong with an AUROC of {number(table['auroc'].median(), 2)} in the middle"
            )
        else:
            known = f"confidence tells right from wrong for {(low > 0.5).sum()} of {len(table)} respondents"
    if not run.has("shared_or_own_mean.json"):
        return f"{known}; whether it is of oneself could not be tested"
    mean = run.read_json("shared_or_own_mean.json")
    own = {OWN: "something of it is one's own", NOT_OWN: "nothing of it that counts is one's own"}
    said = own.get(mean["verdict"], "whether any of it is one's own cannot be told")
    shared, total = number(mean["shared"], 2), number(mean["total"], 2)
    return f"{known}; of its correlation with one's own correctness, {total}, all share {shared}, and {said}"


def _worth(run: Run, summary: dict[str, Any], drawn: Any) -> list[Section]:
    attitudes = run.read_table("attitudes.csv")
    sections = [
        Section(
            "Whose yes is best, by what an error costs",
            [
                page.text(_WORDS["attitudes"]),
                *drawn("f_beta"),
                page.table("Attitudes to error", "attitude", _ATTITUDES, attitudes.set_index("attitude")),
            ],
        ),
        Section("Between models", [page.text(headline(summary["line_between_models"])), *drawn("base_models")]),
    ]
    sections.append(screening_section(run, summary["screening"]))
    calibration = [page.text(headline(summary["calibration"])), *drawn("reliability")]
    if run.path.joinpath("calibration.csv").exists():
        table = run.read_table("calibration.csv").set_index("respondent")
        about = page.text(_WORDS["calibration"])
        calibration += [about, page.table("Calibration", "respondent", _CALIBRATION, table)]
        calibration += [page.items(summary["metacognition"])]
    sections.append(Section("Is it calibrated?", calibration))
    knowing = [page.text(headline(summary["shared_or_own"])), *drawn("shared_or_own"), *drawn("predictors")]
    if run.has("predictors.csv"):
        table = run.read_table("predictors.csv").set_index("predictor")
        knowing += [page.text(_WORDS["predictors"]), page.table("Predictors", "predictor", _PREDICTORS, table)]
    sections.append(Section("Of oneself, or of what is hard for all?", knowing))
    return sections

"""The page of `experiments/study_panel.py`: what the study asked of 19 models, asked of this panel."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.confidence.confidence_report import screening_section
from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import Column, count, digits, headline, interval, number, p_value, percent
from onedial.show.page import Section
from onedial.show.results import captions_of

_READINGS = (
    Column("n_models", "models", count),
    Column("first", "first factor", percent),
    Column("first_shuffled", "shuffled", percent),
    Column("second", form=percent),
    Column("n_factors", "factors", count),
    Column("rmsea", "RMSEA", digits(3)),
    Column("cfi", "CFI", digits(3)),
    Column("parabola_r2", "parabola R²", digits(2)),
    Column("parabola_p", "p", p_value),
)
CHANCE, FEWEST_FOR_PARABOLA = 0.5, 8
OTHERS = "other families' confidence"
_WORDS = {
    "readings": (
        "The same numbers read in other ways: cut into yes and no elsewhere, each model at its own median, and not cut "
        "at all (polychoric correlations). First and second: shares of the variance. Shuffled: the first share where "
        "every model's answers are shuffled. Factors: by parallel analysis."
    ),
    "predictors": "A difference of AUROCs is no test of self-knowledge; the next figure holds one.",
    "topics": "AUROC of a model's own confidence for its own right answers, by topic; - where under ten are wrong.",
}


def write_study_report(run: Run) -> Path:
    """Write report.html of a run of `study_panel.py`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    captions, summary = captions_of(run), run.read_json("summary.json")

    drawn = partial(page.drawn, run.path / "figures", captions)
    said = summary["sentences"]
    readings = run.read_table("readings.csv").set_index("reading")
    sections = [
        Section(
            "Is it one shared scale?",
            [
                page.text(said["scale"]),
                *drawn("scree"),
                page.text(_WORDS["readings"]),
                page.table("Readings", "reading", _READINGS, readings),
            ],
        ),
        Section("Who follows it how closely?", [page.text(said["parabola"]), *drawn("loadings")]),
    ]
    if "line" in said:
        sections.append(Section("Do surer models get more right?", [page.text(said["line"]), *drawn("base_models")]))
        sections.append(Section("Whose yes is best?", [page.text(said["attitudes"]), *drawn("f_beta")]))
    if "screening" in said:
        sections.append(screening_section(run, said["screening"]))
    if "own" in said:
        own = [page.text(said["predictors"]), *drawn("predictors")] if "predictors" in said else []
        sections.append(
            Section("Does a model know itself?", [*own, page.text(headline(said["own"])), *drawn("shared_or_own")])
        )
    if run.has("topics.csv"):
        topics = run.read_table("topics.csv").set_index("respondent")
        words, columns = page.text(_WORDS["topics"]), [Column(str(name), form=digits(2)) for name in topics]
        table = page.table("AUROC by topic", "model", columns, topics)
        sections.append(Section("By topic", [words, table]))
    sections += page.noted(run.manifest.notes)
    html = page.page(
        question="Does confidence follow one shared scale?",
        headline=headline(summary["sentence"]),
        lead=summary["lead"],
        sections=sections,
        title="One shared scale",
        foot=run.path.resolve().name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


def sentences_of(tables: dict[str, Any], panel_words: str) -> dict[str, Any]:
    """What the tables say: sentence (the headline), lead, and sentences by section.

    Args:
        tables: readings; and where there are grades line (the line's sentence), attitudes, screening, predictors (with
            one_other and of_those_that_tell), own.
        panel_words: what the panel is, in half a sentence.
    """
    readings = tables["readings"]
    first = readings.iloc[0]
    said = {"scale": _scale(readings), "parabola": _parabola(readings)}
    shuffled = f" ({first['first_shuffled']:.0%} if answers are shuffled)" if "first_shuffled" in first else ""
    parts = [f"the first factor holds {first['first']:.0%} of what varies{shuffled}"]
    if "line" in tables:
        said["line"], said["attitudes"] = headline(tables["line"]), _attitudes(tables["attitudes"])
        parts.append(_line_in_short(tables["line_numbers"]))
    if "screening" in tables:
        said["screening"] = tables["screening"]
    if "predictors" in tables:
        said["predictors"] = _predictors(tables["predictors"], tables["one_other"], tables["of_those_that_tell"])
        parts.append(_others_in_short(tables["predictors"]))
    if "own" in tables:
        said["own"] = tables["own"]
    numbers: dict[str, Any] = {
        name: tables[name] for name in ("one_other", "line_of_those_that_tell") if name in tables
    }
    if "of_those_that_tell" in tables:
        numbers["auroc_of_those_that_tell"] = tables["of_those_that_tell"].to_dict()
    return {"sentence": "; ".join(parts), "lead": panel_words, "sentences": said, **numbers}


def _scale(readings: pd.DataFrame) -> str:
    first = readings.iloc[0]
    words = f"The first factor holds {first['first']:.0%} of the variance"
    if "first_shuffled" in first:
        words += f" ({first['first_shuffled']:.0%} if answers are shuffled)"
    words += f", the second {first['second']:.0%}"
    if first["rmsea"] == first["rmsea"]:
        words += f"; a single factor leaves an RMSEA of {number(first['rmsea'])} and a CFI of {number(first['cfi'])}"
    words += "."
    if first.get("n_factors", 1) > 1:
        words += f" By parallel analysis {first['n_factors']:.0f} factors stand out: the first is not alone."
    if len(readings) > 1:
        shares = readings["first"]
        words += f" Read in {len(readings) - 1} ways, the first share is {shares.min():.0%} to {shares.max():.0%}"
        lost = int(shares.isna().sum())
        words += f"; in {lost} of them too few respondents say both yes and no." if lost else "."
    return words


def _parabola(readings: pd.DataFrame) -> str:
    first, r2 = readings.iloc[0], readings["parabola_r2"]
    if first["n_models"] < FEWEST_FOR_PARABOLA:
        return f"{first['n_models']:.0f} models are too few for a parabola of loading on threshold."
    words = f"A parabola of loading on threshold has R² {number(first['parabola_r2'], 2)}"
    if "parabola_p" not in first:
        words += " (not tested: --replicates 0)"
    if len(readings) > 1:
        words += f", and {r2.min():.2f} to {r2.max():.2f} as the numbers are read: it depends on where they are cut"
    return (
        f"{words}. The study found .95. Random answers and skewed scales make a parabola too; onedial factor weighs "
        "these accounts."
    )


def _predictors(table: pd.DataFrame, one_other: float, telling: "pd.Series[float]") -> str:
    rows = table.to_dict("index")
    own, others = rows["its own confidence"], rows[OTHERS]
    return (
        f"Its own confidence tells a model's right from its wrong answers with an AUROC of {_auroc(own)}, the mean "
        f"confidence of the models of other families with {_auroc(others)}, a single one of them with "
        f"{number(one_other, 2)} on average; among the models whose confidence tells at all, "
        f"{number(telling['its own confidence'], 2)} and {number(telling[OTHERS], 2)}. Where all the other "
        "predictors are known, its own confidence saves "
        f"{number(own['bits_more'])} bits per question {interval(own['bits_more_low'], own['bits_more_high'])}. "
        f"{_WORDS['predictors']}"
    )


def _others_in_short(table: pd.DataFrame) -> str:
    own, others = table.loc["its own confidence"], table.loc[OTHERS]
    both = f"AUROC {number(others['auroc'], 2)} and {number(own['auroc'], 2)}"
    if not max(own["auroc_low"], others["auroc_low"]) > CHANCE:
        return f"neither a model's own confidence nor that of others is shown to tell what it gets right ({both})"
    low, high = others["auroc_less_low"], others["auroc_less_high"]
    words = "about as well as" if low <= 0 <= high else "better than" if low > 0 else "less well than"
    return f"the mean confidence of other families tells what a model gets right {words} its own ({both})"


def _line_in_short(line: "pd.Series[Any] | None") -> str:
    if line is None or line["slope"] != line["slope"]:
        return "no line of confidence on accuracy can be drawn"
    ends = f"slope {number(line['slope'], 2)}, {interval(line['slope_low'], line['slope_high'], 2)}"
    if line["slope_low"] <= 0 <= line["slope_high"]:
        return f"no relation between how sure models are and how much they get right is found ({ends})"
    return f"surer models get {'more' if line['slope'] > 0 else 'less'} right ({ends})"


def _attitudes(table: pd.DataFrame) -> str:
    best = list(dict.fromkeys(table["best"]))
    if len(best) == 1:
        return f"{best[0]} is best whatever an error costs."
    return (
        f"No model is best for every attitude to error: from beta {table['beta'].min():g} to {table['beta'].max():g}, "
        f"{len(best)} are best somewhere ({', '.join(map(str, best))})."
    )


def _auroc(row: Mapping[Any, Any]) -> str:
    return f"{number(row['auroc'], 2)} {interval(row['auroc_low'], row['auroc_high'], 2)}"
